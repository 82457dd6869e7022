"""A Coffer sandbox for tests. With pytest: the fixtures `coffer` (one a test) and `coffer_session` (one a session).

    def test_an_order_is_paid(coffer):
        invoice = coffer.create_invoice(amount="20.00", currency="EUR")
        assert coffer.pay(invoice).paid

Without pytest: `with Coffer() as coffer:`. Nothing but Python's own library is needed.
"""

from ._api import Api
from ._binary import CofferVersionWarning, find_binary
from ._controls import Clock, Faults, Inbox, Payment, Webhook
from ._models import Balance, Deposit, Event, Invoice, LedgerEntry, Payout, Refund
from ._process import Log
from ._receiver import Receiver
from ._sandbox import Coffer, Keys
from ._signature import verify_signature
from .errors import ApiError, CofferError, NoAnswerError, SandboxError, SignatureError, WaitTimeoutError

__all__ = [
    "Api",
    "ApiError",
    "Balance",
    "Clock",
    "Coffer",
    "CofferError",
    "CofferVersionWarning",
    "Deposit",
    "Event",
    "Faults",
    "Inbox",
    "Invoice",
    "Keys",
    "LedgerEntry",
    "Log",
    "NoAnswerError",
    "Payment",
    "Payout",
    "Receiver",
    "Refund",
    "SandboxError",
    "SignatureError",
    "WaitTimeoutError",
    "Webhook",
    "find_binary",
    "verify_signature",
]
