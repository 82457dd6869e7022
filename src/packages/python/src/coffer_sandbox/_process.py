"""The sandbox's process: its start, readiness and end.

Invariant: the sandbox ends when its standard input closes, so it ends with this process in every case.
Its log is in memory or in an unnamed file, so no log file remains.
"""

import contextlib
import glob
import itertools
import json
import os
import re
import secrets
import selectors
import subprocess
import tempfile
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set

from coffer_client import ApiError, Client

from ._binary import check_version, find_binary
from .errors import SandboxError

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Time limit for the end of the process before it is killed, in seconds.
STOP_TIMEOUT = 20.0
# The same limit for a process that has not become ready.
START_STOP_TIMEOUT = 3.0
# Maximum time between the close of standard output and the end of a process, in seconds.
CLOSED_TIMEOUT = 3.0
# Lines of the log that an exception contains.
TAIL_LINES = 30
TAIL_BYTES = 1 << 16
# Path of a request that is sent to find it in the log, and its timeout in seconds.
MARKER = "/sandbox/log-is-read-"
MARKER_TIMEOUT = 2.0


class Log:
    """The text that a sandbox writes to standard error."""

    existing: "weakref.WeakSet[Log]" = weakref.WeakSet()
    """All logs in use, for code that shows them."""

    def __init__(self) -> None:
        self.descriptor = _nameless_file()
        weakref.finalize(self, os.close, self.descriptor)
        self.title = "Coffer's log"
        self.number = next(_numbers)
        self.settle: Callable[[], None] = lambda: None
        """Waits until earlier actions are logged."""
        Log.existing.add(self)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return os.fstat(self.descriptor).st_size

    def read(self, start: int = 0, at_most: int = 1 << 18) -> str:
        """Returns its text from a byte on, or the end of that text if it is longer than at_most bytes.

        If requests are logged, it contains every request answered before this call.
        """
        self.settle()
        return self.read_now(start, at_most)

    def read_now(self, start: int = 0, at_most: int = 1 << 18) -> str:
        """Returns the text that is already written, without waiting."""
        cut = max(start, self.size - at_most)
        text = os.pread(self.descriptor, max(0, self.size - cut), cut).decode(errors="replace")
        told = "".join(line for line in text.splitlines(keepends=True) if MARKER not in line)
        return told if cut == start else f"[{cut - start} bytes before this are left out]\n{told}"

    def tail(self) -> str:
        """Returns its last lines, to append to a message."""
        lines = self.read_now(max(0, self.size - TAIL_BYTES)).splitlines()[-TAIL_LINES:]
        return "\nthe end of its log:\n" + "\n".join(lines) if lines else "\nits log is empty"


_numbers = itertools.count()


