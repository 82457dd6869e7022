"""A real pretix and a real Coffer, as processes, and who uses them: the customer, the organizer and the sandbox."""

import atexit
import functools
import http.cookiejar
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from coffer_client import Client

WEBHOOK_SECRET = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh"
ORGANIZER = "example"


class Process:
    """A program that prints one line of JSON when it is ready, and ends with its standard input."""

    def __init__(self, *command, **options):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"{command[0]} ended before it was ready: {self.child.wait()}")
        self.ready = json.loads(line)

    def stop(self):
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.wait(60)


@functools.cache
def processes():
    """Starts Coffer (COFFER_BINARY) and pretix (PRETIX_DATA, a folder with a migrated database) for all tests."""
    options = ("--json", "--exit-with-parent", "--listen", "127.0.0.1:0", "--log", "error")
    coffer = Process(os.environ["COFFER_BINARY"], "sandbox", *options)
    atexit.register(coffer.stop)
    serve = Path(__file__).with_name("serve.py")
    pretix = Process(sys.executable, str(serve), os.environ["PRETIX_DATA"], coffer.ready["url"])
    atexit.register(pretix.stop)
    return coffer, pretix


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Answer:
    def __init__(self, answer):
        self.status, self.headers, self.text = answer.status, answer.headers, answer.read().decode()
        self.location = answer.headers.get("Location", "")


class Browser:
    """A person's browser: keeps cookies, sends forms with their token, and stops at redirects."""

    def __init__(self, url):
        self.url = url
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, url):
        return self._send(urllib.request.Request(urllib.parse.urljoin(self.url, url)))

    def post(self, url, action=None, **fields):
        """Opens a page and sends its form, to the same address unless the form has an action."""
        page = self.get(url)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token, f"{url} has no form: {page.status} {page.location}"
        fields = {"csrfmiddlewaretoken": token[1], **fields}
        request = urllib.request.Request(
            urllib.parse.urljoin(self.url, action or url),
            urllib.parse.urlencode(fields).encode(),
            {"Referer": self.url},
        )
        return self._send(request)

    def _send(self, request):
        try:
            return Answer(self.opener.open(request, timeout=60))
        except urllib.error.HTTPError as error:
            return Answer(error)


class Shop:
    """The event of pretix that the tests sell tickets of, in one mode of Coffer."""

    def __init__(self, ready, event, key, coffer_url):
        self.url, self.token, self.login, self.event = ready["url"], ready["token"], ready, event
        self.coffer = Client(coffer_url, key)
        self.items = self.api("GET", "items/")["results"]

    # The organizer.

    def api(self, method, path, body=None):
        url = f"{self.url}/api/v1/organizers/{ORGANIZER}/events/{self.event}/{path}"
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(
                urllib.request.Request(url, data, headers, method=method), timeout=60
            ) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.status} {error.read().decode()}") from None

    def order(self, price="20.00"):
        """Creates an order that is not paid."""
        position = {"item": self.items[0]["id"], "price": price}
        body = {"email": "customer@example.com", "locale": "en", "sales_channel": "web", "positions": [position]}
        return self.api("POST", "orders/", {**body, "testmode": self.event == "conf"})["code"]

    def now(self, code):
        return self.api("GET", f"orders/{code}/")

    @functools.cached_property
    def backend(self):
        """The browser of the organizer, signed in."""
        browser = Browser(self.url)
        answer = browser.post("/control/login", email=self.login["email"], password=self.login["password"])
        assert answer.status == 302, answer.text
        return browser

    def control(self, path):
        return f"/control/event/{ORGANIZER}/{self.event}/{path}"

    def log(self, code):
        """Returns the texts about Coffer at the order, as the organizer reads them."""
        return self.backend.get(self.control(f"orders/{code}/")).text

    # The customer.

    def pay(self, code):
        """Chooses Coffer at the order and confirms. Returns where the customer is sent."""
        secret = self.now(code)["secret"]
        browser = Browser(self.url)
        page = f"/{ORGANIZER}/{self.event}/order/{code}/{secret}/"
        confirm = browser.post(page + "pay/change", payment="coffer").location
        assert confirm, browser.get(page).text
        return browser.post(confirm).location

    def buy(self):
        """Buys a ticket in the shop. Returns where the customer is sent, and the order."""
        browser = Browser(self.url)
        base = f"/{ORGANIZER}/{self.event}/"
        answer = browser.post(base, base + "cart/add", **{f"item_{self.items[0]['id']}": "1"})
        answer = browser.post(base + "checkout/questions/", email="customer@example.com")
        assert answer.location.endswith("/checkout/payment/"), answer.text
        answer = browser.post(answer.location, payment="coffer")
        assert answer.location.endswith("/checkout/confirm/"), answer.text
        answer = browser.post(answer.location)
        code = re.search(r"/order/([A-Z0-9]+)/", answer.location)
        assert code, answer.text
        return browser.get(answer.location).location, code[1]

    def page(self, code):
        secret = self.now(code)["secret"]
        return Browser(self.url).get(f"/{ORGANIZER}/{self.event}/order/{code}/{secret}/").text

    def invoice(self, code, attempt=1):
        """Returns the invoice of an attempt, as Coffer has it now."""
        found = list(self.coffer.list_invoices({"orderId": f"{ORGANIZER}/{self.event}-{code}-{attempt}"}))
        assert len(found) == 1, found
        return found[0]


