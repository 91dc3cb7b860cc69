"""Pack a run into an archive and unpack it; archives from strangers are only data.

Nothing in it is unpickled, no path in it is opened, and file sizes are bounded.
"""

import io
import json
import time
import zipfile

from fgpvae import files, runs
from fgpvae.data import object_files
from fgpvae.errors import UserError, require
from fgpvae.runs import checkpoints
from fgpvae.runs.checkpoints import CONFIG, OBJECTS_FILE, WEIGHTS

LARGEST = 50 * 2**20  # bytes of an archive
LIMITS = {  # bytes of each file that an archive may hold
    CONFIG: files.LARGEST_JSON,
    WEIGHTS: LARGEST,
    runs.METRICS: runs.LARGEST_METRICS,
    OBJECTS_FILE: LARGEST,
}


def pack(run: runs.Run) -> bytes:
    """An archive that `load_pretrained` takes: the config, the newest weights, the metrics."""
    weights = files.read(run.path / WEIGHTS, checkpoints.LARGEST_FILE)
    checkpoints.parse_model(weights, WEIGHTS)
    content = {CONFIG: files.read(run.path / CONFIG, files.LARGEST_JSON), WEIGHTS: weights}
    content[runs.METRICS] = b""  # missing if the run was stopped in its first epoch
    if (run.path / runs.METRICS).exists():
        content[runs.METRICS] = files.read(run.path / runs.METRICS, runs.LARGEST_METRICS)
    if run.config.data.own:
        content[OBJECTS_FILE] = object_files.pack(checkpoints.load_objects(run.path))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in content.items():
            method = zipfile.ZIP_STORED if name == WEIGHTS else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), part, method)
    return buffer.getvalue()


def unpack(content: bytes, name: str) -> dict[str, bytes]:
    """The files of an archive by name, checked; any defect raises a UserError of one sentence."""
    require(len(content) <= LARGEST, f"'{name}' is too large: at most {LARGEST >> 20} MB are read.")
    with checkpoints.opened(content, name) as archive:
        found = archive.namelist()
        if strange := [each for each in found if each not in LIMITS]:
            raise UserError(f"'{name}' holds {strange[0][:60]!r}, which is no file of a run.")
        if not {CONFIG, WEIGHTS} <= set(found) or len(set(found)) != len(found):
            raise UserError(f"'{name}' must hold one {CONFIG} and one {WEIGHTS}.")
        parts = {each: checkpoints.extract(archive, each, LIMITS[each], name) for each in found}
    config = checkpoints.parse_config(parts[CONFIG], f"{name}/{CONFIG}")
    model = checkpoints.parse_model(parts[WEIGHTS], f"{name}/{WEIGHTS}")
    if model.config != config.model:
        raise UserError(f"The weights in '{name}' are not of the model that its settings name.")
    if config.data.own != (OBJECTS_FILE in parts):
        raise UserError(f"'{name}' must hold {OBJECTS_FILE} just if its run is on own objects.")
    if OBJECTS_FILE in parts:
        own = object_files.parse(parts[OBJECTS_FILE], f"{name}/{OBJECTS_FILE}")
        if own.shape != config.model.network.shape:
            raise UserError(f"The objects in '{name}' are not those that its model was made for.")
    epoch = epochs = config.training.epochs  # weights without metrics are of the last epoch
    if runs.METRICS in parts:
        lines = runs.parse_metrics(parts[runs.METRICS])
        epoch = min(max(int(lines[-1]["epoch"]), 0), epochs) if lines else 0
    status = {"state": runs.FINISHED if epoch == epochs else runs.STOPPED, "epoch": epoch}
    parts[runs.STATUS] = json.dumps(status | {"heartbeat": time.time()}).encode()
    return parts
