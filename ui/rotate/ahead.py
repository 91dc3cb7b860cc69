"""What the page shows at first, made before anybody asks for it."""

from contextlib import suppress

from fgpvae.data import ANGLES
from fgpvae.digit_view import turn
from fgpvae.errors import UserError
from ui.catalog import digits, models
from ui.inference import context_views, style_names


def prepare() -> None:
    """The first model with its first digit; what cannot be made is told on the page itself."""
    with suppress(UserError):
        choice = models.available()[0]
        digit, model = digits.first(choice), choice.load()
        style_names.names(choice, digit.label)
        style_names.likely(choice, digit.label)
        turn(model, digit.views(), ANGLES, context_views.mask(context_views.ORDER[:8]))
