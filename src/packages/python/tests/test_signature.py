"""Tests of valid and invalid signatures, in both forms."""

import base64
import hashlib
import hmac
import math
from typing import Dict

import pytest
from coffer_sandbox import SignatureError, verify_signature

NOW = 1_700_000_000
BODY = b'{"id":"evt_1"}'
SECRET = "whsec_" + base64.b64encode(b"key of the endpoint").decode()


def service(secret: str, at: int = NOW, body: bytes = BODY) -> str:
    return hmac.new(secret.encode(), str(at).encode() + b"." + body, hashlib.sha256).hexdigest()


def standard(key: bytes, at: int = NOW, body: bytes = BODY) -> Dict[str, str]:
    mac = hmac.new(key, b"evt_1." + str(at).encode() + b"." + body, hashlib.sha256).digest()
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at),
        "webhook-signature": "v1," + base64.b64encode(mac).decode(),
    }


def test_the_vector_of_coffer_itself() -> None:
    header = "t=1700000000,v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163"
    verify_signature(b"{}", {"X-Service-Signature": header}, "secret", now=NOW)


def test_either_form_fits() -> None:
    verify_signature(BODY, {"X-SERVICE-signature": f"t={NOW},v1={service(SECRET)}"}, SECRET, now=NOW)
    verify_signature(BODY, standard(b"key of the endpoint"), SECRET, now=NOW)
    # A secret in another form is itself the key.
    verify_signature(BODY, standard(b"legacy_sandbox"), "legacy_sandbox", now=NOW)
    verify_signature(BODY, standard(b"whsec_???"), "whsec_???", now=NOW)
    # Base64 with leftover bits, or with other characters than ASCII, is not base64.
    for text in ("whsec_Zh==", "whsec_schl\u00fcssel"):
        verify_signature(BODY, standard(text.encode()), text, now=NOW)
    verify_signature(BODY.decode(), standard(b"legacy_sandbox"), "legacy_sandbox", now=NOW)


def test_one_of_several_is_enough() -> None:
    both = f"t={NOW},v1={service('older')},v1={service(SECRET)}"
    for secret in ("older", SECRET):
        verify_signature(BODY, {"x-service-signature": both}, secret, now=NOW)
    two = standard(b"older")
    two["webhook-signature"] += " v2,x " + standard(b"key of the endpoint")["webhook-signature"]
    verify_signature(BODY, two, SECRET, now=NOW)


@pytest.mark.parametrize("away", [-301, 301])
def test_a_time_too_far_away_is_refused(away: int) -> None:
    with pytest.raises(SignatureError, match="away from now"):
        verify_signature(BODY, standard(b"key of the endpoint"), SECRET, now=NOW + away)
    verify_signature(BODY, standard(b"key of the endpoint"), SECRET, now=NOW + away, tolerance=301)


def test_a_time_that_is_no_number_is_refused() -> None:
    for wrong in ({"now": math.nan}, {"now": math.inf}, {"now": NOW, "tolerance": math.nan}):
        with pytest.raises(SignatureError, match="away from now"):
            verify_signature(BODY, standard(b"key of the endpoint"), SECRET, **wrong)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-service-signature": ""},
        {"x-service-signature": "v1=" + service(SECRET)},
        {"x-service-signature": f"t={NOW}"},
        {"x-service-signature": f"t={NOW},v1="},
        {"x-service-signature": f"t={NOW},v1=\u00e9\u20ac"},
        {"x-service-signature": f"t={NOW},v0={service(SECRET)}"},
        {"x-service-signature": f"t=\u0661\u0667,v1={service(SECRET)}"},
        {"x-service-signature": f"t=-1,v1={service(SECRET, -1)}"},
        {"x-service-signature": f"t={'9' * 400},v1={service(SECRET)}"},
        {"x-service-signature": f"t={NOW + 1},v1={service(SECRET)}"},
        {**standard(b"key of the endpoint"), "webhook-id": "evt_2"},
        {**standard(b"key of the endpoint"), "webhook-timestamp": str(NOW + 1)},
        {**standard(b"key of the endpoint"), "webhook-signature": "v1,"},
        {**standard(b"key of the endpoint"), "webhook-signature": "nothing"},
        standard(b"another key"),
        standard(b""),
    ],
)
def test_what_does_not_fit_is_refused(headers: Dict[str, str]) -> None:
    with pytest.raises(SignatureError):
        verify_signature(BODY, headers, SECRET, now=NOW)


def test_another_body_is_refused() -> None:
    with pytest.raises(SignatureError):
        verify_signature(BODY + b" ", standard(b"key of the endpoint"), SECRET, now=NOW)


def test_an_empty_secret_is_a_mistake() -> None:
    for empty in ("", "whsec_"):
        with pytest.raises(ValueError, match="secret must not be empty"):
            verify_signature(BODY, standard(b""), empty, now=NOW)
