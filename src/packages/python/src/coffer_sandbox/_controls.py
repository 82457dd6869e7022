"""The sandbox's clock, the payments on its chains, and its faults."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Union

from coffer_client import ApiError, Client
from coffer_client._client import Id, id_of

if TYPE_CHECKING:
    from coffer_client.types import Invoice

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

Payment = Dict[str, Any]
"""A payment on a simulated chain: `id`, `txid`, `state`, `confirmations`, `confirmationsNeeded`."""


def to_time(text: str) -> datetime:
    """Parses a time of Coffer, which is in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Clock:
    """The sandbox's clock: real time, moved forward. Signatures always use real time."""

    def __init__(self, coffer: Client) -> None:
        self._coffer = coffer

    def get(self) -> datetime:
        """Returns the current time, in UTC."""
        return to_time(self._coffer.request("GET", "/sandbox")["time"])

    def advance(self, duration: str) -> datetime:
        """Moves it forward by a duration like `1d2h30m5s`, at most 3650 days. Returns the new time.

        When it returns, everything due on the way (expiry, retries) is done, each at its own time.
        """
        return self._move({"advance": duration})

    def set(self, time: Union[datetime, str]) -> datetime:
        """Moves it forward to a time, which must have a zone and not have passed."""
        if isinstance(time, datetime):
            if time.tzinfo is None:
                raise ValueError("the time needs a zone, like tzinfo=timezone.utc")
            time = time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return self._move({"set": time})

    def freeze(self) -> datetime:
        """Stops it until it is moved."""
        return self._move({"frozen": True})

    def unfreeze(self) -> datetime:
        """Lets it run again."""
        return self._move({"frozen": False})

    def _move(self, how: Mapping[str, object]) -> datetime:
        # A year of retries takes a while on a busy machine.
        return to_time(self._coffer.request("POST", "/sandbox/clock", how, timeout=600.0)["time"])


