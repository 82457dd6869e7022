"""The payment method: its settings, what a customer sees, and the way to Coffer's checkout."""

import logging
from collections import OrderedDict
from urllib.parse import urlencode, urlsplit

from coffer_client import ApiError, Client, CofferError
from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import get_template
from django.utils.translation import gettext_lazy as _
from pretix.base.forms import SECRET_REDACTED, SecretKeySettingsField
from pretix.base.payment import BasePaymentProvider, PaymentException
from pretix.helpers.urls import mainreverse_absolute
from pretix.multidomain.urlreverse import eventreverse_absolute

from . import booking

logger = logging.getLogger(__name__)

# Settings that no page, log or export shows.
SECRETS = {"payment_coffer_secret_key", "payment_coffer_webhook_secret"}
# Currencies that Coffer prices invoices in.
CURRENCIES = ("EUR", "USD")
# Keeps the links that this plugin gives out apart from those of others.
TAG = "plugins:pretix_coffer"
# Coffer gives a webhook 10 seconds, so an answer must come earlier.
TIMEOUT_SECONDS = 4


class Coffer(BasePaymentProvider):
    identifier = "coffer"
    verbose_name = _("Coins, by Coffer")
    public_name = _("Bitcoin and other coins")

    # Settings.

    @property
    def is_live(self) -> bool:
        """True if real money is taken. Only the orders of test mode are paid in test mode."""
        return self.settings.get("mode") == "live"

    @property
    def settings_form_fields(self):
        fields = [
            (
                "url",
                forms.URLField(
                    label=_("Address of Coffer"), help_text="https://pay.example.com", assume_scheme="https"
                ),
            ),
            (
                "mode",
                forms.ChoiceField(label=_("Mode"), initial="test", choices=(("test", _("Test")), ("live", _("Live")))),
            ),
            (
                "secret_key",
                SecretKeySettingsField(
                    label=_("Secret key"), help_text=_("It begins with sk_test_ or sk_live_, as the mode is.")
                ),
            ),
            (
                "webhook_secret",
                SecretKeySettingsField(
                    label=_("Secret of the webhook endpoint"), help_text=_("Coffer shows it at the endpoint.")
                ),
            ),
        ]
        for _name, field in fields:
            field.required = True
        return OrderedDict(list(super().settings_form_fields.items()) + fields)

    def settings_content_render(self, request):
        template = get_template("pretix_coffer/settings.html")
        return template.render({"url": mainreverse_absolute("plugins:pretix_coffer:webhook")})

    def settings_form_clean(self, cleaned_data):
        """Tests the connection, so that wrong settings are told here and not to a customer."""
        url, mode = cleaned_data.get("payment_coffer_url"), cleaned_data.get("payment_coffer_mode")
        key = cleaned_data.get("payment_coffer_secret_key")
        key = self.settings.get("secret_key") if key == SECRET_REDACTED else key
        if not url or not key or not mode:
            return cleaned_data
        if self.event.currency not in CURRENCIES:
            raise ValidationError(_("Coffer takes EUR and USD only, and this event has another currency."))
        where = urlsplit(url)
        if where.scheme != "https" and where.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise ValidationError({"payment_coffer_url": _("It must begin with https://, as the key is sent to it.")})
        try:
            client = Client(url, key, timeout=TIMEOUT_SECONDS, attempts=1)
            merchant = client.get_merchant()
        except ApiError as error:
            raise ValidationError(
                {"payment_coffer_secret_key": _("Coffer refused it: {}").format(error.message)}
            ) from None
        except (CofferError, ValueError) as error:
            raise ValidationError({"payment_coffer_url": str(error)}) from None
        if merchant.get("livemode") is not (mode == "live"):
            raise ValidationError({"payment_coffer_secret_key": _("This key is of the other mode.")})
        # Links to Coffer's pages begin with it, so it is stored without `/v1`.
        return {**cleaned_data, "payment_coffer_url": client.url}

    def client(self, attempts: int = 1) -> Client:
        """Returns the client of the configured mode. Raises PaymentException if settings are missing."""
        url, key = self.settings.get("url"), self.settings.get("secret_key")
        if not url or not key:
            raise PaymentException(_("This payment method is not set up."))
        return Client(url, key, timeout=TIMEOUT_SECONDS, attempts=attempts)

    @property
    def test_mode_message(self):
        return None if self.is_live else _("Coffer is in test mode: no coins are moved.")

    # Before the payment.

    def _is_usable(self, is_test_order: bool) -> bool:
        return self.event.currency in CURRENCIES and (self.is_live or is_test_order)

    def is_allowed(self, request, total=None):
        return self._is_usable(self.event.testmode) and super().is_allowed(request, total)

    def order_change_allowed(self, order, request=None):
        return self._is_usable(order.testmode) and super().order_change_allowed(order, request)

    def payment_is_valid_session(self, request):
        return True

    def payment_form_render(self, request, total, order=None):
        return get_template("pretix_coffer/choose.html").render({})

    def checkout_confirm_render(self, request, order=None, info_data=None):
        return get_template("pretix_coffer/choose.html").render({})

    def execute_payment(self, request, payment):
        """Returns the address of Coffer's checkout, or None if the order needs no further payment."""
        if not self._is_usable(payment.order.testmode):
            raise PaymentException(_("This payment method is in test mode."))
        try:
            return booking.start(self, payment)
        except CofferError as error:
            logger.warning("coffer: %s: %s", payment.full_id, error)
            raise PaymentException(
                _("We could not reach the payment service. Please try again in a few minutes.")
            ) from None

    def return_url(self, order, attempt: int) -> str:
        """Returns the address that the customer comes back to."""
        kwargs = {"order": order.code, "hash": order.tagged_secret(TAG), "attempt": attempt}
        return eventreverse_absolute(self.event, "plugins:pretix_coffer:return", kwargs)

    # After it.

    def payment_pending_render(self, request, payment):
        row = payment.coffer_invoices.last()
        return get_template("pretix_coffer/pending.html").render({"seen": row.seen if row else {}, "payment": payment})

    def _payment_abort_pending_allowed(self, payment):
        # The rest of an underpaid invoice may be too little for any coin.
        row = payment.coffer_invoices.last()
        return row is not None and row.status == "underpaid"

    def cancel_payment(self, payment):
        super().cancel_payment(payment)
        # After another choice of the customer the open invoice can be used again.
        if payment.order.status == payment.order.STATUS_CANCELED:
            for row in payment.coffer_invoices.all():
                booking.cancel_invoice(self, row)

    def payment_control_render(self, request, payment):
        rows = [(row, self.dashboard_url(row)) for row in payment.coffer_invoices.all()]
        others = payment.order.coffer_invoices.exclude(payment=payment)
        others = [row for row in others if row.has_money]
        return get_template("pretix_coffer/control.html").render({"rows": rows, "others": others})

    def payment_control_render_short(self, payment):
        row = payment.coffer_invoices.last()
        return row.seen.get("orderId", "") if row else ""

    def api_payment_details(self, payment):
        return {
            "invoices": [
                {"id": row.invoice_id, "attempt": row.attempt, **row.seen} for row in payment.coffer_invoices.all()
            ]
        }

    def matching_id(self, payment):
        row = payment.coffer_invoices.last()
        return row.invoice_id if row else None

    # Refunds. A person requests them in Coffer, which asks for a login that no shop has.

    def payment_refund_supported(self, payment):
        return payment.coffer_invoices.exists()

    def payment_partial_refund_supported(self, payment):
        return self.payment_refund_supported(payment)

    def execute_refund(self, refund):
        """Leaves the refund as created: the webhook of the refund in Coffer completes it."""
        if refund.payment is None or not refund.payment.coffer_invoices.exists():
            raise PaymentException(_("There is no invoice at Coffer that could be refunded."))

    def refund_control_render(self, request, refund):
        row = refund.payment.coffer_invoices.filter(is_booked=True).last() if refund.payment else None
        is_open = refund.state == refund.REFUND_STATE_CREATED and row is not None
        url = self.dashboard_url(row, refund.amount) if is_open else None
        return get_template("pretix_coffer/refund.html").render({"url": url, "told": refund.info_data})

    def api_refund_details(self, refund):
        return refund.info_data

    def refund_matching_id(self, refund):
        return refund.info_data.get("id")

    def dashboard_url(self, row, amount=None) -> str:
        """Returns the address of an invoice in Coffer's operator pages, or of its refund form with this amount."""
        base = (self.settings.get("url") or "").rstrip("/")
        query = {"mode": "live" if row.seen.get("livemode") else "test"}
        if amount is not None:
            query["refund"] = f"{amount:.2f}"
        return f"{base}/dashboard#/invoices/{row.invoice_id}?{urlencode(query)}"
