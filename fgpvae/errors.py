"""The one error that is meant for people: what happened, in one sentence."""


class UserError(ValueError):
    """Bad input or a bad file; the message is complete and fit to be shown as it is."""
