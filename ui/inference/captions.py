"""What one sees, in one sentence that is true for this model, this digit and these views."""

from collections.abc import Sequence

from fgpvae.data import ANGLES
from fgpvae.models import Model
from ui.catalog.digits import WORDS, Digit

COUNTS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip


def count(number: int) -> str:
    """A number as a word, as far as there is one."""
    return COUNTS[number] if number < len(COUNTS) else str(number)


def rotating(
    model: Model, digit: Digit, views: int, style: Sequence[float] | None, known: bool | None
) -> str:
    """Under the title of the page Rotate; is the digit `known` to the model from its training?"""
    if style is not None:
        return (
            f"Drag the ring. The style is no longer this {digit.word}'s own: this is a digit "
            "that nobody has written."
        )
    if not model.knows_angles:
        return (
            f"A plain VAE has no notion of an angle: it redraws the {_views(views)} of this "
            f"{digit.word} that it is given, and anywhere else draws the same mean picture."
        )
    if not model.takes_new_digits:
        return (
            f"Drag the ring. The {model.title} remembers this {digit.word} from the "
            f"{_dotted(views)} of its training; no others can be added."
        )
    if model.told_angle:
        return (
            f"Drag the ring. The {model.title} averages what it sees at the {_dotted(views)} "
            "and is told which angle to draw."
        )
    rest = "the orange one" if views == len(ANGLES) - 1 else "all others"
    return (
        f"Drag the ring. The model sees {_this(digit, known)} only at the {_dotted(views)} "
        f"and imagines {rest}."
    )


def extrapolating(model: Model, views: int, copies: int, whose: str) -> str:
    """Under the title of the page Extrapolate; `whose` digit it is."""
    if not views + copies:
        return NOTHING
    if not model.knows_angles:
        return (
            "A plain VAE has no notion of an angle: it redraws the picture it is given, and "
            "anywhere else draws the same mean picture."
        )
    given = "one picture" if views == 1 else f"{count(views)} pictures"
    turned = f"{count(copies)} turned {'copies' if copies > 1 else 'copy'}"
    more = f" and {turned}" if views and copies else ""
    given = given if views else turned
    return f"Drag the ring. From {given} of {whose}{more} the model imagines every other angle."


NOTHING = "Bring a digit the model has never seen; from one picture it imagines every other angle."
RANDOM = "Drag the ring. Nobody wrote this digit: its style was drawn at random."


def no_new_digits(model: Model) -> str:
    return (
        f"The {model.title} only knows the digits it was trained on, so it cannot take yours. "
        "Choose another model above."
    )


def classes_met(classes: Sequence[int], who: str = "This model") -> str:
    """A warning about what a model was trained on, if that is not every digit."""
    if len(classes) == 10:
        return ""
    met = [f"{WORDS[label]}{'es' if label == 6 else 's'}" for label in sorted(classes)]
    listed = met[0] if len(met) == 1 else f"{', '.join(met[:-1])} and {met[-1]}"
    return f"{who} has only seen {listed}; it will make any other digit look like one."


def missing(model: Model) -> str:
    """What a model cannot do on this page, or nothing."""
    if model.divides_channels:
        return ""
    if "joint" not in model.blocks and not model.told_angle:
        return "All channels of this model are of one kind, so there is no style to swap."
    if not model.knows_angles:
        return "A plain VAE cannot turn a digit, and keeps no style apart from the angle."
    if model.told_angle:
        return (
            "A CVAE keeps no angle of its own, so digits cannot be swapped, and it does not say "
            "how sure it is."
        )
    return (
        f"The {model.title} keeps angle and style in the same channels: it has no style "
        "sliders, no morph and no swap, and it does not say how sure it is."
    )


def _this(digit: Digit, known: bool | None) -> str:
    """Told apart by whether the model has learnt from it, where that can be told."""
    if known is None:
        return f"this {digit.word}"
    return f"this {digit.word}, which {'it was trained on' if known else 'is new to it'},"


def _dotted(views: int) -> str:
    return f"{count(views)} dotted angle{'s' * (views != 1)}"


def _views(views: int) -> str:
    return f"{count(views)} view{'s' * (views != 1)}"
