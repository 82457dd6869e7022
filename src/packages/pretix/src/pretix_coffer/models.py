"""The invoices at Coffer, which are the attempts to pay an order."""

from django.db import models


class CofferInvoice(models.Model):
    """An invoice at Coffer: one attempt to pay an order. Several payments in pretix may use it, one after the other."""

    order = models.ForeignKey("pretixbase.Order", on_delete=models.CASCADE, related_name="coffer_invoices")
    payment = models.ForeignKey("pretixbase.OrderPayment", on_delete=models.CASCADE, related_name="coffer_invoices")
    """The payment that this invoice pays: the last one that used it."""
    attempt = models.PositiveIntegerField()
    """Number of the attempt within the order, from 1. It ends the `orderId`."""
    invoice_id = models.CharField(max_length=64, unique=True)
    seen = models.JSONField(default=dict)
    """The fields of the invoice that are shown, as last read from Coffer."""
    is_booked = models.BooleanField(default=False)
    """True if this plugin has confirmed the payment. What a person has confirmed is not taken back."""

    class Meta:
        ordering = ("order", "attempt")
        unique_together = (("order", "attempt"),)

    @property
    def status(self) -> str:
        return self.seen.get("status", "")

    @property
    def has_money(self) -> bool:
        """True if Coffer has seen a payment."""
        return self.seen.get("amountReceived") is not None
