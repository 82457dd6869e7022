"""Receivers of webhooks: an HTTP server in the test's own process, and an inbox inside the sandbox.

Invariant: `next` returns each webhook once.
"""

from __future__ import annotations

import contextlib
import http.server
import math
import socket
import socketserver
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type

from coffer_client import Client, CofferError, SignatureError, verify
from coffer_client._client import Id, id_of

from .errors import SandboxError, WaitTimeoutError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Maximum size of a body. Coffer's bodies are far smaller.
BODY_MAX = 16 << 20
# Maximum wait of one request to an inbox, in seconds.
ASK_SECONDS_MAX = 30
# Pause between reads, in seconds.
PAUSE_SECONDS = 0.02


@dataclass(frozen=True)
class Webhook:
    """A webhook as received, with a valid signature."""

    body: bytes
    """The raw body, which is signed."""
    headers: Dict[str, str]
    """The headers, with lower-case names."""
    event: Dict[str, Any] = field(compare=False)
    """The event in the body."""
    received_at: Optional[str] = None
    """The sandbox's time at which an inbox received it."""

    @property
    def type(self) -> str:
        """The event type, also in the legacy format."""
        return str(self.event.get("type") or self.event.get("event"))

    @property
    def about(self) -> Optional[str]:
        """The id of the event's object."""
        # A refund's legacy body also contains the invoice.
        found = self.event["data"]["object"] if "data" in self.event else self.event.get("object")
        return (found or self.event.get("invoice") or {}).get("id")


Handler = Callable[[Webhook], object]
"""The shop's handler of a webhook. It runs in the receiver's thread. An exception becomes a response with 500."""


def read_webhook(
    body: bytes, headers: Dict[str, str], secrets: Sequence[str], received_at: Optional[str] = None
) -> Webhook:
    """Returns a webhook. Raises SignatureError if none of the secrets fits.

    The age is not checked: a test may have stopped the clock for the comparison.
    """
    event: Any = verify(body, headers, secrets, tolerance=math.inf)
    return Webhook(body, headers, event, received_at)


class Webhooks:
    """Received webhooks, which `next` takes one after the other."""

    def __init__(self, url: str, secrets: Sequence[str]) -> None:
        self.url = url
        """The URL for an endpoint or a webhookUrl."""
        self._secrets = list(secrets)
        self._returned: List[Webhook] = []
        self._taking = threading.Lock()

    def list(self, type: Optional[str] = None) -> List[Webhook]:
        """Returns the received webhooks, oldest first: all, or those of a type."""
        raise NotImplementedError

    def next(self, type: Optional[str] = None, *, about: Optional[Id] = None, timeout: float = 30.0) -> Webhook:
        """Returns the first webhook that no call has returned yet. Waits for it if necessary.

        `type` and `about`, an object or its id, restrict it to events of a type and of an object. Raises
        WaitTimeoutError after timeout seconds, and CofferError if the handler of a receiver has raised an exception.
        """
        left = timeout
        while True:
            with self._taking:
                found = self._find(type, about)
            if found is not None:
                return found
            # The time is counted, because a test may have stopped Python's clock.
            if not left > 0:
                raise WaitTimeoutError(f"no {type or 'webhook'} within {timeout:g} s; {self._describe()}")
            left -= self._wait(type, left)

    def _find(self, type: Optional[str], about: Optional[Id]) -> Optional[Webhook]:
        returned = self._returned[:]
        for each in self.list():
            if each in returned:
                returned.remove(each)
            elif type in (None, each.type) and (about is None or id_of(about) == each.about):
                self._returned.append(each)
                return each
        return None

    def _wait(self, type: Optional[str], left: float) -> float:
        """Waits for a webhook, at most `left` seconds. Returns the seconds that count."""
        raise NotImplementedError

    def _describe(self) -> str:
        return "received: " + (", ".join(each.type for each in self.list()) or "nothing")


class Inbox(Webhooks):
    """A receiver inside the sandbox, for tests that need no server."""

    def __init__(self, coffer: Client, name: str, secrets: Sequence[str]) -> None:
        self._coffer = coffer
        self._path = f"/sandbox/inbox/{id_of(name)}"
        super().__init__(coffer.url + self._path, secrets)

    def list(self, type: Optional[str] = None) -> List[Webhook]:
        """Returns the received webhooks, oldest first: all, or those of a type.

        Raises SandboxError if one has no valid signature.
        """
        return self._read({"type": type})

    def respond(self, *, status: int = 200, times: Optional[int] = None, delay_ms: int = 0) -> None:
        """Sets the response to the next webhooks, or from now on."""
        self._coffer.request("PUT", self._path, {"status": status, "times": times, "delayMs": delay_ms})

    def clear(self) -> None:
        """Empties the inbox. Its response is 200 again."""
        self._coffer.request("DELETE", self._path)

    def _read(self, query: Dict[str, Optional[str]]) -> List[Webhook]:
        entries = self._coffer.request("GET", self._path, query=query, timeout=ASK_SECONDS_MAX + 30.0)["data"]
        try:
            return [
                read_webhook(each["body"].encode(), each["headers"], self._secrets, each["receivedAt"])
                for each in entries
            ]
        except SignatureError as error:
            raise SandboxError(f"the inbox {self.url} received a webhook that is not signed: {error}") from error

    def _wait(self, type: Optional[str], left: float) -> float:
        # The control waits for the first webhook of the type, in whole seconds.
        seconds = int(min(left, ASK_SECONDS_MAX))
        if seconds and not self._read({"type": type}):
            return 0.0 if self._read({"type": type, "wait": f"{seconds}s"}) else float(seconds)
        threading.Event().wait(min(left, PAUSE_SECONDS))
        return PAUSE_SECONDS


