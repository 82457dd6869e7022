"""The settings and their secrets, and a Coffer that is slow, full or has seen an orderId before."""

import os
import re
import sqlite3
from pathlib import Path

from shop import Browser, Case

KEY = "sk_test_sandbox"


class Settings(Case):
    def test_connection_is_tested(self):
        self.assertEqual(self.save(self.shop).status, 302)
        wrong = [
            ({"secret_key": "sk_test_wrong"}, "Coffer refused it"),
            ({"secret_key": "sk_live_sandbox"}, "of the other mode"),
            ({"mode": "live"}, "of the other mode"),
            ({"secret_key": "two words"}, "without spaces"),
            ({"url": "http://pay.example.com"}, "must begin with https://"),
            ({"url": "http://127.0.0.1:9"}, "no answer"),
            ({"url": self.pretix.ready["url"]}, ""),
        ]
        for fields, told in wrong:
            answer = self.save(self.shop, **fields)
            self.assertEqual(answer.status, 200, fields)
            self.assertIn(told, answer.text)

    def test_secrets_are_in_no_page_log_or_export(self):
        secrets = [KEY, self.coffer.ready["webhookSecret"]]
        self.assertEqual(self.save(self.shop, secret_key="", webhook_secret="").status, 200)
        # Emptied while it is disabled, then entered anew: pretix logs what has changed.
        self.assertEqual(self.save(self.shop, _enabled="", secret_key="x", webhook_secret="y").status, 302)
        self.assertEqual(self.save(self.shop).status, 302)
        # The page shows neither, and keeps both.
        page = self.shop.backend.get(self.shop.control("settings/payment/coffer")).text
        shown = re.findall(r'name="payment_coffer_\w*secret\w*" value="([^"]*)"', page)
        self.assertEqual(len(shown), 2, page)
        self.assertEqual(self.save(self.shop, secret_key=shown[0], webhook_secret=shown[1]).status, 302)
        code = self.shop.order()
        self.assertIn("/checkout/", self.shop.pay(code))
        places = [
            page,
            self.shop.backend.get(self.shop.control("log/")).text,
            self.shop.backend.get(self.shop.control(f"orders/{code}/")).text,
            self.shop.page(code),
            str(self.shop.now(code)),
            str(self.shop.api("GET", "settings/")),
            str(self.logged()),
        ]
        for secret in secrets:
            for place in places:
                self.assertNotIn(secret, place)
        self.assertTrue(any("payment_coffer_secret_key" in each for each in self.logged()))

    def logged(self):
        """Returns the data of all log entries, as the database has them."""
        database = sqlite3.connect(Path(os.environ["PRETIX_DATA"]) / "db.sqlite3")
        with database:
            rows = [row[0] for row in database.execute("select data from pretixbase_logentry")]
        database.close()
        return rows

    def test_test_mode_pays_no_real_order(self):
        code = self.live.order()
        page = f"/example/live-1/order/{code}/{self.live.now(code)['secret']}/pay/change"
        customer = Browser(self.pretix.ready["url"])
        self.assertIn('value="coffer"', customer.get(page).text)
        # The way there was open before the mode changed.
        confirm = customer.post(page, payment="coffer").location
        try:
            self.assertEqual(self.save(self.live).status, 302)
            self.assertNotIn('value="coffer"', customer.get(page).text)
            self.assertIn(f"/order/{code}/", customer.post(confirm).location)
        finally:
            self.assertEqual(self.save(self.live, mode="live", secret_key="sk_live_sandbox").status, 302)
        self.assertIn("/checkout/", self.live.pay(code))

    def test_lost_answer_makes_one_invoice(self):
        code = self.shop.order()
        self.control("POST", "/sandbox/faults", {"route": "POST /v1/invoices", "dropAnswer": True, "times": 1})
        self.assertEqual(self.shop.pay(code), self.shop.invoice(code)["checkoutUrl"])

    def test_unreachable_coffer_sends_the_customer_back(self):
        code = self.shop.order()
        self.control("POST", "/sandbox/faults", {"route": "POST /v1/invoices", "status": 500, "times": 1})
        self.assertIn(f"/order/{code}/", self.shop.pay(code))
        self.assertEqual(self.shop.pay(code), self.shop.invoice(code)["checkoutUrl"])

    def test_order_id_of_another_amount_or_currency_is_left(self):
        for attempt, (amount, currency) in enumerate((("1.00", "EUR"), ("20.00", "USD")), 1):
            code = self.shop.order()
            used = {"amount": amount, "currency": currency, "orderId": f"example/conf-{code}-1"}
            self.sandbox.create_invoice(used)
            url = self.shop.pay(code)
            self.assertEqual(url, self.shop.invoice(code, 2)["checkoutUrl"])
            self.assertEqual(self.shop.invoice(code, 2)["amount"], "20.00", attempt)

    def test_strangers_cannot_use_the_return(self):
        code = self.shop.order()
        self.shop.pay(code)
        browser = Browser(self.pretix.ready["url"])
        for secret in ("0" * 64, self.shop.now(code)["secret"]):
            self.assertEqual(browser.get(f"/example/conf/coffer/return/{code}/{secret}/1/").status, 404)
