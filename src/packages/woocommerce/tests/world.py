"""A shop and a Coffer sandbox, as the stories use them."""

import hashlib
import hmac
import html
import http.cookiejar
import json
import re
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Optional

SECRET = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh"
TIMEOUT = 60


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Returns redirects instead of following them."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Answer:
    def __init__(self, status: int, headers: Any, text: str) -> None:
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Visitor:
    """A browser with cookies of its own, without scripts."""

    def __init__(self) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(NoRedirect, jar, urllib.request.ProxyHandler({}))

    def call(self, method: str, url: str, body: Optional[bytes] = None, headers: Optional[dict[str, str]] = None) -> Answer:
        request = urllib.request.Request(url, body, headers or {}, method=method)
        try:
            with self.opener.open(request, timeout=TIMEOUT) as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read().decode())

    def get(self, url: str) -> Answer:
        return self.call("GET", url)

    def post(self, url: str, fields: dict[str, str]) -> Answer:
        return self.call("POST", url, urllib.parse.urlencode(fields).encode())


class Coffer:
    """A running sandbox. It ends with this process."""

    def __init__(self, binary: str, log: Path) -> None:
        command = [binary, "sandbox", "--listen", "127.0.0.1:0", "--json", "--exit-with-parent"]
        with log.open("w") as file:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file)
        assert self.process.stdout is not None
        ready = json.loads(self.process.stdout.readline())
        self.url = ready["url"]
        self.keys = {True: ready["keys"]["secretLive"], False: ready["keys"]["secretTest"]}
        self.can_cancel = b"cancelInvoice" in subprocess.check_output([binary, "openapi", "--merchant"])
        self.visitor = Visitor()

    def stop(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()

    def call(self, method: str, path: str, body: Optional[dict[str, Any]] = None, live: bool = True) -> Any:
        headers = {"X-API-Key": self.keys[live]} if path.startswith("/v1/") else {}
        data = None if body is None else json.dumps(body).encode()
        answer = self.visitor.call(method, self.url + path, data, headers)
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.text}"
        return answer.json if answer.text else None

    def invoice(self, id: str, live: bool = True) -> dict[str, Any]:
        return self.call("GET", f"/v1/invoices/{id}", live=live)

    def named(self, order_id: str) -> list[dict[str, Any]]:
        return self.call("GET", f"/v1/invoices?orderId={order_id}")["data"]

    def refuse_to_cancel(self, times: int) -> None:
        """Lets the next calls that cancel an invoice fail, as where Coffer is older than this call."""
        if self.can_cancel:
            fault = {"route": "POST /v1/invoices/{id}/cancel", "status": 500, "times": times}
            self.call("POST", "/sandbox/faults", fault)

    def see(self, invoice: dict[str, Any], amount: Optional[str] = None) -> str:
        """Lets a payment be seen, and returns its id. Without an amount it is what is due."""
        if self.invoice(invoice["id"])["asset"] is None:
            self.call("POST", f"/v1/invoices/{invoice['id']}/select", {"asset": "LTC"})
        more = {} if amount is None else {"amount": amount}
        return self.call("POST", "/sandbox/payments", {"invoice": invoice["id"], **more})["id"]

    def move(self, payment: str, state: str) -> None:
        self.call("POST", f"/sandbox/payments/{payment}", {"state": state})

    def pay(self, invoice: dict[str, Any], amount: Optional[str] = None) -> None:
        self.move(self.see(invoice, amount), "confirmed")

    def advance(self, time: str) -> None:
        self.call("POST", "/sandbox/clock", {"advance": time})

    def delivered(self) -> None:
        """Returns when each webhook that is due was answered."""
        self.advance("0s")

    def refund(self, invoice: dict[str, Any], amount: str) -> str:
        """Refunds a part of an invoice, and returns the id of the refund once it is paid."""
        id = self.call("POST", "/sandbox/refunds", {"invoice": invoice["id"], "amount": amount})["id"]
        for action in ["approve", "process", "pay"]:
            self.call("POST", f"/sandbox/refunds/{id}", {"action": action})
        self.delivered()
        return id

    def event(self, type: str, object: str, live: bool = True) -> str:
        """Returns the body of an event's webhook."""
        event = self.call("GET", f"/v1/events?type={type}&object={object}", live=live)["data"][0]
        return json.dumps(event)

    def send_webhooks_to(self, *urls: str) -> None:
        self.call("PATCH", "/sandbox/account", {"endpoints": [{"url": url} for url in urls]})


