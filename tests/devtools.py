"""Pages in headless Chromium that are pointed at, typed to and printed, through the pipe of the DevTools protocol.

All pages of a process are in one browser, which starts with the first of them; each has a context of its own: storage, cookies, cache.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

__all__ = ["Driven", "needed"]

BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
# A browser is no Python package that `make test` could bring: `.ci/run` does where it may; elsewhere the tests say that they were left out.
needed = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


class _Chromium:
    """A browser without any network but 127.0.0.1."""

    _running: _Chromium | None = None

    @classmethod
    def running(cls) -> _Chromium:
        """The browser of this process, started if there is none or if it went away."""
        if cls._running is None or cls._running.process.poll() is not None:
            cls._running = cls()
            atexit.register(cls._running.close)
        return cls._running

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="fairlane-browser-", ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--remote-debugging-pipe",
            "--force-device-scale-factor=1",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]

        def place() -> None:
            # The protocol's descriptors are 3 (in) and 4 (out); from above them, so that neither closes the other.
            a, b = os.dup(ours[0]), os.dup(theirs[1])
            high = [os.dup2(fd, fd + 50) for fd in (a, b)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [str(BROWSER), *options], preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._write, self._read = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self._number, self._rest = 0, b""
        self.pages: dict[str, Driven] = {}
        """Pages by the sessions in which they are spoken to."""

    def close(self) -> None:
        self._write.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._read.close()
        self._profile.cleanup()

    def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            told = self._next()
            if told.get("id") == self._number:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            self._pass_on(told)

    def listen(self) -> None:
        """Waits for one event, and hands it to its page."""
        self._pass_on(self._next())

    def _pass_on(self, told: dict[str, Any]) -> None:
        page = self.pages.get(told.get("sessionId", ""))
        if page is not None:
            page._heard(told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._read.fileno(), 1 << 16)
            assert got, "the browser went away"
            self._rest += got
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)


class Driven:
    """A page, without any network but 127.0.0.1: its other requests fail, and are listed in `asked`."""

    def __init__(self) -> None:
        self._browser = _Chromium.running()
        self._session = ""
        self.console: list[str] = []
        """Errors and warnings of the console, exceptions, and what the page's policy refused."""
        self.asked: list[str] = []
        """Addresses that pages asked for."""
        self.loaded = 0
        self._context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Driven:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._browser.pages = {session: page for session, page in self._browser.pages.items() if page is not self}
        if self._browser.process.poll() is None:
            self._browser.send("Target.disposeBrowserContext", browserContextId=self._context)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        answer = self._browser.send(method, self._session, **parameters)
        if method == "Target.attachToTarget":
            self._browser.pages[answer["sessionId"]] = self
        return answer

    def _heard(self, told: dict[str, Any]) -> None:
        method, p = told.get("method", ""), told.get("params", {})
        if method == "Log.entryAdded":
            self.console.append(p["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.console.append(d.get("exception", {}).get("description", d["text"]))
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.console.append(str(p["args"]))
        elif method == "Network.requestWillBeSent":
            self.asked.append(p["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded += 1

    def open(self, page: Path, width: int = 1280, height: int = 900, **media: str) -> None:
        """Opens a page; `media`: such as prefers_color_scheme="dark"."""
        self.visit(page.absolute().as_uri(), width, height, **media)

    def visit(self, address: str, width: int = 1280, height: int = 900, **media: str) -> None:
        """Opens an address on this machine."""
        self.screen(width, height)
        self.media(**media)
        before = self.loaded
        self.send("Page.navigate", url=address)
        while self.loaded == before:
            self._browser.listen()
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def screen(self, width: int, height: int = 900) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def media(self, **features: str) -> None:
        features_of = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.send("Emulation.setEmulatedMedia", media="", features=features_of)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, *, held: bool = False, clicks: int = 0) -> None:
        button = "left" if held or kind in ("mousePressed", "mouseReleased") else "none"
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=int(held), clickCount=clicks or int(held))

    def drag(self, x0: float, x1: float, y: float) -> None:
        self.mouse("mouseMoved", x0, y)
        self.mouse("mousePressed", x0, y, held=True)
        for k in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * k / 5, y, held=True)
        self.mouse("mouseReleased", x1, y)
        self.settle()

    def key(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def settle(self) -> None:
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def picture(self, *, whole: bool = True) -> bytes:
        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=whole, format="png", **self._clip(whole))["data"])

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        box = self.send("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": box["width"], "height": box["height"], "scale": 1}}

    def pdf(self) -> bytes:
        return base64.b64decode(self.send("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)["data"])
