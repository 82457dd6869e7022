"""Webhooks that come twice, late, out of order, forged, of test mode and of other orders, and visits with a wrong key."""

import json
from typing import Callable

from world import SECRET, Shop, has, same


def comes_twice(shop: Shop) -> None:
    order, invoice = shop.begin()
    # Eight at once, of which none was delivered before.
    with shop.no_webhooks():
        shop.coffer.pay(invoice)
        body = shop.coffer.event("invoice.confirmed", invoice["id"])
        same(set(shop.send_at_once(body, 8)), {200}, "answers")
        stored = shop.order(order)
        same((stored["status"], stored["payments"]), ("processing", 1), "order")
        # Somebody of the shop has changed the order since. An old webhook does not change it back.
        shop.order(order, status="on-hold")
        same(shop.send(body).status, 200, "answer")
        same((shop.order(order)["status"], shop.order(order)["payments"]), ("on-hold", 1), "order")


def comes_late_and_out_of_order(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.pay(invoice)
    shop.coffer.delivered()
    notes = shop.order(order)["notes"]
    for type in ["invoice.confirmed", "invoice.detected", "invoice.created"]:
        same(shop.send(shop.coffer.event(type, invoice["id"])).status, 200, type)
    stored = shop.order(order)
    same((stored["status"], stored["payments"], stored["notes"]), ("processing", 1, notes), "order")
    # The refund is told before the payment.
    order, invoice = shop.begin()
    with shop.no_webhooks():
        shop.coffer.pay(invoice)
        body = shop.coffer.event("refund.paid", shop.coffer.refund(invoice, "5.00"))
        same(shop.send(body).status, 200, "answer")
        same(shop.send(shop.coffer.event("invoice.confirmed", invoice["id"])).status, 200, "answer")
        stored = shop.order(order)
        same((stored["status"], stored["payments"], len(stored["refunds"])), ("processing", 1, 1), "order")
    # Coffer was away when it came: it is sent again.
    order, invoice = shop.begin()
    payment = shop.coffer.see(invoice)
    shop.coffer.delivered()
    shop.coffer.call("POST", "/sandbox/faults", {"route": "GET /v1/invoices/{id}", "status": 500, "times": 1})
    shop.coffer.move(payment, "confirmed")
    shop.coffer.delivered()
    same(shop.order(order)["status"], "on-hold", "status")
    shop.coffer.advance("1m")
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("processing", 1), "order")
    shop.coffer.call("DELETE", "/sandbox/faults")


def is_forged(shop: Shop) -> None:
    order, invoice = shop.begin()
    event = json.loads(shop.coffer.event("invoice.created", invoice["id"]))
    event["type"] = "invoice.confirmed"
    event["data"]["object"].update(status="confirmed", paid=True)
    body = json.dumps(event)
    same(shop.send(body, secret="whsec_wrong").status, 400, "wrong secret")
    same(shop.send(body, secret="").status, 400, "empty secret")
    same(shop.send(body, age=400).status, 400, "old")
    same(shop.send(body, age=-400).status, 400, "from the future")
    same(shop.customer.call("POST", shop.hook, body.encode()).status, 400, "not signed")
    same(shop.customer.get(shop.hook).status, 405, "GET")
    # Even with the secret a webhook only starts the reading.
    same(shop.send(body).status, 200, "signed")
    for hostile in ["null", "[]", "{}", '{"type": []}', '{"type": "invoice.confirmed", "data": {"object": "x"}}', "x" * 5000]:
        assert shop.send(hostile).status in [200, 400], hostile[:60]
    for order_id in ["-1-1", "x-0-1", f"x-{'9' * 30}-1", f"shop-{order}", ["x"], f"shop-{order}-1\n", "a' OR 1-1-1"]:
        event["data"]["object"]["orderId"] = order_id
        same(shop.send(json.dumps({**event, "livemode": True})).status, 200, str(order_id))
    stored = shop.order(order)
    same((stored["status"], stored["payments"]), ("pending", 0), "order")


def is_of_test_mode(shop: Shop) -> None:
    order, invoice = shop.begin()
    name = {"orderId": invoice["orderId"], "amount": "20.00", "currency": "EUR", "metadata": invoice["metadata"]}
    test = shop.coffer.call("POST", "/v1/invoices", name, live=False)
    shop.coffer.call("POST", f"/v1/invoices/{test['id']}/simulate", {"asset": "LTC"}, live=False)
    shop.coffer.delivered()
    body = shop.coffer.event("invoice.confirmed", test["id"], live=False)
    has(shop.send(body).text, "another mode")
    # One that lies about its mode finds nothing.
    same(shop.send(body.replace('"livemode": false', '"livemode": true')).status, 200, "answer")
    stored = shop.order(order)
    same((stored["status"], stored["payments"]), ("pending", 0), "order")


def is_of_another_order(shop: Shop) -> None:
    order, invoice = shop.begin()
    other, paid = shop.begin()
    shop.coffer.pay(paid)
    shop.coffer.delivered()
    same(shop.order(other)["status"], "processing", "status")
    # The paid invoice of another order, told under the name of this one.
    body = shop.coffer.event("invoice.confirmed", paid["id"]).replace(paid["orderId"], invoice["orderId"])
    same(shop.send(body).status, 200, "answer")
    # An invoice that somebody has made by hand: cheaper, in another currency, of another shop.
    name = f"{invoice['orderId'].rsplit('-', 2)[0]}-{order}-7"
    for number, fields in enumerate([{"amount": "1.00"}, {"currency": "USD"}, {"orderId": f"elsewhere-{order}-1"}, {}]):
        made = {"amount": "20.00", "currency": "EUR", "orderId": f"{name}{number}", "asset": "LTC", **fields}
        shop.coffer.pay(shop.coffer.call("POST", "/v1/invoices", made))
    shop.coffer.delivered()
    stored = shop.order(order)
    same((stored["status"], stored["payments"], len(stored["attempts"])), ("pending", 0, 1), "order")
    # A refund of an invoice that is no order's.
    shop.coffer.refund(shop.coffer.named(f"elsewhere-{order}-1")[0], "20.00")
    same(shop.order(order)["refunds"], [], "refunds")


def visitor_has_no_key(shop: Shop) -> None:
    order, invoice = shop.begin()
    for query in [f"order={order}", f"order={order}&key=x", f"order={order}&key[]=x", "order=0&key=", "order[]=1", ""]:
        for page in ["coffer_return", "coffer_pay"]:
            answer = shop.customer.get(f"{shop.url}/?wc-api={page}&{query}")
            same((answer.status, answer.headers["Location"]), (303, f"{shop.url}/"), f"{page} {query}")
    back = f"{shop.url}/?wc-api=coffer_return&order={order}&key={shop.order(order)['order_key']}"
    # The visit itself is no payment.
    has(shop.customer.get(back).headers["Location"], f"order-received={order}")
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("pending", 0), "order")
    assert SECRET not in shop.told(order) and invoice["checkoutUrl"] not in shop.told(order)


STORIES: list[Callable[[Shop], None]] = [
    comes_twice,
    comes_late_and_out_of_order,
    is_forged,
    is_of_test_mode,
    is_of_another_order,
    visitor_has_no_key,
]
