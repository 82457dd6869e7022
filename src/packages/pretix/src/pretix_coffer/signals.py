"""What the plugin adds to pretix: the payment method, the texts of its log entries, and secrets kept out of the log."""

import json

from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _
from pretix.base.logentrytypes import OrderLogEntryType, log_entry_types
from pretix.base.models import LogEntry
from pretix.base.signals import register_payment_providers

from .payment import SECRETS, Coffer


@receiver(register_payment_providers, dispatch_uid="payment_coffer")
def register_payment_provider(sender, **kwargs):
    return Coffer


@receiver(pre_save, sender=LogEntry, dispatch_uid="coffer_hide_secrets")
def hide_secrets(sender, instance, **kwargs):
    """Hides new keys in the log: pretix logs the new settings of a payment method as they are."""
    if instance.action_type != "pretix.event.payment.provider":
        return
    data = json.loads(instance.data)
    values = data.get("new_values", {})
    for name in SECRETS & values.keys():
        values[name] = "********"
    instance.data = json.dumps(data, sort_keys=True)


@log_entry_types.new_from_dict(
    {
        "pretix_coffer.invoice": _("Coffer: {orderId} is {status}, received {received}."),
        "pretix_coffer.older": _("Coffer: money on an older attempt. {orderId} is {status}, received {received}."),
        "pretix_coffer.mismatch": _("Coffer: {orderId} is paid, but is not what was asked for. It was not booked."),
        "pretix_coffer.taken_back": _("Coffer: the payment of {orderId} is gone from its chain. It is {status} now."),
        "pretix_coffer.refund": _("Coffer: refund of {amount} {currency} for {orderId} is {status}."),
    }
)
class CofferLogEntryType(OrderLogEntryType):
    pass
