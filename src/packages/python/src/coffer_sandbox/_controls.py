"""The sandbox's controls: its clock, payments on its chains, faults, and its own receiver."""

import json
import math
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Mapping, Optional, Union

from ._api import Api, id_of
from ._models import Amount, Event, to_amount, to_time
from ._signature import verify_signature
from .errors import WaitTimeoutError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Maximum wait of one request to the control, in seconds.
ASK_SECONDS_MAX = 30.0
# Pause between reads if less than a second is left, in seconds.
PAUSE_SECONDS = 0.05


class Clock:
    """The sandbox's clock: real time, moved forward. Signatures always use real time."""

    def __init__(self, coffer: Api) -> None:
        self._coffer = coffer

    def now(self) -> datetime:
        """Returns the current time, in UTC."""
        return to_time(self._coffer.request("GET", "/sandbox")["time"])

    def advance(self, by: Union[timedelta, str]) -> datetime:
        """Moves it forward by whole seconds or a text like `1d2h30m5s`, at most 3650 days. Returns the new time.

        When it returns, everything due on the way (expiry, retries) is done, each at its own time.
        """
        if isinstance(by, timedelta):
            if by.microseconds or by < timedelta(0):
                raise ValueError(f"the clock moves forward by whole seconds, not by {by}")
            by = f"{by.days * 86400 + by.seconds}s"
        return self._move({"advance": by})

    def set(self, to: Union[datetime, str]) -> datetime:
        """Moves it forward to a time, which must have a zone and not have passed."""
        if isinstance(to, datetime):
            if to.tzinfo is None:
                raise ValueError("the moment needs a zone, like tzinfo=timezone.utc")
            to = to.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return self._move({"set": to})

    def freeze(self) -> datetime:
        """Stops it until it is moved."""
        return self._move({"frozen": True})

    def unfreeze(self) -> datetime:
        """Lets it run again."""
        return self._move({"frozen": False})

    def _move(self, how: Mapping[str, object]) -> datetime:
        # A year of retries takes a while on a busy machine.
        answer = self._coffer.request("POST", "/sandbox/clock", dict(how), timeout=600.0)
        return to_time(answer["time"])


