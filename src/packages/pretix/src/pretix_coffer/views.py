"""What others call: Coffer by webhooks, and the customer's browser on its way back."""

import json
import logging

from coffer_client import CofferError, SignatureError, verify
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from django_scopes import scopes_disabled
from pretix.base.models import Order
from pretix.base.payment import PaymentException
from pretix.helpers.http import redirect_to_url
from pretix.multidomain.urlreverse import eventreverse

from . import booking
from .models import CofferInvoice
from .payment import TAG

logger = logging.getLogger(__name__)

# Coffer is away, refuses the key, or is not set up.
UNREADABLE = (CofferError, PaymentException)
# Coffer's limit on its own bodies is 64 KiB.
BODY_MAX = 256 * 1024


@csrf_exempt
@require_POST
@scopes_disabled()
def webhook(request, *args, **kwargs):
    """Reads the object of a verified event again from Coffer, and books that.

    Reading it again makes the order and the number of deliveries irrelevant. Answers 2xx for what is done or not ours,
    400 for a bad signature, and 503 if Coffer must send it again.
    """
    if len(request.body) > BODY_MAX:
        return HttpResponse("the body is too large", status=413)
    # Not verified yet: it only says which event's secret must fit.
    claimed = _claimed(request.body)
    row = _find(claimed)
    if row is None:
        return HttpResponse("not an invoice of this shop")
    provider = row.order.event.get_payment_providers().get(row.payment.provider)
    if provider is None:
        return HttpResponse("the plugin is not active for this event", status=404)
    try:
        event = verify(request.body, request.headers, provider.settings.get("webhook_secret") or "")
    except (SignatureError, ValueError):
        return HttpResponse("the signature does not fit", status=400)
    if event.get("livemode") is not provider.is_live:
        return HttpResponse("an event of the other mode")
    try:
        kind = str(event.get("type")).split(".")[0]
        if kind == "invoice":
            booking.read_invoice(provider, row)
        elif kind == "refund":
            booking.read_refund(provider, row, str(claimed.get("id")))
    except UNREADABLE as error:
        logger.warning("coffer: webhook for %s: %s", row.order.full_code, error)
        return HttpResponse("Coffer could not be read", status=503)
    return HttpResponse("ok")


def _claimed(body):
    """Returns the object that a body says it is about, or an empty one."""
    try:
        claimed = json.loads(body)["data"]["object"]
    except (ValueError, RecursionError, TypeError, LookupError):
        return {}
    return claimed if isinstance(claimed, dict) else {}


def _find(claimed):
    """Returns the invoice that an invoice or a refund belongs to, or None."""
    name = {"invoice": "id", "refund": "invoiceId"}.get(str(claimed.get("object")))
    found = CofferInvoice.objects.filter(invoice_id=str(claimed.get(name)))
    return found.select_related("order__event__organizer", "payment").first()


@method_decorator(xframe_options_exempt, "dispatch")
class ReturnView(View):
    """Reads the invoice from Coffer and shows the order. The browser's word counts for nothing."""

    def get(self, request, *args, **kwargs):
        try:
            order = request.event.orders.get_with_secret_check(
                code=kwargs["order"], received_secret=kwargs["hash"].lower(), tag=TAG
            )
        except Order.DoesNotExist:
            raise Http404("Unknown order") from None
        row = get_object_or_404(order.coffer_invoices, attempt=kwargs["attempt"])
        provider = request.event.get_payment_providers().get("coffer")
        if provider:
            try:
                booking.read_invoice(provider, row)
            except UNREADABLE as error:
                logger.warning("coffer: return to %s: %s", order.full_code, error)
                messages.info(request, _("We could not check your payment yet. This page will show it."))
        order.refresh_from_db()
        url = eventreverse(request.event, "presale:event.order", {"order": order.code, "secret": order.secret})
        return redirect_to_url(url + ("?paid=yes" if order.status == Order.STATUS_PAID else ""))
