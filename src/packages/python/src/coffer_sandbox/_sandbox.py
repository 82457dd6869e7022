"""One running sandbox: Coffer with a test key, its controls, and its end."""

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

# pytest shows the line of the test, and not these.
__tracebackhide__ = True

# After a call without an answer: how long the sandbox has to be seen to have ended, in seconds.
END_IS_SEEN_WITHIN = 0.25
Self = TypeVar("Self", bound="Coffer")


@dataclass(frozen=True)
class Keys:
    """The keys of a sandbox; they are the same in every one."""

    secret_test: str
    secret_live: str
    public_test: str
    public_live: str
    legacy: str


class Coffer(Api):
    """A sandbox of its own, on a free port. It runs from here to stop(), or to the end of a `with` or of this process.

    Its calls are made with the test key; `coffer.live` makes the same with the live one, on simulated chains too.
    The program is the one that `binary` names, else that of the variable COFFER_BINARY, else that of the wheel.
    `log` says what is logged: error, warn, info, debug (a line for each call) or trace. `start_timeout` is how long
    the start may take, in seconds. `args` are further arguments of `coffer sandbox`.
    Raises SandboxError where the sandbox does not start.
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
        """What deliveries to endpoints are signed with, unless those have a secret of their own."""
        self.legacy_secret: str = ready["legacySecret"]
        """What deliveries to an invoice's own webhook_url are signed with."""
        self.live = _Live(self)
        """The same calls with the live key: payouts need it."""
        self.clock = Clock(self)
        """Time: now, advance, set, freeze."""
        self.faults = Faults(self)
        """What is pretended to be wrong."""
        self._receivers: List[Receiver] = []
        self._finalizer = weakref.finalize(self, _end, self._process, self._receivers)

    @property
    def version(self) -> str:
        """The version of the program."""
        return self._process.version

    @property
    def log(self) -> Log:
        """What the sandbox logs: log.read()."""
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
        """Makes a call and gives the JSON of its answer: `request("GET", "/v1/merchant")`.

        Raises ApiError where Coffer refuses it, NoAnswerError where no answer comes within timeout seconds, and
        SandboxError where the sandbox has ended.
        """
        try:
            return super().request(method, path, body, query=query, key=key, headers=headers, timeout=timeout)
        except NoAnswerError:
            self._process.check_alive(END_IS_SEEN_WITHIN)
            raise

    def state(self) -> JSON:
        """The sandbox's own state, as JSON: time, account, faults and counts."""
        return self.request("GET", "/sandbox")

    # What customers do.

    def send(
        self,
        to: InvoiceOrId,
        amount: Optional[Amount] = None,
        *,
        asset: Optional[str] = None,
        txid: Optional[str] = None,
    ) -> Payment:
        """Puts a payment on a chain, which is seen and not confirmed yet: in whole coins, or what is due."""
        return self._send({"invoice": to if isinstance(to, str) else to.id}, amount, asset, txid)

    def send_to_address(
        self,
        address: str,
        amount: Amount,
        *,
        asset: Optional[str] = None,
        txid: Optional[str] = None,
    ) -> Payment:
        """Puts a payment to an address on a chain: an invoice's, a customer's, or nobody's."""
        return self._send({"address": address}, amount, asset, txid)

    def _send(
        self, to: Mapping[str, object], amount: Optional[Amount], asset: Optional[str], txid: Optional[str]
    ) -> Payment:
        body: Dict[str, object] = {**to, "asset": asset, "txid": txid}
        if amount is not None:
            body["amount"] = to_amount("amount", amount)
        return Payment(self, self.request("POST", "/sandbox/payments", body))

    def pay(self, invoice: InvoiceOrId, amount: Optional[Amount] = None, *, asset: Optional[str] = None) -> Invoice:
        """Pays an invoice: what is due, or an amount in whole coins, seen and confirmed. Answers the invoice."""
        self.send(invoice, amount, asset=asset).confirm()
        return self._read_again(invoice)

    def underpay(self, invoice: InvoiceOrId, *, asset: Optional[str] = None) -> Invoice:
        """Pays half of what is due on a test invoice, and confirms it. Answers the invoice."""
        return self._simulate(invoice, "under", asset)

    def overpay(self, invoice: InvoiceOrId, *, asset: Optional[str] = None) -> Invoice:
        """Pays one and a half times what is due on a test invoice, and confirms it. Answers the invoice."""
        return self._simulate(invoice, "over", asset)

    def pay_late(self, invoice: InvoiceOrId, *, asset: Optional[str] = None) -> Invoice:
        """Moves the clock to just after the invoice's deadline, and pays it then. Answers the invoice."""
        deadline = self._read_again(invoice).expires_at
        if self.clock.now() <= deadline:
            self.clock.set(deadline + timedelta(seconds=1))
        return self.pay(invoice, asset=asset)

    def _simulate(self, invoice: InvoiceOrId, case: str, asset: Optional[str]) -> Invoice:
        path = f"/v1/invoices/{id_of(invoice)}/simulate"
        return Invoice.read(self.request("POST", path, {"case": case, "asset": asset}))

    def _read_again(self, invoice: InvoiceOrId) -> Invoice:
        """An invoice of either mode; an id alone does not say which."""
        if isinstance(invoice, Invoice):
            return self.live.invoice(invoice) if invoice.livemode else self.invoice(invoice)
        try:
            return self.invoice(invoice)
        except ApiError as error:
            if error.code != "not_found":
                raise
        return self.live.invoice(invoice)

    def deposit(self, customer: str, amount: Amount, *, asset: str) -> Deposit:
        """Pays whole coins to a static address of a test customer, and confirms it."""
        body = {"asset": asset, "amount": to_amount("amount", amount)}
        return Deposit.read(self.request("POST", f"/v1/customers/{id_of(customer)}/simulate", body))

    # What the operator does.

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
        """Requests a refund of a paid invoice: of an amount in its currency, or of all that is left."""
        body: Dict[str, object] = {"invoice": invoice if isinstance(invoice, str) else invoice.id}
        if amount is not None:
            body["amount"] = to_amount("amount", amount)
        return Refund.read(
            self.request("POST", "/sandbox/refunds", {**body, "toAddress": to_address, "reason": reason})
        )

    def move_refund(self, refund: Union[Refund, str], action: str, **details: str) -> Refund:
        """Does a step of a refund: approve, process, pay (txid), or fail, reject, cancel (reason)."""
        body = {"action": action, **details}
        return Refund.read(self.request("POST", f"/sandbox/refunds/{id_of(refund)}", body))

    def move_payout(self, payout: Union[Payout, str], action: str, **details: str) -> Payout:
        """Does a step of a payout: approve, process, pay (txid), or fail, reject, cancel (reason)."""
        body = {"action": action, **details}
        return Payout.read(self.request("POST", f"/sandbox/payouts/{id_of(payout)}", body))

    def change_account(self, **switches: Any) -> JSON:
        """Changes the account: `feeBps=0`, `maintenance=True`, `status="suspended"`. Answers the sandbox's state."""
        return self.request("PATCH", "/sandbox/account", switches)

    def change_chain(self, chain: str, *, lagging: bool) -> JSON:
        """Holds a live chain back at this moment, or lets it catch up. Answers how far it has been looked at."""
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
        """Adds an endpoint to the account's: all events, or those of some types, are delivered to it."""
        kept = [
            {name: each[name] for name in ("url", "secret", "format", "types", "mode")}
            for each in self.state()["account"]["endpoints"]
        ]
        new = {"url": url, "secret": secret, "format": format, "types": None if types is None else list(types)}
        self.change_account(endpoints=[*kept, new])

    def inbox(self, name: str, *, as_endpoint: bool = True) -> Inbox:
        """A receiver inside the sandbox, by name; it becomes an endpoint of the account unless told otherwise."""
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
        """A receiver in this process: a real HTTP server, which checks signatures and calls the handler, if any.

        It becomes an endpoint of the account unless told otherwise, and is closed with the sandbox.
        """
        receiver = Receiver([self.webhook_secret, self.legacy_secret], handler)
        self._receivers.append(receiver)
        if as_endpoint:
            self.add_endpoint(receiver.url, types=types)
        return receiver

    def deliveries(self) -> List[Dict[str, Any]]:
        """The newest deliveries with each attempt, as JSON, in the order of their events; at most 500."""
        return list(self.request("GET", "/sandbox/webhooks")["data"])

    # The sandbox as a whole.

    def reset(self) -> None:
        """Takes everything back to the beginning and to real time; snapshots stay."""
        self.request("POST", "/sandbox/reset")

    def snapshot(self, name: str) -> None:
        """Keeps the whole state, with the clock, under a name of letters, digits, `.`, `_` and `-`."""
        self.request("POST", f"/sandbox/snapshots/{id_of(name)}")

    def restore(self, name: str) -> None:
        """Goes back to a snapshot."""
        self.request("POST", f"/sandbox/snapshots/{id_of(name)}/restore")

    def stop(self) -> None:
        """Ends the sandbox and its receivers, and waits for that; nothing is left. The second time it does nothing.

        Raises SandboxError where the sandbox had ended by itself and no call has told so, or does not end well.
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
    """Live mode. It makes its calls as the sandbox does, so that an end of that is told."""

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
