"""The sandbox as a process: it is started, says that it is ready, and is ended.

What always holds: the sandbox ends when its standard input is closed, so it ends with this process, however that ends.
Its log is in memory or in a file without a name, so nothing is left of it either.
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
from typing import Any, Callable, Dict, List, Optional, Sequence, Set

from ._binary import check_version, find_binary
from ._http import send
from .errors import ApiError, SandboxError

# pytest shows the line of the test, and not these.
__tracebackhide__ = True

# How long an end may take, in seconds, before it is forced.
STOP_TIMEOUT = 20.0
# The same for one that has not become ready.
START_STOP_TIMEOUT = 3.0
# How long a process that has closed its standard output may take to be over, in seconds.
CLOSED_TIMEOUT = 3.0
# How much of the log goes into an exception, in lines.
TAIL_LINES = 30
TAIL_BYTES = 1 << 16
# Where a call goes that is made to see it in the log, and how long that may take, in seconds.
MARKER = "/sandbox/log-is-read-"
MARKER_TIMEOUT = 2.0


class Log:
    """What a sandbox writes to standard error."""

    existing: "weakref.WeakSet[Log]" = weakref.WeakSet()
    """Every log that somebody still holds, for whoever shows them."""

    def __init__(self) -> None:
        self.descriptor = _nameless_file()
        weakref.finalize(self, os.close, self.descriptor)
        self.title = "Coffer's log"
        self.number = next(_numbers)
        self.settle: Callable[[], None] = lambda: None
        """Waits until what has been done is logged."""
        Log.existing.add(self)

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return os.fstat(self.descriptor).st_size

    def read(self, start: int = 0, at_most: int = 1 << 18) -> str:
        """Its text from a byte on; where that is longer than at_most bytes, the end of it.

        It has a line of every call that was answered before, if calls are logged.
        """
        self.settle()
        return self.read_now(start, at_most)

    def read_now(self, start: int = 0, at_most: int = 1 << 18) -> str:
        """The same of what is there already."""
        cut = max(start, self.size - at_most)
        text = os.pread(self.descriptor, max(0, self.size - cut), cut).decode(errors="replace")
        told = "".join(line for line in text.splitlines(keepends=True) if MARKER not in line)
        return told if cut == start else f"[{cut - start} bytes before this are left out]\n{told}"

    def tail(self) -> str:
        """Its last lines, to be put behind a message."""
        lines = self.read_now(max(0, self.size - TAIL_BYTES)).splitlines()[-TAIL_LINES:]
        return "\nthe end of its log:\n" + "\n".join(lines) if lines else "\nits log is empty"


_numbers = itertools.count()


def _nameless_file() -> int:
    """The descriptor of a new file, in memory where the system can do that."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):
            return os.memfd_create("coffer-log")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Process:
    """A sandbox that is ready. Raises SandboxError where it does not become so."""

    def __init__(self, binary: Optional[str], log_filter: str, timeout: float, args: Sequence[str]) -> None:
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
        # What the environment says of another Coffer is not meant for this one.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COFFER_")}
        try:
            # In a session of its own: Ctrl-C in a debugger interrupts the test and leaves the sandbox alone.
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
        # The sandbox writes its log in a thread of its own, so a call can be answered before it is logged.
        if log_filter in ("debug", "trace"):
            method = weakref.WeakMethod(self._settle_log)
            self.log.settle = lambda: (method() or _nothing)()

    def _read_ready(self, timeout: float) -> Dict[str, Any]:
        """The one line that a sandbox writes to standard output."""
        assert self._child.stdout is not None
        deadline = time.monotonic() + timeout
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise SandboxError(
                        f"{self.binary} was not ready after {timeout:g} s (option --coffer-start-timeout, or "
                        f"start_timeout){self.log.tail()}"
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
        """Has it ended, or does it within some seconds? By the clock of the kernel: tests may stop that of Python."""
        if self._child.poll() is not None:
            return True
        assert self._child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.stdout, selectors.EVENT_READ)
            while selector.select(timeout):
                # The end of a process closes its standard output, just before it is over.
                if not os.read(self._child.stdout.fileno(), 1 << 16):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._child.wait(CLOSED_TIMEOUT)
                    break
        return self._child.poll() is not None

    def _is_own(self) -> bool:
        """Is it of this process? A fork has the object, but the system tells its parent only whether the sandbox runs."""
        return self._owner == os.getpid()

    def _how_it_ended(self) -> str:
        code = self._child.wait()
        return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"

    def _settle_log(self) -> None:
        """Makes a call, and waits until the log has it: the log has all before it then.

        Where that fails, the log is as it is: a test may have replaced what a call takes.
        """
        with contextlib.suppress(Exception):
            self._wait_for_marker()

    def _wait_for_marker(self) -> None:
        marker = MARKER + secrets.token_hex(8)
        start = self.log.size
        if self._is_stopped or (self._is_own() and self._child.poll() is not None):
            return
        with contextlib.suppress(ApiError):
            send("http://" + self.ready["listen"], "GET", marker, timeout=MARKER_TIMEOUT)
        for _ in range(int(MARKER_TIMEOUT / 0.001)):
            if marker.encode() in os.pread(self.log.descriptor, self.log.size - start, start):
                return
            time.sleep(0.001)

    def check_alive(self, timeout: float = 0.0) -> None:
        """Raises SandboxError where the sandbox has ended, or does so within some seconds."""
        if self._is_stopped:
            raise SandboxError("this sandbox has been stopped")
        if self._is_own() and self._is_over(timeout):
            self._is_reported = True
            raise SandboxError(f"the sandbox {self._how_it_ended()} by itself{self.log.tail()}") from None

    def stop(self) -> None:
        """Ends the sandbox and waits for its end; the second time this does nothing.

        Raises SandboxError where it ended by itself and no call has told so, ended with an error, or had to be killed.
        """
        if not self._is_own():
            return
        complaint = self._end(STOP_TIMEOUT)
        if complaint and not self._is_reported:
            raise SandboxError(complaint + self.log.tail())

    def _end(self, timeout: float) -> Optional[str]:
        """Ends the sandbox, by force after some seconds. Answers what was wrong."""
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
        """In a fork: lets go of the sandbox's standard input, which would keep it running."""
        if self._child.stdin is not None:
            self._child.stdin.close()


_running: "weakref.WeakSet[Process]" = weakref.WeakSet()


def _open_files(pid: int) -> Set[str]:
    """What a process has open, for one that is killed before it has said what its file is."""
    found = set()
    for link in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(OSError):
            found.add(os.readlink(link))
    return found


def _remove(paths: Set[str]) -> None:
    """Removes the temporary files of sandboxes that could not do so themselves, and what is beside them."""
    for path in paths:
        if re.fullmatch(r"coffer-sandbox-[0-9a-f]{16}\.db", os.path.basename(path)):
            for each in glob.glob(glob.escape(path) + "*"):
                with contextlib.suppress(OSError):
                    os.remove(each)


def _nothing() -> None:
    """What a log does whose sandbox is gone."""


def _forget_all() -> None:
    running: List[Process] = list(_running)
    for process in running:
        process.forget()


os.register_at_fork(after_in_child=_forget_all)
