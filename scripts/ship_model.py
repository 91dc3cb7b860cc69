"""Add the model of a run to those shipped with the package.

python scripts/ship_model.py runs/my-run best --half --calibrate --calibrate-pictures
python scripts/ship_model.py paper paper --calibrate
python scripts/ship_model.py films films --half --calibrate
python scripts/ship_model.py best best --half --calibrate-pictures    (a shipped one, anew)
"""

import argparse
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))

from fgpvae.data import Digits
from fgpvae.evaluation import calibration
from fgpvae.files import write_json
from fgpvae.models import Model
from fgpvae.orientation.novelty import features
from fgpvae.runs.checkpoints import FORMAT, PRETRAINED, config_of, load_pretrained, save_model
from fgpvae.training.configs import CUBES, FILMS
from tests.photographs import angles, familiarity
from tests.photographs.sets import TUNING

PICTURES = ("picture", "familiar", "unfamiliarity")  # fields of a calibration
TAKEN = 200  # number of photographs, and of drawings, that bound the stated confidence


def calibrate_pictures(model: Model, digits: Digits) -> None:
    """Fit the angle posterior of uploaded pictures, and the novelty of pictures."""
    assert model.calibration is not None
    weights, limits = familiarity.calibrate(partial(features, model))
    taken = [*angles.photographs(TUNING, TAKEN), *angles.drawings(TUNING, TAKEN)]
    images = torch.from_numpy(np.stack([view.image for view in taken]))
    true = torch.tensor([view.angle for view in taken], dtype=torch.float64)
    model.calibration = replace(
        model.calibration,
        picture=calibration.fit_pictures(model, digits, (images, true)),
        unfamiliarity=tuple(map(float, weights)),
        familiar=(limits.fine, limits.unlike),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="its directory or archive, or the name of a shipped model")
    parser.add_argument("name", help="of the shipped model")
    parser.add_argument("--half", action="store_true", help="weights in float16: half the size")
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="bands, doubt and beliefs on what it was not trained on: digits 360..399 of its "
        "classes, figures of the validation shapes, or validation films",
    )
    parser.add_argument(
        "--calibrate-pictures",
        action="store_true",
        help="what is said of people's pictures, on photographs and drawings",
    )
    options = parser.parse_args()
    model, config = load_pretrained(options.run), config_of(options.run)
    if options.calibrate and config.data.split == CUBES:
        model.calibration = calibration.fit_cubes(model)
    elif options.calibrate and config.data.split == FILMS:
        model.calibration = calibration.fit_films(model)
    elif options.calibrate or options.calibrate_pictures:
        digits, known = calibration.kept_back(config.data.classes), model.calibration
        if options.calibrate:
            model.calibration = calibration.fit(model, digits)
        if options.calibrate and known:
            pictures = {name: getattr(known, name) for name in PICTURES}
            model.calibration = replace(model.calibration, **pictures)
        if options.calibrate_pictures:
            calibrate_pictures(model, digits)
    save_model(model, PRETRAINED / f"{options.name}.safetensors", options.half)
    write_json(PRETRAINED / f"{options.name}.json", {"format": FORMAT, **asdict(config)})


if __name__ == "__main__":
    main()
