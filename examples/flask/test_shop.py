"""The shop listens on a port of its own, a customer pays in a sandbox, and the sandbox sends the webhooks."""

import importlib.util
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from werkzeug.serving import make_server


class Customer(urllib.request.HTTPRedirectHandler):
    """Does not follow a redirect, but reads where it leads."""

    def redirect_request(self, *_):
        return None


def post(url, body=b"", headers={}):
    """Returns the status and the headers of the answer."""
    opener = urllib.request.build_opener(Customer, urllib.request.ProxyHandler({}))
    try:
        answer = opener.open(urllib.request.Request(url, body, headers), timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers


@pytest.fixture
def shop(coffer, monkeypatch):
    monkeypatch.setenv("COFFER_URL", coffer.url)
    monkeypatch.setenv("COFFER_KEY", coffer.keys.secret_live)
    monkeypatch.setenv("COFFER_WEBHOOK_SECRET", coffer.webhook_secret)
    spec = importlib.util.spec_from_file_location("flask_shop", Path(__file__).with_name("shop.py"))
    shop = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shop)
    server = make_server("127.0.0.1", 0, shop.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    shop.url = f"http://127.0.0.1:{server.port}"
    coffer.account({"endpoints": [{"url": f"{shop.url}/webhooks"}]})
    yield shop
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_order_is_paid(coffer, shop):
    status, headers = post(f"{shop.url}/orders/order-1/pay")
    [invoice] = coffer.live.list_invoices()
    assert (status, headers["Location"], invoice["amount"]) == (303, invoice["checkoutUrl"], "20.00")
    assert post(f"{shop.url}/orders/order-1/pay")[1]["Location"] == invoice["checkoutUrl"]
    coffer.pay(invoice, case="under")
    coffer.delivered()
    assert shop.paid == set()
    coffer.pay(invoice)
    coffer.delivered()
    assert shop.paid == {"order-1"}
    assert {attempt["status"] for each in coffer.deliveries() for attempt in each["attempts"]} == {204}


def test_what_pays_no_order(coffer, shop):
    inbox = coffer.inbox("copy")
    # A payment of test mode, one of another price, one of an order that the shop does not have.
    coffer.pay(coffer.create_invoice({"amount": "20.00", "currency": "EUR", "orderId": "order-1"}))
    for order, amount, currency in ("order-1", "1.00", "EUR"), ("order-2", "35.50", "USD"), ("order-3", "20.00", "EUR"):
        coffer.pay(coffer.live.create_invoice({"amount": amount, "currency": currency, "orderId": order}))
    coffer.delivered()
    assert shop.paid == set()
    assert post(f"{shop.url}/orders/order-3/pay")[0] == 404
    # A forged webhook: the signature of another body, and none.
    told = inbox.next("invoice.confirmed")
    for headers in ({"X-Service-Signature": told.headers["x-service-signature"]}, {}):
        assert post(f"{shop.url}/webhooks", told.body.replace(b"false", b"true"), headers)[0] == 400
    assert shop.paid == set()
