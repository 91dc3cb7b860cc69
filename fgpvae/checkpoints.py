"""Models on disk: weights as safetensors with the config in JSON, so that files alone rebuild them.

Nothing here unpickles: a checkpoint is data, never code.
"""

import dataclasses
import json
import os
import tempfile
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from fgpvae import models
from fgpvae.errors import UserError
from fgpvae.models import Model
from fgpvae.training import RunConfig

FORMAT = 1
PRETRAINED = Path(__file__).parent / "assets" / "pretrained"
WEIGHTS, CONFIG = "model.safetensors", "config.json"
LARGEST_FILE = 256 * 2**20  # bytes; no model of ours comes near


def to_dict(config: Any) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(kind: type, values: Any, where: str = "config") -> Any:
    """A config dataclass from plain values; every unknown name or wrong type is an error."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where} must be a table of settings.")
    hints = typing.get_type_hints(kind)
    unknown = [str(name) for name in values if name not in hints]
    if unknown:
        raise UserError(f"{where} has no setting '{unknown[0]}'.")
    return kind(**{n: coerce(hints[n], v, f"{where}.{n}") for n, v in values.items()})


def coerce(hint: Any, value: Any, where: str) -> Any:
    """The value as the type that a config field declares, or a clear error."""
    if dataclasses.is_dataclass(hint):
        return from_dict(typing.cast(type, hint), value, where)
    if typing.get_origin(hint) is tuple:
        arguments = typing.get_args(hint)
        if not isinstance(value, list | tuple):
            raise UserError(f"{where} must be a list, not {value!r}.")
        inner = arguments[0] if arguments else object
        fixed = arguments if Ellipsis not in arguments else (inner,) * len(value)
        if len(fixed) != len(value):
            raise UserError(f"{where} must have {len(fixed)} entries, not {len(value)}.")
        return tuple(coerce(h, v, where) for h, v in zip(fixed, value, strict=True))
    if isinstance(hint, types.UnionType):
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not hint:
        raise UserError(f"{where} must be {_SAY.get(hint, hint)}, not {value!r}.")
    if hint is float and value != value:
        raise UserError(f"{where} must be a number.")
    return value


_SAY = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place once it is complete and on disk."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path, limit: int = 2**20) -> Any:
    try:
        with path.open("rb") as file:
            text = file.read(limit + 1)
        if len(text) > limit:
            raise UserError(f"{path.name} is too large to be a settings file.")
        return json.loads(text)
    except FileNotFoundError:
        raise UserError(f"{path.parent.name}/{path.name} does not exist.") from None
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path.name} is damaged: it is not valid JSON.") from None


def save_model(model: Model, path: Path, half: bool = False) -> None:
    """Write the weights, in float16 if `half`; double precision parameters stay as they are."""
    tensors = {
        name: (value.half() if half and value.dtype == torch.float32 else value).contiguous()
        for name, value in model.state_dict().items()
    }
    metadata = {"format": str(FORMAT), "model": json.dumps(to_dict(model.config))}
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, metadata))


def load_model(path: Path) -> Model:
    """Rebuild a model from a weights file alone."""
    metadata, tensors = read_tensors(path)
    if "model" not in metadata or "format" not in metadata:
        raise UserError(f"{path.name} was not written by fgpvae: it does not name its model.")
    if metadata["format"] != str(FORMAT):
        raise UserError(
            f"{path.name} has format {metadata['format'][:20]}; this version reads format {FORMAT}."
        )
    try:
        values = json.loads(metadata["model"])
    except (ValueError, RecursionError):
        raise UserError(f"{path.name} is damaged: its model description is not JSON.") from None
    model = models.build(from_dict(models.ModelConfig, values, "model"))
    expected = model.state_dict()
    if set(expected) != set(tensors) or any(
        expected[name].shape != tensors[name].shape for name in expected
    ):
        raise UserError(f"{path.name} is damaged: its weights do not fit the model it names.")
    if not all(bool(value.isfinite().all()) for value in tensors.values()):
        raise UserError(f"{path.name} is damaged: it holds weights that are not finite numbers.")
    model.load_state_dict(tensors)
    return model.eval()


def read_tensors(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(f"{path.name} is too large to be a model.")
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, tensors
    except FileNotFoundError:
        raise UserError(f"{path.parent.name}/{path.name} does not exist.") from None
    except (SafetensorError, RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path.name} is damaged or not a safetensors file.") from None
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror or error}.") from None


def pretrained_names() -> list[str]:
    """The models that come with the package."""
    return sorted(path.stem for path in PRETRAINED.glob("*.safetensors"))


@lru_cache(maxsize=16)
def _shipped(name: str) -> Model:
    return load_model(PRETRAINED / f"{name}.safetensors")


def load_pretrained(name: str | Path) -> Model:
    """A model that comes with the package, by name, or the one in a run directory."""
    if str(name) in pretrained_names():
        return _shipped(str(name))
    path = Path(name)
    if (path / CONFIG).exists() or (path / WEIGHTS).exists():
        return load_model(path / WEIGHTS)
    if path.suffix == ".safetensors" and path.exists():
        return load_model(path)
    known = ", ".join(pretrained_names())
    raise UserError(f"'{name}' is neither a run directory nor one of the shipped models: {known}.")


def load_config(run: Path) -> RunConfig:
    """The config of a run directory."""
    return _read_config(run / CONFIG)


def shipped_config(name: str) -> RunConfig:
    """The config that a shipped model was trained with."""
    return _read_config(PRETRAINED / f"{name}.json")


def _read_config(path: Path) -> RunConfig:
    values = read_json(path)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError(f"{path.name} was not written by this version of fgpvae.")
    return from_dict(RunConfig, {k: v for k, v in values.items() if k != "format"})


def ship(run: Path, name: str, half: bool = False) -> None:
    """Put the model of a run among those that come with the package."""
    PRETRAINED.mkdir(parents=True, exist_ok=True)
    save_model(load_model(run / WEIGHTS), PRETRAINED / f"{name}.safetensors", half)
    write_json(PRETRAINED / f"{name}.json", {"format": FORMAT, **to_dict(load_config(run))})


def save_config(config: RunConfig, run: Path) -> None:
    write_json(run / CONFIG, {"format": FORMAT, **to_dict(config)})
