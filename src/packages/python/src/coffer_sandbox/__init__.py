"""A Coffer sandbox for tests. With pytest: the fixtures `coffer` (one a test) and `coffer_session` (one a session).

    def test_an_order_is_paid(coffer):
        invoice = coffer.create_invoice({"amount": "20.00", "currency": "EUR"})
        assert coffer.pay(invoice)["paid"]

Without pytest: `with start_coffer() as coffer:`. Nothing but `coffer_client` and Python's own library is needed.
"""

try:
    from coffer_client import ApiError, Client, CofferError, NoAnswerError, SignatureError, verify
except ImportError as error:
    raise ImportError(
        "coffer_sandbox needs coffer_client of the same release. Install both files: "
        "pip install --no-index ./coffer_client-*.whl ./coffer_sandbox-*$(uname -m).whl"
    ) from error

from ._binary import CofferVersionWarning, find_binary
from ._controls import Clock, Faults, Payments
from ._sandbox import Keys, Sandbox, start_coffer
from ._webhooks import Inbox, Receiver, Webhook
from .errors import SandboxError, WaitTimeoutError

__all__ = [
    "ApiError",
    "Client",
    "Clock",
    "CofferError",
    "CofferVersionWarning",
    "Faults",
    "Inbox",
    "Keys",
    "NoAnswerError",
    "Payments",
    "Receiver",
    "Sandbox",
    "SandboxError",
    "SignatureError",
    "WaitTimeoutError",
    "Webhook",
    "find_binary",
    "start_coffer",
    "verify",
]
