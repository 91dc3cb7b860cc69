"""Captions that are true for the model, the subject and its views."""

from collections.abc import Sequence

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import NAMES, Collection
from fgpvae.models import Model

COUNTS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip
PATHS = " The thick line is the path that it expects, thin lines are others that fit."
RANDOM = "Drag the ring. This digit is not from a data set: its style was drawn at random."


def moving(seen: Imagined, collection: Collection, style: Sequence[float] | None) -> str:
    """Describe the subject and its views; `style` is one that is not its own."""
    model, subject, words = seen.model, seen.subject, collection.words
    drag = f"Drag the {'ring' if collection.track.period else 'handle'}."
    if seen.scene is None:
        drag = "Click an angle below."
    if style is not None:
        return f"{drag} You changed the style, so no true {words.one} looks like this."
    count = int(seen.observed.sum())
    views = _several(count, "view")
    ringed = _several(count, f"ringed {words.place}")
    if not model.knows_angles:
        return (
            f"A plain VAE does not know angles: it reconstructs the {views} of this {subject.name} "
            "that it sees, and draws the same mean picture everywhere else."
        )
    if not model.takes_new_digits:
        return (
            f"{drag} The {model.title} was trained on this {subject.name} at the {ringed}; no "
            "other views can be added."
        )
    if model.decoder_takes_angle:
        return (
            f"{drag} The {model.title} averages its codes of the {ringed}; the {words.place} "
            "to draw is an input of its decoder."
        )
    known = {True: ", which is new to it,", False: ", which it was trained on,", None: ""}
    others = "" if count == len(subject.w) else " and imagines all others"
    return (
        f"{drag} The model sees this {subject.name}{known[subject.new]} at the {ringed}{others}."
        f"{PATHS if seen.trails([0.0], 1) is not None else ''}"
    )


def _several(count: int, noun: str) -> str:
    number = COUNTS[count] if count < len(COUNTS) else count
    return f"{number} {noun}{'s' * (count != 1)}"


def what_views_do(seen: Imagined, collection: Collection) -> str:
    """Say what additional views change for this model."""
    model, words = seen.model, collection.words
    band = "ring" if collection.track.period else "track"
    whole = seen.observed.sum() == len(seen.subject.order)
    if not model.tells_certainty:
        wide = f": the {band} is equally wide everywhere"
        return f"This model does not say how sure it is{'' if seen.scene is None else wide}."
    checked = model.calibration is not None
    width = f" The width of the {band} is the share of the prior's variance that is left; it was "
    unchecked = "" if checked else f"{width}not checked against real errors."
    if collection.ambiguous:
        if whole:
            return f"The model sees all {words.views}, so little is left open.{unchecked}"
        return (
            f"The {words.views} that the model sees leave something open. Show it one more, and "
            f"the possible {words.many} become more alike on average, if not at every "
            f"{words.place}.{unchecked}"
        )
    if not checked:
        return f"The {band} is wide where the model knows little from its {words.views}.{unchecked}"
    if model.config.network.harmonics:
        return (
            "More views change little here, because one view shows all of a digit: a rotation "
            "reveals nothing new."
        )
    elsewhere = (
        " Elsewhere one more view can make it wider: a pale blur becomes clear strokes, which "
    )
    elsewhere = "" if whole else f"{elsewhere}may be in the wrong place."
    return f"The ring is thinnest at the views that the model sees.{elsewhere}"


def classes_met(classes: Sequence[int], who: str = "This model") -> str:
    """Name the classes that a model was trained on; empty if these are all."""
    if len(classes) in (0, 10):
        return ""
    met = " and ".join(f"{NAMES[label]}{'es' if label == 6 else 's'}" for label in sorted(classes))
    return f"{who} was trained on {met} only; it makes any other digit look like one of them."


def missing(model: Model) -> str:
    """Say what a model cannot do on this page; empty if it can do everything."""
    if model.divides_channels:
        return ""
    why = "keeps angle and style in the same channels"
    if model.decoder_takes_angle:
        why = "has no code for the angle"
    silent = "" if model.tells_certainty else ", and it does not say how sure it is"
    return f"The {model.title} {why}: it has no morph and no swap{silent}."
