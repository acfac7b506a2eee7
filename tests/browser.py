"""Chromium without a window, driven through a pair of pipes.

`--remote-debugging-pipe` is Chromium's own protocol without a port, a driver program or a library:
messages are JSON, each ended by a zero byte, on the descriptors 3 and 4. What the tests need of it
is this page; Selenium would bring a driver of Chromium's version and a dozen packages.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 60

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--hide-scrollbars",
    # Whatever still wants the network finds none.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


class BrowserError(Exception):
    """Chromium refused a command, or said nothing."""


@dataclass
class Browser:
    """A page of a running Chromium, and all that it has told so far."""

    read: int
    send: int
    session: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    _count: int = 0
    _received: bytes = b""

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command and wait for its result."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(method)
            if answer.get("id") != self._count:
                self.events.append(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                return dict(answer["result"])

    def wait_for(self, method: str) -> None:
        """Wait for an event that has not happened yet."""
        while True:
            event = self._next(method)
            self.events.append(event)
            if event.get("method") == method:
                return

    def _next(self, wanted: str) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self._received:
            ready, _, _ = select.select([self.read], [], [], max(0.0, until - time.monotonic()))
            chunk = os.read(self.read, 1 << 20) if ready else b""
            if not chunk:
                raise BrowserError(f"no answer from Chromium to {wanted}")
            self._received += chunk
        message, _, self._received = self._received.partition(b"\0")
        return dict(json.loads(message))

    def open(self, file: Path, fragment: str = "") -> None:
        """Show a file, and wait until it is there."""
        url = file.as_uri() + (f"#{fragment}" if fragment else "")
        # A page that is there already would only be scrolled, without an event.
        self.command("Page.navigate", url="about:blank")
        self.wait_for("Page.loadEventFired")
        self.command("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def size(self, width: int, height: int = 900) -> None:
        """Give the window a size in pixels of the page."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def scheme(self, name: str) -> None:
        """Prefer light or dark colours."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.command("Emulation.setEmulatedMedia", media="", features=features)

    def paper(self) -> None:
        """Show the page as it is printed."""
        self.command("Emulation.setEmulatedMedia", media="print", features=[])

    def value(self, script: str) -> Any:
        """Run a script on the page for its value."""
        result = self.command("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(
                f"{script}: {result['exceptionDetails']['exception']['description']}"
            )
        return result["result"].get("value")

    def pdf(self) -> bytes:
        """Print the page."""
        return base64.b64decode(
            self.command("Page.printToPDF", preferCSSPageSize=True, generateTaggedPDF=False)["data"]
        )

    def picture(self) -> bytes:
        """Take a picture of the window."""
        return base64.b64decode(self.command("Page.captureScreenshot")["data"])

    def told(self, method: str) -> list[dict[str, Any]]:
        """Give the parameters of the events of a kind so far."""
        return [event["params"] for event in self.events if event.get("method") == method]


@contextmanager
def chromium(program: Path, profile: Path) -> Iterator[Browser]:
    """Lend a browser with one page that tells of errors and requests; `profile` is a new folder."""
    commands, send = os.pipe()
    read, answers = os.pipe()
    arguments = [str(program), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    log = profile.with_suffix(".log")
    process = os.posix_spawn(
        program,
        arguments,
        os.environ | {"HOME": str(profile), "XDG_CONFIG_HOME": str(profile)},
        file_actions=[
            # Two steps: the ends may have the numbers that they are to get.
            (os.POSIX_SPAWN_DUP2, commands, 13),
            (os.POSIX_SPAWN_DUP2, answers, 14),
            (os.POSIX_SPAWN_DUP2, 13, 3),
            (os.POSIX_SPAWN_DUP2, 14, 4),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setpgroup=0,
    )
    os.close(commands)
    os.close(answers)
    try:
        browser = Browser(read, send)
        page = browser.command("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.command("Target.attachToTarget", targetId=page, flatten=True)
        browser.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.command(f"{domain}.enable")
        yield browser
    finally:
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(read)
        os.close(send)
