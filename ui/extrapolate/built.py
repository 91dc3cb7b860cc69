"""The result of a builder: a subject, or what to show without one."""

from dataclasses import dataclass, field

from fgpvae.browser.imagined import Imagined
from fgpvae.data.collections import Subject

PARAMS = ("subject", "shown", "stated", "digit", "seed", "strokes", "path", "look")


@dataclass(frozen=True)
class Built:
    """A subject made by the user, and the texts about it."""

    subject: Subject | None = None
    seen: Imagined | None = None  # shown without a subject made by the user
    style: list[float] | None = None  # of `seen`
    title: str = ""  # shown instead of the dial without a subject
    sentence: str = ""
    warning: str = ""  # at the dial
    fine: str = ""  # sentence at the dial if there is no warning
    link: dict[str, str | None] = field(default_factory=dict)  # query parameters, see PARAMS
    shareable: bool = True  # whether the link restores this subject
