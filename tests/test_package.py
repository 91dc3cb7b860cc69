"""The package as others install it: a wheel, built and used away from the source."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import fgpvae

ROOT = Path(__file__).parent.parent
SOURCE = ("fgpvae", "pyproject.toml", "requirements.txt", "README.md", "LICENSE")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
USE = """
import fgpvae, json
task = fgpvae.data.one_view()[:1]
model = fgpvae.load_pretrained("best")
images = model.generate(task.context.images, task.context.angles, task.at)
print(json.dumps([fgpvae.__file__, list(images.shape), fgpvae.pretrained_names()]))
"""


def run(*command: object, cwd: Path, **environment: str) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_wheel_can_be_built_installed_and_used_without_the_source(tmp_path):
    copy, out, installed = (tmp_path / name for name in ("copy", "wheel", "installed"))
    copy.mkdir()
    for name in SOURCE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy)
    files = {str(path.relative_to(copy)) for path in copy.rglob("fgpvae/**/*") if path.is_file()}
    offline = ("--no-deps", "--no-index")
    run(*PIP, "wheel", *offline, "--no-build-isolation", "--wheel-dir", out, ".", cwd=copy)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name for name in names if ".dist-info/" not in name} == files

    run(*PIP, "install", *offline, "--no-compile", "--target", installed, wheel, cwd=tmp_path)
    environment = {"PYTHONPATH": str(installed)}
    assert "usage" in run(installed / "bin" / "fgpvae", "--help", cwd=tmp_path, **environment)
    file, shape, names = json.loads(run(sys.executable, "-c", USE, cwd=tmp_path, **environment))
    assert Path(file).is_relative_to(installed)
    assert shape == [1, 15, 28, 28]
    assert names == fgpvae.pretrained_names()
