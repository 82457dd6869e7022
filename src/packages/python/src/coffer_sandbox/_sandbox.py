"""A running sandbox: Coffer with a test key, its controls, and its end."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Type, TypeVar

from coffer_client import Client, NoAnswerError
from coffer_client._client import Id, id_of

from ._controls import Clock, Faults, Payments
from ._process import Process
from ._webhooks import Handler, Inbox, Receiver
from .errors import SandboxError

if TYPE_CHECKING:
    from coffer_client.types import Invoice, Payout, Refund

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Maximum wait for the sandbox's end after a request without a response, in seconds.
END_IS_SEEN_WITHIN = 0.25
CASES = ("exact", "under", "over", "late")
Self = TypeVar("Self", bound="Sandbox")


@dataclass(frozen=True)
class Keys:
    """The keys of a sandbox, the same in every sandbox."""

    secret_test: str
    secret_live: str
    public_test: str
    public_live: str
    legacy: str


class _ProcessClient(Client):
    """A client of the sandbox, whose end it reports. Nothing is repeated: a fault is for the call that meets it."""

    def __init__(self, process: Process, key: str) -> None:
        super().__init__("http://" + process.ready["listen"], key, timeout=60.0, attempts=1)
        self._process = process

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Sends any request and returns the JSON of its answer: `request("GET", "/v1/merchant")`.

        Its options are those of the Client. Raises SandboxError if the sandbox has ended.
        """
        try:
            return super().request(method, path, body, **options)
        except NoAnswerError:
            self._process.check_alive(END_IS_SEEN_WITHIN)
            raise


