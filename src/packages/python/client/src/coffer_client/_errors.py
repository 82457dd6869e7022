"""The exceptions of this package. All of them are a CofferError. Their texts have no key, secret or body."""

from typing import Optional, Tuple, Type

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True


class CofferError(Exception):
    """The base class of every exception of this package."""


class ApiError(CofferError):
    """An error response from Coffer, or from a proxy before it."""

    def __init__(
        self,
        call: str,
        status: int,
        code: str,
        message: str,
        field: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
    ) -> None:
        about = f" ({field})" if field else ""
        super().__init__(f"{call}: {status} {code}: {message}{about}")
        self.call = call
        """Method and path of the request."""
        self.status = status
        """The HTTP status, 300 to 599."""
        self.code = code
        """Coffer's error code, for programs, such as `invalid_request`; `unknown` if the response has none."""
        self.message = message
        """Coffer's message, for people."""
        self.field = field
        """The field at fault, if there is one."""
        self.request_id = request_id
        """The request id, which is also in Coffer's log, if there is one."""
        self.retry_after = retry_after
        """Seconds after which the request may be repeated, if the response says so."""

    def __reduce__(self) -> Tuple[Type["ApiError"], Tuple[object, ...]]:
        """Returns the parts from which another process of a pool rebuilds the exception."""
        parts = (self.call, self.status, self.code, self.message, self.field, self.request_id, self.retry_after)
        return ApiError, parts


class NoAnswerError(CofferError, ConnectionError):
    """No answer came, or what came is not an answer of Coffer's. The request may have been performed."""


class SignatureError(CofferError, ValueError):
    """A webhook has no valid signature."""
