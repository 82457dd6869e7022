"""The operations of Coffer's interface for merchants: one method for each, with the names of its document."""

# The answers have the types that the document says.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import http.client
import json
import random
import re
import time
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

from ._errors import ApiError, NoAnswerError

if TYPE_CHECKING:
    from . import types

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

JSON = Any
"""The values of a JSON text: dict, list, str, int, float, bool or None."""
Id = Union[str, Mapping[str, object]]
"""An id, or the object that has it."""

# Pauses before the second, third and any further attempt, in seconds.
PAUSES = (0.25, 0.5, 1.0)
# Longest Retry-After that is waited for, in seconds.
RETRY_AFTER_MAX = 30
# What may stand at the end of Coffer's address. A host may be named v1.
ADDRESS_END = re.compile(r"(?<=[^/])(/v1)?/*$")
# Items of one page of a list.
PAGE_LIMIT = 100


def id_of(value: Id) -> str:
    """Returns an id, or the id of an object, as a part of a path."""
    found = value.get("id") if isinstance(value, Mapping) else value
    if not isinstance(found, str):
        raise TypeError(f"an id must be a str, or a dict that has it as id, not {type(value).__name__}")
    if found in ("", ".", ".."):
        raise ValueError(f"an id must not be {found!r}")
    return quote(found, safe="")


def filter_names(type_name: str) -> Optional[Sequence[str]]:
    """Returns the filters of a list, or None in the source: only a wheel has the types, made of the document."""
    try:
        from . import types
    except ImportError:
        return None
    return list(getattr(types, type_name).__annotations__)


