"""What components share: CSS, JavaScript, and routes for scripts and decoders."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fgpvae.browser.bundle import packed, rounded
from fgpvae.browser.export import Network

COMPONENTS = Path(__file__).parents[1]
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # the address names the content
SCRIPTS = {
    path.relative_to(COMPONENTS).as_posix(): path.read_bytes()
    for path in sorted(COMPONENTS.rglob("*.js"))
}
VERSION = sha256(b"".join(SCRIPTS.values())).hexdigest()[:16]
# Sent with every message of a component, hence short; the route answers below any path of a proxy.
IMPORT = """const url = new URL("scripts/{}/{}/{}.js", document.baseURI);
export default (await import(url)).default;"""

_offered: WeakValueDictionary[str, Network] = WeakValueDictionary()


class Component:
    """A component of Streamlit, made of NAME.js, NAME.html and NAME.css in a folder of its name."""

    def __init__(self, name: str, folder: str = "") -> None:
        folder = folder or name
        found = (COMPONENTS / folder).glob(f"{name}.*")
        files = {path.suffix: path.read_text(encoding="utf-8") for path in found}
        css = read("shared/common.css") + files.get(".css", "")
        self.mount = st.components.v2.component(
            f"fgpvae.{name}",
            html=files.get(".html"),
            css=css if ".html" in files else None,
            js=IMPORT.format(VERSION, folder, name),
        )

    def __call__(
        self,
        key: str,
        data: Any,
        width: Literal["stretch", "content"] = "stretch",
        **acts: Callable[[Any], None],
    ) -> None:
        """Show it. `acts` get the script's values by name, before the page runs again.

        The script also gets the time of the newest change that was answered (`mount` in dom.js).
        Data are sent as a list, because Streamlit searches dictionaries for data frames and imports
        pandas for that.
        """
        answered = f"{key}.answered"

        def taken(name: str) -> None:
            sent = (st.session_state.get(key) or {}).get(name)
            if sent is not None:
                st.session_state[answered] = max(st.session_state.get(answered, 0), sent["sent"])
                acts[name](sent.get("value"))

        changes: dict[str, Any] = {f"on_{name}_change": partial(taken, name) for name in acts}
        data = [data, st.session_state.get(answered)]
        self.mount(key=key, data=data, width=width, **changes)


def routes() -> list[Route]:
    """For `st.App`: where browsers load scripts and decoders, below any path of a proxy."""
    return [
        Route("/{base:path}scripts/{version}/{file:path}", _serve),
        Route("/{base:path}weights/{file}", _serve),
    ]


def offer(network: Network) -> None:
    """Offer a packed decoder to browsers under its name, while its model or a scene holds it."""
    _offered[network.id] = network


async def _serve(request: Request) -> Response:
    name = request.path_params["file"]
    network = _offered.get(name)
    content = network.blob if network else SCRIPTS.get(name)
    if content is None:
        return Response(status_code=404)
    kind = "application/octet-stream" if network else "text/javascript"
    return Response(content, media_type=kind, headers=FOREVER)


def read(file: str) -> str:
    """A file below ui/components."""
    return (COMPONENTS / file).read_text(encoding="utf-8")


__all__ = ["Component", "offer", "packed", "read", "rounded", "routes"]
