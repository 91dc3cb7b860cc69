"""How many CPU seconds of training a preset takes until its test error is below the paper's.

python scripts/measure_learning.py quick
"""

import argparse
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent.parent))

from fgpvae import evaluation, presets
from fgpvae.training import Trainer
from fgpvae.training_data import build_source

PUBLISHED = 0.0284  # test MSE of the paper's FGP-VAE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset")
    parser.add_argument("--every", type=int, default=2, help="epochs between two evaluations")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    config = presets.preset(options.preset, options.set)
    trainer = Trainer(config, build_source(config, Path())[0])
    tasks = evaluation.protocol(config.data, config.seed)
    spent, reached = 0.0, None
    while trainer.step < trainer.total:
        began = time.process_time()
        for _ in range(options.every * trainer.source.steps):
            if trainer.step < trainer.total:
                trainer.advance()
        spent += time.process_time() - began
        scores = evaluation.score(trainer.result(), tasks)
        figures = {name: round(each.mse, 4) for name, each in scores.items()}
        print(f"{trainer.step / trainer.source.steps:.0f} epochs, {spent:.1f} CPU s: {figures}")
        if reached is None and scores["test_mse"].mse < PUBLISHED:
            reached = spent
    print(f"below {PUBLISHED} after {reached and round(reached, 1)} CPU s of {spent:.1f}")


if __name__ == "__main__":
    main()
