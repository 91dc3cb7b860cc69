"""Who may import whom, as docs/architecture.md says: the package's modules and the rooms of ui/."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import fgpvae

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text()
PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")}


def rows(head: str) -> list[list[str]]:
    """The names in the first column of a table, a row each."""
    table = TEXT.partition(f"| {head} | holds |")[2].partition("\n\n")[0]
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()[2:]]


MODULES = [name for row in rows("module") for name in row]
ROOMS = {name: rank for rank, row in enumerate(rows("room")) for name in row}
UI = sorted((ROOT / "ui").rglob("*.py")) + sorted((ROOT / "pages").glob("*.py"))


def imported(file: Path) -> Iterator[tuple[str, str]]:
    """Each import as (module, name); the name is empty for `import module`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = file.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((module, alias.name) for alias in node.names)


def home(file: Path) -> str:
    """The room of a file, or pages."""
    first, second = file.relative_to(ROOT).parts[:2]
    return first if first == "pages" else second


def names_of(room: str) -> Iterator[tuple[Path, str, str]]:
    """What files import from a room: file, the module within ui, the name."""
    for file in UI:
        for module, name in imported(file):
            parts = (module if name == "" else f"{module}.{name}").split(".")
            if parts[0] == "ui" and len(parts) > 1 and parts[1] == room:
                yield file, ".".join(parts[:2]), ".".join(parts[2:])


def test_the_tables_name_all_modules_and_all_rooms():
    assert set(MODULES) == {info.name for info in pkgutil.iter_modules(fgpvae.__path__)} - {
        "__main__"
    }
    there = {path.parent.name for path in (ROOT / "ui").glob("*/__init__.py")}
    assert set(ROOMS) == there
    assert {room for room, rank in ROOMS.items() if rank == max(ROOMS.values())} == PAGES


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_those_above_it_and_never_streamlit(module):
    path = ROOT / "fgpvae" / module
    below = MODULES[MODULES.index(module) + 1 :]
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
        for name, part in imported(file):
            used = f"{name}.{part}".split(".")
            assert used[0] not in ("streamlit", "ui"), f"{file.name} imports {name}"
            assert used[0] != "fgpvae" or used[1] not in below, f"{file.name} imports {used[1]}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_imported_only_by_those_after_it(room):
    for file, _, name in names_of(room):
        here = home(file)
        if here not in (room, "pages"):
            assert ROOMS[here] > ROOMS[room], f"{file} imports {name} of {room}"


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_imports_the_room_of_no_other_page(page):
    for other in PAGES - {page}:
        assert not [file for file, *_ in names_of(other) if file.name == f"{page}.py"]


@pytest.mark.parametrize("room", ROOMS)
def test_only_what_the_door_names_is_used_outside(room):
    for file, module, name in names_of(room):
        if home(file) == room and room != "components":
            continue
        if room == "components":  # each component has a door of its own
            part, _, name = name.partition(".")
            if part in file.parts or not name:
                continue
            module = f"{module}.{part}"
            assert "." not in name, f"{file} goes past the door of {module}"
        door = importlib.import_module(module).__all__
        assert not name or name.split(".")[0] in door, f"{file} imports {name} of {module}"


def test_no_room_imports_a_page():
    for file in UI:
        assert not [module for module, _ in imported(file) if module.split(".")[0] == "pages"]
