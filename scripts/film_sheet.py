"""Draw a sheet of unseen films: the truth above a model's prediction.

python scripts/film_sheet.py films sheet.png [--given 8] [--films 20] [--sampled]
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent))

from fgpvae.data import films
from fgpvae.runs.checkpoints import load_pretrained


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a shipped model, or the directory of a run")
    parser.add_argument("out", type=Path, help="a PNG file")
    parser.add_argument("--given", type=int, default=8, help="frames that the model sees")
    parser.add_argument("--films", type=int, default=20)
    parser.add_argument("--sampled", action="store_true", help="a posterior sample, not the mean")
    options = parser.parse_args()
    looks, path = films.films(options.films)
    images = films.draw(looks, path(films.times()))
    frames = films.given_frames(options.given)
    t = films.times().expand(options.films, -1)
    model = load_pretrained(options.model)
    made = model.generate(images[:, frames], t[:, frames], t, sample=options.sampled)
    # frames given have a bright edge
    marked = torch.nn.functional.pad(images, (1, 1, 1, 1), value=0.3)
    marked[:, frames, 0] = marked[:, frames, -1] = 1
    below = torch.nn.functional.pad(made.clamp(0, 1), (1, 1, 1, 1), value=0.3)
    shown = sorted({*range(0, films.FRAMES, 3), *frames.tolist()})
    pairs = torch.stack([marked, below], 1)[:, :, shown]  # [P, 2, S, 34, 34]
    rows = pairs.permute(0, 1, 3, 2, 4).flatten(0, 2).flatten(1)
    sheet = Image.fromarray((255 * rows.numpy()).astype(np.uint8))
    sheet.resize((3 * sheet.width, 3 * sheet.height), Image.Resampling.NEAREST).save(options.out)


if __name__ == "__main__":
    main()