class Client:
    """Coffer with one key, which determines test or live mode.

    `url` is Coffer's address, with or without `/v1`. `timeout` is the longest wait for the server, in seconds. `attempts` is
    the number of attempts, 1 or more: a request without an answer, or with 429 or 503, is repeated with the same
    Idempotency-Key. Threads may share a client.

    Answers are dicts with the fields of the interface. Amounts are text in both directions. Every method raises
    ApiError if Coffer refuses the request, NoAnswerError if no answer comes, and TypeError or ValueError for a wrong
    argument.
    """

    def __init__(self, url: str, key: str, *, timeout: float = 30.0, attempts: int = 4) -> None:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and "@" not in parts.netloc
        if not is_http or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("url must be the address of Coffer, for example https://pay.example.com")
        # The exception of the standard library would contain the key.
        if not re.fullmatch(r"[!-~]+", key):
            raise ValueError("key must be the key alone, without spaces and line ends")
        if attempts < 1:
            raise ValueError("attempts must be 1 or more")
        self.url = ADDRESS_END.sub("", url)
        """Coffer's address, without `/v1`."""
        self._key = key
        self._timeout = timeout
        self._attempts = attempts
        self._is_secure = parts.scheme == "https"
        self._host, self._port, self._path = parts.hostname, parts.port, urlsplit(self.url).path

    # Invoices.

    def create_invoice(
        self, body: types.CreateInvoice, *, idempotency_key: Optional[str] = None
    ) -> types.CreatedInvoice:
        """Creates an invoice, or returns the one with this orderId."""
        return self._call("POST", "/v1/invoices", body, idempotency_key)

    def list_invoices(self, filters: Optional[types.ListInvoices] = None) -> Iterator[types.Invoice]:
        """Yields the invoices, newest first."""
        return self._list("/v1/invoices", "ListInvoices", filters)

    def get_invoice(self, invoice: Id) -> types.Invoice:
        """Returns the current invoice."""
        return self._call("GET", f"/v1/invoices/{id_of(invoice)}")

    def select_coin(
        self, invoice: Id, body: types.SelectCoin, *, idempotency_key: Optional[str] = None
    ) -> types.Invoice:
        """Chooses the coin of an invoice, which fixes its rate and assigns its address."""
        return self._call("POST", f"/v1/invoices/{id_of(invoice)}/select", body, idempotency_key)

    def cancel_invoice(self, invoice: Id, *, idempotency_key: Optional[str] = None) -> types.Invoice:
        """Cancels an invoice without payments. ApiError has the code invoice_not_cancellable if it has some."""
        return self._call("POST", f"/v1/invoices/{id_of(invoice)}/cancel", None, idempotency_key)

    def simulate_payment(
        self, invoice: Id, body: Optional[types.SimulatePayment] = None, *, idempotency_key: Optional[str] = None
    ) -> types.Invoice:
        """Pays a test invoice."""
        return self._call("POST", f"/v1/invoices/{id_of(invoice)}/simulate", body, idempotency_key)

    # The account.

    def list_currencies(self) -> Iterator[types.Currency]:
        """Yields the coins that invoices can be paid in."""
        yield from self._call("GET", "/v1/currencies")["data"]

    def get_merchant(self) -> types.Merchant:
        """Returns the account that the key belongs to."""
        return self._call("GET", "/v1/merchant")

    def list_balances(self) -> Iterator[types.Balance]:
        """Yields the balances, one in EUR and one in USD."""
        yield from self._call("GET", "/v1/balances")["data"]

    def list_ledger(self, filters: Optional[types.ListLedger] = None) -> Iterator[types.LedgerEntry]:
        """Yields the ledger entries, newest first."""
        return self._list("/v1/ledger", "ListLedger", filters)

    def list_events(self, filters: Optional[types.ListEvents] = None) -> Iterator[types.Event]:
        """Yields the events, newest first."""
        return self._list("/v1/events", "ListEvents", filters)

    def get_event(self, event: Id) -> types.Event:
        """Returns an event, as webhooks have it."""
        return self._call("GET", f"/v1/events/{id_of(event)}")

    # Customers with static addresses. A customer is named by the merchant's own reference.

    def make_customer_addresses(
        self, customer: Id, *, idempotency_key: Optional[str] = None
    ) -> types.CustomerAddresses:
        """Creates the addresses of a customer, or returns them."""
        return self._call("POST", f"/v1/customers/{id_of(customer)}/addresses", None, idempotency_key)

    def get_customer_addresses(self, customer: Id) -> types.CustomerAddresses:
        """Returns the addresses of a customer."""
        return self._call("GET", f"/v1/customers/{id_of(customer)}/addresses")

    def simulate_deposit(
        self, customer: Id, body: types.SimulateDeposit, *, idempotency_key: Optional[str] = None
    ) -> types.Deposit:
        """Pays to an address of a customer, in test mode."""
        return self._call("POST", f"/v1/customers/{id_of(customer)}/simulate", body, idempotency_key)

    def list_deposits(self, filters: Optional[types.ListDeposits] = None) -> Iterator[types.Deposit]:
        """Yields the newest deposits, newest first, at most 100."""
        return self._list("/v1/deposits", "ListDeposits", filters)

    def get_deposit(self, deposit: Id) -> types.Deposit:
        """Returns the current deposit."""
        return self._call("GET", f"/v1/deposits/{id_of(deposit)}")

    # Payouts and refunds.

    def create_payout(self, body: types.CreatePayout, *, idempotency_key: Optional[str] = None) -> types.Payout:
        """Requests a payout of an amount, or of `all`. With a live key only."""
        return self._call("POST", "/v1/payouts", body, idempotency_key)

    def list_payouts(self, filters: Optional[types.ListPayouts] = None) -> Iterator[types.Payout]:
        """Yields the newest payouts, newest first, at most 100."""
        return self._list("/v1/payouts", "ListPayouts", filters)

    def get_payout(self, payout: Id) -> types.Payout:
        """Returns the current payout."""
        return self._call("GET", f"/v1/payouts/{id_of(payout)}")

    def list_refunds(self, filters: Optional[types.ListRefunds] = None) -> Iterator[types.Refund]:
        """Yields the newest refunds, newest first, at most 100."""
        return self._list("/v1/refunds", "ListRefunds", filters)

    def get_refund(self, refund: Id) -> types.Refund:
        """Returns the current refund."""
        return self._call("GET", f"/v1/refunds/{id_of(refund)}")

    # Requests.

    def request(
        self,
        method: str,
        path: str,
        body: JSON = None,
        *,
        query: Optional[Mapping[str, object]] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> JSON:
        """Sends any request and returns the JSON of its answer: `request("GET", "/v1/merchant")`.

        Returns the text if the answer is not JSON, and None if it is empty. `timeout` is that of the client by default.
        """
        call = f"{method} {path}"
        if not re.fullmatch(r"/[!-~]*", path):
            raise ValueError(f"path must begin with / and be percent-encoded, for example /v1/invoices: {path!r}")
        amount = body.get("amount") if isinstance(body, Mapping) else None
        if not isinstance(amount, (str, type(None))):
            raise TypeError(f'amount must be text, for example "19.90", not {type(amount).__name__}')
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        target = self._path + path + ("?" + urlencode(asked) if asked else "")
        headers = self._headers(method, data, idempotency_key)
        left = self._attempts
        while True:
            left -= 1
            pause = PAUSES[min(self._attempts - left, len(PAUSES)) - 1] * random.uniform(1.0, 1.25)
            try:
                answer, content = self._attempt(method, target, data, headers, timeout or self._timeout)
            except (OSError, http.client.HTTPException) as error:
                if left == 0 or method not in ("GET", "POST"):
                    # The text of other errors may contain what the server sent.
                    why = (isinstance(error, OSError) and str(error)) or type(error).__name__
                    raise NoAnswerError(f"{call}: no answer from {self._host}: {why}") from error
            else:
                if answer.status < 300:
                    return self._read(call, answer, content)
                refusal = _refusal(call, answer, content)
                wait = refusal.retry_after
                if left == 0 or answer.status not in (429, 503) or (wait or 0) > RETRY_AFTER_MAX:
                    raise refusal
                pause = pause if wait is None else wait
            time.sleep(pause)

    def _headers(self, method: str, data: Optional[bytes], idempotency_key: Optional[str]) -> Dict[str, str]:
        headers = {"X-API-Key": self._key, "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        if not re.fullmatch(r"[ -~]+", headers.get("Idempotency-Key", "-")):
            raise ValueError("idempotency_key must be ASCII text without line ends")
        return headers

    def _attempt(
        self, method: str, target: str, data: Optional[bytes], headers: Dict[str, str], timeout: float
    ) -> Tuple[http.client.HTTPResponse, bytes]:
        # Redirects are not followed: the key is for this host only.
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=timeout)
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def _read(self, call: str, answer: http.client.HTTPResponse, content: bytes) -> JSON:
        if "json" not in (answer.getheader("Content-Type") or ""):
            return content.decode(errors="replace") or None
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise NoAnswerError(f"{call}: the answer of {self._host} is not JSON") from error

    def _call(
        self,
        method: str,
        path: str,
        body: JSON = None,
        idempotency_key: Optional[str] = None,
        query: Optional[Mapping[str, object]] = None,
    ) -> Any:
        """Performs an operation. Its answer is an object, and the `data` of a list is one."""
        answer = self.request(method, path, body, query=query, idempotency_key=idempotency_key)
        if not isinstance(answer, dict) or (query is not None and not isinstance(answer.get("data"), list)):
            raise NoAnswerError(f"{method} {path}: the answer of {self._host} is not Coffer's: is this its address?")
        return answer

    def _list(self, path: str, type_name: str, filters: Optional[Mapping[str, object]]) -> Iterator[Any]:
        """Returns the items of all pages, if the list has pages. Raises TypeError if its type has no such filter."""
        names = filter_names(type_name)
        for name in filters or {}:
            if names is not None and name not in names:
                raise TypeError(f"GET {path}: unknown name {name!r}. It takes {', '.join(names)}")
        return self._pages(path, {"limit": PAGE_LIMIT, **(filters or {})})

    def _pages(self, path: str, query: Dict[str, object]) -> Iterator[Any]:
        while True:
            page = self._call("GET", path, query=query)
            yield from page["data"]
            before = page.get("nextBefore")
            # The same page must not come again and again.
            if page.get("hasMore") is not True or before in (None, query.get("before")):
                return
            query["before"] = before


def _refusal(call: str, answer: http.client.HTTPResponse, content: bytes) -> ApiError:
    """Returns the error of a response, of which any part may be missing or of another type."""
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        told = None

    def text(name: str) -> Optional[str]:
        value = told.get(name) if isinstance(told, dict) else None
        return value if isinstance(value, str) else None

    retry_after = answer.getheader("Retry-After") or ""
    return ApiError(
        call,
        answer.status,
        text("error") or "unknown",
        text("message") or answer.reason,
        text("param"),
        text("requestId") or answer.getheader("X-Request-Id"),
        int(retry_after) if re.fullmatch(r"[0-9]{1,9}", retry_after) else None,
    )
