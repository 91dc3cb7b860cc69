"""What the script of a page imports, loaded by one thread at a time.

Each visit runs in a thread of its own. Two that load modules which import each other, as those of
two pages on a cold server, may see them half loaded: Python then says that a name is not there.
"""

import ast
import threading
from pathlib import Path

_loaded: set[Path] = set()
_lock = threading.Lock()


def load(script: Path) -> None:
    """Once in a process; who comes meanwhile waits."""
    with _lock:
        if script in _loaded:
            return
        tree = ast.parse(script.read_text(encoding="utf-8"), script.name)
        tree.body = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
        exec(compile(tree, script, "exec"), {"__name__": script.stem})
        _loaded.add(script)
