"""What a shop's tests look like: an invoice is paid, the webhook comes and its signature fits; time passes."""

import concurrent.futures
import hashlib
import hmac
import json
import statistics
import time

from conftest import Coffer

ORDER = {"amount": "20.00", "currency": "EUR", "asset": "LTC", "orderId": "order-1"}


def signature_fits(secret, message):
    """Does one of the signatures fit the raw body? A receiver also refuses a time that is far from its own."""
    parts = [part.split("=", 1) for part in message["headers"]["x-service-signature"].split(",")]
    signed = dict(parts)["t"] + "." + message["body"]
    wanted = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(text, wanted) for name, text in parts if name == "v1")


def test_a_payment_is_told(coffer):
    # The sandbox receives webhooks itself, so a test needs no server of its own.
    coffer.control("PATCH", "/account", {"endpoints": [{"url": coffer.url + "/sandbox/inbox/shop"}]})
    invoice = coffer.test("POST", "/v1/invoices", ORDER)
    payment = coffer.control("POST", "/payments", {"invoice": invoice["id"]})
    coffer.control("POST", "/payments/" + payment["id"], {"state": "confirmed"})
    assert coffer.test("GET", "/v1/invoices/" + invoice["id"])["paid"] is True
    [message] = coffer.control("GET", "/inbox/shop?type=invoice.confirmed&wait=30s")["data"]
    assert signature_fits(coffer.webhook_secret, message)
    told = json.loads(message["body"])["data"]["object"]
    assert (told["id"], told["orderId"], told["paid"]) == (invoice["id"], "order-1", True)


def test_nobody_pays(coffer):
    invoice = coffer.test("POST", "/v1/invoices", ORDER)
    # The clock is moved, and all that falls due on the way is done when this answers: nothing sleeps.
    coffer.control("POST", "/clock", {"advance": "20m"})
    assert coffer.test("GET", "/v1/invoices/" + invoice["id"])["status"] == "expired"


def test_coffer_cannot_be_reached_for_a_moment(coffer):
    coffer.control("POST", "/faults", {"route": "POST /v1/invoices", "status": 503, "times": 1})
    secret = coffer.keys["secretTest"]
    status, refused = coffer.call("POST", "/v1/invoices", ORDER, secret)
    assert (status, refused["error"]) == (503, "maintenance")
    status, _ = coffer.call("POST", "/v1/invoices", ORDER, secret)
    assert status == 201


def test_eight_at_once_do_not_meet():
    sandboxes = [Coffer() for _ in range(8)]
    try:
        assert len({sandbox.url for sandbox in sandboxes}) == 8

        def use(number):
            sandbox = sandboxes[number]
            for count in range(number + 1):
                # The same order ids everywhere: in one and the same service they would be one order.
                sandbox.test("POST", "/v1/invoices", {**ORDER, "orderId": f"order-{count}"})
            sandbox.control("POST", "/clock", {"advance": f"{number}h"})
            return len(sandbox.test("GET", "/v1/invoices")["data"])

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert list(pool.map(use, range(8))) == list(range(1, 9))
    finally:
        for sandbox in sandboxes:
            sandbox.stop()


def test_how_long_a_start_takes(capsys):
    took_ms = []
    for _ in range(20):
        begun = time.perf_counter()
        sandbox = Coffer()
        sandbox.test("POST", "/v1/invoices", ORDER)
        took_ms.append((time.perf_counter() - begun) * 1000)
        sandbox.stop()
    with capsys.disabled():
        print(f"\nexec to first created invoice, median of 20: {statistics.median(took_ms):.1f} ms")
