"""The settings of a run as widgets: every field of its config, what it means, its symbol."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fgpvae.configs import CUBES, OBJECTS, to_dict
from fgpvae.models import MODELS
from fgpvae.presets import PRESETS

Values = dict[str, Any]  # by path: "model.latents"


@dataclass(frozen=True)
class Setting:
    """A field of the config."""

    path: str  # as on the command line
    label: str
    meaning: str  # one line
    symbol: str = ""  # in the paper
    options: tuple[str, ...] = ()  # where only these can be chosen
    used: Callable[[Values], bool] = lambda values: True  # do the other settings leave it a use?

    @property
    def key(self) -> str:
        return f"train.setting.{self.path}"

    @property
    def title(self) -> str:
        return f"{self.label}, {self.symbol}" if self.symbol else self.label


def _is(path: str, *values: Any) -> Callable[[Values], bool]:
    return lambda chosen: chosen[path] in values


def _has(setting: str) -> Callable[[Values], bool]:
    """Has the chosen model such a setting?"""
    return lambda chosen: setting in own_settings(chosen["model.name"])


def own_settings(name: str) -> dict[str, Any]:
    """The settings of a model, as they are unless changed."""
    return to_dict(MODELS[name].Config())


def _told_angle(chosen: Values) -> bool:
    """Is its encoder told the angle?"""
    return _has("local")(chosen) and chosen["model.network.harmonics"] not in (0, "0")


def _recognises(chosen: Values) -> bool:
    """Is its encoder told the angle, and is there a mean function to learn from?"""
    return _told_angle(chosen) and bool(chosen["model.mean_function"])


_ELBO, _GECO = _is("objective.name", "elbo"), _is("objective.name", "geco")
_CONVOLUTIONAL = _is("model.network.kind", "convolutional")
_DENSE = _is("model.network.kind", "dense")
_DIGITS = _is("data.split", "factorized", "shuffled", "continuous")

GROUPS: dict[str, tuple[Setting, ...]] = {
    "Model": (
        Setting(
            "model.name",
            "Model",
            "The factorized model, or one of those it is compared with.",
            options=tuple(MODELS),
        ),
        Setting("model.latents", "Channels", "How many numbers describe a digit at an angle.", "L"),
        Setting(
            "model.local",
            "Local channels",
            "How many of them change with the angle; the others are the style of the digit.",
            "J",
            used=_has("local"),
        ),
        Setting(
            "model.amplitude",
            "Amplitude",
            "How far local channels stray from their mean.",
            "σ",
            used=_has("amplitude"),
        ),
        Setting(
            "model.length_scale",
            "Length scale",
            "Over what part of the circle neighbouring angles are alike.",
            "r",
            used=_has("length_scale"),
        ),
        Setting(
            "model.period",
            "Period",
            "The angle after which everything repeats, in radians: a full turn is 2π.",
            used=lambda chosen: MODELS[chosen["model.name"]].knows_angles,
        ),
        Setting(
            "model.learn_kernel",
            "Learn the kernel",
            "Fit amplitude and length scale with the rest.",
            "σ, r",
            used=_has("learn_kernel"),
        ),
        Setting(
            "model.mean_function",
            "Mean function",
            "A smooth curve that the local channels of all digits share; makes one view enough.",
            "m(w)",
            used=_has("mean_function"),
        ),
        Setting(
            "model.digit_rank",
            "Digit vector",
            "How many numbers describe a digit in the joint Gaussian process.",
            "m",
            used=_has("digit_rank"),
        ),
        Setting(
            "model.inducing",
            "Inducing points",
            "Number of points that stand for all images in a sparse Gaussian process.",
            "M",
            used=_has("inducing"),
        ),
        Setting(
            "model.phases",
            "Phases",
            (
                "When training turns from the networks to the Gaussian process, and then to "
                "both: shares of all epochs."
            ),
            used=_has("phases"),
        ),
    ),
    "Networks": (
        Setting(
            "model.network.kind",
            "Networks",
            "Those of the paper, larger convolutions, or dense layers.",
            options=("paper", "convolutional", "dense"),
        ),
        Setting(
            "model.network.filters",
            "Filters",
            "Number of filters in the two convolutions of the convolutional networks.",
            used=_CONVOLUTIONAL,
        ),
        Setting(
            "model.network.hidden",
            "Hidden units",
            "Units of the dense layer in the convolutional networks.",
            used=_CONVOLUTIONAL,
        ),
        Setting(
            "model.network.widths",
            "Widths",
            "Units of each dense layer, from the image to the code.",
            used=_DENSE,
        ),
        Setting(
            "model.network.dropout",
            "Dropout",
            "Share of the units that are switched off in a step, against overfitting.",
            used=_is("model.network.kind", "convolutional", "dense"),
        ),
        Setting(
            "model.network.gated",
            "Gated decoder",
            "The decoder also sees the products of local and global channels.",
            used=_has("local"),
        ),
        Setting(
            "model.network.product",
            "Product decoder",
            "The decoder multiplies features of the style by features of the view.",
            used=_DENSE,
        ),
        Setting(
            "model.network.harmonics",
            "Harmonics",
            "How finely the encoder is told the angle; 0: it sees the picture alone.",
            used=_has("local"),
        ),
        Setting(
            "model.network.residual",
            "Residual block",
            "Units of an extra block in the encoder of the style; 0: none.",
            used=_told_angle,
        ),
        Setting(
            "model.network.recogniser",
            "Recogniser",
            "Filters of a network that reads the angle of a picture, trained in the last "
            "epochs; 0: none.",
            used=_recognises,
        ),
    ),
    "Data": (
        Setting(
            "data.split",
            "Training set",
            "Digits as in the paper, as for its baselines, or at new angles; or figures of cubes.",
            options=("factorized", "shuffled", "continuous", CUBES),
        ),
        Setting(
            "data.source",
            "Source",
            "The digits of the package, or all of MNIST from openml.org, for new angles only.",
            options=("embedded", "openml"),
            used=_is("data.split", "continuous"),
        ),
        Setting(
            "data.classes",
            "Classes",
            "Which digits from 0 to 9; the paper has threes.",
            used=_DIGITS,
        ),
        Setting(
            "data.digits",
            "Digits",
            "Training digits of each class, up to 360.",
            "P",
            used=_is("data.split", "factorized", "shuffled"),
        ),
        Setting(
            "data.views",
            "Views",
            "How many angles of a digit the model is shown at a time.",
            "Q",
            used=_is("data.split", "factorized", "continuous", CUBES),
        ),
        Setting(
            "data.figures",
            "More figures",
            "How many figures of cubes are added to the copies of the 160 training shapes.",
            used=_is("data.split", CUBES),
        ),
        Setting(
            "data.validation",
            "Validation digits",
            (
                "Training digits of each class that are set aside to see how the model does on "
                "new ones."
            ),
            used=_is("data.split", "factorized", "shuffled"),
        ),
        Setting(
            "data.keep_back",
            "Kept back",
            (
                "How a validation digit is tested: on all its views, or on one that is "
                "predicted from the others."
            ),
            options=("digits", "views"),
            used=lambda chosen: chosen["data.validation"] not in (0, "0"),
        ),
        Setting(
            "data.warp",
            "Deformation",
            "How strongly digits are bent at random, the same way at all angles; 0: not at all.",
            used=_DIGITS,
        ),
    ),
    "Objective": (
        Setting(
            "objective.name",
            "Objective",
            "The evidence lower bound, or GECO, which aims at a given error.",
            options=("elbo", "geco"),
        ),
        Setting(
            "objective.pixel_variance",
            "Pixel noise",
            "The variance of a pixel.",
            "σ_y²",
            used=_ELBO,
        ),
        Setting(
            "objective.learn_pixel_variance",
            "Learn the noise",
            "Fit the variance of a pixel with the rest.",
            "σ_y²",
            used=_ELBO,
        ),
        Setting(
            "objective.conditional",
            "Conditional bound",
            "Bound all views given some of them: posterior samples then show what is possible.",
            used=_has("local"),
        ),
        Setting(
            "objective.kappa_squared",
            "Target error",
            "The mean squared error of a pixel that GECO aims at.",
            "κ²",
            used=_GECO,
        ),
        Setting(
            "objective.multiplier",
            "Multiplier at the start",
            "How much the error weighs against the KL term.",
            "λ",
            used=_GECO,
        ),
        Setting("objective.multiplier_min", "Multiplier, least", "λ stays above.", "λ", used=_GECO),
        Setting(
            "objective.multiplier_max",
            "Multiplier, most",
            "λ stays below this; without a limit it can grow forever.",
            "λ",
            used=_GECO,
        ),
        Setting(
            "objective.decay",
            "Decay",
            "How slowly the moving average of the error, which λ follows, forgets.",
            "α",
            used=_GECO,
        ),
    ),
    "Training": (
        Setting("training.epochs", "Epochs", "How often every digit is seen."),
        Setting("training.batch", "Batch", "Digits in a step, each with all its views."),
        Setting("training.learning_rate", "Learning rate", "The step of Adam."),
        Setting(
            "training.schedule",
            "Schedule",
            "The learning rate stays, or falls along a cosine to a hundredth.",
            options=("constant", "cosine"),
        ),
        Setting("training.warmup", "Warm-up", "Steps over which the learning rate rises."),
        Setting(
            "training.weight_decay",
            "Weight decay",
            ("How fast weights shrink if nothing holds them."),
        ),
        Setting("training.clip", "Clip", "Largest allowed norm of the gradient; 0: no limit."),
        Setting(
            "training.average",
            "Average",
            "Decay of a moving average of the weights, which is what is kept; 0: no averaging.",
        ),
        Setting(
            "training.context_dropout",
            "Context dropout",
            (
                "Share of digits of which only some views are given; teaches the model to work "
                "from few."
            ),
        ),
        Setting(
            "training.recognition",
            "Recognition",
            "The last epochs, in which only the encoder of the local channels learns; 0: none.",
            used=_recognises,
        ),
        Setting(
            "training.validate_every",
            "Validate every",
            "Epochs between two tests on the validation digits.",
            used=lambda chosen: chosen["data.validation"] not in (0, "0"),
        ),
        Setting(
            "training.keep",
            "Keep",
            "The last weights, or those that did best on the validation digits.",
            options=("last", "best"),
            used=lambda chosen: chosen["data.validation"] not in (0, "0"),
        ),
        Setting(
            "training.precision",
            "Precision",
            "Number format in the networks; bfloat16 is faster where the hardware supports it.",
            options=("float32", "bfloat16"),
        ),
        Setting(
            "seed", "Seed", ("Start of the random numbers; the same seed gives the same weights.")
        ),
    ),
}
SETTINGS = {setting.path: setting for group in GROUPS.values() for setting in group}
DERIVED = (  # nothing to choose
    "preset",
    "model.network.shape",
    "model.kernel",
    "data.track.period",
    "data.track.low",
    "data.track.high",
    "training.start",
)
# IDX files, and runs to start from, come through the command line: no path is opened here
OFFERED = tuple(
    name
    for name, config in PRESETS.items()
    if config.data.split != OBJECTS and not config.training.start
)
