"""What the page shows at first, made before anybody asks for it."""

import time
from contextlib import suppress

from fgpvae import class_styles
from fgpvae.data import ANGLES
from fgpvae.digit_view import turn
from fgpvae.errors import UserError
from ui.catalog import Choice, digits, models
from ui.inference import context_views, style_names

PAUSE = 0.5  # seconds between two classes, for the pages that somebody looks at meanwhile


def prepare() -> None:
    """The first model with its first digit; what cannot be made is told on the page itself."""
    with suppress(UserError):
        choice = models.available()[0]
        digit, model = digits.first(choice), choice.load()
        styles(choice, digit.label)
        turn(model, digit.views(), ANGLES, context_views.mask(context_views.ORDER[:8]))
        # whoever is the first to choose one of the classes, or to bring a picture, would wait
        for label in (*choice.classes, None):
            time.sleep(PAUSE)
            styles(choice, label)
        if model.separates_style:
            class_styles.of_model(model)


def styles(choice: Choice, label: int | None) -> None:
    """The sliders of a class, or of all, and the styles of its digits."""
    style_names.names(choice, label)
    if label is not None:
        style_names.likely(choice, label)
