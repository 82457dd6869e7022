"""What a shop's tests look like with the wheel `coffer-sandbox` installed: nothing sleeps, and each test has its own Coffer.

The fixture `coffer` is a real Coffer on a free port, which starts in milliseconds and is gone when the test ends.
"""

from decimal import Decimal
from typing import Tuple

import pytest
from coffer_sandbox import Coffer, Receiver, SignatureError, verify_signature
from shop import Shop, ShopClosed

ShopAndHooks = Tuple[Shop, Receiver]


def open_shop(coffer: Coffer, key: str) -> ShopAndHooks:
    """The shop with a key, and a real HTTP server that hands each webhook to it."""
    shop = Shop(coffer.url, key, coffer.webhook_secret)
    hooks = coffer.receive_webhooks(lambda webhook: shop.handle_webhook(webhook.headers, webhook.body))
    return shop, hooks


@pytest.fixture
def shop_and_hooks(coffer: Coffer) -> ShopAndHooks:
    """The shop in test mode."""
    return open_shop(coffer, coffer.keys.secret_test)


def test_a_paid_order_is_sent(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    payment = coffer.send(invoice["id"])
    hooks.wait("invoice.detected")
    assert not shop.sent
    payment.confirm()
    hooks.wait("invoice.confirmed")
    assert shop.sent == {"order-1"}
    # 20.00 less the fee of 1 %.
    assert coffer.balance("EUR").available == Decimal("19.80")


def test_nobody_pays(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    shop.order("order-1", Decimal("20.00"))
    # All work that becomes due while the clock is advanced is done when this call returns.
    coffer.clock.advance("20m")
    hooks.wait("invoice.expired")
    assert (shop.sent, shop.refused) == (set(), {"order-1": "expired"})


def test_half_is_not_enough(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = coffer.invoice(shop.order("order-1", Decimal("20.00"))["id"])
    assert coffer.underpay(invoice).status == "underpaid"
    hooks.wait("invoice.underpaid")
    assert not shop.sent
    # The remaining amount arrives.
    coffer.pay(invoice)
    hooks.wait("invoice.confirmed")
    assert (shop.sent, shop.refused) == ({"order-1"}, {})


def test_an_expired_order_turns_out_to_have_been_paid_in_time(coffer: Coffer) -> None:
    shop, hooks = open_shop(coffer, coffer.keys.secret_live)
    coffer.change_chain("litecoin", lagging=True)
    invoice = coffer.live.select(shop.order("order-1", Decimal("20.00"))["id"], "LTC")
    seen_at = coffer.state()["time"]
    # Coffer waits for a chain that lags, but only for a limited time.
    coffer.clock.advance("6h20m")
    hooks.wait("invoice.expired")
    assert shop.refused == {"order-1": "expired"}
    payment = coffer.request("POST", "/sandbox/payments", {"invoice": invoice.id, "seenAt": seen_at})
    coffer.request("POST", f"/sandbox/payments/{payment['id']}", {"state": "confirmed"})
    hooks.wait("invoice.confirmed")
    assert (shop.sent, shop.refused) == ({"order-1"}, {})


def test_a_test_payment_sends_nothing_of_a_shop_that_takes_money(coffer: Coffer) -> None:
    shop, hooks = open_shop(coffer, coffer.keys.secret_live)
    shop.order("order-1", Decimal("20.00"))
    # An order id identifies one invoice in each mode, and the endpoint gets events of both modes.
    assert coffer.pay(coffer.create_invoice("1.00", order_id="order-1")).paid
    hooks.wait("invoice.confirmed")
    assert not shop.sent


def test_an_older_event_that_comes_late_undoes_nothing(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    hooks.wait("invoice.created")
    coffer.underpay(invoice["id"])
    told = hooks.wait("invoice.underpaid")
    coffer.pay(invoice["id"])
    hooks.wait("invoice.confirmed")
    shop.handled.clear()
    shop.handle_webhook(told.headers, told.body)
    assert (shop.sent, shop.refused) == ({"order-1"}, {})


def test_the_shop_is_down_when_the_webhook_comes(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    hooks.wait("invoice.created")
    hooks.answer(500, times=2)
    coffer.pay(invoice["id"])
    hooks.wait("invoice.confirmed")
    # Coffer retries after seconds or hours of the sandbox clock.
    coffer.clock.advance("1h")
    hooks.wait("invoice.confirmed", count=2)
    assert shop.sent == {"order-1"}


def test_coffer_cannot_be_reached_for_a_moment(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, _ = shop_and_hooks
    coffer.faults.refuse("POST /v1/invoices", status=503)
    coffer.faults.drop_answer("POST /v1/invoices")
    # Rejected, then created without a response, then answered: one invoice.
    shop.order("order-1", Decimal("20.00"))
    assert len(coffer.invoices(order_id="order-1")) == 1
    coffer.faults.refuse("POST /v1/invoices", status=503, times=3)
    with pytest.raises(ShopClosed):
        shop.order("order-2", Decimal("20.00"))


def test_a_forged_webhook_is_refused(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    shop.order("order-1", Decimal("20.00"))
    webhook = hooks.wait("invoice.created")
    with pytest.raises(ValueError):
        shop.handle_webhook(webhook.headers, webhook.body.replace(b"created", b"confirmed"))
    # The function of the Python package, for a shop that does not write its own.
    with pytest.raises(SignatureError):
        verify_signature(webhook.body, webhook.headers, "whsec_b3RoZXI=")


def test_one_sandbox_for_many_tests(coffer_session: Coffer) -> None:
    coffer_session.reset()
    assert coffer_session.invoices() == []
    assert coffer_session.pay(coffer_session.create_invoice("5.00")).paid
