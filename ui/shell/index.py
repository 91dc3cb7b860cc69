"""The HTML page that the browser loads first, with the app's style sheet.

Streamlit draws the text of a page some frames before it applies a style sheet in `st.html`, so
everything on the page would move.
"""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STYLE, HISTORY = (
    (Path(__file__).parent / name).read_text(encoding="utf-8")
    for name in ("streamlit.css", "history.js")
)
ADDED = f"<style>{STYLE}</style><script>{HISTORY}</script></body>".encode()
CONDITIONS = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")


class Index:
    """ASGI middleware that adds style sheet and script at the end of an HTML page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        asked = [each for each in scope["headers"] if each[0] not in CONDITIONS]  # for all, as text
        sent: list[Message] = []

        async def collect(message: Message) -> None:
            sent.append(message)

        await self.app({**scope, "headers": asked}, receive, collect)
        start, *parts = sent
        body = b"".join(part.get("body", b"") for part in parts)
        headers = MutableHeaders(scope=start)
        if headers.get("content-type", "").startswith("text/html"):
            body = body.replace(b"</body>", ADDED)
            headers["content-length"] = str(len(body))
            del headers["etag"], headers["last-modified"]  # validators of the unmodified file
        await send(start)
        await send({"type": "http.response.body", "body": body})
