"""The sandbox's controls: its clock, payments on its chains, what is wrong with it, and its own receiver."""

import json
import math
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

from ._api import id_of
from ._models import Amount, Event, to_amount, to_time
from ._signature import verify_signature
from .errors import WaitTimeoutError

# pytest shows the line of the test, and not these.
__tracebackhide__ = True

# How long the control is asked to wait at once, in seconds.
ASK_SECONDS_MAX = 30.0
# The pause between reads where less than a second is left.
PAUSE_SECONDS = 0.05

if TYPE_CHECKING:
    from ._sandbox import Coffer


class Clock:
    """The sandbox's clock: real time, moved forward. Signatures are of real time all the same."""

    def __init__(self, coffer: "Coffer") -> None:
        self._coffer = coffer

    def now(self) -> datetime:
        """The time that it shows, in UTC."""
        return to_time(self._coffer.state()["time"])

    def advance(self, by: Union[timedelta, str]) -> datetime:
        """Moves it forward by whole seconds or a text like `1d2h30m5s`, at most 3650 days. Answers the new time.

        What falls due on the way (expiry, retries) is done, each at its own time, when this returns.
        """
        if isinstance(by, timedelta):
            if by.microseconds or by < timedelta(0):
                raise ValueError(f"the clock moves forward by whole seconds, not by {by}")
            by = f"{by.days * 86400 + by.seconds}s"
        return self._move({"advance": by})

    def set(self, to: Union[datetime, str]) -> datetime:
        """Moves it forward to a moment, which must have a zone and not have passed."""
        if isinstance(to, datetime):
            if to.tzinfo is None:
                raise ValueError("the moment needs a zone, like tzinfo=timezone.utc")
            to = to.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return self._move({"set": to})

    def freeze(self) -> datetime:
        """Stops it: it moves only when it is told to."""
        return self._move({"frozen": True})

    def unfreeze(self) -> datetime:
        """Lets it run on."""
        return self._move({"frozen": False})

    def _move(self, how: Mapping[str, object]) -> datetime:
        # A year of retries takes a while on a machine that is busy.
        answer = self._coffer.request("POST", "/sandbox/clock", dict(how), timeout=600.0)
        return to_time(answer["time"])


