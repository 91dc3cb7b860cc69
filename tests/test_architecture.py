"""What docs/architecture.md says of the sources: who may import whom, and how keys are named."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

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


@cache
def imported(file: Path) -> list[tuple[str, str]]:
    """Each import as (module, name); the name is empty for `import module`."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = file.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += ((module, alias.name) for alias in node.names)
    return found


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


# --- keys of the session state and query parameters ---

KEY = re.compile(rf"({'|'.join(ROOMS)}|<>)(\.([a-z0-9_]|<>)+)+")  # <> is what an f-string puts in
PREFIX = re.compile(rf"({'|'.join(ROOMS)}|<>)(\.([a-z0-9_]|<>)+)*")
PARAMETERS = [
    (name, re.findall(r"\w+", row.split("|")[3]))
    for row in TEXT.partition("| query parameter |")[2].partition("\n\n")[0].splitlines()[2:]
    for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
]


@dataclass
class Found:
    """What one file names."""

    keys: list[str] = field(default_factory=list)  # of widgets and of the session state
    prefixes: list[str] = field(default_factory=list)  # given to functions of ui that add to them
    parameters: list[str] = field(default_factory=list)


class Names(ast.NodeVisitor):
    """Reads the literal keys of a scope; `space` is the namespace of its module."""

    def __init__(self, scope: ast.AST, space: dict[str, Any], found: Found) -> None:
        self.space, self.found = space, found
        self.local: dict[str, list[ast.expr]] = {}
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.arguments):
                given = node.args[len(node.args) - len(node.defaults) :]
                for each, default in zip(given, node.defaults, strict=True):
                    self.local.setdefault(each.arg, []).append(default)
        self.visit(scope)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assign(one, other)
        elif isinstance(target, ast.Name):
            self.local.setdefault(target.id, []).append(value)

    def texts(self, node: ast.expr | None) -> list[str]:
        """What a string may be, as far as it is literal."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.JoinedStr):
            return [
                "".join(
                    str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "<>"
                    for part in node.values
                )
            ]
        if isinstance(node, ast.Name) and node.id in self.local:
            every = [each for each in self.local[node.id] if not isinstance(each, ast.Name)]
            return [text for each in every for text in self.texts(each)]
        there = self.resolve(node)
        return [there] if isinstance(there, str) else []

    def resolve(self, node: ast.expr | None) -> Any:
        if isinstance(node, ast.Name):
            return self.space.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self.resolve(node.value), node.attr, None)
        return None

    def kept(self, node: ast.expr) -> list[str] | None:
        """The list for names that are looked up in this: session state, address, or neither."""
        every = self.local.get(node.id, []) if isinstance(node, ast.Name) else []
        said = {ast.unparse(each) for each in (node, *every)}
        if "st.session_state" in said:
            return self.found.keys
        return self.found.parameters if said & {"link", "st.query_params"} else None

    def look_up(self, where: ast.expr, name: ast.expr | None) -> None:
        if (kept := self.kept(where)) is not None:
            kept += self.texts(name)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.look_up(node.value, node.slice)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            self.look_up(node.comparators[0], node.left)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in ("get", "pop", "setdefault") and node.args:
                self.look_up(node.func.value, node.args[0])
            elif node.func.attr == "update" and node.args and isinstance(node.args[0], ast.Dict):
                for name in node.args[0].keys:
                    self.look_up(node.func.value, name)
            elif ast.unparse(node.func) == "query_params.write":
                self.found.parameters += [each.arg for each in node.keywords if each.arg]
        self._key(node, {each.arg: each.value for each in node.keywords if each.arg})

    def _key(self, node: ast.Call, named: dict[str, ast.expr]) -> None:
        """The key that a call gives to a widget, or to a function of ui."""
        function = self.resolve(node.func)
        if inspect.isclass(function):
            return
        ours = str(getattr(function, "__module__", "")).startswith("ui.")
        key = named.get("key")
        if ours and callable(function):
            order = list(inspect.signature(function).parameters)
            at = order.index("key") if "key" in order else len(node.args)
            key = node.args[at] if at < len(node.args) else key
        texts = self.texts(key)
        (self.found.prefixes if ours else self.found.keys).extend(texts)
        spread = [self.resolve(each.value) for each in node.keywords if each.arg is None]
        if "bind" in named or any(isinstance(each, dict) and "bind" in each for each in spread):
            self.found.parameters += texts


def names_in(scopes: Iterable[ast.AST], space: dict[str, Any]) -> Found:
    found = Found()
    for scope in scopes:
        Names(scope, space, found)
    return found


def named(file: Path) -> Found:
    """The keys and parameters of a file."""
    tree, space = ast.parse(file.read_text()), dict[str, Any]()
    if home(file) != "pages":
        parts = file.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        return names_in(tree.body, vars(module))
    # a script is one scope, and all that it needs here is what it imports
    imports = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), str(file), "exec"), space)
    return names_in([tree], space)


@pytest.mark.parametrize(
    "source",
    [
        "st.button('Stop', key='do-stop')",
        "st.session_state['do-stop'] = 1",
        "state = st.session_state\nstate.pop('do-stop', None)",
        "def f(key):\n  name = f'do-stop'\n  return name in st.session_state",
        "st.session_state.update({'do-stop': 1})",
        "st.button('Stop', key=NAME)",
    ],
)
def test_a_key_is_found_however_it_is_written(source):
    assert names_in([ast.parse(source)], {"NAME": "do-stop"}).keys == ["do-stop"]


@pytest.mark.parametrize("file", UI, ids=lambda file: str(file.relative_to(ROOT)))
def test_keys_follow_the_scheme(file):
    found, alone = named(file), {name for name, _ in PARAMETERS if "." not in name}
    for key in set(found.keys) - alone:
        assert KEY.fullmatch(key), f"{key} is not room.thing"
    for key in set(found.prefixes) - alone:
        assert PREFIX.fullmatch(key), f"{key} is not room.thing"


def test_the_table_names_all_query_parameters_once():
    names = [name for name, _ in PARAMETERS]
    assert sorted(names) == sorted({name for file in UI for name in named(file).parameters})
    for name, pages in PARAMETERS:
        assert set(pages) <= PAGES
        assert "." not in name or pages == [name.split(".")[0]]
