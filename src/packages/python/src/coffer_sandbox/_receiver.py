"""A webhook receiver in the test's own process: an HTTP server on a free port, which checks signatures."""

import contextlib
import http.server
import socket
import socketserver
import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple, Type

from ._controls import Webhook
from .errors import CofferError, SignatureError, WaitTimeoutError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Maximum size of a body. Coffer's bodies are far smaller.
BODY_MAX = 16 << 20

Handler = Callable[[Webhook], object]
"""The shop's handler of a webhook. It runs in the receiver's thread. An exception becomes a response with 500."""


class Receiver:
    """Receives webhooks on 127.0.0.1 until it is closed. Responds with 400 to webhooks without a valid signature."""

    def __init__(self, secrets: Sequence[str], handler: Optional[Handler] = None) -> None:
        self._secrets = list(secrets)
        self._handler = handler
        self._changed = threading.Condition()
        self._received: List[Webhook] = []
        self._refused: List[str] = []
        self._failed: List[BaseException] = []
        self._answers: List[int] = []
        self._is_closed = False
        self._server = _Server(("127.0.0.1", 0), _request_handler(self))
        self._port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self._port}/webhooks"
        """The URL for an endpoint or a webhook_url."""
        self._thread = threading.Thread(target=self._serve, name="coffer-receiver", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._is_closed:
            self._server.handle_request()

    @property
    def received(self) -> List[Webhook]:
        """The received webhooks with a valid signature, oldest first, whatever the response was."""
        with self._changed:
            return list(self._received)

    @property
    def refused(self) -> List[str]:
        """The reasons of refused webhooks: their signatures did not fit."""
        with self._changed:
            return list(self._refused)

    def wait(self, type: Optional[str] = None, *, count: int = 1, timeout: float = 30.0) -> Webhook:
        """Returns the first received webhook, or number `count`, of a type or of any. Waits for it if necessary.

        Raises WaitTimeoutError after timeout seconds, and an exception of the handler immediately.
        """
        found: List[Webhook] = []

        def is_there() -> bool:
            found[:] = [each for each in self._received if type is None or each.type == type]
            return bool(self._failed) or len(found) >= count

        with self._changed:
            self._changed.wait_for(is_there, timeout)
            if self._failed:
                raise CofferError("the handler of webhooks has raised an exception") from self._failed[0]
            if len(found) >= count:
                return found[count - 1]
            had = ", ".join(each.type for each in self._received) or "nothing"
            refused = f"; refused: {'; '.join(self._refused)}" if self._refused else ""
            raise WaitTimeoutError(
                f"{len(found)} of {count} {type or 'webhook'} within {timeout:g} s; received: {had}{refused}"
            )

    def answer(self, status: int, *, times: int = 1) -> None:
        """Sets the status of the next responses, instead of 200. These webhooks are received, but not handled."""
        with self._changed:
            self._answers.extend([status] * times)

    def clear(self) -> None:
        """Forgets received and refused webhooks."""
        with self._changed:
            self._received.clear()
            self._refused.clear()
            self._failed.clear()

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

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, webhook: Webhook) -> int:
        """Stores a webhook and calls the handler. Returns the status of the response."""
        complaint = self._complaint(webhook)
        with self._changed:
            if complaint:
                self._refused.append(complaint)
                self._changed.notify_all()
                return 400
            status = self._answers.pop(0) if self._answers else None
        error = None
        if status is None:
            status, error = self._handle(webhook)
        with self._changed:
            self._received.append(webhook)
            if error is not None:
                self._failed.append(error)
            self._changed.notify_all()
        return status

    def _complaint(self, webhook: Webhook) -> Optional[str]:
        """Returns why a webhook is refused, or None if one of the secrets fits."""
        complaint = "the receiver has no secret"
        for secret in self._secrets:
            try:
                webhook.verify(secret)
                return None
            except SignatureError as error:
                complaint = str(error)
        return complaint

    def _handle(self, webhook: Webhook) -> Tuple[int, Optional[BaseException]]:
        try:
            if self._handler is not None:
                self._handler(webhook)
        # pytest.fail() raises a BaseException that is no Exception.
        except BaseException as error:
            return 500, error
        return 200, None


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
                    status = receiver.take(Webhook(headers, self.rfile.read(int(length))))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Logs nothing: the receiver has the webhooks."""

    return RequestHandler
