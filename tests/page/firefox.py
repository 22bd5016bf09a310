"""Firefox by WebDriver BiDi, which it speaks by itself: no driver has to be installed.

https://www.w3.org/TR/webdriver-bidi/ has the messages.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tornado.websocket import WebSocketClientConnection, websocket_connect

#: A picture of a long page comes in one message.
MESSAGE_BYTES = 256 << 20
ANSWER_S = 60

T = TypeVar("T")


class Firefox:
    """A browser without a window, and one page in it."""

    def __init__(self, program: str, profile: Path) -> None:
        # Playwright has the event loop of this thread.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        words = ["--headless", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(
            [program, *words, "--remote-debugging-port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._sent = 0
        #: What the page wrote to its console, and exceptions that nobody caught
        self.complaints: list[str] = []
        try:
            self._socket: WebSocketClientConnection = self._await(self._connect(self._address()))
            self.version = self.ask("session.new", capabilities={})["capabilities"][
                "browserVersion"
            ]
            self.ask("session.subscribe", events=["log.entryAdded"])
            tree = self.ask("browsingContext.getTree")
            self._page = tree["contexts"][0]["context"]
        except BaseException:
            self.close()
            raise

    def _address(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            found = re.search(r"BiDi listening on (ws://\S+)", line)
            if found:
                return f"{found.group(1)}/session"
        raise RuntimeError("Firefox ended before it listened")

    async def _connect(self, address: str) -> WebSocketClientConnection:
        return await websocket_connect(address, max_message_size=MESSAGE_BYTES)

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ANSWER_S)

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send a command and return what comes back."""
        return self._await(self._ask(method, parameters))

    async def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        self._sent += 1
        number = self._sent
        command = {"id": number, "method": method, "params": parameters}
        await self._socket.write_message(json.dumps(command))
        while True:
            message = await self._socket.read_message()
            if message is None:
                raise RuntimeError("Firefox went")
            answer = json.loads(message)
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]
            if answer.get("method") == "log.entryAdded":
                entry = answer["params"]
                if entry["level"] in ("warn", "error"):
                    self.complaints.append(f"{entry['level']}: {entry['text']}")

    def open(self, path: Path) -> None:
        """Show a file, and wait until it has been read."""
        self.complaints.clear()
        self.ask("browsingContext.navigate", context=self._page, url=path.as_uri(), wait="complete")
        self.run(
            """const until = Date.now() + 20000;
            while (!document.querySelector("[role=tab]") && Date.now() < until)
                await new Promise(done => setTimeout(done, 20));"""
        )

    def run(self, body: str) -> Any:
        """Run the body of a function in the page; what it returns comes as JSON."""
        answer = self.ask(
            "script.evaluate",
            expression=f"(async () => {{ {body} }})().then(x => JSON.stringify(x ?? null))",
            target={"context": self._page},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def press(self, key: str) -> None:
        """Press a key and let it go; what has the focus gets it."""
        strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        keys = {"type": "key", "id": "keyboard", "actions": strokes}
        self.ask("input.performActions", context=self._page, actions=[keys])

    def picture(self, path: Path) -> None:
        """Keep what the page looks like."""
        path.parent.mkdir(parents=True, exist_ok=True)
        taken = self.ask("browsingContext.captureScreenshot", context=self._page, origin="document")
        path.write_bytes(base64.b64decode(taken["data"]))

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
