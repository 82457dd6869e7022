"""The pytest plugin: fixtures, options, and the sandboxes' logs in the reports of failed tests."""

from typing import Any, Callable, Dict, Generator, Iterator, Optional

import pytest

from ._process import Log
from ._sandbox import Sandbox

# Pytest shows the line of the test instead of these frames.
__tracebackhide__ = True

# Options, with their names in pytest's ini file: --coffer-binary is coffer_binary there.
OPTIONS = {
    "binary": "the program that is run; else that of COFFER_BINARY, else that of the wheel",
    "log": "what it logs: error, warn, info, debug (the default: a line for each call) or trace",
    "start-timeout": "how long a start may take, in seconds; 60 unless told otherwise",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("coffer", "Coffer sandboxes")
    for name, text in OPTIONS.items():
        ini = "coffer_" + name.replace("-", "_")
        group.addoption("--coffer-" + name, dest=ini, default=None, help=text)
        parser.addini(ini, text, default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Logs(), "coffer_logs")
    _start_timeout(config)


def _option(config: pytest.Config, name: str) -> Optional[str]:
    value = config.getoption(name) or config.getini(name)
    return str(value) if value else None


def _start_timeout(config: pytest.Config) -> float:
    text = _option(config, "coffer_start_timeout") or "60"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        raise pytest.UsageError(f"coffer-start-timeout must be a number of seconds, like 60: {text!r}")
    return seconds


@pytest.fixture(scope="session")
def start_coffer(request: pytest.FixtureRequest) -> Callable[..., Sandbox]:
    """Starts another sandbox with the options of this run: `with start_coffer() as other:`."""

    def start(**options: Any) -> Sandbox:
        config = request.config
        chosen: Dict[str, Any] = {
            "binary": _option(config, "coffer_binary"),
            "log": _option(config, "coffer_log") or "debug",
            "timeout": _start_timeout(config),
        }
        return Sandbox(**{**chosen, **options})

    return start


@pytest.fixture
def coffer(start_coffer: Callable[..., Sandbox]) -> Iterator[Sandbox]:
    """A sandbox for one test. It starts in milliseconds."""
    with start_coffer() as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def coffer_session(start_coffer: Callable[..., Sandbox]) -> Iterator[Sandbox]:
    """One sandbox for the whole session; with pytest-xdist, one for each worker."""
    with start_coffer() as sandbox:
        yield sandbox


def _text_since(log: Log, start: int) -> str:
    """Returns a log from a byte on. Never fails a test, even if the test has replaced functions needed to read it."""
    note = ""
    for read in (log.read, log.read_now):
        try:
            return note + read(start)
        except KeyboardInterrupt:
            raise
        # pytest.fail() raises a BaseException that is no Exception.
        except BaseException as error:
            note = f"[some of it could not be read: {type(error).__name__}]\n"
    return note


class _Logs:
    """Adds the log lines of a failed test's sandboxes to its report."""

    def __init__(self) -> None:
        # Each log of this test, with its size when the test began.
        self._begun: Dict[Log, int] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, None]:
        self._begun = {log: log.size for log in Log.existing}
        yield
        self._begun = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, None]:
        # Kept until the test is over: its sandbox ends before the report of the last phase.
        for log in list(Log.existing):
            self._begun.setdefault(log, 0)
        outcome = yield
        report = outcome.get_result()
        if not report.failed:
            return
        for log in sorted(self._begun, key=lambda each: each.number):
            text = _text_since(log, self._begun[log])
            if text:
                report.sections.append((log.title, text))