class Case(unittest.TestCase):
    """Tests of one running pretix and one Coffer, which is reset for each test."""

    @classmethod
    def setUpClass(cls):
        cls.coffer, cls.pretix = processes()
        url = cls.coffer.ready["url"]
        cls.sandbox = Client(url, "sk_test_sandbox")
        cls.hook = cls.pretix.ready["url"] + "/_coffer/webhook/"
        cls.shop = Shop(cls.pretix.ready, "conf", "sk_test_sandbox", url)
        cls.live = Shop(cls.pretix.ready, "live-1", "sk_live_sandbox", url)

    def setUp(self):
        self.control("POST", "/sandbox/reset")
        self.webhooks(True)
        # No webhook of this test comes in the next.
        self.addCleanup(self.delivered)

    def control(self, method, path, body=None):
        return self.sandbox.request(method, path, body)

    def webhooks(self, are_sent):
        """Lets Coffer send webhooks to pretix, or not."""
        endpoints = [{"url": self.hook}] if are_sent else []
        self.control("PATCH", "/sandbox/account", {"endpoints": endpoints})

    def delivered(self):
        """Waits until every webhook that is due has been answered."""
        self.control("POST", "/sandbox/clock", {"advance": "0s"})

    def advance(self, time):
        self.control("POST", "/sandbox/clock", {"advance": time})
        self.delivered()

    def send(self, invoice, **fields):
        """Pays an invoice, unconfirmed. Returns the payment."""
        payment = self.control("POST", "/sandbox/payments", {"invoice": invoice["id"], **fields})
        self.delivered()
        return payment

    def move(self, payment, **fields):
        self.control("POST", f"/sandbox/payments/{payment['id']}", fields)
        self.delivered()

    def pays(self, invoice, **fields):
        payment = self.send(invoice, **fields)
        self.move(payment, state="confirmed")
        return payment

    def refund_in_coffer(self, invoice, amount, last="pay"):
        refund = self.control("POST", "/sandbox/refunds", {"invoice": invoice["id"], "amount": amount})
        for action in ("approve", "process", last):
            self.control("POST", f"/sandbox/refunds/{refund['id']}", {"action": action})
        self.delivered()

    def save(self, shop, **fields):
        """Saves the settings of the payment method. Returns the answer of the backend."""
        values = {
            "_enabled": "on",
            "_restrict_to_sales_channels": "web",
            "url": self.coffer.ready["url"],
            "mode": "test",
            "secret_key": "sk_test_sandbox",
            "webhook_secret": self.coffer.ready["webhookSecret"],
            **fields,
        }
        values = {f"payment_coffer_{name}": value for name, value in values.items()}
        return shop.backend.post(shop.control("settings/payment/coffer"), **values)

    def assert_agree(self, code, order_status, invoice_status, attempt=1, shop=None):
        """Compares the order with the invoice: paid on both sides or on none."""
        shop = shop or self.shop
        order, invoice = shop.now(code), shop.invoice(code, attempt)
        self.assertEqual((order["status"], invoice["status"]), (order_status, invoice_status))
        self.assertEqual(order["status"] == "p", invoice["paid"])
        confirmed = [each for each in order["payments"] if each["state"] in ("confirmed", "refunded")]
        self.assertEqual(len(confirmed), 1 if invoice["paid"] else 0, confirmed)
        if confirmed:
            self.assertEqual(confirmed[0]["amount"], invoice["amount"])
            self.assertEqual(confirmed[0]["details"]["invoices"][-1]["id"], invoice["id"])
            self.assertEqual(order["total"], invoice["amount"])
        return order, invoice
