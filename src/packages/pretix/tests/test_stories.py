"""The stories of a payment from end to end. After each, the order in pretix and the invoice in Coffer agree."""

import html
import re

from shop import Browser, Case


class Stories(Case):
    def begin(self, shop=None):
        shop = shop or self.shop
        code = shop.order()
        url = shop.pay(code)
        invoice = shop.invoice(code)
        self.assertEqual(url, invoice["checkoutUrl"])
        return code, self.sandbox_coin(shop, invoice)

    def sandbox_coin(self, shop, invoice):
        """Picks the coin, as the customer does on the checkout page."""
        return shop.coffer.select_coin(invoice, {"asset": "LTC"})

    def states(self, code, shop=None):
        return [each["state"] for each in (shop or self.shop).now(code)["payments"]]

    def test_exact(self):
        for shop in (self.shop, self.live):
            with self.subTest(event=shop.event):
                code, invoice = self.begin(shop)
                self.assert_agree(code, "n", "awaiting_payment", shop=shop)
                payment = self.send(invoice)
                self.assert_agree(code, "n", "detected", shop=shop)
                self.assertIn("We have seen your payment", shop.page(code))
                self.move(payment, state="confirmed")
                self.assert_agree(code, "p", "confirmed", shop=shop)

    def test_bought_in_the_shop(self):
        url, code = self.shop.buy()
        invoice = self.shop.invoice(code)
        self.assertEqual(url, invoice["checkoutUrl"])
        self.pays(self.sandbox_coin(self.shop, invoice))
        self.assert_agree(code, "p", "confirmed")

    def test_exact_without_webhooks_is_read_on_return(self):
        self.webhooks(False)
        code, invoice = self.begin()
        back = self.sandbox_return(code)
        self.assertNotIn("paid=yes", self.browse(back).location)
        self.assert_agree(code, "n", "awaiting_payment")
        self.pays(invoice)
        self.assert_agree_not_yet(code)
        self.assertIn("paid=yes", self.browse(back).location)
        self.assert_agree(code, "p", "confirmed")

    def test_underpaid_and_topped_up(self):
        code, invoice = self.begin()
        self.pays(invoice, amount="0.1")
        self.assert_agree(code, "n", "underpaid")
        self.assertEqual(self.states(code), ["pending"])
        self.assertIn("You have paid 0.1 of 0.25 LTC", self.shop.page(code))
        self.assertIn("received 0.1 LTC", self.shop.log(code))
        self.pays(invoice)
        self.assert_agree(code, "p", "confirmed")

    def test_underpaid_and_begun_again_uses_the_same_invoice(self):
        code, invoice = self.begin()
        self.pays(invoice, amount="0.1")
        self.assertEqual(self.shop.pay(code), invoice["checkoutUrl"])
        self.pays(invoice)
        self.assert_agree(code, "p", "confirmed")
        self.assertEqual(self.states(code), ["canceled", "confirmed"])

    def test_overpaid(self):
        code, invoice = self.begin()
        self.pays(invoice, amount="0.5")
        self.assert_agree(code, "p", "overpaid")
        self.assertIn("is overpaid, received 0.5 LTC", self.shop.log(code))

    def test_late(self):
        code, invoice = self.begin()
        self.advance("21m")
        self.assert_agree(code, "n", "expired")
        self.assertEqual(self.states(code), ["failed"])
        self.pays(invoice, amount="0.25")
        order, _ = self.assert_agree(code, "n", "paid_late")
        self.assertEqual(self.states(code), ["pending"])
        self.assertIn("Please do not pay again", self.shop.page(code))
        self.assertIn("is paid_late, received 0.25 LTC", self.shop.log(code))
        # The organizer accepts it.
        local = order["payments"][0]["local_id"]
        self.shop.api("POST", f"orders/{code}/payments/{local}/confirm/", {})
        self.advance("1m")
        self.assertEqual(self.shop.now(code)["status"], "p")

    def test_expired_and_paid_again(self):
        code, old = self.begin()
        self.advance("21m")
        self.assert_agree(code, "n", "expired")
        self.shop.pay(code)
        new = self.sandbox_coin(self.shop, self.shop.invoice(code, 2))
        self.assertNotEqual(old["id"], new["id"])
        # Money on the older attempt is shown, and does not hide the newer one.
        self.pays(old, amount="0.25")
        self.assertIn("money on an older attempt", self.shop.log(code))
        self.assert_agree(code, "n", "awaiting_payment", 2)
        self.pays(new)
        self.assert_agree(code, "p", "confirmed", 2)
        self.assertEqual(self.states(code), ["failed", "confirmed"])

    def test_open_invoice_of_the_same_amount_is_used_again(self):
        code, invoice = self.begin()
        self.assertEqual(self.shop.pay(code), invoice["checkoutUrl"])
        self.pays(invoice)
        self.assert_agree(code, "p", "confirmed")
        self.assertEqual(self.states(code), ["canceled", "confirmed"])

    def test_changed_amount_begins_another_attempt(self):
        code, old = self.begin()
        self.change_price(code, "30.00")
        self.shop.pay(code)
        new = self.sandbox_coin(self.shop, self.shop.invoice(code, 2))
        self.assertEqual((old["amount"], new["amount"]), ("20.00", "30.00"))
        # The invoice of the old amount takes no payment any more.
        self.assertEqual(self.shop.invoice(code, 1)["status"], "cancelled")
        self.pays(new)
        self.assert_agree(code, "p", "confirmed", 2)

    def test_old_amount_does_not_pay_the_order(self):
        code, invoice = self.begin()
        self.change_price(code, "30.00")
        self.pays(invoice)
        order = self.shop.now(code)
        self.assertEqual((order["status"], order["payments"][0]["state"]), ("n", "confirmed"))
        self.shop.pay(code)
        rest = self.shop.invoice(code, 2)
        self.assertEqual(rest["amount"], "10.00")
        self.pays(self.sandbox_coin(self.shop, rest))
        self.assertEqual(self.shop.now(code)["status"], "p")

    def test_a_paid_invoice_is_not_used_again(self):
        code, invoice = self.begin()
        self.pays(invoice)
        # The rest is as much as was paid.
        self.change_price(code, "40.00")
        self.assertEqual(self.shop.now(code)["status"], "n")
        self.assertEqual(self.shop.pay(code), self.shop.invoice(code, 2)["checkoutUrl"])
        self.pays(self.sandbox_coin(self.shop, self.shop.invoice(code, 2)))
        order = self.shop.now(code)
        self.assertEqual((order["status"], self.states(code)), ("p", ["confirmed", "confirmed"]))

    def test_cancelled_in_coffer(self):
        code, invoice = self.begin()
        self.control("POST", f"/sandbox/invoices/{invoice['id']}/cancel")
        self.delivered()
        self.assert_agree(code, "n", "cancelled")
        self.assertEqual(self.states(code), ["canceled"])
        self.shop.pay(code)
        self.pays(self.sandbox_coin(self.shop, self.shop.invoice(code, 2)))
        self.assert_agree(code, "p", "confirmed", 2)

    def test_cancelled_order_cancels_the_invoice(self):
        code, _ = self.begin()
        self.shop.api("POST", f"orders/{code}/mark_canceled/", {})
        self.delivered()
        self.assert_agree(code, "c", "cancelled")

    def test_money_for_a_cancelled_order_is_shown(self):
        code, invoice = self.begin()
        payment = self.send(invoice)
        self.shop.api("POST", f"orders/{code}/mark_canceled/", {})
        self.move(payment, state="confirmed")
        order = self.shop.now(code)
        self.assertEqual((order["status"], self.states(code)), ("c", ["confirmed"]))

    def test_reorganised(self):
        code, invoice = self.begin()
        payment = self.pays(invoice)
        self.assert_agree(code, "p", "confirmed")
        self.move(payment, state="orphaned")
        self.assert_agree(code, "n", "detected")
        self.assertIn("is gone from its chain", self.shop.log(code))
        self.move(payment, state="confirmed")
        self.assert_agree(code, "p", "confirmed")
        self.move(payment, state="dropped")
        self.assert_agree(code, "n", "failed")
        self.assertEqual(self.states(code), ["failed"])

    def test_refund(self):
        for shop in (self.shop, self.live):
            with self.subTest(event=shop.event):
                # The link to Coffer's pages does not have the version of the interface.
                mode = "live" if shop is self.live else "test"
                url = self.coffer.ready["url"] + "/v1/"
                self.assertEqual(self.save(shop, url=url, mode=mode, secret_key=f"sk_{mode}_sandbox").status, 302)
                code, invoice = self.begin(shop)
                self.pays(invoice)
                link = self.refund_in_pretix(shop, code, "5.00")
                form = f"/dashboard#/invoices/{invoice['id']}?mode={mode}&refund=5.00"
                self.assertEqual(link, self.coffer.ready["url"] + form)
                self.assertEqual(self.refunds(shop, code), [("created", "5.00")])
                self.refund_in_coffer(invoice, "5.00")
                self.assertEqual(self.refunds(shop, code), [("done", "5.00")])
                self.assertEqual(shop.invoice(code)["refundedAmount"], "5.00")
                # One that was begun in Coffer, which pretix asks the organizer about.
                self.refund_in_coffer(invoice, "3.00")
                self.assertEqual(self.refunds(shop, code), [("done", "5.00"), ("external", "3.00")])
                self.assertEqual(shop.invoice(code)["refundedAmount"], "8.00")

    def test_refund_that_fails_books_nothing(self):
        code, invoice = self.begin()
        self.pays(invoice)
        self.refund_in_pretix(self.shop, code, "20.00")
        self.refund_in_coffer(invoice, "20.00", last="fail")
        self.assertEqual(self.refunds(self.shop, code), [("created", "20.00")])
        self.assertIn("is failed", self.shop.log(code))
        self.refund_in_coffer(invoice, "20.00")
        self.assertEqual(self.refunds(self.shop, code), [("done", "20.00")])
        self.assertEqual(self.states(code), ["refunded"])

    # Steps.

    def browse(self, url):
        return Browser(url).get(url)

    def sandbox_return(self, code):
        """Returns the address that the checkout page sends the customer back to."""
        page = self.browse(self.shop.invoice(code)["checkoutUrl"]).text
        return re.search(r"http://[^\"'\\ ]+/coffer/return/[^\"'\\ ]+", page)[0]

    def assert_agree_not_yet(self, code):
        self.assertEqual(self.shop.invoice(code)["status"], "confirmed")
        self.assertEqual(self.shop.now(code)["status"], "n")

    def change_price(self, code, price):
        position = self.shop.now(code)["positions"][0]["id"]
        change = {"patch_positions": [{"position": position, "body": {"price": price}}]}
        self.shop.api("POST", f"orders/{code}/change/", change)

    def refund_in_pretix(self, shop, code, amount):
        """Begins a refund in pretix's backend. Returns the link to Coffer."""
        browser = shop.backend
        url = shop.control(f"orders/{code}/refund")
        start = {"start-mode": "partial", "start-partial_amount": amount, "start-action": "do_nothing"}
        payment = re.search(r'name="refund-(\d+)"', browser.post(url, **start).text)[1]
        answer = browser.post(url, **start, perform="on", last_known_refund_id="0", **{f"refund-{payment}": amount})
        self.assertEqual(answer.status, 302, answer.text)
        page = browser.get(shop.control(f"orders/{code}/")).text
        return html.unescape(re.search(r'href="([^"]+)"[^>]*>Refund in Coffer', page)[1])

    def refunds(self, shop, code):
        return [(each["state"], each["amount"]) for each in shop.now(code)["refunds"]]
