"""A second model on the same dial, turned together with the first."""

from collections.abc import Sequence

import streamlit as st

from fgpvae.data import ANGLES
from fgpvae.digit_view import turn
from fgpvae.models import MODELS
from fgpvae.style_directions import Style
from ui.catalog import digits, models
from ui.catalog.digits import Digit
from ui.catalog.models import Choice
from ui.components.dial import LEAD, Beside, followed
from ui.inference import captions, context_views, style_names
from ui.shell import notices

NONE = "none"


def pick(choice: Choice, digit: Digit) -> Choice | None:
    """A box to choose the second model, in the link as ?rotate.beside=name."""
    offered = {each.name: each for each in models.available() if _fits(each, choice, digit)}
    name = st.selectbox(
        "Beside",
        [NONE, *offered],
        key="rotate.beside",
        bind="query-params",
        persist_state="session",
        help="A second model in the same ring; both turn together. The sliders belong to the "
        "first model. The second follows where both have the same slider, such as slant "
        "or width.",
    )
    return offered.get(name)


def scene(second: Choice | None, digit: Digit, seen: list[int]) -> Beside | None:
    """The digit as the second model sees it; a sentence instead if it cannot be shown."""
    if second is None:
        return None
    model = notices.attempt(second.load)
    ids = digit.id(second.classes) if digit.label in second.classes else None
    views = context_views.remembered(model, ids) or seen
    turning = turn(model, digit.views(), ANGLES, context_views.mask(views), ids)
    if turning.scene is None:
        notices.note(turning.obstacle)
        return None
    if digit.label not in second.classes:
        notices.note(captions.classes_met(second.classes, second.name))
    styles = style_names.names(second, digit.label) if len(turning.own) else None
    return Beside(second.name, turning.scene, styles or ())


def lead(choice: Choice, styles: Sequence[Style] | None, second: Beside | None) -> str:
    """What the style sliders move; with two models, which of the two."""
    if second is None:
        return LEAD
    *most, last = [first.name for first, _ in followed(styles, second)] or [""]
    if not last:
        return f"{LEAD} The sliders move {choice.name} only: {second.name} has none like them."
    both = f"{', '.join(most)} and {last}" if most else last
    return f"{LEAD} {second.name} follows {choice.name} in {both}."


def _fits(each: Choice, choice: Choice, digit: Digit) -> bool:
    """Another model that can turn this digit in the browser."""
    kind = MODELS[each.config.model.name]
    other = each.name != choice.name and kind.knows_angles
    return other and (kind.takes_new_digits or digits.suits(digit, each))
