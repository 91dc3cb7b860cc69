"""What presets and choices are called."""

from fgpvae.configs import CUBES, OBJECTS
from fgpvae.models import MODELS
from fgpvae.presets import PRESETS

DRAWN = "drawn"  # the source of figures of cubes
# one line each; how long it takes is measured beside it
PRESET_LINES = {
    "quick": (
        "A good first run: larger networks than in the paper; learns to turn a new three from "
        "one view."
    ),
    "wide": "The best on the paper's threes: larger networks, randomly bent digits, many epochs.",
    "paper": "The paper's model: its networks, its data, its objective, its thousand epochs.",
    "best": "The model that the app opens with: all ten digits at all angles. It downloads "
    "MNIST from openml.org first.",
    "cubes-quick": "Figures of cubes, which no rotation of a picture can turn; worth a look "
    "after two minutes.",
    "cubes": "With 4,000 more figures of cubes: the first part of how the model in the app was "
    "trained.",
    "objects": "Objects of your own, photographed or drawn from several views.",
    "vae": "A plain VAE: it looks at every image on its own.",
    "cvae": "A VAE that is told the angle, with the pixel noise that suits it best.",
    "cvae-published": "The CVAE as the paper ran it.",
    "gpvae": "Casale's GP-VAE: one Gaussian process over all images.",
    "gpvae-amortised": (
        "Appendix C of the paper: a network makes the digit vectors, so the model takes new digits."
    ),
    "svgpvae": (
        "The SVGP-VAE: one Gaussian process over all images, made cheaper by 32 inducing points."
    ),
    "svgpvae-amortised": "The SVGP-VAE with digit vectors from a network, so it takes new digits.",
    "deep-svgp": "The Gaussian process and decoder of the SVGP-VAE, without an encoder.",
}
OPTION_NAMES = {
    "elbo": "evidence lower bound (ELBO)",
    "geco": "target error (GECO)",
    "factorized": "the paper's, whole digits",
    "shuffled": "the baselines', single images",
    "continuous": "new angles each time",
    OBJECTS: "your own objects",
    CUBES: "figures of cubes",
    DRAWN: "drawn by the program",
    "embedded": "digits of the package",
    "openml": "all of MNIST, from openml.org",
    "paper": "those of the paper",
    "convolutional": "larger convolutions",
    "dense": "dense layers",
    "constant": "stays",
    "cosine": "falls along a cosine",
    "last": "the last weights",
    "best": "the best on validation digits",
}


def option_name(value: str) -> str:
    """A choice in people's words."""
    return MODELS[value].title if value in MODELS else OPTION_NAMES.get(value, value)


def preset_line(name: str) -> str:
    return PRESET_LINES.get(name, MODELS[PRESETS[name].model.name].title)
