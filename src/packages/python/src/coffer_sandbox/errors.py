"""What can go wrong, as exceptions. All of them are a CofferError."""

from typing import Optional, Tuple, Type


class CofferError(Exception):
    """The base of every exception of this package."""


class ApiError(CofferError):
    """Coffer refused a call."""

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
        """The call's method and path."""
        self.status = status
        """The HTTP status, 400 to 599."""
        self.code = code
        """Coffer's code, which is for programs: `invalid_request`, say."""
        self.message = message
        """Coffer's message, which is for people."""
        self.field = field
        """The one field that is at fault, where there is one."""
        self.request_id = request_id
        """The id of the request, which the sandbox's log has too."""
        self.retry_after = retry_after
        """After how many seconds the call may be tried again, where Coffer says so."""

    def __reduce__(self) -> Tuple[Type["ApiError"], Tuple[object, ...]]:
        """What a process of a pool sends to another."""
        parts = (self.call, self.status, self.code, self.message, self.field, self.request_id, self.retry_after)
        return ApiError, parts


class SandboxError(CofferError):
    """The sandbox did not start, ended by itself, or did not end. The message has the end of its log."""


class NoAnswerError(CofferError, ConnectionError):
    """The sandbox runs, but this call had no answer: a fault drops it, or it took too long."""


class SignatureError(CofferError, ValueError):
    """A webhook is not signed as it has to be."""


class WaitTimeoutError(CofferError, TimeoutError):
    """What was waited for did not come in time."""
