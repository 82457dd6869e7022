"""Webhooks that come twice, late, out of order, forged, of the other mode or about another order, without a cookie."""

import concurrent.futures
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request

from shop import WEBHOOK_SECRET, Answer, Case


def sign(body: bytes, secret=WEBHOOK_SECRET, at=None) -> dict:
    at = str(int(time.time()) if at is None else at)
    mac = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"X-Service-Signature": f"t={at},v1={mac}"}


class Webhooks(Case):
    def setUp(self):
        super().setUp()
        # They go to an inbox, from where a test sends them on.
        self.control("DELETE", "/sandbox/inbox/shop")
        inbox = self.coffer.ready["url"] + "/sandbox/inbox/shop"
        self.control("PATCH", "/sandbox/account", {"endpoints": [{"url": inbox}]})

    def paid_order(self, shop=None):
        """Returns an order of which pretix does not know yet that its invoice is paid."""
        shop = shop or self.shop
        code = shop.order()
        shop.pay(code)
        invoice = shop.coffer.select_coin(shop.invoice(code), {"asset": "LTC"})
        payment = self.pays(invoice)
        self.assertEqual(shop.now(code)["status"], "n")
        return code, invoice, payment

    def inbox(self, kind):
        """Returns the body and the headers of the last webhook of a type."""
        found = self.control("GET", f"/sandbox/inbox/shop?type={kind}")["data"][-1]
        names = ("content-type", "webhook-id", "webhook-timestamp", "webhook-signature", "x-service-signature")
        return found["body"].encode(), {name: found["headers"][name] for name in names}

    def post(self, body, headers=()):
        """Sends a webhook without any cookie."""
        request = urllib.request.Request(self.hook, body, dict(headers))
        try:
            return Answer(urllib.request.urlopen(request, timeout=60))
        except urllib.error.HTTPError as error:
            return Answer(error)

    def sent(self, kind):
        answer = self.post(*self.inbox(kind))
        self.assertEqual(answer.status, 200, answer.text)
        return answer

    def sign_and_post(self, event):
        body = json.dumps(event).encode()
        return self.post(body, sign(body))

    def test_twice(self):
        code, _, _ = self.paid_order()
        for _ in range(3):
            answer = self.sent("invoice.confirmed")
            self.assertIsNone(answer.headers.get("Set-Cookie"))
            self.assert_agree(code, "p", "confirmed")

    def test_out_of_order(self):
        code, _, _ = self.paid_order()
        for kind in ("invoice.confirmed", "invoice.detected", "invoice.created"):
            self.sent(kind)
            self.assert_agree(code, "p", "confirmed")

    def test_an_early_event_tells_what_is_true_now(self):
        code, _, _ = self.paid_order()
        self.sent("invoice.created")
        self.assert_agree(code, "p", "confirmed")

    def test_late(self):
        code, _, payment = self.paid_order()
        late = self.inbox("invoice.confirmed")
        self.move(payment, state="dropped")
        self.assertEqual(self.post(*late).status, 200)
        self.assert_agree(code, "n", "failed")

    def test_refund_twice(self):
        code, invoice, _ = self.paid_order()
        self.sent("invoice.confirmed")
        self.refund_in_coffer(invoice, "5.00")
        for _ in range(2):
            self.sent("refund.paid")
            self.assertEqual([each["amount"] for each in self.shop.now(code)["refunds"]], ["5.00"])

    def test_many_at_once(self):
        code, invoice, _ = self.paid_order()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.post(*self.inbox("invoice.confirmed")).status, range(8)))
        self.assertEqual(answers, [200] * 8)
        self.assert_agree(code, "p", "confirmed")
        self.refund_in_coffer(invoice, "5.00")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.post(*self.inbox("refund.paid")).status, range(8)))
        self.assertEqual(answers, [200] * 8)
        self.assertEqual([each["amount"] for each in self.shop.now(code)["refunds"]], ["5.00"])

    def test_forged(self):
        code, _, _ = self.paid_order()
        body, headers = self.inbox("invoice.confirmed")
        forged = [
            (body, {}),
            (body, sign(body, "whsec_" + "A" * 32)),
            (body, sign(body, "")),
            (body, sign(body, at=int(time.time()) - 301)),
            (body, {"X-Service-Signature": "t=,v1="}),
            (body.replace(b'"20.00"', b'"20.01"', 1), headers),
            (body + b" ", headers),
        ]
        for sent, with_headers in forged:
            self.assertEqual(self.post(sent, with_headers).status, 400, with_headers)
        self.assertEqual(self.shop.now(code)["status"], "n")

    def test_of_test_mode(self):
        code = self.live.order()
        self.live.pay(code)
        invoice = self.live.invoice(code)
        # A test invoice with the same orderId, paid with nothing.
        twin = {"amount": "20.00", "currency": "EUR", "orderId": invoice["orderId"], "asset": "LTC"}
        twin = self.sandbox.create_invoice(twin)
        self.pays(twin)
        body, headers = self.inbox("invoice.confirmed")
        self.assertEqual(self.post(body, headers).status, 200)
        self.assert_agree(code, "n", "created", shop=self.live)
        # The same with the live invoice's id, under the right secret.
        event = json.loads(body.replace(twin["id"].encode(), invoice["id"].encode()))
        for livemode in (False, True, None, "true"):
            self.assertEqual(self.sign_and_post({**event, "livemode": livemode}).status, 200)
            self.assert_agree(code, "n", "created", shop=self.live)

    def test_of_another_order(self):
        code, invoice, _ = self.paid_order()
        other = self.shop.order()
        self.shop.pay(other)
        theirs = self.shop.invoice(other)
        body, _ = self.inbox("invoice.confirmed")
        self.assertEqual(
            self.sign_and_post(json.loads(body.replace(invoice["id"].encode(), theirs["id"].encode()))).status, 200
        )
        self.assert_agree(other, "n", "created")
        # An invoice that is not of this shop.
        self.pays(self.sandbox.create_invoice({"amount": "20.00", "currency": "EUR", "orderId": code, "asset": "LTC"}))
        self.sent("invoice.confirmed")
        self.assertEqual(self.shop.now(code)["status"], "n")
        self.assertEqual(self.shop.now(other)["status"], "n")

    def test_refund_of_another_order(self):
        paid = []
        for _ in range(2):
            code, invoice, _ = self.paid_order()
            self.sent("invoice.confirmed")
            paid.append((code, invoice))
        self.refund_in_coffer(paid[0][1], "5.00")
        body, _ = self.inbox("refund.paid")
        body = body.replace(paid[0][1]["id"].encode(), paid[1][1]["id"].encode())
        self.assertEqual(self.sign_and_post(json.loads(body)).status, 200)
        self.assertEqual([self.shop.now(code)["refunds"] for code, _ in paid], [[], []])

    def test_coffer_that_cannot_be_read_is_asked_again(self):
        code, _, _ = self.paid_order()
        self.control("POST", "/sandbox/faults", {"route": "GET /v1/invoices/{id}", "status": 503, "times": 1})
        body, headers = self.inbox("invoice.confirmed")
        self.assertEqual(self.post(body, headers).status, 503)
        self.assertEqual(self.shop.now(code)["status"], "n")
        self.assertEqual(self.post(body, headers).status, 200)
        self.assert_agree(code, "p", "confirmed")

    def test_a_shop_without_a_key_asks_for_it_again(self):
        code, _, _ = self.paid_order()
        sent = self.inbox("invoice.confirmed")
        try:
            self.assertEqual(self.save(self.shop, _enabled="", secret_key="").status, 302)
            self.assertEqual(self.post(*sent).status, 503)
        finally:
            self.assertEqual(self.save(self.shop).status, 302)
        self.assertEqual(self.post(*sent).status, 200)
        self.assert_agree(code, "p", "confirmed")

    def test_hostile_bodies(self):
        code, invoice, _ = self.paid_order()
        about = {"object": "invoice", "id": invoice["id"]}
        bodies = [b"", b"{", b"[]", b"null", b'{"data": 1}', b"\xff", b"[" * 100_000, b'{"data": {"object": []}}']
        bodies += [
            json.dumps({"data": {"object": each}}).encode()
            for each in ({"object": "invoice", "id": ["x"]}, {"object": {}})
        ]
        for body in bodies:
            self.assertEqual(self.post(body, sign(body)).status, 200, body[:40])
        self.assertEqual(self.post(b" " * 300_000).status, 413)
        for event in ({"type": 1}, {"type": "a", "livemode": False}, {"livemode": False}):
            answer = self.sign_and_post({**event, "data": {"object": about}})
            self.assertIn(answer.status, (200, 400), answer.text)
        self.assertEqual(self.shop.now(code)["status"], "n")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.hook, timeout=60)
        self.assertEqual(refused.exception.status, 405)
        refused.exception.close()
