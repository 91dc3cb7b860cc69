"""Limits for visitors of the server; with FGPVAE_PUBLIC=1 those of a public demo."""

from dataclasses import dataclass

from fgpvae import files


@dataclass(frozen=True)
class Allowed:
    """Permissions of visitors, and limits of their pictures."""

    training: bool  # and all other changes of the directory of runs
    pictures: int  # pictures of one digit
    megabytes: int  # limit of one picture
    megapixels: int


OWN, OPEN = Allowed(True, 12, 20, 50), Allowed(False, 4, 5, 16)


def allowed() -> Allowed:
    return OPEN if files.public() else OWN
