"""A guided first visit: five steps, each with a question first and then what happens."""

from typing import NamedTuple

import streamlit as st

from ui.catalog import models
from ui.shell import frame, query_params

STEP = "rotate.guide.step"  # in the session state: number of the step, and whether it is answered
COOKIE = "fgpvae_guide"  # stored in the browser after the visit was finished or skipped
REMEMBER = f"<script>document.cookie = '{COOKIE}=done; path=/; max-age=31536000'</script>"


class Step(NamedTuple):
    """A question, the answer, and the query parameters that each of them opens."""

    question: str
    answer: str
    opens: dict[str, str]
    page: str = ""  # to link to, in place of this one
    before: dict[str, str] | None = None  # what opens with the question


UPRIGHT = {"subject": "new-3-2", "views": "0"}
START = {"model": "best", "angle": "0", **UPRIGHT}
STEPS = (
    Step(
        "The model sees one picture of this digit, at 0°. What will it draw at 180°?",
        "The same digit upside down, which it never saw. Now drag the ring.",
        {"model": "best", "angle": "180", **UPRIGHT},
        before=START,
    ),
    Step(
        "What will the paper's model draw at 180° if it sees only 0°?",
        "A guess, and the ring says so: it is wide. Click more dots to show more views, and it "
        "gets thinner there.",
        {"model": "paper", "angle": "180", **UPRIGHT},
    ),
    Step(
        "What can change while the angle stays the same?",
        "The style: slant, width, thickness. This is the style of another digit. The sliders "
        "change it, and “Its own style” brings back the first.",
        {"angle": "0", **UPRIGHT},
        before=START,
    ),
    Step(
        "Will it turn a digit that you draw?",
        "Try it on the page Extrapolate. The visit continues when you come back to Rotate.",
        {"extrapolate.source": "Draw", "model": "best"},
        "extrapolate",
    ),
    Step(
        "The model sees one frame of a film. Can it know how the film continues?",
        "No: the thin lines are several paths that fit. Click a dot on the coloured track to show "
        "it one more frame, and they come closer.",
        {"model": "films", "views": "3"},
    ),
)


def link() -> None:
    """Show a link that starts the visit, a shorter one after it was finished.

    It stays in its place during the visit, or what a phone has scrolled to would move.
    """
    known = COOKIE in st.context.cookies or st.session_state.get("rotate.guide.done")
    st.button(
        "Guided visit" if known else "New here? A guided visit, two minutes",
        type="tertiary",
        key="rotate.guide.begin",
        on_click=_go,
        args=(0,),
        disabled=st.session_state.get(STEP) is not None,
    )


def card(style: str | None) -> None:
    """Show the current step of the visit, if there is one; `style` is that of another digit."""
    if st.session_state.get("rotate.guide.done"):
        st.html(REMEMBER, unsafe_allow_javascript=True)
    if (current := st.session_state.get(STEP)) is None:
        return
    number, answered = current
    step, last = STEPS[number], number + 1 == len(STEPS)
    with frame.card(f"{number + 1} of {len(STEPS)}: {step.question}", key="rotate.guide"):
        if answered:
            st.markdown(step.answer)
        with st.container(horizontal=True, vertical_alignment="center"):
            if answered and step.page:
                page = frame.page(step.page)
                st.page_link(page, label=page.title, query_params=step.opens)
            to: tuple[object, ...]
            label, name, to = "Show me", "show", (number, True, style)
            if answered:
                label, name, to = ("Done", "next", ()) if last else ("Next", "next", (number + 1,))
            st.button(label, type="primary", key=f"rotate.guide.{name}", on_click=_go, args=to)
            if not last:
                st.button("Skip the visit", type="tertiary", key="rotate.guide.skip", on_click=_go)
        # on a phone scroll to the step; the dial is below it
        frame.in_sight("shell.card.rotate-guide", f"{number} {answered}")


def _go(number: int | None = None, answered: bool = False, style: str | None = None) -> None:
    """Go to a step or to its answer, and open what belongs to it; None ends the visit."""
    st.session_state[STEP] = None if number is None else (number, answered)
    if number is None:
        st.session_state["rotate.guide.done"] = True
        return
    step = STEPS[number]
    opens: dict[str, str | None] = {**(step.opens if answered else step.before or {})}
    if opens and "model" not in opens:
        opens |= {"model": st.query_params.get("model"), "style": style}
    if not step.page and models.find(opens.get("model") or "") is not None:
        query_params.open_link(opens)