class Payment:
    """A payment on a simulated chain. It is seen when it is sent, and counts once it is confirmed."""

    def __init__(self, coffer: "Coffer", answer: Mapping[str, Any]) -> None:
        self._coffer = coffer
        self.id: str = answer["id"]
        self.txid: str = answer["txid"]
        self.state: str = answer["state"]
        """`seen`, `confirmed`, `dropped`, `own` or `unmatched`, as it was told last."""

    def __repr__(self) -> str:
        return f"Payment(id={self.id!r}, txid={self.txid!r}, state={self.state!r})"

    def confirm(self) -> "Payment":
        """Its block is deep enough: it counts."""
        return self._become({"state": "confirmed"})

    def drop(self) -> "Payment":
        """It vanishes from the chain, before or after it was confirmed."""
        return self._become({"state": "dropped"})

    def reorganise(self) -> "Payment":
        """Its block is gone from the chain: it is seen again, and not confirmed."""
        return self._become({"state": "orphaned"})

    def reappear(self) -> "Payment":
        """It was dropped, and is seen again."""
        return self._become({"state": "seen"})

    def replace(self, amount: Optional[Amount] = None, txid: Optional[str] = None) -> "Payment":
        """Another takes its place, in whole coins: this one is dropped. Answers the other."""
        body: Dict[str, object] = {"state": "replaced", "txid": txid}
        if amount is not None:
            body["amount"] = to_amount("amount", amount)
        other = Payment(self._coffer, self._move(body))
        self.state = "dropped"
        return other

    def _become(self, body: Mapping[str, object]) -> "Payment":
        self.state = self._move(body)["state"]
        return self

    def _move(self, body: Mapping[str, object]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._coffer.request("POST", f"/sandbox/payments/{id_of(self)}", dict(body))
        return answer


class Faults:
    """What is pretended to be wrong. A route is a method and a path of the document: `POST /v1/invoices`."""

    def __init__(self, coffer: "Coffer") -> None:
        self._coffer = coffer

    def refuse(self, route: Optional[str] = None, *, status: int = 503, times: int = 1) -> None:
        """The next calls of a route, or of any, are answered with a status of 400 to 599, and do nothing."""
        self._add({"route": route, "status": status, "times": times})

    def delay(self, route: Optional[str] = None, *, by_ms: int, times: int = 1) -> None:
        """The next calls of a route, or of any, are answered some milliseconds later, at most 60000."""
        self._add({"route": route, "delayMs": by_ms, "times": times})

    def drop_answer(self, route: Optional[str] = None, *, times: int = 1) -> None:
        """The next calls of a route, or of any, are done, but get no answer: the connection is closed."""
        self._add({"route": route, "dropAnswer": True, "times": times})

    def empty_pool(self) -> None:
        """There is no address for new customers and newly picked coins, until clear()."""
        self._add({"pool": "empty"})

    def stale_rates(self) -> None:
        """No rate is fresh enough to quote a coin of live mode, until clear()."""
        self._add({"rates": "stale"})

    def clear(self) -> None:
        """Ends all faults."""
        self._coffer.request("DELETE", "/sandbox/faults")

    def _add(self, fault: Mapping[str, object]) -> None:
        self._coffer.request("POST", "/sandbox/faults", dict(fault))


@dataclass(frozen=True)
class Webhook:
    """A delivery, as a receiver got it."""

    headers: Dict[str, str]
    """With names in small letters."""
    body: bytes
    """The raw body, which is what is signed."""

    @property
    def json(self) -> Dict[str, Any]:
        """The body's JSON. In the legacy format it is no event."""
        return dict(json.loads(self.body))

    @property
    def event(self) -> Event:
        """The event in the body. Raises CofferError where the body is of the legacy format."""
        return Event.read(self.json)

    @property
    def type(self) -> str:
        """The type of its event, in either format."""
        told = self.json
        return str(told.get("type") or told.get("event"))

    def verify(self, secret: str) -> None:
        """Raises SignatureError where it is not signed with this secret.

        No time is too old: a test may have stopped the clock that it would be compared with.
        """
        verify_signature(self.body, self.headers, secret, tolerance=math.inf)


class Inbox:
    """A receiver inside the sandbox, for tests that need no server of their own."""

    def __init__(self, coffer: "Coffer", name: str) -> None:
        self._coffer = coffer
        self._path = f"/sandbox/inbox/{id_of(name)}"
        self.url = coffer.url + self._path
        """What an endpoint or a webhook_url is pointed at."""

    def messages(self, type: Optional[str] = None) -> List[Webhook]:
        """What it was sent, oldest first: all, or those of a type."""
        return self._read({"type": type})

    def wait(self, type: Optional[str] = None, *, timeout: float = 30.0) -> Webhook:
        """The first that it was sent, of a type or of any; waits for it where there is none yet.

        Raises WaitTimeoutError after timeout seconds.
        """
        found = self.messages(type)
        left = timeout
        # What was waited is counted, as a test may have stopped the clock of Python.
        while not found and left > 0:
            # The control takes whole seconds.
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
        """What it answers to the next deliveries, or from now on."""
        self._coffer.request("PUT", self._path, {"status": status, "times": times, "delayMs": delay_ms})

    def clear(self) -> None:
        """Empties it."""
        self._coffer.request("DELETE", self._path)

    def _read(self, query: Mapping[str, object]) -> List[Webhook]:
        answer = self._coffer.request("GET", self._path, query=query, timeout=ASK_SECONDS_MAX + 30.0)
        return [Webhook(dict(each["headers"]), each["body"].encode()) for each in answer["data"]]
