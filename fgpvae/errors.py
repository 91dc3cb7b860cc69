"""The exception whose message is shown to users."""

from typing import Any


class UserError(ValueError):
    """Bad input or a bad file; the message is one complete sentence for the user.

    >>> from fgpvae import UserError, load_pretrained
    >>> try:
    ...     load_pretrained("bets")
    ... except UserError as error:
    ...     print(error)
    'bets' is neither a run nor one of the shipped models: best, ...
    """


def require(condition: Any, message: str) -> None:
    """Raise a UserError with this message unless the condition holds."""
    if not condition:
        raise UserError(message)
