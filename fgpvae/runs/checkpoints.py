"""Models on disk: safetensors with the config as JSON, from which the model is rebuilt.

Nothing here unpickles: a checkpoint is data, never code.
"""

import hashlib
import io
import json
import reprlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load, save
from torch import Tensor

from fgpvae import files, models
from fgpvae.data import object_files
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError, require
from fgpvae.models import Calibration, Model, ModelConfig
from fgpvae.training.configs import RunConfig, from_dict, network_weights

FORMAT = 2
PRETRAINED = Path(__file__).parents[1] / "assets" / "pretrained"
WEIGHTS, CONFIG = "model.safetensors", "config.json"
OBJECTS_FILE = "objects.npz"  # a run's own copy of the objects that it is trained on
LARGEST_FILE = 256 * 2**20  # bytes of a model or of an archive of one
LARGEST_DIRECTORY = 2**14  # maximum bytes of the list of files in an archive


def save_model(model: Model, path: Path, half: bool = False) -> None:
    """Write the weights, in float16 if `half`; double precision parameters stay as they are."""
    tensors = {name: value.clone().contiguous() for name, value in model.state_dict().items()}
    if half:
        tensors |= {name: x.half() for name, x in tensors.items() if x.dtype == torch.float32}
    description = json.dumps(asdict(model.config))
    digest = _digest(description, tensors)
    metadata = {"format": str(FORMAT), "model": description, "digest": digest}
    if model.calibration is not None:
        metadata["calibration"] = json.dumps(asdict(model.calibration))
    content = save(tensors, metadata)
    # the metadata are written in random order
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"] = dict(sorted(metadata.items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin at a multiple of eight bytes
    files.write(path, len(text).to_bytes(8, "little") + text + content[end:])


def load_model(path: Path) -> Model:
    """Rebuild a model from a weights file alone."""
    return parse_model(files.read(path, LARGEST_FILE), files.as_given(path))


def parse_model(content: bytes, name: str) -> Model:
    """Rebuild a model from the content of a weights file."""
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        metadata: dict[str, str] = header.get("__metadata__", {})
    except Exception:  # the reader raises many kinds of errors, all for the same reason
        raise UserError(f"'{name}' is damaged or not a safetensors file.") from None
    if "model" not in metadata or "format" not in metadata:
        raise UserError(f"'{name}' was not written by fgpvae: it does not name its model.")
    if metadata["format"] != str(FORMAT):
        found = reprlib.repr(metadata["format"])
        raise UserError(f"'{name}' has format {found}; this version reads {FORMAT}.")
    digest = _digest(metadata["model"], tensors)
    if metadata.get("digest", digest) != digest:
        raise UserError(f"'{name}' is damaged: its content is not what was written.")
    config = from_dict(ModelConfig, files.parse_json(metadata["model"], name), "model")
    misfit = UserError(f"'{name}' is damaged: its weights do not fit the model it names.")
    if network_weights(config) > sum(value.numel() for value in tensors.values()):
        raise misfit  # checked before memory is allocated
    model = models.build(config)
    if _kinds(model.state_dict()) != _kinds(tensors):
        raise misfit
    if not all(bool(value.isfinite().all()) for value in tensors.values()):
        raise UserError(f"'{name}' is damaged: it holds weights that are not finite numbers.")
    try:
        model.load_state_dict(tensors)
    except RuntimeError:  # a shape differs
        raise misfit from None
    if "calibration" in metadata:
        measured = files.parse_json(metadata["calibration"], name)
        model.calibration = from_dict(Calibration, measured, "calibration")
    return model.eval()


