"""When an order gets another invoice, and what becomes of the older one."""

from typing import Callable

from world import Shop, has, same


def open_invoice_is_used_again(shop: Shop) -> None:
    order, invoice = shop.begin()
    same(shop.pay_again(order)["redirect"], invoice["checkoutUrl"], "redirect")
    same(len(shop.order(order)["attempts"]), 1, "attempts")
    same(shop.order(order)["attempts"][0]["orderId"], f"{shop_name(shop)}-{order}-1", "orderId")
    # An order that somebody of the shop holds stays so when the invoice ends.
    shop.order(order, status="on-hold")
    shop.coffer.advance("21m")
    same((shop.order(order)["status"], shop.order(order)["attempts"][0]["status"]), ("on-hold", "expired"), "order")


def shop_name(shop: Shop) -> str:
    return shop.url.removeprefix("http://").replace(".", "-").replace(":", "-")


def changed_price_is_another_attempt(shop: Shop) -> None:
    order, first = shop.begin("20.00")
    shop.order(order, total="25.00")
    shop.pay_again(order)
    second = shop.invoice(order)
    same((second["orderId"][-2:], second["amount"]), ("-2", "25.00"), "invoice")
    if not shop.coffer.can_cancel:
        shop.coffer.call("POST", f"/sandbox/invoices/{first['id']}/cancel")
    shop.coffer.delivered()
    # The end of the older invoice is not that of the order.
    same(shop.coffer.invoice(first["id"])["status"], "cancelled")
    same(shop.order(order)["status"], "pending", "status")
    # If the cancellation failed, a payment of the old invoice does not pay the order.
    order, first = shop.begin("20.00")
    shop.order(order, total="25.00")
    shop.coffer.refuse_to_cancel(1)
    shop.pay_again(order)
    shop.coffer.pay(first)
    shop.coffer.delivered()
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("on-hold", 0), "order")
    has(shop.box(order), "Attempt 1: 20.00 EUR, confirmed, received 0.25 LTC")


def price_that_changed_after_the_checkout(shop: Shop) -> None:
    order, invoice = shop.begin("20.00")
    shop.order(order, total="30.00")
    shop.coffer.pay(invoice)
    shop.coffer.delivered()
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("on-hold", 0), "order")
    has(" ".join(shop.order(order)["notes"]), "it is paid, but the order costs 30.00 EUR now")
    # The same for a currency that Coffer does not have.
    order, invoice = shop.begin("20.00")
    shop.order(order, currency="GBP")
    shop.coffer.pay(invoice)
    shop.coffer.delivered()
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("on-hold", 0), "order")


def paid_before_the_customer_pays_again(shop: Shop) -> None:
    with shop.no_webhooks():
        order, invoice = shop.begin()
        shop.coffer.pay(invoice)
        same(shop.order(order)["status"], "pending", "status")
        # No webhook came. Paying again finds the money.
        has(shop.pay_again(order)["redirect"], f"order-received={order}")
        same(shop.order(order)["status"], "processing", "status")
        # The same by the visit that begins at the checkout's way back.
        order, invoice = shop.begin()
        shop.coffer.pay(invoice)
        back = f"{shop.url}/?wc-api=coffer_return&order={order}&key={shop.order(order)['order_key']}"
        has(shop.customer.get(back).headers["Location"], f"order-received={order}")
        same((shop.order(order)["status"], shop.order(order)["payments"]), ("processing", 1), "order")
        # And by somebody of the shop.
        order, invoice = shop.begin()
        shop.coffer.pay(invoice)
        page = shop.page(f"page=wc-orders&id={order}")
        sent = {"_wpnonce": shop.nonce(page), "wc_order_action": "coffer_read"}
        shop.admin.post(f"{shop.url}/wp-admin/admin.php?page=wc-orders&id={order}", sent)
        same(shop.order(order)["status"], "processing", "status")


