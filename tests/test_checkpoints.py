import dataclasses
import io
import json
import os
import pickle
import random
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save

from fgpvae import checkpoints, models, presets
from fgpvae.checkpoints import load_model, load_pretrained, save_model
from fgpvae.configs import RunConfig, from_dict, to_dict
from fgpvae.errors import UserError
from fgpvae.models import MODELS, FGPVAEConfig
from fgpvae.networks import NetworkConfig
from tests.configs import model_config

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


@pytest.fixture
def never_built(monkeypatch):
    def build(config):
        raise AssertionError("a model was built from a file that is not to be trusted")

    monkeypatch.setattr(models, "build", build)


# What is written is what is read


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["paper", "convolutional"])
def test_a_model_is_rebuilt_from_its_file_alone(name, kind, tmp_path):
    network = NetworkConfig(kind, filters=(2, 3), hidden=4)
    model = models.build(model_config(name, latents=5, local=2, network=network))
    save_model(model, tmp_path / "a.safetensors")
    read = load_model(tmp_path / "a.safetensors")
    assert type(read) is type(model)
    assert read.config == model.config
    assert same(read, model)
    assert not read.training
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_half_precision_halves_the_file_and_changes_little(tmp_path):
    model = models.build(dataclasses.replace(TINY, network=NetworkConfig("convolutional")))
    save_model(model, tmp_path / "whole.safetensors")
    save_model(model, tmp_path / "half.safetensors", half=True)
    sizes = [(tmp_path / f"{name}.safetensors").stat().st_size for name in ("whole", "half")]
    assert sizes[1] < 0.52 * sizes[0]
    read = load_model(tmp_path / "half.safetensors")
    for name, value in model.state_dict().items():
        assert read.state_dict()[name].dtype == value.dtype
        assert torch.allclose(read.state_dict()[name], value, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_config_survives_json(name):
    config = presets.PRESETS[name]
    assert from_dict(RunConfig, json.loads(json.dumps(to_dict(config)))) == config


def test_shipped_models_load_with_their_configs():
    for name in checkpoints.pretrained_names():
        assert load_pretrained(name).config == load_pretrained(name).config
        assert checkpoints.shipped_config(name).model.name in MODELS


# Damage


def test_a_callers_change_does_not_reach_the_next_caller():
    mine = load_pretrained("paper")
    with torch.no_grad():
        for weight in mine.parameters():
            weight.zero_()
    other = load_pretrained("paper")
    assert not same(mine, other)


def test_a_file_cut_short_anywhere_is_refused(weights):
    content = weights.read_bytes()
    for size in sorted({*range(0, len(content), 4096), 1, 8, 9, 200, len(content) - 1}):
        weights.write_bytes(content[:size])
        assert "damaged or not a safetensors file" in refusal(weights)


def test_a_flipped_bit_is_refused_or_has_no_effect(weights):
    content, model = weights.read_bytes(), load_model(weights)
    stream, refused = random.Random(0), 0
    for _ in range(250):
        damaged = bytearray(content)
        damaged[stream.randrange(len(content))] ^= 1 << stream.randrange(8)
        weights.write_bytes(damaged)
        try:
            assert same(load_model(weights), model)
        except UserError:
            refused += 1
    assert refused > 240


def test_a_pickle_in_place_of_weights_is_never_loaded(weights, tmp_path, never_built):
    bait = tmp_path / "bait"
    weights.write_bytes(pickle.dumps(Malicious(bait)))
    assert "not a safetensors file" in refusal(weights)
    torch.save(Malicious(bait), weights)
    assert "not a safetensors file" in refusal(weights)
    assert not bait.exists()


def test_foreign_and_newer_files_are_refused(weights, never_built):
    tensors, known = load(weights.read_bytes()), header(weights.read_bytes())
    weights.write_bytes(save(tensors, {"model": "bert"}))
    assert "not written by fgpvae" in refusal(weights)
    weights.write_bytes(save(tensors))
    assert "not written by fgpvae" in refusal(weights)
    weights.write_bytes(save(tensors, known | {"format": "3"}))
    assert "format '3'; this version reads 1 and 2" in refusal(weights)


@pytest.mark.parametrize(
    "change",
    [
        {"latents": 10**9},
        {"latents": -3},
        {"latents": 256},
        {"digit_rank": 10**9},
        {"network": {"kind": "convolutional", "hidden": 10**9}},
        {"network": {"kind": "convolutional", "hidden": 4096, "filters": [512, 512]}},
        {"network": {"kind": "dense", "widths": [4096] * 8}},
        {"network": {"kind": "dense", "widths": [4096] * 10**5}},
        {"network": {"shape": [1, 10**9, 28]}},
        {"name": "gpvae"},
        {"name": 7},
        {"network": []},
        {"unknown": 1},
    ],
)
def test_absurd_sizes_are_refused_before_anything_is_allocated(weights, change, never_built):
    tensors, known = load(weights.read_bytes()), header(weights.read_bytes())
    description = json.dumps(to_dict(TINY) | change)
    known |= {"model": description, "digest": checkpoints._digest(description, tensors)}
    weights.write_bytes(save(tensors, known))
    refusal(weights)


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


# Configs


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "config must be a table of settings."),
        ({"modle": {}}, "config has no setting 'modle'."),
        ({"model": {"latents": 3.0}}, "config.model.latents must be a whole number, not 3.0."),
        ({"model": {"latents": True}}, "config.model.latents must be a whole number, not True."),
        ({"model": {"mean_function": 1}}, "config.model.mean_function must be true or false"),
        ({"model": {"amplitude": "1"}}, "config.model.amplitude must be a number, not '1'."),
        ({"model": {"amplitude": 10**400}}, "config.model.amplitude must be a number"),
        ({"model": {"amplitude": float("nan")}}, "config.model.amplitude must be a number"),
        ({"model": {"amplitude": float("inf")}}, "config.model.amplitude must be a number"),
        ({"model": {"name": None}}, "config.model.name must be a text"),
        ({"data": {"classes": 3}}, "config.data.classes must be a list, not 3."),
        ({"data": {"classes": "33"}}, "config.data.classes must be a list, not '33'."),
        ({"data": {"classes": [3.5]}}, "config.data.classes must be a whole number"),
        ({"model": {"network": {"filters": [1]}}}, "filters must have 2 entries, not 1."),
    ],
)
def test_a_config_takes_known_names_and_right_types_only(values, sentence):
    with pytest.raises(UserError) as refused:
        from_dict(RunConfig, values)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "null",
        '{"format": 3}',
        '{"seed": 1}',
        '{"format": 1, "seed": NaN}',
        '{"format": 1, "model": {"amplitude": Infinity}}',
        "[" * 100_000,
        '{"format": 1, "seed": ' + "9" * 10_000 + "}",
        "\x00\xff",
        '{"format": 1} ' + " " * 2**20,
    ],
)
def test_a_damaged_config_gives_one_sentence(text, tmp_path):
    (tmp_path / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(UserError) as refused:
        checkpoints.load_config(tmp_path)
    assert len(str(refused.value)) < 300


# Archives


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


def read_both(path: Path) -> None:
    checkpoints.load_config(path)
    load_pretrained(path)


def test_hostile_archives_are_refused_and_nothing_is_written(run_parts, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    good = archive(folder / "good.zip", run_parts).read_bytes()
    slip = {f"../{name}": part for name, part in run_parts.items()}
    bomb = run_parts | {"config.json": bytes(20 * 2**20)}
    with_link = io.BytesIO()
    with zipfile.ZipFile(with_link, "w") as file:
        entry = zipfile.ZipInfo("model.safetensors")
        entry.external_attr = 0o120777 << 16
        file.writestr(entry, "/etc/passwd")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for number in range(1000):
            file.writestr(f"{number}.txt", b"")
    encrypted = bytearray(good)
    encrypted[6] |= 1
    encrypted[good.index(b"PK\x01\x02") + 8] |= 1
    hostile = {
        "slip": archive(folder / "slip.zip", slip).read_bytes(),
        "bomb": archive(folder / "bomb.zip", bomb, zipfile.ZIP_DEFLATED).read_bytes(),
        "link": with_link.getvalue(),
        "many": stream.getvalue(),
        "encrypted": bytes(encrypted),
        "text": b"hello",
        "empty": b"",
    }
    for size in range(0, len(good), 997):
        hostile[f"cut at {size}"] = good[:size]
    before = sorted(folder.iterdir())
    for content in hostile.values():
        path = folder / "good.zip"
        path.write_bytes(content)
        with pytest.raises(UserError) as refused:
            read_both(path)
        assert len(str(refused.value)) < 300
    assert sorted(folder.iterdir()) == before


def test_a_flipped_bit_in_an_archive_is_refused_or_has_no_effect(run_parts, tmp_path, weights):
    path = archive(tmp_path / "run.zip", run_parts)
    content, model = path.read_bytes(), load_model(weights)
    stream = random.Random(1)
    for _ in range(100):
        damaged = bytearray(content)
        damaged[stream.randrange(len(content))] ^= 1 << stream.randrange(8)
        path.write_bytes(damaged)
        try:
            assert same(load_pretrained(path), model)
        except UserError:
            continue
