"""A shop with Flask: it sends the customer to the checkout of an order, and marks the order as paid."""

import os

from coffer_client import Client, SignatureError, verify
from flask import Flask, abort, redirect, request

app = Flask(__name__)
coffer = Client(os.environ["COFFER_URL"], os.environ["COFFER_KEY"])
is_live = not os.environ["COFFER_KEY"].startswith("sk_test_")
prices = {"order-1": "20.00", "order-2": "35.50"}
paid = set()


@app.post("/orders/<order>/pay")
def pay(order):
    price = prices.get(order) or abort(404)
    invoice = coffer.create_invoice({"amount": price, "currency": "EUR", "orderId": order})
    return redirect(invoice["checkoutUrl"], 303)


@app.post("/webhooks")
def webhook():
    try:
        event = verify(request.get_data(), request.headers, os.environ["COFFER_WEBHOOK_SECRET"])
    except SignatureError:
        abort(400)
    # An endpoint may get events of both modes, and a test payment is worth nothing.
    if event["type"] in ("invoice.confirmed", "invoice.overpaid") and event["livemode"] == is_live:
        invoice = event["data"]["object"]
        if invoice["paid"] and (invoice["amount"], invoice["currency"]) == (prices.get(invoice["orderId"]), "EUR"):
            paid.add(invoice["orderId"])
    return "", 204
