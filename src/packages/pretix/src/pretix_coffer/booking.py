"""Invoices, and what their status means for an order. Every booking follows a reading of Coffer in the order's lock."""

import contextlib
import json
from datetime import datetime
from decimal import Decimal

from coffer_client import CofferError
from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _
from pretix.base.models import Order, OrderPayment, OrderRefund, Quota
from pretix.base.payment import PaymentException
from pretix.helpers import OF_SELF

from .models import CofferInvoice

# Fields of an invoice that are kept for pages and the interface.
KEPT = "orderId status paid livemode amount currency assetSymbol amountExpected amountReceived checkoutUrl".split()
REFUND_KEPT = "id status amount currency assetSymbol amountCrypto txid".split()
# An order has more attempts than this only if something is wrong.
ATTEMPTS_MAX = 20
# Statuses of an invoice that has money which is not a payment, or not yet.
MONEY = ("detected", "underpaid", "paid_late")
UNPAID = ("created", "awaiting_payment")
CREATED, PENDING = OrderPayment.PAYMENT_STATE_CREATED, OrderPayment.PAYMENT_STATE_PENDING
CONFIRMED, REFUNDED = OrderPayment.PAYMENT_STATE_CONFIRMED, OrderPayment.PAYMENT_STATE_REFUNDED
CANCELED, FAILED = OrderPayment.PAYMENT_STATE_CANCELED, OrderPayment.PAYMENT_STATE_FAILED


# Attempts.


def order_id(order, attempt: int) -> str:
    """Returns the `orderId` of an attempt. A slug has no slash, so two events never share one."""
    return f"{order.event.organizer.slug}/{order.event.slug}-{order.code}-{attempt}"


def start(provider, payment):
    """Returns the address where the customer pays, or None if the order needs no further payment.

    Creating an invoice with the `orderId` of the last attempt answers that invoice as it is now. It is used again if it
    is open and of the same amount. Otherwise the next attempt begins. Raises CofferError and PaymentException.
    """
    client = provider.client(attempts=2)
    with transaction.atomic():
        order = Order.objects.select_for_update(of=OF_SELF).get(pk=payment.order_id)
        last = order.coffer_invoices.last()
        first = last.attempt if last else 1
        for attempt in range(first, first + ATTEMPTS_MAX):
            invoice = client.create_invoice(_request(provider, payment, attempt))
            row = _own(order, payment, attempt, invoice)
            if row is None:
                continue
            if not matches(provider, payment, attempt, invoice) or _is_over(row, invoice):
                _leave(provider, row, invoice)
                continue
            row.payment = payment
            apply(provider, row, invoice)
            if invoice["paid"] is True:
                return None
            # Raising would take back what was read.
            if invoice["status"] != "paid_late":
                return invoice["checkoutUrl"]
            break
        else:
            raise PaymentException(_("We could not start a payment. Please contact the organizer."))
    raise PaymentException(
        _("Your payment came after its time. The organizer decides about it. Please do not pay again.")
    )


def _request(provider, payment, attempt):
    event, order = provider.event, payment.order
    url = provider.return_url(order, attempt)
    return {
        "amount": f"{payment.amount:.2f}",
        "currency": event.currency,
        "orderId": order_id(order, attempt),
        "description": f"{event.name} {order.code}"[:500],
        "redirectUrl": url,
        "cancelUrl": url,
        "metadata": {"organizer": event.organizer.slug, "event": event.slug, "order": order.code},
    }


def _own(order, payment, attempt, invoice):
    """Returns the record of an invoice. None if its `orderId` was used before: by another Coffer, mode or event."""
    row = CofferInvoice.objects.filter(invoice_id=invoice["id"]).first()
    if row is not None:
        return row if (row.order_id, row.attempt) == (order.pk, attempt) else None
    if order.coffer_invoices.filter(attempt=attempt).exists():
        return None
    return CofferInvoice(order=order, payment=payment, attempt=attempt, invoice_id=invoice["id"])


def matches(provider, payment, attempt, invoice) -> bool:
    """Returns True if an invoice is the one that was asked for, in the configured mode."""
    return (
        invoice["livemode"] is provider.is_live
        and (provider.is_live or payment.order.testmode)
        and invoice["orderId"] == order_id(payment.order, attempt)
        and invoice["currency"] == provider.event.currency
        and Decimal(invoice["amount"]) == payment.amount
    )


def _is_over(row, invoice) -> bool:
    """Returns True if an invoice has paid already or takes no payment any more, so that paying needs another one."""
    if row.is_booked or row.payment.state in (CONFIRMED, REFUNDED):
        return True
    if invoice["status"] == "underpaid":
        return datetime.fromisoformat(invoice["expiresAt"]) <= now()
    return invoice["status"] in ("expired", "cancelled", "failed")


def _leave(provider, row, invoice):
    """Records an attempt that is not used again, and lets nobody pay it if that is still possible."""
    if row.pk is None:
        # Its `orderId` is from before this database, which has been restored or copied.
        row.seen = {name: invoice.get(name) for name in KEPT}
        row.save()
        return
    apply(provider, row, invoice)
    if invoice["status"] in UNPAID:
        cancel_invoice(provider, row)


def cancel_invoice(provider, row):
    """Cancels an invoice at Coffer, if nobody has paid it. Money that arrives nevertheless is shown at the order."""
    with contextlib.suppress(CofferError, PaymentException):
        provider.client().cancel_invoice(row.invoice_id)


# Reading.