def foreign_invoice_of_the_same_name(shop: Shop) -> None:
    order, _ = shop.begin()
    # A shop that was installed anew counts its orders from 1 again. Coffer knows two of its next names.
    name, last = f"{shop_name(shop)}-{order + 1}-", f"{shop_name(shop)}-{order + 1}-3"
    old = {"amount": "20.00", "currency": "EUR"}
    for number in [1, 2]:
        invoice = shop.coffer.call("POST", "/v1/invoices", {**old, "orderId": f"{name}{number}", "asset": "LTC"})
        shop.coffer.pay(invoice)
    second, invoice = shop.begin()
    same(second, order + 1, "order")
    same(invoice["orderId"], last, "orderId")
    same((shop.order(second)["status"], shop.order(second)["payments"]), ("pending", 0), "order")


def known_name_with_another_price(shop: Shop) -> None:
    order, first = shop.begin("20.00")
    name, mark = first["orderId"][:-1], first["metadata"]
    for number, fields in [(2, {"amount": "1.00"}), (3, {"currency": "USD"})]:
        made = {"amount": "25.00", "currency": "EUR", "orderId": f"{name}{number}", "metadata": mark, "asset": "LTC", **fields}
        shop.coffer.pay(shop.coffer.call("POST", "/v1/invoices", made))
    shop.order(order, total="25.00")
    shop.pay_again(order)
    fourth = shop.invoice(order)
    same((fourth["orderId"], fourth["amount"], fourth["currency"]), (f"{name}4", "25.00", "EUR"), "invoice")
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("pending", 0), "order")


def money_on_two_invoices(shop: Shop) -> None:
    order, first = shop.begin()
    shop.coffer.call("POST", f"/v1/invoices/{first['id']}/select", {"asset": "LTC"})
    shop.coffer.advance("21m")
    shop.pay_again(order)
    payment = shop.coffer.see(shop.invoice(order))
    shop.coffer.delivered()
    shop.coffer.pay(first)
    shop.coffer.delivered()
    # The money of the second invoice vanishes, and that of the first one is still there.
    shop.coffer.move(payment, "dropped")
    shop.coffer.advance("21m")
    stored = shop.order(order)
    same([one["status"] for one in stored["attempts"]], ["paid_late", "failed"], "invoices")
    same(stored["status"], "on-hold", "status")


def answer_of_the_creation_is_lost(shop: Shop) -> None:
    for faults in [1, 10]:
        shop.coffer.call("POST", "/sandbox/faults", {"route": "POST /v1/invoices", "dropAnswer": True, "times": faults})
        order, answer = shop.checkout()
        shop.coffer.call("DELETE", "/sandbox/faults")
        name = shop.order(order)["attempts"][0]["orderId"]
        same(len(shop.coffer.named(name)), 1, "invoices")
        same(answer["result"], "success" if faults == 1 else "failure", "result")
    has(answer["messages"][0][1], "The payment cannot be started just now.")
    # Paying again leads to the same invoice. Its payment is found also if nobody has.
    (invoice,) = shop.coffer.named(name)
    shop.coffer.pay(invoice, "0.1")
    shop.coffer.delivered()
    same((shop.order(order)["status"], shop.order(order)["attempts"][0]["invoice"]), ("on-hold", invoice["id"]), "order")
    shop.order(order, status="pending")
    same(shop.pay_again(order)["redirect"], invoice["checkoutUrl"], "redirect")
    shop.coffer.pay(invoice)
    shop.coffer.delivered()
    same(shop.order(order)["status"], "processing", "status")


def mode_is_changed(shop: Shop) -> None:
    order, _ = shop.begin()
    shop.connect(live=False)
    shop.pay_again(order)
    attempt = shop.order(order)["attempts"][-1]
    same((attempt["number"], attempt["livemode"]), (2, False), "attempt")
    shop.connect(live=True)
    # The test invoice is paid with nothing, and pays nothing.
    shop.coffer.call("POST", f"/v1/invoices/{attempt['invoice']}/simulate", {"asset": "LTC"}, live=False)
    shop.coffer.delivered()
    same((shop.order(order)["status"], shop.order(order)["payments"]), ("pending", 0), "order")
    has(shop.box(order), "Attempt 2: 20.00 EUR, created, test mode")


STORIES: list[Callable[[Shop], None]] = [
    open_invoice_is_used_again,
    changed_price_is_another_attempt,
    price_that_changed_after_the_checkout,
    paid_before_the_customer_pays_again,
    foreign_invoice_of_the_same_name,
    known_name_with_another_price,
    money_on_two_invoices,
    answer_of_the_creation_is_lost,
    mode_is_changed,
]
