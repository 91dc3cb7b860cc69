"""Models on disk: weights as safetensors with the config in JSON, so that files alone rebuild them.

Nothing here unpickles: a checkpoint is data, never code.
"""

import copy
import dataclasses
import hashlib
import io
import json
import math
import reprlib
import typing
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load, save
from torch import Tensor

from fgpvae import files, models
from fgpvae.data import objects
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError
from fgpvae.files import write_json
from fgpvae.models import Model, ModelConfig
from fgpvae.training import RunConfig, network_weights

FORMAT = 1
PRETRAINED = Path(__file__).parent / "assets" / "pretrained"
WEIGHTS, CONFIG = "model.safetensors", "config.json"
OBJECTS_FILE = "objects.npz"  # a run's own copy of the objects that it is trained on
LARGEST_FILE = 256 * 2**20  # bytes of a model or of an archive of one
LARGEST_DIRECTORY = 2**14  # bytes of the list of files in an archive

C = TypeVar("C")


def to_dict(config: Any) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(kind: type[C], values: Any, where: str = "config") -> C:
    """A config dataclass from plain values; every unknown name or wrong type is an error."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where} must be a table of settings.")
    hints = typing.get_type_hints(kind)
    unknown = [name for name in values if name not in hints]
    if unknown:
        raise UserError(f"{where} has no setting {reprlib.repr(unknown[0])}.")
    return kind(**{n: _coerce(hints[n], v, f"{where}.{n}") for n, v in values.items()})


def _coerce(hint: Any, value: Any, where: str) -> Any:
    """The value as the type that a config field declares, or a clear error."""
    if dataclasses.is_dataclass(hint):
        return from_dict(typing.cast(type, hint), value, where)
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)
        if not isinstance(value, list | tuple):
            raise UserError(f"{where} must be a list, not {reprlib.repr(value)}.")
        if Ellipsis in inner:
            inner = (inner[0],) * len(value)
        if len(inner) != len(value):
            raise UserError(f"{where} must have {len(inner)} entries, not {len(value)}.")
        return tuple(_coerce(h, v, where) for h, v in zip(inner, value, strict=True))
    if hint is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if type(value) is not hint or (hint is float and not math.isfinite(value)):
        raise UserError(f"{where} must be {_SAY[hint]}, not {reprlib.repr(value)}.")
    return value


_SAY = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def save_model(model: Model, path: Path, half: bool = False) -> None:
    """Write the weights, in float16 if `half`; double precision parameters stay as they are."""
    tensors = {
        name: (value.half() if half and value.dtype == torch.float32 else value).contiguous()
        for name, value in model.state_dict().items()
    }
    description = json.dumps(to_dict(model.config))
    metadata = {
        "format": str(FORMAT),
        "model": description,
        "digest": _digest(description, tensors),
    }
    files.write(path, save(tensors, metadata))


def load_model(path: Path) -> Model:
    """Rebuild a model from a weights file alone."""
    return parse_model(files.read(path, LARGEST_FILE), path.name)


def parse_model(content: bytes, name: str) -> Model:
    """Rebuild a model from the content of a weights file."""
    metadata, tensors = _parse_tensors(content, name)
    if "model" not in metadata or "format" not in metadata:
        raise UserError(f"'{name}' was not written by fgpvae: it does not name its model.")
    if metadata["format"] != str(FORMAT):
        found = reprlib.repr(metadata["format"])
        raise UserError(f"'{name}' has format {found}; this version reads format {FORMAT}.")
    digest = _digest(metadata["model"], tensors)
    if metadata.get("digest", digest) != digest:
        raise UserError(f"'{name}' is damaged: its content is not what was written.")
    config = from_dict(ModelConfig, files.parse_json(metadata["model"], name), "model")
    misfit = UserError(f"'{name}' is damaged: its weights do not fit the model it names.")
    if _least_numbers(config) > sum(value.numel() for value in tensors.values()):
        raise misfit  # before anything of that size is allocated
    model = models.build(config)
    if _shapes(model.state_dict()) != _shapes(tensors):
        raise misfit
    if not all(bool(value.isfinite().all()) for value in tensors.values()):
        raise UserError(f"'{name}' is damaged: it holds weights that are not finite numbers.")
    model.load_state_dict(tensors)
    return model.eval()


def _parse_tensors(content: bytes, name: str) -> tuple[dict[str, str], dict[str, Tensor]]:
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return header.get("__metadata__", {}), tensors
    except Exception:  # the reader's own errors are many, and any of them means the same
        raise UserError(f"'{name}' is damaged or not a safetensors file.") from None


def _digest(description: str, tensors: dict[str, Tensor]) -> str:
    """Of all that matters in a weights file."""
    digest = hashlib.sha256(description.encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _shapes(tensors: dict[str, Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    kinds = {torch.float16: torch.float32}  # as `half` saves them
    return {name: (v.shape, kinds.get(v.dtype, v.dtype)) for name, v in tensors.items()}


def _least_numbers(config: ModelConfig) -> int:
    """How many numbers a model with this config has at least."""
    digits, views = config.training_set
    plain = dataclasses.replace(config.network, gated=False)  # a model need not use the gate
    weights = network_weights(dataclasses.replace(config, network=plain))
    return weights + digits * views * config.latents


def pretrained_names() -> list[str]:
    """The models that come with the package.

    >>> import fgpvae
    >>> {"best", "paper"} <= set(fgpvae.pretrained_names())
    True
    """
    return sorted(path.stem for path in PRETRAINED.glob("*.safetensors"))


@lru_cache(maxsize=16)
def _shipped(name: str) -> Model:
    return load_model(PRETRAINED / f"{name}.safetensors")


def load_pretrained(name: str | Path) -> Model:
    """A model that comes with the package, by name, or that of a run: its directory or archive.

    It is the caller's own: to change it changes no other.

    >>> import fgpvae
    >>> model = fgpvae.load_pretrained("paper")
    >>> model.title, model.config.latents, model.config.local
    ('FGP-VAE', 16, 8)
    """
    if str(name) in pretrained_names():
        return copy.deepcopy(_shipped(str(name)))
    path = Path(name)
    if path.suffix == ".safetensors" and path.is_file():
        return load_model(path)
    if path.is_dir() or (path.suffix == ".zip" and path.is_file()):
        return parse_model(read_part(path, WEIGHTS, LARGEST_FILE), f"{path.name}/{WEIGHTS}")
    known = ", ".join(pretrained_names())
    raise UserError(f"'{name}' is neither a run nor one of the shipped models: {known}.")


def read_part(run: Path, name: str, limit: int) -> bytes:
    """A file of a run, which is a directory or a zip archive of the same files."""
    if run.suffix != ".zip" or run.is_dir():
        return files.read(run / name, limit)
    content = files.read(run, LARGEST_FILE)
    # one plain end record, so that the list of files is as short as it says
    end = content[-22:]
    listed = int.from_bytes(end[12:16], "little")
    if end[:4] != b"PK\x05\x06" or b"PK\x06\x07" in content[-42:] or listed > LARGEST_DIRECTORY:
        raise UserError(f"'{run.name}' is not an archive of a run.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(name) as file:
            part = file.read(limit + 1)
    except Exception:  # as with tensors: whatever is wrong with it, it cannot be read
        raise UserError(f"'{run.name}' is damaged or holds no '{name}'.") from None
    if len(part) > limit:
        raise UserError(f"'{name}' in '{run.name}' is too large.")
    return part


def load_config(run: Path) -> RunConfig:
    """The config of a run, from its directory or archive."""
    return _parse_config(read_part(run, CONFIG, files.LARGEST_JSON), f"{run.name}/{CONFIG}")


def load_objects(run: Path) -> Objects:
    """The objects of a run, from its directory or archive: its own copy, and no other file.

    Where they came from is written in the config, but a run may be anybody's: a path in it is
    never opened.
    """
    if (run / OBJECTS_FILE).is_symlink():
        raise UserError(
            f"'{OBJECTS_FILE}' of '{run.name}' is a link to elsewhere, which is not read."
        )
    try:
        content = read_part(run, OBJECTS_FILE, objects.LARGEST_ARCHIVE)
    except UserError as error:
        raise UserError(f"The objects of '{run.name}' are gone: {error}") from None
    return objects.parse(content, f"{run.name}/{OBJECTS_FILE}")


def shipped_config(name: str) -> RunConfig:
    """The config that a shipped model was trained with."""
    path = PRETRAINED / f"{name}.json"
    return _parse_config(files.read(path, files.LARGEST_JSON), path.name)


def _parse_config(content: bytes, name: str) -> RunConfig:
    values = files.parse_json(content, name)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError(f"'{name}' was not written by this version of fgpvae.")
    return from_dict(RunConfig, {k: v for k, v in values.items() if k != "format"})


def save_config(config: RunConfig, run: Path) -> None:
    write_json(run / CONFIG, {"format": FORMAT, **to_dict(config)})


def ship(run: Path, name: str, half: bool = False) -> None:
    """Put the model of a run among those that come with the package."""
    PRETRAINED.mkdir(parents=True, exist_ok=True)
    save_model(load_model(run / WEIGHTS), PRETRAINED / f"{name}.safetensors", half)
    write_json(PRETRAINED / f"{name}.json", {"format": FORMAT, **to_dict(load_config(run))})
