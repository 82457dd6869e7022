"""Verifies a webhook's signature, which covers the time and the exact bytes of the body."""

import base64
import contextlib
import hashlib
import hmac
import re
import time
from typing import List, Mapping, Optional, Union

from .errors import SignatureError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

TOLERANCE = 300.0
"""Maximum difference between a signature's time and the receiver's clock, in seconds."""
PREFIX = "whsec_"


def verify_signature(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE,
    now: Optional[float] = None,
) -> None:
    """Returns if the webhook is signed with this secret, and raises SignatureError otherwise.

    Takes the raw body as received, and the headers with names in any case. Reads the headers of Standard Webhooks
    (`webhook-id`, `webhook-timestamp`, `webhook-signature`) or, if those are missing, `X-Service-Signature`. Both can
    have several signatures, and one valid signature is enough. They are compared in constant time. `now` is the
    receiver's time in seconds since 1970. It is real time even if the sandbox's clock was moved.
    """
    if secret in ("", PREFIX):
        raise ValueError("secret must not be empty: anybody could sign with it")
    raw = body.encode() if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    if "webhook-signature" in given:
        identity, stamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
        words = [word.partition(",") for word in given["webhook-signature"].split(" ")]
        signatures = [signature for version, _, signature in words if version == "v1"]
        signed = identity.encode() + b"." + stamp.encode() + b"." + raw
        wanted = base64.b64encode(_mac(_standard_key(secret), signed))
    elif "x-service-signature" in given:
        parts = [part.partition("=") for part in given["x-service-signature"].split(",")]
        signatures = [text for name, _, text in parts if name.strip() == "v1"]
        stamp = next((text for name, _, text in parts if name.strip() == "t"), "")
        wanted = _mac(secret.encode(), stamp.encode() + b"." + raw).hex().encode()
    else:
        raise SignatureError("there is neither a webhook-signature nor an X-Service-Signature header")
    if not re.fullmatch(r"[0-9]{1,15}", stamp):
        raise SignatureError(f"the time of the signature is not in whole seconds: {stamp[:40]!r}")
    if not _has(signatures, wanted):
        raise SignatureError("no signature fits: the secret is another, or the body is not as it was sent")
    away = (time.time() if now is None else now) - int(stamp)
    if not abs(away) <= tolerance:
        raise SignatureError(f"the signature is {abs(away):.0f} s away from now; at most {tolerance:.0f} s are allowed")


def _has(signatures: List[str], wanted: bytes) -> bool:
    """Returns True if one of the signatures is the wanted one. Compares all of them, each in constant time."""
    fits = [hmac.compare_digest(signature.strip().encode(), wanted) for signature in signatures]
    return any(fits)


def _mac(key: bytes, signed: bytes) -> bytes:
    return hmac.new(key, signed, hashlib.sha256).digest()


def _standard_key(secret: str) -> bytes:
    """Returns the decoded part after `whsec_`, or the bytes of the text if it is not canonical base64."""
    encoded = secret[len(PREFIX) :].encode()
    if secret.startswith(PREFIX):
        with contextlib.suppress(ValueError):
            key = base64.b64decode(encoded, validate=True)
            # Python accepts more forms than Coffer, which in that case signs with the text.
            if base64.b64encode(key) == encoded:
                return key
    return secret.encode()
