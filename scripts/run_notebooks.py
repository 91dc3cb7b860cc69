"""Run the notebooks of examples/ and save them with their outputs.

python scripts/run_notebooks.py [examples/paper.ipynb ...]
"""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def main(paths: list[str]) -> None:
    os.environ["PYTHONPATH"] = str(ROOT)
    for path in map(Path, paths or sorted((ROOT / "examples").glob("*.ipynb"))):
        notebook = nbformat.read(path, as_version=4)
        resources = {"metadata": {"path": path.parent}}
        NotebookClient(notebook, timeout=1200, record_timing=False, resources=resources).execute()
        notebook.metadata = {"kernelspec": KERNEL}  # nothing of this machine
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
