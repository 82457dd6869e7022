"""The life of orders, from the checkout to the refund: stories.py SHOP-URL COFFER-BINARY FOLDER."""

import sys
import traceback
from pathlib import Path
from typing import Any, Callable

import attacks
import attempts
import settings
from world import Coffer, Shop, has, lacks, same


def agree(shop: Shop, order: int, status: str) -> None:
    """Compares an order with the invoices of Coffer, as both are after all webhooks."""
    shop.coffer.delivered()
    stored = shop.order(order)
    same(stored["status"], status, "status of the order")
    for attempt in stored["attempts"]:
        (invoice,) = shop.coffer.named(attempt["orderId"])
        received = invoice["amountReceived"]
        wanted = {
            "number": int(invoice["orderId"].rsplit("-", 1)[1]),
            "orderId": invoice["orderId"],
            "amount": invoice["amount"],
            "currency": invoice["currency"],
            "livemode": invoice["livemode"],
            "invoice": invoice["id"],
            "status": invoice["status"],
            "paid": invoice["paid"],
            "received": None if received is None else f"{received} {invoice['assetSymbol']}",
        }
        same(attempt, wanted, "attempt")
    payers = [one for one in stored["attempts"] if one["invoice"] == stored["transaction_id"]]
    if status in ["processing", "completed"]:
        same([one["paid"] for one in payers], [True], "invoices that paid the order")


def exact(shop: Shop) -> None:
    order, invoice = shop.begin("19.90")
    same((invoice["amount"], invoice["currency"], invoice["livemode"]), ("19.90", "EUR", True))
    has(shop.told(order), "Your payment was not seen yet")
    payment = shop.coffer.see(invoice)
    agree(shop, order, "on-hold")
    has(shop.told(order), "is being confirmed")
    shop.coffer.move(payment, "confirmed")
    agree(shop, order, "processing")
    has(shop.told(order), "Your payment has arrived. Thank you.")
    same(shop.order(order)["payments"], 1, "payments")


