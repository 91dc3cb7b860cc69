"""The package as others install it: a wheel, built and used away from the source."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fgpvae

ROOT = Path(__file__).parent.parent
SOURCE = ("fgpvae", "pyproject.toml", "requirements.txt", "README.md", "LICENSE")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


def run(*command: object, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy, so that nothing is left in the source; nothing is downloaded."""
    copy = tmp_path_factory.mktemp("source")
    for name in SOURCE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy)
    out = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", out)
    run(*PIP, "wheel", *options, ".", cwd=copy)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    run(*PIP, "install", "--no-deps", "--no-index", "--target", target, wheel, cwd=target)
    return target


def test_the_wheel_holds_the_package_with_its_models_and_digits_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert all(name.startswith("fgpvae/") for name in names)
    tracked = {f"fgpvae/{path.relative_to(ROOT / 'fgpvae')}" for path in _sources()}
    assert set(names) == tracked


def _sources() -> list[Path]:
    found = (ROOT / "fgpvae").rglob("*")
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def test_it_needs_the_library_alone_and_the_app_what_requirements_say(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        lines = archive.read(name).decode().splitlines()
    required = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist")]
    written = [r.partition(";")[0] for r in (ROOT / "requirements.txt").read_text().splitlines()]
    app = [r.partition(";")[0].strip() for r in required if "extra ==" in r]
    assert sorted(_plain(r) for r in app) == sorted(_plain(r) for r in written)
    library = {re.match(r"[\w-]+", r).group() for r in required if "extra ==" not in r}
    assert library == {
        *(
            "filelock",
            "numpy",
            "pillow",
            "psutil",
            "safetensors",
            "scikit-learn",
            "scipy",
            "torch",
            "tqdm",
        )
    }


def _plain(requirement: str) -> tuple[str, ...]:
    name = requirement.replace(" ", "")
    for sign in "<>=":
        name = name.split(sign)[0]
    return name, *sorted(requirement.replace(" ", "").removeprefix(name).split(","))


def test_the_console_script_and_the_shipped_models_work_where_it_is_installed(installed, tmp_path):
    environment = {"PYTHONPATH": str(installed)}
    text = run(installed / "bin" / "fgpvae", "--help", cwd=tmp_path, **environment)
    assert "example: python -m fgpvae train" in text
    code = (
        "import fgpvae, json; model = fgpvae.load_pretrained('best');"
        "task = fgpvae.data.one_view()[:1];"
        "images = model.generate(task.context.images, task.context.angles, task.at);"
        "print(json.dumps([fgpvae.__file__, list(images.shape), fgpvae.pretrained_names()]))"
    )
    file, shape, names = json.loads(run(sys.executable, "-c", code, cwd=tmp_path, **environment))
    assert Path(file).is_relative_to(installed)
    assert shape == [1, 15, 28, 28]
    assert names == fgpvae.pretrained_names()
