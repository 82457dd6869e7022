"""Verifies a webhook's signature, which covers the time and the exact bytes of the body."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, Protocol, Sequence, Tuple, Union

from ._errors import SignatureError

if TYPE_CHECKING:
    from .types import Event

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

PREFIX = "whsec_"


class Headers(Protocol):
    """The headers of a request, as any framework has them."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify(
    payload: Union[bytes, str],
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300.0,
    now: Optional[float] = None,
) -> Event:
    """Returns the event of a webhook that is signed with the secret, or with one of several.

    Takes the raw body as received, and the headers with names in any case. One valid signature is enough, in
    `X-Service-Signature` or in the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`). Signatures are compared in constant time. `tolerance` is the maximum difference between the
    signature's time and `now`, the receiver's Unix time, in seconds. An endpoint of format `legacy` gets other bodies.

    Raises SignatureError if no signature is valid, ValueError for an empty secret, and TypeError for a parsed body.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or any(each in ("", PREFIX) for each in secrets):
        raise ValueError("secret must not be empty: anybody could sign with it")
    raw = payload.encode() if isinstance(payload, str) else payload
    if not isinstance(raw, (bytes, bytearray)):
        raise TypeError(f"payload must be the raw body, not {type(payload).__name__}: it was parsed before")
    stamps = _signed_times({name.lower(): value for name, value in headers.items()}, raw, secrets)
    if not stamps:
        raise SignatureError("no signature fits: the secret is another, or the body is not as it was sent")
    away = min(abs((time.time() if now is None else now) - stamp) for stamp in stamps)
    if not away <= tolerance:
        raise SignatureError(f"the signature is {away:.0f} s away from now; at most {tolerance:.0f} s are allowed")
    with contextlib.suppress(ValueError, RecursionError):
        event: Event = json.loads(raw)
        if isinstance(event, dict):
            return event
    raise SignatureError("the body is not an event")


def _signed_times(given: Dict[str, str], raw: bytes, secrets: List[str]) -> List[int]:
    """Returns the times of the valid signatures, in Unix seconds."""
    parts = [part.strip().partition("=") for part in given.get("x-service-signature", "").split(",")]
    times = [text for name, _, text in parts if name == "t"]
    words = [word.partition(",") for word in given.get("webhook-signature", "").split(" ")]
    stamp = given.get("webhook-timestamp", "")
    found = []
    if len(times) == 1 and _is_time(times[0]):
        signed = times[0].encode() + b"." + raw
        wanted = [_mac(secret.encode(), signed).hex().encode() for secret in secrets]
        if _has([text for name, _, text in parts if name == "v1"], wanted):
            found.append(int(times[0]))
    if given.get("webhook-id") and _is_time(stamp):
        signed = given["webhook-id"].encode() + b"." + stamp.encode() + b"." + raw
        wanted = [base64.b64encode(_mac(_standard_key(secret), signed)) for secret in secrets]
        if _has([text for version, _, text in words if version == "v1"], wanted):
            found.append(int(stamp))
    return found


def _is_time(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}", text) is not None


def _has(signatures: List[str], wanted: List[bytes]) -> bool:
    """Returns True if one of the signatures is a wanted one. Compares all of them, each in constant time."""
    fits = [hmac.compare_digest(text.encode(errors="replace"), each) for text in signatures for each in wanted]
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
