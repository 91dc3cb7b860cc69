import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save

from fgpvae import models
from fgpvae.errors import UserError
from fgpvae.models import FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs import checkpoints
from fgpvae.runs.checkpoints import load_model, load_pretrained, save_model
from fgpvae.training import presets
from fgpvae.training.configs import RunConfig, from_dict

TINY = FGPVAEConfig(
    latents=3, local=1, mean_function=True, network=NetworkConfig("dense", widths=(4,))
)


class Malicious:
    """Pickled, it writes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.system, (f"touch {self.path}",))


def same(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    mine, other = a.state_dict(), b.state_dict()
    return mine.keys() == other.keys() and all(torch.equal(mine[n], other[n]) for n in mine)


def header(content: bytes) -> dict[str, str]:
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size])["__metadata__"]


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as refused:
        load_model(path)
    message = str(refused.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300
    return message


@pytest.fixture
def weights(tmp_path) -> Path:
    path = tmp_path / "model.safetensors"
    save_model(models.build(TINY), path)
    return path


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_config_survives_json(name):
    config = presets.PRESETS[name]
    assert from_dict(RunConfig, json.loads(json.dumps(asdict(config)))) == config


def test_tensors_that_do_not_fit_are_refused(weights):
    tensors, known = load(weights.read_bytes()), header(weights.read_bytes())
    name = "decoder.layers.0.weight"
    value = tensors[name]
    absent = {n: v for n, v in tensors.items() if n != name}
    spoilt = value.clone()
    spoilt[0, 0] = torch.nan
    for wrong in (
        absent,
        tensors | {"more": torch.zeros(2)},
        tensors | {name: value.mT.contiguous()},
        tensors | {name: value.to(torch.int32)},
        tensors | {name: value.to(torch.complex64)},
        tensors | {name: value.to(torch.float8_e4m3fn)},
        tensors | {name: spoilt},
    ):
        known["digest"] = checkpoints._digest(known["model"], wrong)
        weights.write_bytes(save(wrong, known))
        assert "damaged" in refusal(weights)


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.safetensors")
    assert "not a file" in refusal(tmp_path / "pipe.safetensors")
    assert "Is a directory" in refusal(tmp_path)
    assert "does not exist" in refusal(tmp_path / "none.safetensors")
    with (tmp_path / "large.safetensors").open("wb") as file:
        file.truncate(checkpoints.LARGEST_FILE + 1)
    assert "too large" in refusal(tmp_path / "large.safetensors")
    with pytest.raises(UserError, match="neither a run nor one of the shipped models"):
        load_pretrained("../../etc/passwd")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "config must be a table of settings."),
        ({"modle": {}}, "config has no setting 'modle'."),
        ({"model": {"latents": 3.0}}, "config.model.latents must be a whole number, not 3.0."),
        ({"model": {"mean_function": 1}}, "config.model.mean_function must be true or false"),
        ({"model": {"amplitude": "1"}}, "config.model.amplitude must be a number, not '1'."),
        ({"model": {"amplitude": 10**400}}, "config.model.amplitude must be a number"),
        ({"model": {"amplitude": float("nan")}}, "config.model.amplitude must be a number"),
        ({"model": {"name": None}}, "config.model.name must be a text"),
        ({"data": {"classes": 3}}, "config.data.classes must be a list, not 3."),
        ({"data": {"classes": [3.5]}}, "config.data.classes must be a whole number"),
        ({"model": {"network": {"filters": [1]}}}, "filters must have 2 entries, not 1."),
    ],
)
def test_a_config_takes_known_names_and_right_types_only(values, sentence):
    with pytest.raises(UserError) as refused:
        from_dict(RunConfig, values)
    assert sentence in str(refused.value)


def archive(path: Path, parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return path


@pytest.fixture
def run_parts(weights) -> dict[str, bytes]:
    checkpoints.save_config(RunConfig(model=TINY), weights.parent)
    return {name: (weights.parent / name).read_bytes() for name in (weights.name, "config.json")}


def test_an_archive_stands_for_its_directory(run_parts, weights, tmp_path):
    packed = archive(tmp_path / "run.zip", run_parts)
    assert same(load_pretrained(packed), load_pretrained(weights.parent))
    assert checkpoints.load_config(packed) == checkpoints.load_config(weights.parent)