class Sandbox(_ProcessClient):
    """A new sandbox on a free port. It runs until stop(), or until the end of a `with` block or of this process.

    It is a Client with the test key, which makes each request once. `binary` is the program; default: the variable
    COFFER_BINARY, else the wheel's program. `args` are further arguments of `coffer sandbox`, and `env` further
    environment variables. `log` is the log level: error, warn, info, debug (a line for each request) or trace.
    `timeout` is the time limit of the start, in seconds. Raises SandboxError if the sandbox does not start.
    """

    def __init__(
        self,
        *,
        binary: Optional[str] = None,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        log: str = "debug",
        timeout: float = 60.0,
    ) -> None:
        process = Process(binary, log, timeout, args, env or {})
        ready = process.ready
        keys: Mapping[str, str] = ready["keys"]
        self.keys = Keys(
            keys["secretTest"], keys["secretLive"], keys["publicTest"], keys["publicLive"], keys["legacy"]
        )
        """The keys of both modes."""
        super().__init__(process, self.keys.secret_test)
        process.log.title = f"Coffer's log ({self.url})"
        self.webhook_secret: str = ready["webhookSecret"]
        """The secret that signs webhooks to endpoints without their own secret."""
        self.legacy_secret: str = ready["legacySecret"]
        """The secret that signs webhooks to an invoice's own webhookUrl."""
        self.live: Client = _ProcessClient(process, self.keys.secret_live)
        """The client of live mode, whose chains are simulated too."""
        self.clock = Clock(self)
        """The clock: get, advance, set, freeze, unfreeze."""
        self.payments = Payments(self, self.live, self.clock)
        """Payments of either mode on the simulated chains."""
        self.faults = Faults(self)
        """Simulated faults."""
        self._receivers: List[Receiver] = []
        self._changing_endpoints = threading.Lock()
        self._finalizer = weakref.finalize(self, _end, process, self._receivers)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def log(self) -> str:
        """The log, or the end of a long log."""
        return self._process.log.read()

    def pay(
        self,
        invoice: Id,
        *,
        case: str = "exact",
        asset: Optional[str] = None,
        txid: Optional[str] = None,
        confirm: bool = True,
    ) -> Invoice:
        """Pays an invoice of either mode and confirms the payment. Returns the current invoice.

        `case` is exact, under (half of what is due), over (one and a half times), or late (after the deadline, to which
        the clock is moved). The others are those of `payments`.
        """
        if case not in CASES:
            raise ValueError(f"case must be one of {', '.join(CASES)}, not {case!r}")
        getattr(self.payments, case)(invoice, asset=asset, txid=txid, confirm=confirm)
        return self.payments.invoice(invoice)

    # Actions of the operator.

    def refund(
        self,
        invoice: Id,
        *,
        amount: Optional[str] = None,
        asset: Optional[str] = None,
        to_address: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> Refund:
        """Requests a refund of a paid invoice: an amount in its currency, or everything not refunded yet."""
        found = invoice["id"] if isinstance(invoice, Mapping) else invoice
        body = {"invoice": found, "amount": amount, "asset": asset, "toAddress": to_address, "reason": reason}
        refund: Refund = self.request("POST", "/sandbox/refunds", body)
        return refund

    def move_refund(
        self, refund: Id, action: str, *, txid: Optional[str] = None, reason: Optional[str] = None
    ) -> Refund:
        """Performs a step of a refund: approve, then process, then pay or fail; or reject, or cancel."""
        body = {"action": action, "txid": txid, "reason": reason}
        moved: Refund = self.request("POST", f"/sandbox/refunds/{id_of(refund)}", body)
        return moved

    def move_payout(
        self, payout: Id, action: str, *, txid: Optional[str] = None, reason: Optional[str] = None
    ) -> Payout:
        """Performs a step of a payout, as of a refund. `live.create_payout` requests one."""
        body = {"action": action, "txid": txid, "reason": reason}
        moved: Payout = self.request("POST", f"/sandbox/payouts/{id_of(payout)}", body)
        return moved

    def account(self, switches: Mapping[str, object]) -> Dict[str, Any]:
        """Changes the account: `account({"feeBps": 0, "maintenance": True})`. Returns the sandbox's state."""
        state: Dict[str, Any] = self.request("PATCH", "/sandbox/account", switches)
        return state

    # Webhooks.

    def receiver(
        self,
        *,
        handler: Optional[Handler] = None,
        endpoint: bool = True,
        format: str = "event",
        types: Optional[Sequence[str]] = None,
        mode: Optional[str] = None,
        secret: Optional[str] = None,
    ) -> Receiver:
        """Returns a receiver in this process: an HTTP server that checks signatures and calls the handler, if any.

        It becomes an endpoint of the account, unless `endpoint` is False, and stops with the sandbox. `format` is event
        or legacy, `types` are the event types and `mode` is test or live; default: all. `secret` signs; default: the
        sandbox's.
        """
        secret = secret or self.webhook_secret
        receiver = Receiver([secret, self.legacy_secret], handler)
        self._receivers.append(receiver)
        if endpoint:
            self._add_endpoint(receiver.url, secret, format, types, mode)
        return receiver

    def inbox(
        self,
        name: str = "inbox",
        *,
        endpoint: bool = True,
        format: str = "event",
        types: Optional[Sequence[str]] = None,
        mode: Optional[str] = None,
        secret: Optional[str] = None,
    ) -> Inbox:
        """Returns a receiver inside the sandbox. The options are those of `receiver`."""
        secret = secret or self.webhook_secret
        inbox = Inbox(self, name, [secret, self.legacy_secret])
        if endpoint:
            self._add_endpoint(inbox.url, secret, format, types, mode)
        return inbox

    def _add_endpoint(
        self, url: str, secret: str, format: str, types: Optional[Sequence[str]], mode: Optional[str]
    ) -> None:
        new = {"url": url, "secret": secret, "format": format, "types": types and list(types), "mode": mode}
        with self._changing_endpoints:
            others = [each for each in self.state()["account"]["endpoints"] if each["url"] != url]
            kept = [{name: value for name, value in each.items() if name != "id"} for each in others]
            self.account({"endpoints": [*kept, new]})

    def delivered(self, *, check: bool = False) -> List[Dict[str, Any]]:
        """Waits until every due webhook was sent, and answered or postponed to a retry.

        Returns the deliveries whose newest attempt has failed, in the order of their events and as `deliveries` does,
        but of any age. With `check` it raises a SandboxError instead, which names each of them.
        """
        self.clock.advance("0s")
        failed: List[Dict[str, Any]] = []
        page: Dict[str, Any] = {"hasMore": True, "nextBefore": None}
        while page["hasMore"]:
            page = self.request("GET", "/sandbox/webhooks", query={"before": page["nextBefore"]})
            failed = list(filter(_has_failed, page["data"])) + failed
        if check and failed:
            count = f"{len(failed)} webhook{'s' if len(failed) > 1 else ''}"
            raise SandboxError("\n".join([f"{count} failed:", *map(_describe_failure, failed)]))
        return failed

    def deliveries(self) -> List[Dict[str, Any]]:
        """Returns the newest webhooks with each attempt, in the order of their events, at most 500."""
        return list(self.request("GET", "/sandbox/webhooks")["data"])

    # The whole sandbox.

    def state(self) -> Dict[str, Any]:
        """Returns the time, the account's switches, the faults and some counts."""
        state: Dict[str, Any] = self.request("GET", "/sandbox")
        return state

    def reset(self) -> None:
        """Resets everything to the start and to real time. Receivers are then no endpoints. Snapshots stay."""
        self.request("POST", "/sandbox/reset")

    def snapshot(self, name: str) -> None:
        """Stores the whole state with the clock, under a name of letters, digits, `.`, `_` and `-`."""
        self.request("POST", f"/sandbox/snapshots/{id_of(name)}")

    def restore(self, name: str) -> None:
        """Restores a snapshot."""
        self.request("POST", f"/sandbox/snapshots/{id_of(name)}/restore")

    def stop(self) -> None:
        """Stops the sandbox and its receivers, and waits for their end. A second call does nothing.

        Raises SandboxError if the sandbox ended by itself and no call has reported that, or ends with an error.
        """
        self._finalizer.detach()
        _end(self._process, self._receivers)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop()


start_coffer = Sandbox
"""Starts a sandbox with the options of Sandbox: `with start_coffer() as coffer:`."""


def _has_failed(delivery: Mapping[str, Any]) -> bool:
    """Returns True if the newest attempt had no answer, or one that is not 2xx."""
    attempts = delivery["attempts"]
    return bool(attempts) and not 200 <= (attempts[-1]["status"] or 0) < 300


def _describe_failure(delivery: Mapping[str, Any]) -> str:
    attempts = delivery["attempts"]
    newest = attempts[-1]
    why = newest["error"] if newest["status"] is None else f"status {newest['status']}"
    then = f"next at {delivery['nextAttemptAt']}" if delivery["nextAttemptAt"] else "the last"
    return f"{delivery['type']} to {delivery['url']}: {why}, attempt {len(attempts)}, {then}"


def _end(process: Process, receivers: List[Receiver]) -> None:
    try:
        process.stop()
    finally:
        for receiver in receivers:
            receiver.close()
