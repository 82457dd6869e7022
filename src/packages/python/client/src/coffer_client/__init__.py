"""A client of Coffer for servers. It needs nothing but Python's own library.

    client = Client("https://pay.example.com", "sk_live_…")
    invoice = client.create_invoice({"amount": "20.00", "currency": "EUR", "orderId": "order-1"})

`verify` checks a webhook. `coffer_client.types` has the types of requests and answers.
"""

from ._client import Client
from ._errors import ApiError, CofferError, NoAnswerError, SignatureError
from ._signature import verify

__all__ = ["ApiError", "Client", "CofferError", "NoAnswerError", "SignatureError", "verify"]
