"""What a server allows its visitors; one with FGPVAE_PUBLIC=1 is open to strangers."""

from dataclasses import dataclass

from fgpvae import files


@dataclass(frozen=True)
class Allowed:
    """What visitors may do, and how large their pictures may be."""

    training: bool  # and whatever else changes the directory of the runs
    pictures: int  # of one digit
    megabytes: int  # of a picture
    megapixels: int


OWN, OPEN = Allowed(True, 12, 20, 50), Allowed(False, 4, 5, 16)


def allowed() -> Allowed:
    return OPEN if files.public() else OWN