class Payment:
    """A payment on a simulated chain. It is seen when sent, and counts when it is confirmed."""

    def __init__(self, coffer: Api, answer: Mapping[str, Any]) -> None:
        self._coffer = coffer
        self.id: str = answer["id"]
        self.txid: str = answer["txid"]
        self.state: str = answer["state"]
        """The last known state: `seen`, `confirmed`, `dropped`, `own` or `unmatched`."""
        self.confirmations: Optional[int] = answer["confirmations"]
        """The last known number of confirmations, or None once it is confirmed or dropped."""
        self.confirmations_needed: Union[int, str, None] = answer["confirmationsNeeded"]
        """The number that it needs, or `final` if its block must be final."""

    def __repr__(self) -> str:
        return f"Payment(id={self.id!r}, txid={self.txid!r}, state={self.state!r})"

    def set_confirmations(self, count: int) -> "Payment":
        """Gives it this number of confirmations, not fewer than it has. It is confirmed by as many as it needs."""
        return self._become({"confirmations": count})

    def confirm(self) -> "Payment":
        """Confirms it: its block is deep enough."""
        return self._become({"state": "confirmed"})

    def drop(self) -> "Payment":
        """Drops it from the chain, before or after its confirmation."""
        return self._become({"state": "dropped"})

    def reorganise(self) -> "Payment":
        """Removes its block by a reorg: it is seen again, and not confirmed."""
        return self._become({"state": "orphaned"})

    def reappear(self) -> "Payment":
        """Makes a dropped payment appear again."""
        return self._become({"state": "seen"})

    def replace(self, amount: Optional[Amount] = None, txid: Optional[str] = None) -> "Payment":
        """Replaces it by another payment of an amount in whole coins, and drops it. Returns the other."""
        body: Dict[str, object] = {"state": "replaced", "txid": txid}
        if amount is not None:
            body["amount"] = to_amount("amount", amount)
        other = Payment(self._coffer, self._move(body))
        self.state, self.confirmations, self.confirmations_needed = "dropped", None, None
        return other

    def _become(self, body: Mapping[str, object]) -> "Payment":
        answer = self._move(body)
        self.state = answer["state"]
        self.confirmations, self.confirmations_needed = answer["confirmations"], answer["confirmationsNeeded"]
        return self

    def _move(self, body: Mapping[str, object]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._coffer.request("POST", f"/sandbox/payments/{id_of(self)}", dict(body))
        return answer


class Faults:
    """Simulated faults. A route is a method and a path of the document: `POST /v1/invoices`."""

    def __init__(self, coffer: Api) -> None:
        self._coffer = coffer

    def refuse(self, route: Optional[str] = None, *, status: int = 503, times: int = 1) -> None:
        """Makes the next requests to a route, or to any, fail with a status of 400 to 599, without effect."""
        self._add({"route": route, "status": status, "times": times})

    def delay(self, route: Optional[str] = None, *, by_ms: int, times: int = 1) -> None:
        """Delays the responses to the next requests to a route, or to any, by at most 60000 milliseconds."""
        self._add({"route": route, "delayMs": by_ms, "times": times})

    def drop_answer(self, route: Optional[str] = None, *, times: int = 1) -> None:
        """Performs the next requests to a route, or to any, but closes the connection without a response."""
        self._add({"route": route, "dropAnswer": True, "times": times})

    def empty_pool(self) -> None:
        """Leaves no address for new customers and newly chosen coins, until clear()."""
        self._add({"pool": "empty"})

    def stale_rates(self) -> None:
        """Leaves no rate fresh enough to quote a coin of live mode, until clear()."""
        self._add({"rates": "stale"})

    def clear(self) -> None:
        """Clears all faults."""
        self._coffer.request("DELETE", "/sandbox/faults")

    def _add(self, fault: Mapping[str, object]) -> None:
        self._coffer.request("POST", "/sandbox/faults", dict(fault))


@dataclass(frozen=True)
class Webhook:
    """A webhook as received."""

    headers: Dict[str, str]
    """The headers, with lower-case names."""
    body: bytes
    """The raw body, which is signed."""

    @property
    def json(self) -> Dict[str, Any]:
        """The JSON of the body. In the legacy format it is not an event."""
        return dict(json.loads(self.body))

    @property
    def event(self) -> Event:
        """The event in the body. Raises CofferError if the body has the legacy format."""
        return Event.read(self.json)

    @property
    def type(self) -> str:
        """The event type, in either format."""
        told = self.json
        return str(told.get("type") or told.get("event"))

    def verify(self, secret: str) -> None:
        """Raises SignatureError if it is not signed with this secret.

        The age is not checked: a test may have stopped the clock for the comparison.
        """
        verify_signature(self.body, self.headers, secret, tolerance=math.inf)


class Inbox:
    """A receiver inside the sandbox, for tests that need no server."""

    def __init__(self, coffer: Api, name: str) -> None:
        self._coffer = coffer
        self._path = f"/sandbox/inbox/{id_of(name)}"
        self.url = coffer.url + self._path
        """The URL for an endpoint or a webhook_url."""

    def messages(self, type: Optional[str] = None) -> List[Webhook]:
        """Returns the received webhooks, oldest first: all, or those of a type."""
        return self._read({"type": type})

    def wait(self, type: Optional[str] = None, *, timeout: float = 30.0) -> Webhook:
        """Returns the first received webhook of a type, or of any. Waits for it if necessary.

        Raises WaitTimeoutError after timeout seconds.
        """
        found = self.messages(type)
        left = timeout
        # The time is counted, because a test may have stopped Python's clock.
        while not found and left > 0:
            # The control accepts whole seconds.
            waited = float(math.floor(min(left, ASK_SECONDS_MAX))) or min(left, PAUSE_SECONDS)
            if waited >= 1:
                found = self._read({"type": type, "wait": f"{waited:.0f}s"})
            else:
                threading.Event().wait(waited)
                found = self.messages(type)
            left -= waited
        if not found:
            had = ", ".join(message.type for message in self.messages()) or "nothing"
            raise WaitTimeoutError(f"no {type or 'webhook'} within {timeout:g} s; the inbox was sent: {had}")
        return found[0]

    def answer(self, status: int = 200, *, times: Optional[int] = None, delay_ms: int = 0) -> None:
        """Sets the response to the next webhooks, or from now on."""
        self._coffer.request("PUT", self._path, {"status": status, "times": times, "delayMs": delay_ms})

    def clear(self) -> None:
        """Empties the inbox."""
        self._coffer.request("DELETE", self._path)

    def _read(self, query: Mapping[str, object]) -> List[Webhook]:
        answer = self._coffer.request("GET", self._path, query=query, timeout=ASK_SECONDS_MAX + 30.0)
        return [Webhook(dict(each["headers"]), each["body"].encode()) for each in answer["data"]]