class Shop:
    def __init__(self, url: str, coffer: Coffer) -> None:
        self.url, self.coffer = url, coffer
        self.hook = f"{url}/?wc-api=coffer"
        self.customer, self.admin = Visitor(), Visitor()
        self.sign_in(self.admin, "admin")

    def sign_in(self, visitor: Visitor, name: str) -> None:
        visitor.get(f"{self.url}/wp-login.php")
        answer = visitor.post(f"{self.url}/wp-login.php", {"log": name, "pwd": "correct horse battery"})
        assert answer.status == 302, f"{name} is not signed in: {answer.status}"

    # Settings

    def page(self, query: str) -> str:
        answer = self.admin.get(f"{self.url}/wp-admin/admin.php?{query}")
        assert answer.status == 200, f"{query}: {answer.status}"
        return answer.text

    def settings(self) -> str:
        return self.page("page=wc-settings")

    def save(self, **fields: str) -> str:
        """Saves the settings as the page sends them: the others as they are, secrets only if they are given."""
        page = self.settings()
        values = dict(re.findall(r"name='woocommerce_coffer_(\w+)' value='([^']*)'", page))
        values = {"enabled": "1", **{name: html.unescape(value) for name, value in values.items()}, **fields}
        nonce = self.nonce(page)
        sent = {"_wpnonce": nonce, **{f"woocommerce_coffer_{name}": value for name, value in values.items()}}
        answer = self.admin.post(f"{self.url}/wp-admin/admin.php?page=wc-settings", sent)
        assert answer.status == 200, f"settings: {answer.status} {answer.text[:200]}"
        return answer.text

    @staticmethod
    def nonce(page: str) -> str:
        found = re.search(r'name="_wpnonce" value="(\w+)"', page)
        assert found, "the page has no nonce"
        return found[1]

    def connect(self, live: bool = True) -> None:
        self.save(url=self.coffer.url, key=self.coffer.keys[live], webhook=SECRET)

    # Orders

    def checkout(self, total: str = "20.00") -> tuple[int, dict[str, Any]]:
        answer = self.customer.post(f"{self.url}/?wc-ajax=checkout", {"payment_method": "coffer", "total": total}).json
        return answer["order_id"], answer

    def order(self, id: int, **changes: str) -> dict[str, Any]:
        """Returns an order, changed by somebody of the shop if there are changes."""
        data = json.dumps(changes).encode() if changes else None
        method, headers = ("POST", {"Content-Type": "application/json"}) if changes else ("GET", {})
        answer = self.customer.call(method, f"{self.url}/?rest_route=/stand-in/orders/{id}", data, headers)
        assert answer.status == 200, answer.text
        return answer.json

    def invoice(self, order: int, attempt: int = -1) -> dict[str, Any]:
        return self.coffer.invoice(self.order(order)["attempts"][attempt]["invoice"])

    def begin(self, total: str = "20.00") -> tuple[int, dict[str, Any]]:
        """Places an order, and returns it with its invoice. The customer is at the checkout then."""
        order, answer = self.checkout(total)
        assert answer["result"] == "success", answer
        invoice = self.invoice(order)
        same(answer["redirect"], invoice["checkoutUrl"], "redirect")
        return order, invoice

    def pay_url(self, order: int, page: str = "order-pay") -> str:
        return f"{self.url}/?{page}={order}&key={self.order(order)['order_key']}"

    def pay_again(self, order: int) -> dict[str, Any]:
        answer = self.customer.post(self.pay_url(order), {"payment_method": "coffer"})
        assert answer.status == 200, f"order {order} cannot be paid: {answer.text}"
        return answer.json

    def told(self, order: int) -> str:
        """Returns what the customer reads above the order."""
        return html.unescape(self.customer.get(self.pay_url(order, "order-received")).text)

    def box(self, order: int) -> str:
        """Returns what the administrator sees at the order."""
        return html.unescape(self.page(f"page=wc-orders&id={order}"))

    # Webhooks

    @contextmanager
    def no_webhooks(self) -> Iterator[None]:
        """Sends the shop no webhooks. None is on its way any more, as the shop would read the invoice then."""
        self.coffer.send_webhooks_to()
        self.coffer.delivered()
        try:
            yield
        finally:
            self.coffer.send_webhooks_to(self.hook)

    def send(self, body: str, secret: str = SECRET, age: int = 0, **headers: str) -> Answer:
        at = int(time.time()) - age
        signature = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
        given = {"X-Service-Signature": f"t={at},v1={signature}", "Content-Type": "application/json", **headers}
        return Visitor().call("POST", self.hook, body.encode(), given)

    def send_at_once(self, body: str, times: int) -> list[int]:
        statuses: list[int] = []
        threads = [threading.Thread(target=lambda: statuses.append(self.send(body).status)) for _ in range(times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return statuses


def same(given: Any, wanted: Any, of: str = "value") -> None:
    assert given == wanted, f"{of} is {given!r}, not {wanted!r}"


def has(text: str, part: str) -> None:
    assert part in text, f"{part!r} is not in {text!r}"


def lacks(text: str, part: str) -> None:
    assert part not in text, f"{part!r} is in {text!r}"