class Receiver(Webhooks):
    """Receives webhooks on 127.0.0.1 until it is closed. Responds with 400 to webhooks without a valid signature."""

    def __init__(self, secrets: Sequence[str], handler: Optional[Handler] = None) -> None:
        self._handler = handler
        self._changed = threading.Condition()
        self._received: List[Webhook] = []
        self._refused: List[str] = []
        self._failed: List[BaseException] = []
        # Status, remaining number of responses (None: all), delay in milliseconds.
        self._response: Tuple[int, Optional[int], int] = (200, None, 0)
        self._is_closed = False
        self._server = _Server(("127.0.0.1", 0), _request_handler(self))
        self._port: int = self._server.server_address[1]
        super().__init__(f"http://127.0.0.1:{self._port}/webhooks", secrets)
        self._thread = threading.Thread(target=self._serve, name="coffer-receiver", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._is_closed:
            self._server.handle_request()

    @property
    def refused(self) -> List[str]:
        """The reasons of refused webhooks: their signatures did not fit."""
        with self._changed:
            return self._refused[:]

    def list(self, type: Optional[str] = None) -> List[Webhook]:
        """Returns the webhooks with a valid signature, oldest first: all, or those of a type."""
        with self._changed:
            return [each for each in self._received if type in (None, each.type)]

    def respond(self, *, status: int = 200, times: Optional[int] = None, delay_ms: int = 0) -> None:
        """Sets the response to the next webhooks, or from now on. The handler gets those that are answered with 2xx."""
        with self._changed:
            self._response = (status, times, delay_ms)

    def clear(self) -> None:
        """Forgets the received and refused webhooks. The response is 200 again."""
        with self._changed:
            self._received.clear()
            self._refused.clear()
            self._failed.clear()
            self._response = (200, None, 0)

    def close(self) -> None:
        """Stops it: further webhooks get no response. A second call does nothing."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
        # This connection wakes the thread, which waits for one.
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self._port), timeout=5).close()
        if self._thread is not threading.current_thread():
            self._thread.join(5)
        self._server.server_close()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, type: Optional[str], about: Optional[Id]) -> Optional[Webhook]:
        with self._changed:
            if self._failed:
                raise CofferError("the handler of webhooks has raised an exception") from self._failed.pop(0)
        return super()._find(type, about)

    def _wait(self, type: Optional[str], left: float) -> float:
        with self._changed:
            return 0.0 if self._changed.wait(min(left, PAUSE_SECONDS)) else PAUSE_SECONDS

    def _describe(self) -> str:
        return super()._describe() + (f"; refused: {'; '.join(self.refused)}" if self.refused else "")

    def take(self, headers: Dict[str, str], body: bytes) -> int:
        """Stores a webhook and calls the handler. Returns the status of the response."""
        status, error = 400, None
        try:
            webhook = read_webhook(body, headers, self._secrets)
        except SignatureError as refusal:
            with self._changed:
                self._refused.append(str(refusal))
                self._changed.notify_all()
            return status
        with self._changed:
            status, times, delay_ms = self._response
            if times is not None:
                self._response = (status, times - 1, delay_ms) if times > 1 else (200, None, 0)
        threading.Event().wait(delay_ms / 1000)
        if 200 <= status < 300:
            status, error = self._handle(webhook, status)
        with self._changed:
            self._received.append(webhook)
            if error is not None:
                self._failed.append(error)
            self._changed.notify_all()
        return status

    def _handle(self, webhook: Webhook, status: int) -> Tuple[int, Optional[BaseException]]:
        try:
            if self._handler is not None:
                self._handler(webhook)
        # pytest.fail() raises a BaseException that is no Exception.
        except BaseException as error:
            return 500, error
        return status, None


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self) -> None:
        # HTTPServer's own method asks the resolver for a name, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnects in the middle is not an error."""


def _request_handler(receiver: Receiver) -> Type[http.server.BaseHTTPRequestHandler]:
    class RequestHandler(http.server.BaseHTTPRequestHandler):
        timeout = 60

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            status = 411
            if length.isdigit():
                status = 413
                if int(length) <= BODY_MAX:
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    status = receiver.take(headers, self.rfile.read(int(length)))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Logs nothing: the receiver has the webhooks."""

    return RequestHandler
