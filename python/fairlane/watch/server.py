"""Server of the live page: on this machine only, for clients with its address, until the command ends.

Every page has its own simulation, which advances only on request and ends with the page.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.extras import need
from ..base.scenario import checked
from ..base.threads import Pool
from ..errors import FairlaneError
from ..runs.simulation import Simulation, start_of
from .page import live_page
from .requests import InvalidRequest, Session
from .topology import expanded, network_model

if TYPE_CHECKING:
    from aiohttp import web

    from ..base.scenario import Built

HOST = "127.0.0.1"
MOST_PAGES = 4
"""Most concurrent pages."""
MOST_CONNECTIONS = 64
"""Most concurrent connections of any kind; a browser opens six per host."""
MOST_LETTERS = 4096
"""Most characters of a message."""
MOST_A_SECOND = 500
"""Most messages per second of a page; above that, it is disconnected."""
PATIENCE = 10.0
"""Seconds before an unread message or an idle connection times out."""


def serve(
    scenario: str | PathLike[str] | Built,
    seed: int | None = None,
    *,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    port: int = 0,
    ready: Callable[[str], None] = print,
) -> None:
    """Serves a live page until Ctrl-C; `ready` is called with its address."""
    need("watch")
    pairs = list(sets.items() if isinstance(sets, Mapping) else sets)
    resolved = checked(scenario, pairs)
    title = Path(fspath(scenario)).stem if isinstance(scenario, str | PathLike) else ""

    def fresh() -> Simulation:
        return start_of(scenario, seed, pairs)

    head = network_model(fresh(), expanded(resolved.json()), title) | {"mode": "live", "oneOf": 1}
    asyncio.run(_Server(head, fresh).run(port, ready))


class _Shut(asyncio.Protocol):
    """Protocol that rejects surplus connections."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()


def _log() -> logging.Logger:
    """Returns the logger of the library without errors of invalid HTTP, which any local client could cause."""
    from aiohttp.http_exceptions import HttpProcessingError

    def valid(record: logging.LogRecord) -> bool:
        return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)

    log = logging.getLogger("fairlane.watch")
    if not log.filters:
        log.addFilter(valid)
    return log


class _Server:
    def __init__(self, head: Mapping[str, Any], fresh: Callable[[], Simulation]) -> None:
        self._head, self._fresh = head, fresh
        self._token = secrets.token_urlsafe(24)
        self._sockets: set[web.WebSocketResponse] = set()
        self._pool = Pool(MOST_PAGES, "watch")

    async def run(self, port: int, ready: Callable[[str], None]) -> None:
        from aiohttp import web

        app = web.Application(client_max_size=MOST_LETTERS, middlewares=[self._guarded()])
        app.router.add_get("/", self._page)
        app.router.add_get("/socket", self._socket)
        runner = web.AppRunner(app, access_log=None, logger=_log(), keepalive_timeout=PATIENCE, shutdown_timeout=0.5)
        await runner.setup()
        handlers = runner.server
        assert handlers is not None, "set up above"

        def connection() -> asyncio.Protocol:
            return _Shut() if len(handlers.connections) >= MOST_CONNECTIONS else handlers()

        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.add_signal_handler(number, over.set)
        listening = None
        try:
            try:
                listening = await loop.create_server(connection, HOST, port, backlog=16)
            except (OSError, OverflowError) as e:
                raise FairlaneError(
                    f"cannot listen on port {port}: {getattr(e, 'strerror', None) or e}; --port 0 selects a free port"
                ) from None
            self._port = listening.sockets[0].getsockname()[1]
            ready(f"http://{HOST}:{self._port}/?token={self._token}")
            await over.wait()
        finally:
            if listening is not None:
                listening.close()
            for socket in list(self._sockets):
                with suppress(Exception):
                    await asyncio.wait_for(socket.close(code=1001), 0.3)
            await runner.cleanup()
            self._pool.stop()

    def _guarded(self) -> Any:
        from aiohttp import web

        @web.middleware
        async def guarded(request: web.Request, handler: Any) -> web.StreamResponse:
            """Rejects requests with another host name, from another origin, or without the token."""
            place = f"{HOST}:{self._port}"
            origin = request.headers.getall("Origin", [])
            given = request.query.getall("token", [])
            if request.headers.getall("Host", []) != [place]:
                return web.Response(status=421, text="wrong host\n")
            if any(o != f"http://{place}" for o in origin) or (request.path == "/socket" and len(origin) != 1):
                return web.Response(status=403, text="wrong origin\n")
            if len(given) != 1 or not hmac.compare_digest(given[0].encode(), self._token.encode()):
                return web.Response(status=403, text="missing or wrong token\n")
            response: web.StreamResponse = await handler(request)
            return response

        return guarded

    async def _page(self, _request: web.Request) -> web.Response:
        from aiohttp import web

        headers = {
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin",
        }  # fmt: skip
        text = live_page(self._head, f"ws://{HOST}:{self._port}")
        return web.Response(text=text, content_type="text/html", charset="utf-8", headers=headers)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import WSMsgType, web

        if len(self._sockets) >= MOST_PAGES:
            return web.Response(status=503, text=f"limit of {MOST_PAGES} pages reached\n")
        socket = web.WebSocketResponse(max_msg_size=MOST_LETTERS, heartbeat=PATIENCE, compress=False, timeout=1.0)
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            loop = asyncio.get_running_loop()
            session = Session(await loop.run_in_executor(self._pool, self._fresh), self._head)
            allowed, since = float(MOST_A_SECOND), time.monotonic()
            async for message in socket:
                now = time.monotonic()
                allowed, since = min(MOST_A_SECOND, allowed + (now - since) * MOST_A_SECOND) - 1, now
                if allowed < 0:
                    await socket.close(code=1008, message=b"too many messages")
                    break
                if message.type is not WSMsgType.TEXT:
                    await socket.close(code=1003, message=b"text only")
                    break
                pieces, answer = await loop.run_in_executor(self._pool, _answer, session, message.data)
                # A client that does not read its answers is disconnected.
                async with asyncio.timeout(PATIENCE):
                    for piece in pieces:
                        await socket.send_bytes(piece)
                    await socket.send_str(json.dumps(answer, allow_nan=False))
        except (TimeoutError, ConnectionError, RuntimeError):
            pass
        finally:
            self._sockets.discard(socket)
        return socket


def _answer(session: Session, text: str) -> tuple[list[bytes], dict[str, Any]]:
    number: object = None
    try:
        try:
            what = json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidRequest("invalid JSON") from None
        try:
            json.dumps(what, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InvalidRequest("invalid character (unpaired surrogate)") from None
        if not isinstance(what, dict):
            raise InvalidRequest("a request must be a JSON object")
        number = what.get("re")
        if isinstance(number, bool) or not isinstance(number, int):
            number = None
            raise InvalidRequest("a request needs a number `re`")
        pieces, answer = session.do(what)
    except FairlaneError as e:
        return [], {"re": number, "error": str(e)}
    return pieces, {"re": number, **answer}
