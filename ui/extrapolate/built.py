"""What a builder hands to the page: a subject, or why there is none yet."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Subject

KEY = "extrapolate"
PARAMS = ("subject", "shown", "stated", "digit", "seed", "strokes", "path", "look")


@dataclass(frozen=True)
class Built:
    """A subject of one's own, and what the page says of it."""

    subject: Subject | None = None
    seen: Imagined | None = None  # in place of a subject, where nobody made it
    style: list[float] | None = None  # of `seen`
    title: str = ""  # in place of the dial, where there is no subject
    sentence: str = ""
    notes: Sequence[str] = ()  # at the dial: what may go wrong
    fine: str = ""  # at the dial: that nothing does
    link: dict[str, str | None] = field(default_factory=dict)  # of PARAMS
    shareable: bool = True  # does the link give this back?
