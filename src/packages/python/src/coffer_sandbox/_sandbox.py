"""A running sandbox: Coffer with a test key, its controls, and its end."""

import weakref
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, TypeVar, Union

from ._api import Api, InvoiceOrId, id_of
from ._controls import Clock, Faults, Inbox, Payment
from ._http import JSON
from ._models import Amount, Deposit, Invoice, Payout, Refund, to_amount
from ._process import Log, Process
from ._receiver import Handler, Receiver
from .errors import ApiError, NoAnswerError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Maximum wait for the sandbox's end after a request without a response, in seconds.
END_IS_SEEN_WITHIN = 0.25
Self = TypeVar("Self", bound="Coffer")


@dataclass(frozen=True)
class Keys:
    """The keys of a sandbox, the same in every sandbox."""

    secret_test: str
    secret_live: str
    public_test: str
    public_live: str
    legacy: str


class Coffer(Api):
    """A new sandbox on a free port. It runs until stop(), or until the end of a `with` block or of this process.

    Its methods use the test key. `coffer.live` has the same methods with the live key, also on simulated chains.
    `binary` is the program. The default is the variable COFFER_BINARY, else the wheel's program.
    `log` is the log level: error, warn, info, debug (a line for each request) or trace. `start_timeout` is the time
    limit of the start, in seconds. `args` are further arguments of `coffer sandbox`.
    Raises SandboxError if the sandbox does not start.
    """

    def __init__(
        self,
        binary: Optional[str] = None,
        *,
        log: str = "debug",
        start_timeout: float = 60.0,
        args: Sequence[str] = (),
    ) -> None:
        self._process = Process(binary, log, start_timeout, args)
        ready = self._process.ready
        keys: Mapping[str, str] = ready["keys"]
        self.keys = Keys(
            keys["secretTest"], keys["secretLive"], keys["publicTest"], keys["publicLive"], keys["legacy"]
        )
        super().__init__("http://" + ready["listen"], self.keys.secret_test)
        self._process.log.title = f"Coffer's log ({self.url})"
        self.webhook_secret: str = ready["webhookSecret"]
        """The secret that signs webhooks to endpoints without their own secret."""
        self.legacy_secret: str = ready["legacySecret"]
        """The secret that signs webhooks to an invoice's own webhook_url."""
        self.live = _Live(self)
        """The same operations with the live key, which payouts need."""
        self.clock = Clock(self)
        """The clock: now, advance, set, freeze."""
        self.faults = Faults(self)
        """Simulated faults."""
        self._receivers: List[Receiver] = []
        self._finalizer = weakref.finalize(self, _end, self._process, self._receivers)

    @property
    def version(self) -> str:
        """The version of the program."""
        return self._process.version

    @property
    def log(self) -> Log:
        """The sandbox's log: log.read()."""
        return self._process.log

    def request(
        self,
        method: str,
        path: str,
        body: JSON = None,
        *,
        query: Optional[Mapping[str, object]] = None,
        key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 60.0,
    ) -> JSON:
        """Sends a request and returns the JSON of its response: `request("GET", "/v1/merchant")`.

        Raises ApiError if Coffer refuses it, NoAnswerError if no response comes within timeout seconds, and
        SandboxError if the sandbox has ended.
        """
        try:
            return super().request(method, path, body, query=query, key=key, headers=headers, timeout=timeout)
        except NoAnswerError:
            self._process.check_alive(END_IS_SEEN_WITHIN)
            raise

    def state(self) -> JSON:
        """Returns the sandbox's state as JSON: time, account, faults and counts."""
        return self.request("GET", "/sandbox")

    # Actions of customers.

    def send(
        self,
        to: InvoiceOrId,
        amount: Optional[Amount] = None,
        *,
        asset: Optional[str] = None,
        txid: Optional[str] = None,
    ) -> Payment:
        """Puts an unconfirmed payment on a chain: of an amount in whole coins, or of the amount due."""
        return self._send({"invoice": to if isinstance(to, str) else to.id}, amount, asset, txid)

    def send_to_address(
        self,
        address: str,
        amount: Amount,
        *,
        asset: Optional[str] = None,
        txid: Optional[str] = None,
    ) -> Payment:
        """Puts a payment to an address on a chain: an invoice's, a customer's, or an unknown one."""
        return self._send({"address": address}, amount, asset, txid)

    def _send(
        self, to: Mapping[str, object], amount: Optional[Amount], asset: Optional[str], txid: Optional[str]
    ) -> Payment:
        body: Dict[str, object] = {**to, "asset": asset, "txid": txid}
        if amount is not None:
            body["amount"] = to_amount("amount", amount)
        return Payment(self, self.request("POST", "/sandbox/payments", body))

    def pay(self, invoice: InvoiceOrId, amount: Optional[Amount] = None, *, asset: Optional[str] = None) -> Invoice:
        """Pays the amount due, or an amount in whole coins, and confirms the payment. Returns the invoice."""
        self.send(invoice, amount, asset=asset).confirm()
        return self._read_again(invoice)

    def underpay(self, invoice: InvoiceOrId, *, asset: Optional[str] = None) -> Invoice:
        """Pays half of the amount due on a test invoice and confirms it. Returns the invoice."""
        return self._simulate(invoice, "under", asset)

    def overpay(self, invoice: InvoiceOrId, *, asset: Optional[str] = None) -> Invoice:
        """Pays one and a half times the amount due on a test invoice and confirms it. Returns the invoice."""
        return self._simulate(invoice, "over", asset)

    def pay_late(self, invoice: InvoiceOrId, *, asset: Optional[str] = None) -> Invoice:
        """Moves the clock to just after the invoice's deadline and then pays. Returns the invoice."""
        deadline = self._read_again(invoice).expires_at
        if self.clock.now() <= deadline:
            self.clock.set(deadline + timedelta(seconds=1))
        return self.pay(invoice, asset=asset)

    def _simulate(self, invoice: InvoiceOrId, case: str, asset: Optional[str]) -> Invoice:
        path = f"/v1/invoices/{id_of(invoice)}/simulate"
        return Invoice.read(self.request("POST", path, {"case": case, "asset": asset}))

    def _read_again(self, invoice: InvoiceOrId) -> Invoice:
        """Returns an invoice of either mode. An id alone does not tell the mode."""
        if isinstance(invoice, Invoice):
            return self.live.invoice(invoice) if invoice.livemode else self.invoice(invoice)
        try:
            return self.invoice(invoice)
        except ApiError as error:
            if error.code != "not_found":
                raise
        return self.live.invoice(invoice)

    def deposit(self, customer: str, amount: Amount, *, asset: str) -> Deposit:
        """Pays an amount in whole coins to a static address of a test customer, and confirms it."""
        body = {"asset": asset, "amount": to_amount("amount", amount)}
        return Deposit.read(self.request("POST", f"/v1/customers/{id_of(customer)}/simulate", body))

    # Actions of the operator.

    def cancel(self, invoice: InvoiceOrId) -> Invoice:
        """Cancels an invoice that has no payment."""
        return Invoice.read(self.request("POST", f"/sandbox/invoices/{id_of(invoice)}/cancel"))

    def create_refund(
        self,
        invoice: InvoiceOrId,
        amount: Optional[Amount] = None,
        *,
        to_address: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> Refund:
        """Requests a refund of a paid invoice: an amount in its currency, or everything not refunded yet."""
        body: Dict[str, object] = {"invoice": invoice if isinstance(invoice, str) else invoice.id}
        if amount is not None:
            body["amount"] = to_amount("amount", amount)
        return Refund.read(
            self.request("POST", "/sandbox/refunds", {**body, "toAddress": to_address, "reason": reason})
        )

    def move_refund(self, refund: Union[Refund, str], action: str, **details: str) -> Refund:
        """Performs a step of a refund: approve, process, pay (txid), or fail, reject, cancel (reason)."""
        body = {"action": action, **details}
        return Refund.read(self.request("POST", f"/sandbox/refunds/{id_of(refund)}", body))

    def move_payout(self, payout: Union[Payout, str], action: str, **details: str) -> Payout:
        """Performs a step of a payout: approve, process, pay (txid), or fail, reject, cancel (reason)."""
        body = {"action": action, **details}
        return Payout.read(self.request("POST", f"/sandbox/payouts/{id_of(payout)}", body))

    def change_account(self, **switches: Any) -> JSON:
        """Changes the account: `feeBps=0`, `maintenance=True`, `status="suspended"`. Returns the sandbox's state."""
        return self.request("PATCH", "/sandbox/account", switches)

    def change_chain(self, chain: str, *, lagging: bool) -> JSON:
        """Stops a live chain at this time, or lets it catch up. Returns how far it has been read."""
        return self.request("PATCH", f"/sandbox/chains/{id_of(chain)}", {"lagging": lagging})

    # Webhooks.

    def add_endpoint(
        self,
        url: str,
        *,
        secret: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        format: str = "event",
    ) -> None:
        """Adds an endpoint to the account, for all events or for some types."""
        kept = [
            {name: each[name] for name in ("url", "secret", "format", "types", "mode")}
            for each in self.state()["account"]["endpoints"]
        ]
        new = {"url": url, "secret": secret, "format": format, "types": None if types is None else list(types)}
        self.change_account(endpoints=[*kept, new])

    def inbox(self, name: str, *, as_endpoint: bool = True) -> Inbox:
        """Returns a receiver inside the sandbox, by name. It becomes an endpoint of the account by default."""
        inbox = Inbox(self, name)
        if as_endpoint and all(each["url"] != inbox.url for each in self.state()["account"]["endpoints"]):
            self.add_endpoint(inbox.url)
        return inbox

    def receive_webhooks(
        self,
        handler: Optional[Handler] = None,
        *,
        types: Optional[Sequence[str]] = None,
        as_endpoint: bool = True,
    ) -> Receiver:
        """Returns a receiver in this process: an HTTP server that checks signatures and calls the handler, if any.

        It becomes an endpoint of the account by default, and stops with the sandbox.
        """
        receiver = Receiver([self.webhook_secret, self.legacy_secret], handler)
        self._receivers.append(receiver)
        if as_endpoint:
            self.add_endpoint(receiver.url, types=types)
        return receiver

    def deliveries(self) -> List[Dict[str, Any]]:
        """Returns the newest webhooks with each attempt, as JSON, in the order of their events, at most 500."""
        return list(self.request("GET", "/sandbox/webhooks")["data"])

    # Actions on the whole sandbox.

    def reset(self) -> None:
        """Resets everything to the start and to real time. Snapshots stay."""
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


class _Live(Api):
    """Live mode. It sends requests through the sandbox, so that an end of the sandbox is reported."""

    def __init__(self, coffer: Coffer) -> None:
        super().__init__(coffer.url, coffer.keys.secret_live)
        self._coffer = weakref.ref(coffer)

    def request(
        self,
        method: str,
        path: str,
        body: JSON = None,
        *,
        query: Optional[Mapping[str, object]] = None,
        key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: float = 60.0,
    ) -> JSON:
        coffer = self._coffer()
        if coffer is None:
            raise ReferenceError("the sandbox is gone")
        return coffer.request(
            method, path, body, query=query, key=key or self.key, headers=headers, timeout=timeout
        )


def _end(process: Process, receivers: List[Receiver]) -> None:
    try:
        process.stop()
    finally:
        for receiver in receivers:
            receiver.close()
