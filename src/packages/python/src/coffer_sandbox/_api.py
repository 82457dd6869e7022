"""The /v1 operations that a shop calls, with one key. Other operations are available through request()."""

from typing import Any, List, Mapping, Optional, Union
from urllib.parse import quote

from ._http import JSON, send
from ._models import Amount, Balance, Deposit, Event, Invoice, LedgerEntry, Payout, Refund, to_amount

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

InvoiceOrId = Union[Invoice, str]


def id_of(value: Any) -> str:
    """Returns the id of an object, or the id itself, as a part of a path."""
    return quote(value if isinstance(value, str) else value.id, safe="")


class Api:
    """Coffer with one key, which determines test or live mode."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        """The base URL, without `/v1`."""
        self.key = key
        """The secret key of the requests."""

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

        Raises ApiError if Coffer refuses it, and NoAnswerError if no response comes within timeout seconds.
        """
        # The controls of the sandbox need no key.
        own = {} if path.startswith("/sandbox") and key is None else {"X-API-Key": key or self.key}
        return send(self.url, method, path, body, query, {**own, **(headers or {})}, timeout)

    def create_invoice(
        self,
        amount: Amount,
        currency: str = "EUR",
        *,
        order_id: Optional[str] = None,
        description: Optional[str] = None,
        asset: Optional[str] = None,
        redirect_url: Optional[str] = None,
        cancel_url: Optional[str] = None,
        webhook_url: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        ttl_seconds: Optional[int] = None,
        customer_email: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Invoice:
        """Creates an invoice in EUR or USD, or returns the one with this order_id."""
        body = {
            "amount": to_amount("amount", amount),
            "currency": currency,
            "orderId": order_id,
            "description": description,
            "asset": asset,
            "redirectUrl": redirect_url,
            "cancelUrl": cancel_url,
            "webhookUrl": webhook_url,
            "metadata": None if metadata is None else dict(metadata),
            "ttlSeconds": ttl_seconds,
            "customerEmail": customer_email,
        }
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
        return Invoice.read(self.request("POST", "/v1/invoices", body, headers=headers))

    def invoice(self, invoice: InvoiceOrId) -> Invoice:
        """Returns the current invoice."""
        return Invoice.read(self.request("GET", f"/v1/invoices/{id_of(invoice)}"))

    def invoices(
        self, *, status: Optional[str] = None, order_id: Optional[str] = None, limit: int = 100
    ) -> List[Invoice]:
        """Lists the newest invoices, newest first, at most 100."""
        query = {"status": status, "orderId": order_id, "limit": limit}
        return [Invoice.read(each) for each in self.request("GET", "/v1/invoices", query=query)["data"]]

    def select(self, invoice: InvoiceOrId, asset: str) -> Invoice:
        """Chooses the coin of an invoice, which fixes its rate and assigns its address."""
        return Invoice.read(self.request("POST", f"/v1/invoices/{id_of(invoice)}/select", {"asset": asset}))

    def balance(self, currency: str = "EUR") -> Balance:
        """Returns the balance in EUR or USD."""
        balances = [Balance.read(each) for each in self.request("GET", "/v1/balances")["data"]]
        return next(each for each in balances if each.currency == currency)

    def ledger(self, *, currency: Optional[str] = None, limit: int = 200) -> List[LedgerEntry]:
        """Lists the newest ledger entries, newest first, at most 200."""
        query = {"currency": currency, "limit": limit}
        return [LedgerEntry.read(each) for each in self.request("GET", "/v1/ledger", query=query)["data"]]

    def events(self, *, type: Optional[str] = None, object: Any = None, limit: int = 200) -> List[Event]:
        """Lists the newest events, newest first, at most 200: of a type, or about an invoice or a payout."""
        about = None if object is None else id_of(object)
        query = {"type": type, "object": about, "limit": limit}
        return [Event.read(each) for each in self.request("GET", "/v1/events", query=query)["data"]]

    def create_payout(self, amount: Amount = "all", currency: str = "EUR") -> Payout:
        """Requests a payout of an amount, or of `all`. With a live key only: `coffer.live.create_payout()`."""
        body = {"amount": to_amount("amount", amount), "currency": currency}
        return Payout.read(self.request("POST", "/v1/payouts", body))

    def payout(self, payout: Union[Payout, str]) -> Payout:
        """Returns the current payout."""
        return Payout.read(self.request("GET", f"/v1/payouts/{id_of(payout)}"))

    def refund(self, refund: Union[Refund, str]) -> Refund:
        """Returns the current refund."""
        return Refund.read(self.request("GET", f"/v1/refunds/{id_of(refund)}"))

    def customer_addresses(self, customer: str) -> JSON:
        """Creates or reads the static addresses of a customer, as JSON."""
        return self.request("POST", f"/v1/customers/{id_of(customer)}/addresses")

    def deposits(self, *, customer: Optional[str] = None, limit: int = 100) -> List[Deposit]:
        """Lists the newest deposits, newest first, at most 100."""
        query = {"customer": customer, "limit": limit}
        return [Deposit.read(each) for each in self.request("GET", "/v1/deposits", query=query)["data"]]
