"""The exceptions of this package. All of them are a CofferError."""

from typing import Optional, Tuple, Type


class CofferError(Exception):
    """The base class of every exception of this package."""


class ApiError(CofferError):
    """An error response from Coffer."""

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
        """The HTTP status, 400 to 599."""
        self.code = code
        """Coffer's error code, for programs, such as `invalid_request`."""
        self.message = message
        """Coffer's message, for people."""
        self.field = field
        """The field at fault, if there is one."""
        self.request_id = request_id
        """The request id, which is also in the sandbox's log."""
        self.retry_after = retry_after
        """Seconds after which the request may be repeated, if Coffer says so."""

    def __reduce__(self) -> Tuple[Type["ApiError"], Tuple[object, ...]]:
        """Returns the parts from which another process of a pool rebuilds the exception."""
        parts = (self.call, self.status, self.code, self.message, self.field, self.request_id, self.retry_after)
        return ApiError, parts


class SandboxError(CofferError):
    """The sandbox did not start, ended by itself, or did not end. The message contains the end of its log."""


class NoAnswerError(CofferError, ConnectionError):
    """The sandbox runs, but this request got no response: a fault dropped it, or it took too long."""


class SignatureError(CofferError, ValueError):
    """A webhook has no valid signature."""


class WaitTimeoutError(CofferError, TimeoutError):
    """The expected event or state did not come in time."""