def _digest(description: str, tensors: dict[str, Tensor]) -> str:
    """SHA-256 of the config and the tensors."""
    digest = hashlib.sha256(description.encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _kinds(tensors: dict[str, Tensor]) -> dict[str, torch.dtype]:
    """The kind of each tensor; float16 and float32 count as one, as `half` saves space."""
    floats = (torch.float16, torch.float32)
    return {n: torch.float64 if x.dtype in floats else x.dtype for n, x in tensors.items()}


def pretrained_names() -> list[str]:
    """List the names of the shipped models.

    >>> import fgpvae
    >>> {"best", "paper"} <= set(fgpvae.pretrained_names())
    True
    """
    return sorted(path.stem for path in PRETRAINED.glob("*.safetensors"))


def is_shipped(name: str | Path) -> bool:
    """Whether a name means a shipped model; raises a UserError if it is also that of a run."""
    if isinstance(name, Path) or name not in pretrained_names():
        return False
    if (Path(name) / CONFIG).is_file():
        raise UserError(
            f"'{name}' is a shipped model and also a run in this directory: write './{name}' for "
            "the run, or leave this directory for the model."
        )
    return True


def load_pretrained(name: str | Path) -> Model:
    """Load a shipped model by name, or the model of a run from its directory or archive.

    Every call returns a new model.

    >>> import fgpvae
    >>> model = fgpvae.load_pretrained("paper")
    >>> model.title, model.config.latents, model.config.local
    ('FGP-VAE', 16, 8)
    """
    path = Path(name)
    if is_shipped(name):
        return load_model(PRETRAINED / f"{name}.safetensors")
    if path.suffix == ".safetensors" and path.is_file():
        return load_model(path)
    if path.is_dir() or (path.suffix == ".zip" and path.is_file()):
        return _run_model(path)
    known = ", ".join(pretrained_names())
    raise UserError(f"'{name}' is neither a run nor one of the shipped models: {known}.")


def load_run(path: str | Path) -> tuple[Model, RunConfig]:
    """Load the model and the config of a run from its directory or archive.

    >>> from fgpvae import load_run
    >>> load_run("no such run")
    Traceback (most recent call last):
    fgpvae.errors.UserError: 'no such run' is neither the directory nor the archive of a run.
    """
    path = Path(path)
    return _run_model(path), load_config(path)


def _run_model(path: Path) -> Model:
    if not path.is_dir() and not (path.suffix == ".zip" and path.is_file()):
        raise UserError(f"'{path}' is neither the directory nor the archive of a run.")
    return parse_model(read_part(path, WEIGHTS, LARGEST_FILE), files.as_given(path / WEIGHTS))


def read_part(run: Path, name: str, limit: int) -> bytes:
    """A file of a run, which is a directory or a zip archive of the same files."""
    if run.suffix != ".zip" or run.is_dir():
        return files.read(run / name, limit)
    archive_name = files.as_given(run)
    with opened(files.read(run, LARGEST_FILE), archive_name) as archive:
        if name not in archive.namelist():
            raise UserError(f"'{archive_name}' is damaged or holds no '{name}'.")
        return extract(archive, name, limit, archive_name)


@contextmanager
def opened(content: bytes, name: str) -> Iterator[zipfile.ZipFile]:
    """Open the archive of a run; its end record is checked first, to bound the list of files."""
    end = content[-22:]
    listed = int.from_bytes(end[12:16], "little")
    if end[:4] != b"PK\x05\x06" or b"PK\x06\x07" in content[-42:] or listed > LARGEST_DIRECTORY:
        raise UserError(f"'{name}' is not an archive of a run.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield archive
    except UserError:
        raise
    except Exception:  # zipfile raises many kinds of errors for damaged files
        raise UserError(f"'{name}' is damaged or not an archive of a run.") from None


def extract(archive: zipfile.ZipFile, file: str, limit: int, name: str) -> bytes:
    """A file of at most `limit` bytes from the archive of this name."""
    with archive.open(file) as opened_file:
        part = opened_file.read(limit + 1)
    require(len(part) <= limit, f"{file} in '{name}' is too large.")
    return part


def load_config(run: Path) -> RunConfig:
    """The config of a run, from its directory or archive."""
    return parse_config(read_part(run, CONFIG, files.LARGEST_JSON), files.as_given(run / CONFIG))


def config_of(name: str | Path) -> RunConfig:
    """The config that a shipped model, or the model of a run directory, was trained with."""
    return shipped_config(str(name)) if is_shipped(name) else load_config(Path(name))


def load_objects(run: Path) -> Objects:
    """The objects of a run, from its directory or archive: its own copy, and no other file.

    The config names their origin, but a run may come from a stranger: no path in it is opened.
    """
    name = files.as_given(run / OBJECTS_FILE)
    if (run / OBJECTS_FILE).is_symlink():
        raise UserError(f"'{name}' is a link to elsewhere, which is not read.")
    try:
        content = read_part(run, OBJECTS_FILE, object_files.LARGEST_ARCHIVE)
    except UserError as error:
        raise UserError(f"The objects of '{files.as_given(run)}' are gone: {error}") from None
    return object_files.parse(content, name)


def shipped_config(name: str) -> RunConfig:
    """The config that a shipped model was trained with."""
    path = PRETRAINED / f"{name}.json"
    return parse_config(files.read(path, files.LARGEST_JSON), path.name)


@lru_cache(maxsize=64)  # cached, because pages list all runs repeatedly
def parse_config(content: bytes, name: str) -> RunConfig:
    """The config of a run from the content of its file."""
    values = files.parse_json(content, name)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError(f"'{name}' was not written by this version of fgpvae.")
    return from_dict(RunConfig, {key: value for key, value in values.items() if key != "format"})


def save_config(config: RunConfig, run: Path) -> None:
    files.write_json(run / CONFIG, {"format": FORMAT, **asdict(config)})
