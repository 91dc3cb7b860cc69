"""What a browser has not taken yet.

Streamlit queues 500 messages for a browser, a few runs of a page. If a browser is slower, Streamlit
forgets its session without telling it, and the page never answers again.
"""

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Backlog:
    """ASGI middleware that queues messages for a browser, and reads none from it meanwhile.

    So keys that are held down give as many runs as the browser can show: those that wait for it
    arrive together, and Streamlit makes one run of them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        queue, taken = asyncio.Queue[Message | None](), asyncio.Event()
        taken.set()

        async def pump() -> None:
            try:
                while message := await queue.get():
                    await send(message)
                    if queue.empty():
                        taken.set()
            finally:
                taken.set()

        async def later(message: Message) -> None:
            if pumping.done():  # the browser is gone: raise why
                await pumping
            taken.clear()
            queue.put_nowait(message)

        async def read() -> Message:
            message = await receive()
            await taken.wait()
            return message

        pumping = asyncio.create_task(pump())
        try:
            await self.app(scope, read, later)
            queue.put_nowait(None)
            with suppress(OSError):  # the browser is gone
                await pumping
        finally:
            pumping.cancel()
