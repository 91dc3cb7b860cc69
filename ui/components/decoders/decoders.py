"""Decoders by their own address: a browser loads each once, and keeps it for later visits."""

from collections import OrderedDict
from threading import Lock

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

MOST = 48  # that can be loaded; a page that shows one offers it anew
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # another has another name

_offered: OrderedDict[str, bytes] = OrderedDict()  # by name, the newest last
_lock = Lock()


def routes() -> list[Route]:
    """For `st.App`: where browsers load decoders, below any path of a proxy."""
    return [Route("/{base:path}weights/{name}", _answer)]


def offer(name: str, blob: bytes) -> None:
    """Let browsers load a decoder, as `scenes.pack` has packed it."""
    with _lock:
        _offered[name] = blob
        _offered.move_to_end(name)
        while len(_offered) > MOST:
            _offered.popitem(last=False)


def packed(name: str) -> bytes | None:
    """A decoder that was offered lately."""
    return _offered.get(name)


async def _answer(request: Request) -> Response:
    blob = packed(request.path_params["name"])
    if blob is None:
        return Response(status_code=404)
    return Response(blob, media_type="application/octet-stream", headers=FOREVER)
