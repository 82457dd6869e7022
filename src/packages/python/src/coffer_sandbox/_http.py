"""One HTTP request with JSON. Numbers with a point are read as Decimal, and Decimal is sent as text."""

import http.client
import json
from decimal import Decimal
from typing import Any, Mapping, Optional
from urllib.parse import urlencode, urlsplit

from .errors import ApiError, NoAnswerError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

JSON = Any
"""The values of a JSON text: dict, list, str, int, Decimal, bool or None."""


def send(
    url: str,
    method: str,
    path: str,
    body: JSON = None,
    query: Optional[Mapping[str, object]] = None,
    headers: Optional[Mapping[str, str]] = None,
    timeout: float = 60.0,
) -> JSON:
    """Sends a request and returns the JSON of its response, or the text if it is not JSON.

    Raises ApiError for a status of 400 or more, and NoAnswerError if no response comes within timeout seconds.
    """
    if not path.startswith("/"):
        raise ValueError(f"path must begin with /, like /v1/invoices: {path!r}")
    asked = {name: value for name, value in (query or {}).items() if value is not None}
    target = path + ("?" + urlencode(asked) if asked else "")
    data = None if body is None else json.dumps(body, default=_to_json, allow_nan=False).encode()
    sent = {"Content-Type": "application/json"} if data is not None else {}
    sent.update(headers or {})
    parts = urlsplit(url)
    # Not through a proxy: the sandbox is on this machine.
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=timeout)
    try:
        connection.request(method, target, data, sent)
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, http.client.HTTPException) as error:
        why = str(error) or type(error).__name__
        raise NoAnswerError(f"{method} {path}: no answer from {url}: {why}") from error
    finally:
        connection.close()
    content = _from_json(text) if "json" in (answer.headers.get("Content-Type") or "") else text.decode()
    if answer.status >= 400:
        raise _refusal(f"{method} {path}", answer.status, content, answer.headers.get("Retry-After"))
    return content if content != "" else None


def _from_json(text: bytes) -> JSON:
    return json.loads(text, parse_float=Decimal)


def _to_json(value: object) -> JSON:
    if isinstance(value, Decimal):
        return plain(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def plain(amount: Decimal) -> str:
    """Returns the digits of an amount, without an exponent."""
    if not amount.is_finite():
        raise ValueError(f"an amount must be a number: {amount}")
    return format(amount, "f")


def _refusal(call: str, status: int, content: JSON, retry_after: Optional[str]) -> ApiError:
    told = content if isinstance(content, dict) else {"message": str(content)[:500]}
    return ApiError(
        call,
        status,
        str(told.get("error", f"http_{status}")),
        str(told.get("message", "")),
        told.get("param"),
        told.get("requestId"),
        int(retry_after) if retry_after and retry_after.isdigit() else None,
    )
