"""Config fields with what a form needs: label, help, range and choices.

>>> from dataclasses import dataclass
>>> from fgpvae.settings import check, setting
>>> @dataclass(frozen=True)
... class Walk:
...     steps: int = setting(10, "Number of steps.", "T", bounds=(1, 99))
...     def __post_init__(self) -> None:
...         check(self)
>>> Walk(0)
Traceback (most recent call last):
fgpvae.settings.SettingError: steps (T) must be from 1 to 99, not 0.
"""

import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from typing import Any, get_args, get_origin

from fgpvae.errors import UserError

_KEY = "setting"  # in the metadata of a field


@dataclass(frozen=True)
class Setting:
    """Metadata of a field, beside its type and default."""

    help: str  # one sentence
    symbol: str = ""  # symbol in the paper
    label: str = ""  # by default the name of the field
    bounds: tuple[float, float] | None = None  # lowest, highest; for each entry of a tuple
    choices: Mapping[Any, str] | None = None  # values and their labels
    open: bool = False  # whether other values are valid, though a form does not offer them
    needs: str = ""  # conditions, as in "kind=dense|paper, data.validation" (not 0)

    @property
    def title(self) -> str:
        return f"{self.label}, {self.symbol}" if self.symbol else self.label

    def is_used(self, values: Mapping[str, Any], parent: str = "") -> bool:
        """Whether the setting has an effect, given all settings by path.

        A name without a dot is a setting of the same config, whose path is `parent`.
        """
        for need in filter(None, self.needs.split(", ")):
            path, _, wanted = need.partition("=")
            value = values.get(path if "." in path else f"{parent}.{path}")
            if str(value) not in wanted.split("|") if wanted else not value:
                return False
        return True


class SettingError(UserError):
    """Invalid value of a field; `labelled` is the message for users of a form."""

    def __init__(self, each: "Field[Any]", found: Setting, reason: str) -> None:
        symbol = f" ({found.symbol})" if found.symbol else ""
        super().__init__(f"{each.name}{symbol} {reason}")
        self.labelled = f"{found.label}{symbol} {reason}"


def setting(default: Any, help: str, symbol: str = "", label: str = "", **rest: Any) -> Any:
    """A dataclass field with a Setting."""
    return field(default=default, metadata={_KEY: Setting(help, symbol, label, **rest)})


def setting_of(each: "Field[Any]") -> Setting | None:
    """The Setting of a dataclass field; None for a field that no form shows."""
    found: Setting | None = each.metadata.get(_KEY)
    return found and replace(found, label=found.label or each.name.replace("_", " ").capitalize())


def check(config: Any) -> None:
    """Raise a UserError if a field is outside its range or not among its choices."""
    for each in fields(config):
        found, value = setting_of(each), getattr(config, each.name)
        if found is None:
            continue
        for entry in value if isinstance(value, tuple) else (value,):
            if found.choices is not None and not found.open and entry not in found.choices:
                known = ", ".join(map(str, found.choices))
                raise SettingError(each, found, f"must be one of {known}, not '{entry!s:.60}'.")
            if found.bounds is not None and not found.bounds[0] <= entry <= found.bounds[1]:
                low, high = map(_plain, found.bounds)
                reason = f"must be from {low} to {high}, not {_plain(entry)}."
                raise SettingError(each, found, reason)


def _plain(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def coerce(hint: Any, value: Any, where: str, build: Callable[..., Any] | None = None) -> Any:
    """Convert a value to the type of a field, or raise UserError; `build` makes nested configs."""
    if build is not None and is_dataclass(hint):
        return build(hint, value, where)
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        if not isinstance(value, list | tuple):
            raise UserError(f"{where} must be a list, not {reprlib.repr(value)}.")
        if Ellipsis in inner:
            inner = (inner[0],) * len(value)
        if len(inner) != len(value):
            raise UserError(f"{where} must have {len(inner)} entries, not {len(value)}.")
        return tuple(coerce(h, v, where) for h, v in zip(inner, value, strict=True))
    if hint is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if type(value) is not hint or (hint is float and not math.isfinite(value)):
        raise UserError(f"{where} must be {_TYPES[hint]}, not {reprlib.repr(value)}.")
    return value


_TYPES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
