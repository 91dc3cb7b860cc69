"""Put the model of a run among those that come with the package.

python scripts/ship_model.py runs/my-run best --half --calibrate
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from fgpvae import calibration
from fgpvae.checkpoints import FORMAT, PRETRAINED, load_run, save_model
from fgpvae.configs import CUBES, to_dict
from fgpvae.familiarity import unfamiliarity
from fgpvae.files import write_json
from tests.photographs import familiarity


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="its directory or archive")
    parser.add_argument("name", help="of the shipped model")
    parser.add_argument("--half", action="store_true", help="weights in float16: half the size")
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="on what it was not trained on: bands and beliefs on digits 360..399 of its classes, "
        "what looks like a digit on drawings; or bands on the figures of the validation shapes",
    )
    options = parser.parse_args()
    model, config = load_run(options.run)
    if options.calibrate and config.data.split == CUBES:
        model.calibration = calibration.fit_cubes(model)
    elif options.calibrate:
        model.calibration = calibration.fit(model, calibration.kept_back(config.data.classes))
        limits = familiarity.calibrate(
            lambda views: np.array([unfamiliarity(model, view) for view in views])
        )
        model.calibration = replace(model.calibration, familiar=(limits.fine, limits.unlike))
    PRETRAINED.mkdir(parents=True, exist_ok=True)
    save_model(model, PRETRAINED / f"{options.name}.safetensors", options.half)
    write_json(PRETRAINED / f"{options.name}.json", {"format": FORMAT, **to_dict(config)})


if __name__ == "__main__":
    main()