def read_invoice(provider, row):
    """Reads an invoice from Coffer and books it. Raises CofferError."""
    with transaction.atomic():
        row = _lock(row)
        apply(provider, row, provider.client().get_invoice(row.invoice_id))


def read_refund(provider, row, refund_id: str):
    """Reads a refund from Coffer and books it if it is paid. Raises CofferError."""
    with transaction.atomic():
        row = _lock(row)
        refund = provider.client().get_refund(refund_id)
        if refund["invoiceId"] == row.invoice_id and refund["livemode"] is provider.is_live:
            _apply_refund(row, refund)


def _lock(row):
    """Returns the record as it is now. The next reader of this order waits, so no older reading follows a newer one."""
    Order.objects.select_for_update(of=OF_SELF).get(pk=row.order_id)
    return CofferInvoice.objects.select_related("order__event__organizer", "payment").get(pk=row.pk)


# Booking.


def apply(provider, row, invoice):
    """Books an invoice that was just read: an order is paid only by `paid`, of the same mode, order and amount."""
    before = (row.seen.get("status"), row.seen.get("amountReceived"))
    row.seen = {name: invoice.get(name) for name in KEPT}
    row.save()
    status, payment, order = invoice["status"], row.payment, row.order
    is_last = order.coffer_invoices.last() == row
    if row.has_money and before != (status, invoice.get("amountReceived")):
        _log(row, "pretix_coffer.invoice" if is_last else "pretix_coffer.older")
    if invoice["paid"] is True:
        if matches(provider, payment, row.attempt, invoice):
            _book(row)
        elif before[0] != status:
            _log(row, "pretix_coffer.mismatch")
    elif row.is_booked:
        _take_back(row, PENDING if status in MONEY else FAILED)
    elif payment.state in (CONFIRMED, REFUNDED) or not is_last:
        # A person has confirmed it, or the customer pays another attempt.
        pass
    elif status in MONEY:
        # A pending payment keeps the customer from paying twice.
        if payment.state != PENDING and payment == order.payments.last():
            payment.state = PENDING
            payment.save(update_fields=["state"])
    elif payment.state in (CREATED, PENDING) and status in ("expired", "failed"):
        payment.fail(send_mail=False, log_data={"status": status})
    elif payment.state in (CREATED, PENDING) and status == "cancelled":
        payment.state = CANCELED
        payment.save(update_fields=["state"])
        data = {"local_id": payment.local_id, "provider": payment.provider}
        order.log_action("pretix.event.order.payment.canceled", data)


def _book(row):
    payment = row.payment
    if row.is_booked:
        return
    if payment.state in (CONFIRMED, REFUNDED):
        if not payment.coffer_invoices.filter(is_booked=True).exists():
            # A person has confirmed this payment already.
            return
        # The customer paid two attempts of one payment: pretix shows the order as overpaid.
        values = {"state": CREATED, "provider": payment.provider, "amount": payment.amount}
        payment = row.payment = row.order.payments.create(**values)
    row.is_booked = True
    row.save()
    # The payment is confirmed even if the order expired and its places are sold: pretix tells the organizer.
    with contextlib.suppress(Quota.QuotaExceededException):
        payment.confirm()


def _take_back(row, state):
    """Undoes a booking whose payment is gone from its chain: the order is not paid."""
    row.is_booked = False
    row.save()
    _log(row, "pretix_coffer.taken_back")
    payment, order = row.payment, row.order
    if payment.state != CONFIRMED:
        return
    payment.state = state
    payment.save(update_fields=["state"])
    order.refresh_from_db()
    if order.status == Order.STATUS_PAID and order.pending_sum > 0:
        order.status = Order.STATUS_PENDING
        subevents = order.positions.values_list("subevent_id", flat=True)
        order.set_expires(now(), order.event.subevents.filter(id__in=subevents))
        order.save(update_fields=["status", "expires"])


def _apply_refund(row, refund):
    """Books a paid refund once: that which was begun in pretix, else one that pretix asks the organizer about."""
    told = {name: refund.get(name) for name in REFUND_KEPT}
    payment = row.payment
    refunds = list(row.order.refunds.filter(provider=payment.provider))
    if any(each.info_data.get("id") == refund["id"] for each in refunds):
        return
    data = {**told, "orderId": row.seen.get("orderId")}
    row.order.log_action("pretix_coffer.refund", data)
    if refund["status"] != "paid" or payment.state not in (CONFIRMED, REFUNDED):
        return
    begun = _begun_refund(refunds, payment, Decimal(refund["amount"]))
    if begun is None:
        payment.create_external_refund(Decimal(refund["amount"]), info=json.dumps(told))
        return
    begun.info_data = told
    begun.save(update_fields=["info"])
    if begun.state != OrderRefund.REFUND_STATE_DONE:
        begun.done()


def _begun_refund(refunds, payment, amount):
    """Returns the refund that was begun in pretix, or None: an open one, else one that a person has marked as done."""
    for state in (OrderRefund.REFUND_STATE_CREATED, OrderRefund.REFUND_STATE_TRANSIT, OrderRefund.REFUND_STATE_DONE):
        for each in refunds:
            fits = (each.payment_id, each.state, each.amount) == (payment.pk, state, amount)
            if fits and "id" not in each.info_data:
                return each
    return None


def _log(row, action):
    seen = row.seen
    received = f"{seen.get('amountReceived') or 0} {seen.get('assetSymbol') or ''}".strip()
    data = {"attempt": row.attempt, "orderId": seen["orderId"], "status": seen["status"], "received": received}
    row.order.log_action(action, {**data, "invoice": row.invoice_id})
