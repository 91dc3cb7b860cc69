"""Who may import whom, and how keys are named: the rules of docs/architecture.md."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from ui.shell import query_params

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text()
PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")}
UI = sorted((ROOT / "ui").rglob("*.py")) + sorted((ROOT / "pages").glob("*.py"))


def rows(head: str) -> list[list[str]]:
    """The names in the first column of a table, a row each."""
    table = TEXT.partition(f"| {head} | holds |")[2].partition("\n\n")[0]
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()[2:]]


PACKAGE = {name: rank for rank, row in enumerate(rows("module")) for name in row}
ROOMS = {name: rank for rank, row in enumerate(rows("room")) for name in row}


@cache
def imported(file: Path) -> list[str]:
    """Each import as `module` or `module.name`."""
    found: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = file.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += (f"{module}.{alias.name}" for alias in node.names)
    return found


@cache
def names_of(door: str) -> list[str]:
    """`__all__` of a room."""
    text = (ROOT / door.replace(".", "/") / "__init__.py").read_text()
    return re.findall(r"\w+", text.partition("__all__ =")[2])


def home(file: Path) -> str:
    """The room of a file, or pages."""
    first, second = file.relative_to(ROOT).parts[:2]
    return first if first == "pages" else second.removesuffix(".py")


def test_the_tables_name_all_rooms():
    there = {path.stem for path in (ROOT / "fgpvae").iterdir() if (path / "__init__.py").exists()}
    there |= {path.stem for path in (ROOT / "fgpvae").glob("*.py")}
    assert set(PACKAGE) == there - {"__init__", "__main__"}
    assert set(ROOMS) == {path.parent.name for path in (ROOT / "ui").glob("*/__init__.py")}
    assert {room for room, rank in ROOMS.items() if rank == max(ROOMS.values())} == PAGES


def test_the_package_imports_downwards_only_and_never_the_app():
    for file in (ROOT / "fgpvae").rglob("*.py"):
        here = home(file)
        for name in imported(file):
            first, second = f"{name}.".split(".")[:2]
            assert first not in ("streamlit", "ui", "pages"), f"{file} imports {name}"
            if here in PACKAGE and first == "fgpvae" and second in PACKAGE and second != here:
                assert PACKAGE[second] < PACKAGE[here], f"{file} imports {name}"


@pytest.mark.parametrize("file", UI, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_app_imports_downwards_only_and_through_doors(file):
    here = home(file)
    for name in imported(file):
        first, room, *rest = [*name.split("."), ""][:4]
        assert first != "pages", f"{file} imports {name}"
        if first != "ui" or room not in ROOMS:
            continue
        if here == "pages":
            assert room not in PAGES - {file.stem}, f"{file} imports {name}"
        elif here != room:
            assert ROOMS[room] < ROOMS[here], f"{file} imports {name}"
        door = f"ui.{room}"
        if room == "components":  # each component has a door of its own
            door, inside = f"{door}.{rest[0]}", rest[0] in file.parts
            rest = rest[1:]
        else:
            inside = here == room
        if not inside and rest and rest[0]:
            assert rest[0] in names_of(door), f"{file} goes past the door of {door}: {name}"


# the key of a widget or of the session state: room.thing, or a query parameter without a dot
LITERAL = re.compile(r'(?:\bkey=|session_state(?:\[|\.get\(|\.pop\())f?"([^"]+)"')


def test_keys_begin_with_their_room():
    for file in UI:
        for key in LITERAL.findall(file.read_text()):
            name = re.sub(r"{[^}]*}", "x", key)
            known = name in query_params.PARAMETERS or name.split(".")[0] in (*ROOMS, "x")
            assert known, f"{file}: {key}"
            assert re.fullmatch(r"[a-z0-9_.]+", name), f"{file}: {key}"
