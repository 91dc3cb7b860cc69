"""What components share: their common CSS and JavaScript, and how they are read."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

SHARED = Path(__file__).parent


@cache
def read(*files: str | Path) -> str:
    """Files one after the other; a name alone is one of the shared ones."""
    return "\n".join((SHARED / file).read_text(encoding="utf-8") for file in files)


def rounded(values: Iterable[float]) -> list[float]:
    """Seven significant digits: as good as float32, in half the letters."""
    return [float(f"{value:.7g}") for value in values]


__all__ = ["read", "rounded"]