def under_and_top_up(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.pay(invoice, "0.1")
    agree(shop, order, "on-hold")
    same(shop.invoice(order)["status"], "underpaid")
    has(shop.told(order), "Less has arrived than was due.")
    has(shop.box(order), "received 0.1 LTC")
    # The link leads to the same invoice.
    link = shop.told(order).split('href="')[1].split('"')[0]
    same(shop.customer.get(link).headers["Location"], invoice["checkoutUrl"], "way back")
    shop.coffer.pay(invoice)
    agree(shop, order, "processing")
    same(len(shop.order(order)["attempts"]), 1, "attempts")


def over(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.pay(invoice, "0.5")
    agree(shop, order, "processing")
    has(" ".join(shop.order(order)["notes"]), "with more than was due")
    has(shop.told(order), "more than was due. Ask us about the rest")
    # The excess is no part of the order's price.
    refund = shop.coffer.refund(invoice, "20.00")
    agree(shop, order, "processing")
    same(shop.order(order)["refunds"], [], "refunds")
    has(" ".join(shop.order(order)["notes"]), refund)


def late(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.call("POST", f"/v1/invoices/{invoice['id']}/select", {"asset": "LTC"})
    shop.coffer.advance("21m")
    agree(shop, order, "pending")
    shop.coffer.pay(invoice)
    agree(shop, order, "on-hold")
    same(shop.invoice(order)["status"], "paid_late")
    has(shop.told(order), "Do not pay again")
    has(shop.box(order), "Refund invoice")


def expired_and_paid_again(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.call("POST", f"/v1/invoices/{invoice['id']}/select", {"asset": "LTC"})
    shop.coffer.advance("21m")
    agree(shop, order, "pending")
    has(shop.told(order), "The time to pay is over")
    answer = shop.pay_again(order)
    second = shop.invoice(order)
    same(answer["redirect"], second["checkoutUrl"], "redirect")
    same(second["orderId"], invoice["orderId"][:-1] + "2", "orderId")
    shop.coffer.pay(second)
    agree(shop, order, "processing")
    # Then the first invoice is paid, too late, too.
    shop.coffer.pay(invoice)
    agree(shop, order, "processing")
    same(shop.order(order)["payments"], 1, "payments")
    has(" ".join(shop.order(order)["notes"]), "(attempt 1, 20.00 EUR, received 0.25 LTC)")
    has(shop.box(order), "Attempt 1: 20.00 EUR, paid late, received 0.25 LTC")
    # Its refund takes nothing from what the order was paid with.
    shop.coffer.refund(invoice, "20.00")
    same(shop.order(order)["refunds"], [], "refunds")
    agree(shop, order, "processing")


def cancelled(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.call("POST", f"/sandbox/invoices/{invoice['id']}/cancel")
    agree(shop, order, "cancelled")
    # The shop lets the customer pay after all.
    shop.order(order, status="pending")
    second = shop.pay_again(order)
    same(second["redirect"], shop.invoice(order)["checkoutUrl"], "redirect")
    same(shop.invoice(order)["orderId"], invoice["orderId"][:-1] + "2", "orderId")
    shop.coffer.pay(shop.invoice(order))
    agree(shop, order, "processing")


def cancelled_in_the_shop(shop: Shop) -> None:
    if shop.coffer.can_cancel:
        order, invoice = shop.begin()
        shop.order(order, status="cancelled")
        agree(shop, order, "cancelled")
        same(shop.invoice(order)["status"], "cancelled")
    # If Coffer does not do it, what is paid then is not lost.
    order, invoice = shop.begin()
    shop.coffer.refuse_to_cancel(1)
    shop.order(order, status="cancelled")
    has(" ".join(shop.order(order)["notes"]), "could not be cancelled")
    shop.coffer.pay(invoice)
    agree(shop, order, "processing")
    has(" ".join(shop.order(order)["notes"]), "although the order was cancelled")


def reorganised(shop: Shop) -> None:
    order, invoice = shop.begin()
    payment = shop.coffer.see(invoice)
    shop.coffer.move(payment, "confirmed")
    agree(shop, order, "processing")
    shop.coffer.move(payment, "orphaned")
    agree(shop, order, "on-hold")
    has(" ".join(shop.order(order)["notes"]), "Do not ship")
    shop.coffer.move(payment, "confirmed")
    agree(shop, order, "processing")
    # Now it vanishes for good.
    shop.coffer.move(payment, "orphaned")
    shop.coffer.move(payment, "dropped")
    agree(shop, order, "pending")
    same(shop.invoice(order)["status"], "failed")
    has(shop.told(order), "has vanished from its network")
    shop.pay_again(order)
    shop.coffer.pay(shop.invoice(order))
    agree(shop, order, "processing")
    # An order that was shipped stays as it is.
    shop.order(order, status="completed")
    shop.coffer.move(payment, "seen")
    shop.coffer.move(payment, "confirmed")
    agree(shop, order, "completed")
    has(" ".join(shop.order(order)["notes"]), "Refund one of the two payments")


def refund(shop: Shop) -> None:
    # The links to Coffer's pages do not have the version of the interface.
    lacks(shop.save(url=f"{shop.coffer.url}/v1/"), "must begin with https://")
    order, invoice = shop.begin()
    shop.coffer.pay(invoice)
    agree(shop, order, "processing")
    link = f'href="{shop.coffer.url}/dashboard#/invoices/{invoice["id"]}?mode=live'
    has(shop.box(order), f'{link}"')
    has(shop.box(order), f'{link}&refund=20.00"')
    first = shop.coffer.refund(invoice, "5.00")
    agree(shop, order, "processing")
    same(shop.order(order)["refunds"], [{"amount": "5.00", "reason": f"Coffer: refund {first}"}], "refunds")
    # The webhook comes again, at once and several times.
    same(set(shop.send_at_once(shop.coffer.event("refund.paid", first), 4)), {200}, "answers")
    same(len(shop.order(order)["refunds"]), 1, "refunds")
    shop.coffer.refund(invoice, "15.00")
    agree(shop, order, "refunded")
    same([one["amount"] for one in shop.order(order)["refunds"]], ["5.00", "15.00"], "refunds")
    same(shop.invoice(order)["refundedAmount"], "20.00", "refunded in Coffer")


def refund_of_a_refunded_order(shop: Shop) -> None:
    order, invoice = shop.begin()
    shop.coffer.pay(invoice)
    shop.coffer.refund(invoice, "18.00")
    shop.order(order, total="19.00")
    shop.coffer.refund(invoice, "2.00")
    same([one["amount"] for one in shop.order(order)["refunds"]], ["18.00"], "refunds")
    has(shop.order(order)["notes"][-1], "It is not booked here: Invalid refund amount.")


STORIES: list[Callable[[Shop], None]] = [
    *settings.STORIES,
    exact,
    under_and_top_up,
    over,
    late,
    expired_and_paid_again,
    cancelled,
    cancelled_in_the_shop,
    reorganised,
    refund,
    refund_of_a_refunded_order,
    *attempts.STORIES,
    *attacks.STORIES,
]


def main() -> int:
    url, binary, folder = sys.argv[1:]
    coffer = Coffer(binary, Path(folder) / "sandbox.log")
    failed = 0
    try:
        shop = Shop(url, coffer)
        coffer.send_webhooks_to(shop.hook)
        for story in STORIES:
            try:
                story(shop)
            except Exception:
                failed += 1
                print(f"woocommerce: FAILED: {story.__name__}\n{traceback.format_exc()}", flush=True)
        failed += check_logs(Path(folder), coffer)
    finally:
        coffer.stop()
    print(f"woocommerce: {len(STORIES) - failed} stories passed, {failed} failed", flush=True)
    return 1 if failed else 0


def check_logs(folder: Path, coffer: Coffer) -> int:
    """Checks that PHP has warned of nothing, and that no log has a secret."""
    wrong: list[Any] = []
    logs = {name: (folder / name).read_text() for name in ["debug.log", "wc.log", "server.log"]}
    wrong += [line for line in logs["debug.log"].splitlines() if "/coffer-woocommerce/" in line or "Fatal" in line]
    for name, text in logs.items():
        for secret in [*coffer.keys.values(), *settings.SECRETS]:
            if secret in text:
                wrong.append(f"{name} has a secret")
    for line in wrong:
        print(f"woocommerce: FAILED: {line}", flush=True)
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
