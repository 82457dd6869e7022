"""What a shop's tests look like with `pip install coffer-sandbox`: nothing sleeps, and each test has its own Coffer.

The fixture `coffer` is a real Coffer on a free port, which starts in milliseconds and is gone when the test ends.
"""

from decimal import Decimal
from typing import Tuple

import pytest
from coffer_sandbox import Coffer, Receiver, SignatureError, verify_signature
from shop import Shop, ShopClosed

ShopAndHooks = Tuple[Shop, Receiver]


@pytest.fixture
def shop_and_hooks(coffer: Coffer) -> ShopAndHooks:
    """The shop, and a real HTTP server that hands each webhook to it."""
    shop = Shop(coffer.url, coffer.keys.secret_test, coffer.webhook_secret)
    hooks = coffer.receive_webhooks(lambda webhook: shop.handle_webhook(webhook.headers, webhook.body))
    return shop, hooks


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
    # The clock is moved, and what falls due on the way is done when this returns.
    coffer.clock.advance("20m")
    hooks.wait("invoice.expired")
    assert (shop.sent, shop.refused) == (set(), {"order-1": "expired"})


def test_half_is_not_enough(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = coffer.invoice(shop.order("order-1", Decimal("20.00"))["id"])
    assert coffer.underpay(invoice).status == "underpaid"
    hooks.wait("invoice.underpaid")
    assert not shop.sent
    # The rest comes.
    coffer.pay(invoice)
    hooks.wait("invoice.confirmed")
    assert shop.sent == {"order-1"}


def test_the_shop_is_down_when_the_webhook_comes(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    hooks.wait("invoice.created")
    hooks.answer(500, times=2)
    coffer.pay(invoice["id"])
    hooks.wait("invoice.confirmed")
    # Coffer tries again, after seconds or hours: on its own clock.
    coffer.clock.advance("1h")
    hooks.wait("invoice.confirmed", count=2)
    assert shop.sent == {"order-1"}


def test_coffer_cannot_be_reached_for_a_moment(coffer: Coffer, shop_and_hooks: ShopAndHooks) -> None:
    shop, _ = shop_and_hooks
    coffer.faults.refuse("POST /v1/invoices", status=503)
    coffer.faults.drop_answer("POST /v1/invoices")
    # Refused, then done without an answer, then answered: one invoice.
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
    # For a shop in Python that would rather not write that by itself.
    with pytest.raises(SignatureError):
        verify_signature(webhook.body, webhook.headers, "whsec_b3RoZXI=")


def test_one_sandbox_for_many_tests(coffer_session: Coffer) -> None:
    coffer_session.reset()
    assert coffer_session.invoices() == []
    assert coffer_session.pay(coffer_session.create_invoice("5.00")).paid