class Payments:
    """Payments on the simulated chains, of either mode. One is seen first, and counts when it is confirmed.

    `asset` is the coin if the invoice has none yet; default: the first that accepts the amount. `txid` is the
    transaction id; default: a new one. With `confirm=False` the payment is only seen.
    """

    def __init__(self, test: Client, live: Client, clock: Clock) -> None:
        self._coffer, self._live, self._clock = test, live, clock

    def see(self, payment: Mapping[str, Any]) -> Payment:
        """Puts a payment to an `invoice` or an `address` on a chain; without `amount`, of what is due. It is seen."""
        answer: Payment = self._coffer.request("POST", "/sandbox/payments", payment)
        return answer

    def exact(
        self, invoice: Id, *, asset: Optional[str] = None, txid: Optional[str] = None, confirm: bool = True
    ) -> Payment:
        """Pays the amount due."""
        return self._pay(invoice, None, asset, txid, confirm)

    def under(
        self, invoice: Id, *, asset: Optional[str] = None, txid: Optional[str] = None, confirm: bool = True
    ) -> Payment:
        """Pays half of the amount due."""
        return self._pay(invoice, self._halves(invoice, 1, asset), asset, txid, confirm)

    def over(
        self, invoice: Id, *, asset: Optional[str] = None, txid: Optional[str] = None, confirm: bool = True
    ) -> Payment:
        """Pays one and a half times the amount due."""
        return self._pay(invoice, self._halves(invoice, 3, asset), asset, txid, confirm)

    def late(
        self, invoice: Id, *, asset: Optional[str] = None, txid: Optional[str] = None, confirm: bool = True
    ) -> Payment:
        """Moves the clock to a second after the invoice's deadline, unless it has passed, and then pays."""
        then = to_time(self.invoice(invoice)["expiresAt"]) + timedelta(seconds=1)
        if self._clock.get() < then:
            self._clock.set(then)
        return self._pay(invoice, None, asset, txid, confirm)

    def amount(
        self,
        invoice: Id,
        amount: str,
        *,
        asset: Optional[str] = None,
        txid: Optional[str] = None,
        confirm: bool = True,
    ) -> Payment:
        """Pays an amount in whole coins."""
        return self._pay(invoice, amount, asset, txid, confirm)

    def set_confirmations(self, payment: Id, count: int) -> Payment:
        """Gives it this number of confirmations, not fewer than it has. It is confirmed by as many as it needs."""
        return self._move(payment, {"confirmations": count})

    def confirm(self, payment: Id) -> Payment:
        """Confirms it: its block is deep enough."""
        return self._move(payment, {"state": "confirmed"})

    def drop(self, payment: Id) -> Payment:
        """Drops it from the chain, before or after its confirmation."""
        return self._move(payment, {"state": "dropped"})

    def reappear(self, payment: Id) -> Payment:
        """Makes a dropped payment appear again."""
        return self._move(payment, {"state": "seen"})

    def replace(self, payment: Id, *, amount: Optional[str] = None, txid: Optional[str] = None) -> Payment:
        """Drops it and puts another in its place, of an amount in whole coins or of the same. Returns the other."""
        return self._move(payment, {"state": "replaced", "amount": amount, "txid": txid})

    def reorganise(self, payment: Id) -> Payment:
        """Removes its block by a reorg: it is seen again, and not confirmed."""
        return self._move(payment, {"state": "orphaned"})

    def invoice(self, invoice: Id) -> Invoice:
        """Returns the current invoice, of either mode. An id alone does not tell the mode."""
        try:
            return self._coffer.get_invoice(invoice)
        except ApiError as error:
            if error.code != "not_found":
                raise
        return self._live.get_invoice(invoice)

    def _pay(
        self, invoice: Id, amount: Optional[str], asset: Optional[str], txid: Optional[str], confirm: bool
    ) -> Payment:
        found = invoice["id"] if isinstance(invoice, Mapping) else invoice
        seen = self.see({"invoice": found, "amount": amount, "asset": asset, "txid": txid})
        return self.confirm(seen) if confirm else seen

    def _move(self, payment: Id, body: Mapping[str, object]) -> Payment:
        answer: Payment = self._coffer.request("POST", f"/sandbox/payments/{id_of(payment)}", body)
        return answer

    def _halves(self, of: Id, count: int, asset: Optional[str]) -> str:
        """Returns `count` halves of the amount due in whole coins. Chooses a coin if the invoice has none."""
        invoice = self.invoice(of)
        client: Client = self._live if invoice["livemode"] else self._coffer
        decimals = {coin["id"]: coin["decimals"] for coin in client.list_currencies()}
        wanted = [asset] if asset else list(decimals)
        while invoice["asset"] is None:
            try:
                invoice = client.select_coin(invoice, {"asset": wanted.pop(0)})
            except ApiError as error:
                if error.code != "coin_unavailable" or not wanted:
                    raise
        expected = Fraction(invoice["amountExpected"] or 0)
        due = expected - Fraction(invoice["amountReceived"] or 0)
        unit = 10 ** decimals[invoice["asset"]]
        whole, part = divmod(max(1, int((due if due > 0 else expected) * count / 2 * unit)), unit)
        return f"{whole}.{part:0{decimals[invoice['asset']]}d}"


class Faults:
    """Simulated faults. A route is a method and a path of the document: `POST /v1/invoices`. None is any route."""

    def __init__(self, coffer: Client) -> None:
        self._coffer = coffer

    def add(self, fault: Mapping[str, object]) -> None:
        """Adds a fault in the form of the control."""
        self._coffer.request("POST", "/sandbox/faults", fault)

    def refuse(self, route: Optional[str] = None, *, status: int = 503, times: int = 1) -> None:
        """Makes the next requests to a route fail with a status of 400 to 599, without effect."""
        self.add({"route": route, "status": status, "times": times})

    def delay(self, route: Optional[str] = None, *, delay_ms: int, times: int = 1) -> None:
        """Delays the responses to the next requests to a route by at most 60000 milliseconds."""
        self.add({"route": route, "delayMs": delay_ms, "times": times})

    def drop_answer(self, route: Optional[str] = None, *, times: int = 1) -> None:
        """Performs the next requests to a route, but closes the connection without a response."""
        self.add({"route": route, "dropAnswer": True, "times": times})

    def empty_pool(self) -> None:
        """Leaves no address for new customers and newly chosen coins, until clear()."""
        self.add({"pool": "empty"})

    def stale_rates(self) -> None:
        """Leaves no rate fresh enough to quote a coin of live mode, until clear()."""
        self.add({"rates": "stale"})

    def shuffle_deliveries(self) -> None:
        """Shuffles the webhooks that wait for a receiver, until clear(). Those of `coffer serve` have no order."""
        self.add({"deliveries": "shuffled"})

    def clear(self) -> None:
        """Clears all faults."""
        self._coffer.request("DELETE", "/sandbox/faults")
