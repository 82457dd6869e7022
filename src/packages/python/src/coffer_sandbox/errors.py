"""The exceptions of this package, besides those of coffer_client."""

from coffer_client import CofferError


class SandboxError(CofferError):
    """The sandbox did not start, ended by itself, did not end, or could not deliver webhooks.

    The message contains the end of its log, or each failed delivery.
    """


class WaitTimeoutError(CofferError, TimeoutError):
    """The expected webhook did not come in time."""
