"""A small shop: it creates an invoice for an order, and sends the goods when Coffer tells it that the order is paid.

It stands for your own code. It knows nothing of tests; Coffer's address, key and secret are its settings.
"""

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from decimal import Decimal
from typing import Any, Dict, Mapping, Set

# Coffer is called directly, without the proxy of the environment.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ShopClosed(Exception):
    """Orders cannot be taken at this moment."""


class Shop:
    """A shop with one product."""

    def __init__(self, coffer_url: str, key: str, webhook_secret: str) -> None:
        self.coffer_url = coffer_url
        self.key = key
        self.webhook_secret = webhook_secret
        # Whether the shop accepts real money. Test payments are worth nothing.
        self.livemode = not key.startswith("sk_test_")
        self.sent: Set[str] = set()
        self.refused: Dict[str, str] = {}
        self.handled: Set[str] = set()

    def order(self, order_id: str, price: Decimal) -> Dict[str, Any]:
        """Takes an order. The customer pays at the `checkoutUrl` of the invoice that is answered."""
        body = {"amount": str(price), "currency": "EUR", "orderId": order_id}
        headers = {"X-API-Key": self.key, "Content-Type": "application/json"}
        url = self.coffer_url + "/v1/invoices"
        # The order id makes retries safe: there is one invoice per order id.
        for attempt in range(3):
            request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
            try:
                with OPENER.open(request, timeout=10) as answer:
                    invoice: Dict[str, Any] = json.load(answer)
                    return invoice
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 503 or attempt == 2:
                    raise ShopClosed(f"Coffer answered {error.code}") from error
            except OSError as error:
                if attempt == 2:
                    raise ShopClosed("Coffer does not answer") from error
        raise AssertionError("not reached")

    def handle_webhook(self, headers: Mapping[str, str], body: bytes) -> None:
        """Does what an event asks for. It is answered with 2xx where this returns, and comes again where it raises."""
        self.check_signature(headers["x-service-signature"], body)
        event = json.loads(body)
        # An event can arrive twice. An endpoint can get events of both modes, which have separate order ids.
        if event["id"] in self.handled or event["livemode"] != self.livemode:
            return
        invoice = event["data"]["object"]
        # A rejected order is sent if it turns out to be paid. A sent order stays sent, because an older event can
        # arrive late.
        if event["type"] in ("invoice.confirmed", "invoice.overpaid") and invoice["paid"]:
            self.sent.add(invoice["orderId"])
            self.refused.pop(invoice["orderId"], None)
        elif event["type"] in ("invoice.expired", "invoice.underpaid") and invoice["orderId"] not in self.sent:
            self.refused[invoice["orderId"]] = invoice["status"]
        self.handled.add(event["id"])

    def check_signature(self, header: str, body: bytes) -> None:
        """Raises ValueError where a webhook is not Coffer's."""
        parts = [part.split("=", 1) for part in header.split(",")]
        stamp = dict(parts)["t"]
        wanted = hmac.new(self.webhook_secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        if not any(name == "v1" and hmac.compare_digest(text, wanted) for name, text in parts):
            raise ValueError("the signature does not fit")
        if abs(time.time() - int(stamp)) > 300:
            raise ValueError("the signature is old")