def _nameless_file() -> int:
    """Returns the descriptor of a new file, in memory if the system supports that."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):
            return os.memfd_create("coffer-log")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Process:
    """A ready sandbox. Raises SandboxError if it does not become ready."""

    def __init__(
        self, binary: Optional[str], log_filter: str, timeout: float, args: Sequence[str], env: Mapping[str, str]
    ) -> None:
        self.binary = find_binary(binary)
        self.version = check_version(self.binary)
        self.log = Log()
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._is_stopped = False
        self._is_reported = False
        command = [self.binary, "sandbox", "--json", "--exit-with-parent"]
        if not any(each == "--listen" or each.startswith("--listen=") for each in args):
            command += ["--listen", "127.0.0.1:0"]
        # Environment variables of another Coffer are not passed on.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COFFER_")}
        environment.update(env)
        try:
            # The sandbox has its own session: Ctrl-C in a debugger interrupts the test and not the sandbox.
            self._child = subprocess.Popen(
                [*command, "--log", log_filter, *args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log.descriptor,
                bufsize=0,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{self.binary} could not be started: {error}") from error
        _running.add(self)
        try:
            self.ready = self._read_ready(timeout)
        except BaseException:
            self._end(START_STOP_TIMEOUT)
            raise
        # A separate thread writes the sandbox's log, so a response may come before its log line.
        if log_filter in ("debug", "trace"):
            method = weakref.WeakMethod(self._settle_log)
            self.log.settle = lambda: (method() or _nothing)()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    def _read_ready(self, timeout: float) -> Dict[str, Any]:
        """Reads the only line that a sandbox writes to standard output."""
        assert self._child.stdout is not None
        deadline = time.monotonic() + timeout
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise SandboxError(
                        f"{self.binary} was not ready after {timeout:g} s (option --coffer-start-timeout, or "
                        f"timeout){self.log.tail()}"
                    )
                part = os.read(self._child.stdout.fileno(), 1 << 16)
                if not part:
                    how = self._how_it_ended() if self._is_over(CLOSED_TIMEOUT) else "closed its standard output"
                    raise SandboxError(f"{self.binary} {how} before it was ready{self.log.tail()}")
                line += part
        try:
            ready = json.loads(line)
            if isinstance(ready["url"], str) and isinstance(ready["keys"], dict):
                return dict(ready)
        except (ValueError, KeyError, TypeError):
            pass
        raise SandboxError(f"{self.binary} is of a version that cannot be used: its first line is {line[:200]!r}")

    def _is_over(self, timeout: float) -> bool:
        """Returns True if it ends within some seconds of the kernel's clock. Tests may stop Python's clock."""
        if self._child.poll() is not None:
            return True
        assert self._child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while selector.select(timeout):
                # A process closes its standard output just before it ends.
                if not os.read(self._child.stdout.fileno(), 1 << 16):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._child.wait(CLOSED_TIMEOUT)
                    break
        return self._child.poll() is not None

    def _is_own(self) -> bool:
        """Returns True if this process started it. A fork has the object too, but cannot query the process."""
        return self._owner == os.getpid()

    def _how_it_ended(self) -> str:
        code = self._child.wait()
        return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"

    def _settle_log(self) -> None:
        """Sends a request and waits until it is in the log. All earlier lines are then in the log too.

        Ignores errors: a test may have replaced functions that a request needs.
        """
        with contextlib.suppress(Exception):
            self._wait_for_marker()

    def _wait_for_marker(self) -> None:
        marker = MARKER + secrets.token_hex(8)
        start = self.log.size
        if self._is_stopped or (self._is_own() and self._child.poll() is not None):
            return
        with contextlib.suppress(ApiError):
            client = Client("http://" + self.ready["listen"], "none", timeout=MARKER_TIMEOUT, attempts=1)
            client.request("GET", marker)
        for _ in range(int(MARKER_TIMEOUT / 0.001)):
            if marker.encode() in os.pread(self.log.descriptor, self.log.size - start, start):
                return
            time.sleep(0.001)

    def check_alive(self, timeout: float = 0.0) -> None:
        """Raises SandboxError if the sandbox has ended, or ends within some seconds."""
        if self._is_stopped:
            raise SandboxError("this sandbox has been stopped")
        if self._is_own() and self._is_over(timeout):
            self._is_reported = True
            raise SandboxError(f"the sandbox {self._how_it_ended()} by itself{self.log.tail()}") from None

    def stop(self) -> None:
        """Stops the sandbox and waits for its end. A second call does nothing.

        Raises SandboxError if it ended by itself and no call has reported that, ended with an error, or was killed.
        """
        if not self._is_own():
            return
        complaint = self._end(STOP_TIMEOUT)
        if complaint and not self._is_reported:
            raise SandboxError(complaint + self.log.tail())

    def _end(self, timeout: float) -> Optional[str]:
        """Stops the sandbox, by force after some seconds. Returns the problem, if any."""
        with self._lock:
            if self._is_stopped:
                return None
            self._is_stopped = True
            _running.discard(self)
            was_over = self._child.poll() is not None
            ready: Dict[str, Any] = getattr(self, "ready", {})
            left: Set[str] = {str(ready.get("file"))}
            complaint = None
            assert self._child.stdin is not None and self._child.stdout is not None
            self._child.stdin.close()
            if not self._is_over(timeout):
                complaint = f"the sandbox did not end within {timeout:g} s and was killed"
                left |= _open_files(self._child.pid)
                self._child.kill()
                self._child.wait()
            elif was_over or self._child.returncode != 0:
                complaint = f"the sandbox {self._how_it_ended()} by itself"
            self._child.stdout.close()
            if self._child.returncode != 0:
                _remove(left)
            return complaint

    def forget(self) -> None:
        """Closes the sandbox's standard input in a fork, because the open pipe would keep the sandbox running."""
        if self._child.stdin is not None:
            self._child.stdin.close()


_running: "weakref.WeakSet[Process]" = weakref.WeakSet()


def _open_files(pid: int) -> Set[str]:
    """Returns the files that a process has open. Needed if it is killed before it reports its file."""
    found = set()
    for link in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(OSError):
            found.add(os.readlink(link))
    return found


def _remove(paths: Set[str]) -> None:
    """Removes the temporary files of sandboxes that could not remove them, and the files beside them."""
    for path in paths:
        if re.fullmatch(r"coffer-sandbox-[0-9a-f]{16}\.db", os.path.basename(path)):
            for each in glob.glob(glob.escape(path) + "*"):
                with contextlib.suppress(OSError):
                    os.remove(each)


def _nothing() -> None:
    """Does nothing, for the log of a sandbox that no longer exists."""


def _forget_all() -> None:
    running: List[Process] = list(_running)
    for process in running:
        process.forget()


os.register_at_fork(after_in_child=_forget_all)
