"""What a shop's tests look like with coffer-sandbox installed: nothing sleeps, and each test has its own Coffer.

The fixture `coffer` is a real Coffer on a free port, which starts in milliseconds and is gone when the test ends.
"""

from decimal import Decimal
from typing import Tuple

import pytest
from coffer_client import SignatureError, verify
from coffer_sandbox import Receiver, Sandbox
from shop import Shop, ShopClosed

ShopAndHooks = Tuple[Shop, Receiver]


def open_shop(coffer: Sandbox, key: str) -> ShopAndHooks:
    """The shop with a key, and a real HTTP server that hands each webhook to it."""
    shop = Shop(coffer.url, key, coffer.webhook_secret)
    hooks = coffer.receiver(handler=lambda webhook: shop.handle_webhook(webhook.headers, webhook.body))
    return shop, hooks


@pytest.fixture
def shop_and_hooks(coffer: Sandbox) -> ShopAndHooks:
    """The shop in test mode."""
    return open_shop(coffer, coffer.keys.secret_test)


def test_a_paid_order_is_sent(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    payment = coffer.payments.exact(invoice, confirm=False)
    hooks.next("invoice.detected")
    assert not shop.sent
    coffer.payments.confirm(payment)
    hooks.next("invoice.confirmed")
    assert shop.sent == {"order-1"}
    # 20.00 less the fee of 1 %.
    assert next(coffer.list_balances())["available"] == "19.80"


def test_nobody_pays(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    shop.order("order-1", Decimal("20.00"))
    # All work that becomes due while the clock is advanced is done when this call returns.
    coffer.clock.advance("20m")
    hooks.next("invoice.expired")
    assert (shop.sent, shop.refused) == (set(), {"order-1": "expired"})


def test_half_is_not_enough(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    assert coffer.pay(invoice, case="under")["status"] == "underpaid"
    hooks.next("invoice.underpaid")
    assert not shop.sent
    # The remaining amount arrives.
    coffer.pay(invoice)
    hooks.next("invoice.confirmed")
    assert (shop.sent, shop.refused) == ({"order-1"}, {})


def test_an_expired_order_turns_out_to_have_been_paid_in_time(coffer: Sandbox) -> None:
    shop, hooks = open_shop(coffer, coffer.keys.secret_live)
    coffer.request("PATCH", "/sandbox/chains/litecoin", {"lagging": True})
    invoice = coffer.live.select_coin(shop.order("order-1", Decimal("20.00")), {"asset": "LTC"})
    seen_at = coffer.state()["time"]
    # Coffer waits for a chain that lags, but only for a limited time.
    coffer.clock.advance("6h20m")
    hooks.next("invoice.expired")
    assert shop.refused == {"order-1": "expired"}
    coffer.payments.confirm(coffer.payments.see({"invoice": invoice["id"], "seenAt": seen_at}))
    hooks.next("invoice.confirmed")
    assert (shop.sent, shop.refused) == ({"order-1"}, {})


def test_a_test_payment_sends_nothing_of_a_shop_that_takes_money(coffer: Sandbox) -> None:
    shop, hooks = open_shop(coffer, coffer.keys.secret_live)
    shop.order("order-1", Decimal("20.00"))
    # An order id identifies one invoice in each mode, and the endpoint gets events of both modes.
    assert coffer.pay(coffer.create_invoice({"amount": "1.00", "currency": "EUR", "orderId": "order-1"}))["paid"]
    hooks.next("invoice.confirmed")
    assert not shop.sent


def test_an_older_event_that_comes_late_undoes_nothing(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    hooks.next("invoice.created")
    coffer.pay(invoice, case="under")
    told = hooks.next("invoice.underpaid")
    coffer.pay(invoice)
    hooks.next("invoice.confirmed")
    shop.handled.clear()
    shop.handle_webhook(told.headers, told.body)
    assert (shop.sent, shop.refused) == ({"order-1"}, {})


def test_the_shop_is_down_when_the_webhook_comes(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    invoice = shop.order("order-1", Decimal("20.00"))
    hooks.next("invoice.created")
    hooks.respond(status=500, times=2)
    coffer.pay(invoice)
    hooks.next("invoice.confirmed")
    # Coffer retries after seconds or hours of the sandbox clock.
    coffer.clock.advance("1h")
    hooks.next("invoice.confirmed")
    assert shop.sent == {"order-1"}


def test_coffer_cannot_be_reached_for_a_moment(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, _ = shop_and_hooks
    coffer.faults.refuse("POST /v1/invoices", status=503)
    coffer.faults.drop_answer("POST /v1/invoices")
    # Rejected, then created without a response, then answered: one invoice.
    shop.order("order-1", Decimal("20.00"))
    assert len(list(coffer.list_invoices({"orderId": "order-1"}))) == 1
    coffer.faults.refuse("POST /v1/invoices", status=503, times=3)
    with pytest.raises(ShopClosed):
        shop.order("order-2", Decimal("20.00"))


def test_a_forged_webhook_is_refused(coffer: Sandbox, shop_and_hooks: ShopAndHooks) -> None:
    shop, hooks = shop_and_hooks
    shop.order("order-1", Decimal("20.00"))
    webhook = hooks.next("invoice.created")
    with pytest.raises(ValueError):
        shop.handle_webhook(webhook.headers, webhook.body.replace(b"created", b"confirmed"))
    # The function of coffer_client, for a shop that does not write its own.
    with pytest.raises(SignatureError):
        verify(webhook.body, webhook.headers, "whsec_b3RoZXI=")


def test_one_sandbox_for_many_tests(coffer_session: Sandbox) -> None:
    coffer_session.reset()
    assert list(coffer_session.list_invoices()) == []
    assert coffer_session.pay(coffer_session.create_invoice({"amount": "5.00", "currency": "EUR"}))["paid"]
