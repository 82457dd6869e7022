"""Tests of the plugin in separate pytest runs: fixtures, options, logs in reports, and the end of runs."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest
from test_process import is_running, wait_for


@pytest.fixture(autouse=True)
def nothing_is_left(alone: Path, monkeypatch: pytest.MonkeyPatch, real_binary: str) -> "pytest.MonkeyPatch":
    """Every run has its own temporary directory, which is empty at the end."""
    monkeypatch.setenv("COFFER_BINARY", real_binary)
    return monkeypatch


def run(pytester: pytest.Pytester, test: str, *args: str) -> pytest.RunResult:
    pytester.makepyfile(test)
    base = ["--basetemp", str(pytester.path / "base"), "-p", "no:cacheprovider"]
    return pytester.runpytest_subprocess(*base, *args, timeout=120)


def is_clean(alone: Path) -> bool:
    return not [path for path in alone.iterdir() if path.name.startswith("coffer")]


def test_each_test_has_its_own_and_a_session_has_one(pytester: pytest.Pytester, alone: Path) -> None:
    result = run(
        pytester,
        """
        import pytest
        urls, session = [], []

        @pytest.mark.parametrize("n", range(3))
        def test_own(coffer, n):
            assert list(coffer.list_invoices()) == []
            coffer.create_invoice({"amount": "5.00", "currency": "EUR", "orderId": "same"})
            urls.append(coffer.url)

        @pytest.mark.parametrize("n", range(3))
        def test_session(coffer_session, coffer, start_coffer, n):
            assert len(list(coffer_session.list_invoices())) == n
            coffer_session.create_invoice({"amount": "5.00", "currency": "EUR"})
            with start_coffer() as third:
                assert len({coffer.url, coffer_session.url, third.url}) == 3
            session.append(coffer_session.url)

        def test_all():
            assert len(urls) == 3 and len(set(session)) == 1
        """,
    )
    result.assert_outcomes(passed=7)
    assert is_clean(alone)


def test_the_log_is_in_the_report_of_a_failed_test_and_of_no_other(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import pytest

        def test_passes(coffer):
            coffer.create_invoice({"amount": "1.00", "currency": "EUR", "orderId": "quiet"})

        def test_fails(coffer):
            coffer.request("GET", "/v1/invoices/of-call")

        @pytest.fixture
        def broken(coffer):
            coffer.request("GET", "/v1/invoices/of-setup")

        def test_setup_fails(broken):
            pass

        @pytest.fixture
        def ends_badly(coffer):
            yield
            coffer.request("GET", "/v1/invoices/of-teardown")

        def test_teardown_fails(ends_badly):
            pass

        def test_session_first(coffer_session):
            list(coffer_session.list_invoices({"status": "created"}))

        def test_session_fails(coffer_session):
            coffer_session.request("GET", "/v1/invoices/of-session")

        def test_one_of_its_own(start_coffer):
            with start_coffer() as other:
                other.request("GET", "/v1/invoices/of-own")

        def test_without_fails():
            assert False
        """,
    )
    result.assert_outcomes(passed=3, failed=4, errors=2)
    text = result.stdout.str()
    for name in ("call", "setup", "teardown", "session", "own"):
        assert text.count(f"GET /v1/invoices/of-{name} 404") == 1, name
    assert text.count("- Coffer's log (http://127.0.0.1:") == 5
    assert "POST /v1/invoices 201" not in text


@pytest.mark.parametrize("refuse", ["raise RuntimeError('no network')", "pytest.fail('no network')"])
def test_a_log_that_cannot_be_settled_changes_no_outcome(pytester: pytest.Pytester, refuse: str) -> None:
    result = run(
        pytester,
        f"""
        import os, pytest, socket, time

        def refuse(*args, **options):
            {refuse}

        def test_first(coffer_session):
            list(coffer_session.list_invoices())

        def test_without_network(coffer_session, monkeypatch):
            list(coffer_session.list_invoices())
            monkeypatch.setattr(socket, "socket", refuse)
            assert False

        def test_without_sleep(coffer_session, monkeypatch):
            monkeypatch.setattr(time, "sleep", refuse)
            assert False

        def test_without_files(coffer_session, monkeypatch):
            monkeypatch.setattr(os, "pread", refuse)
            assert False

        def test_last(coffer_session):
            list(coffer_session.list_invoices())
        """,
    )
    result.assert_outcomes(passed=2, failed=3)
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    assert "GET /v1/invoices 200" in result.stdout.str()


def test_its_options_reach_the_sandbox(pytester: pytest.Pytester) -> None:
    test = """
        def test_fails(coffer):
            list(coffer.list_invoices())
            assert False
        """
    text = run(pytester, test, "--coffer-log", "warn").stdout.str()
    assert "1 failed" in text and "Coffer's log" not in text
    pytester.makeini("[pytest]\ncoffer_binary = /nowhere/coffer")
    result = run(pytester, test)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*SandboxError: /nowhere/coffer is not a program that can be run*"])
    result = run(pytester, test, "--coffer-start-timeout", "soon")
    assert "coffer-start-timeout must be a number of seconds, like 60: 'soon'" in result.stderr.str()
    assert "--coffer-binary" in run(pytester, test, "--help").stdout.str()


def test_a_crash_fails_the_test_that_did_not_look(pytester: pytest.Pytester, alone: Path) -> None:
    result = run(
        pytester,
        """
        import os, signal

        def test_sees(coffer):
            os.kill(coffer.pid, signal.SIGKILL)
            list(coffer.list_invoices())

        def test_does_not_look(coffer):
            os.kill(coffer.pid, signal.SIGABRT)

        def test_after(coffer):
            assert list(coffer.list_invoices()) == []
        """,
    )
    result.assert_outcomes(passed=2, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*SandboxError: the sandbox was ended by signal 9 by itself*"])
    result.stdout.fnmatch_lines(["*SandboxError: the sandbox was ended by signal 6 by itself*"])
    assert is_clean(alone)


@pytest.mark.parametrize("capture", ["fd", "no"])
def test_output_is_captured_as_ever(pytester: pytest.Pytester, capture: str) -> None:
    result = run(
        pytester,
        """
        def test_prints(coffer, capfd):
            list(coffer.list_invoices())
            print("mine")
            assert capfd.readouterr() == ("mine\\n", "")
        """,
        "--capture",
        capture,
    )
    result.assert_outcomes(passed=1)
    assert "DEBUG" not in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("how", ["raise KeyboardInterrupt", "pytest.exit('enough')", "os.kill(os.getpid(), 15)"])
def test_an_interrupted_run_leaves_nothing(pytester: pytest.Pytester, alone: Path, how: str) -> None:
    result = run(
        pytester,
        f"""
        import os, pytest

        def test_interrupted(coffer, coffer_session):
            coffer.receiver()
            print(coffer.pid, coffer_session.pid, file=open("pids", "w"))
            {how}
        """,
    )
    assert result.ret != 0
    pids = [int(pid) for pid in (pytester.path / "pids").read_text().split()]
    wait_for(lambda: not any(map(is_running, pids)) and is_clean(alone))


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_killed_run_leaves_nothing(pytester: pytest.Pytester, alone: Path, workers: List[str]) -> None:
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(
        """
        import os, time

        def test_hangs(coffer, coffer_session, worker_id="main"):
            pids = [os.getpid(), coffer.pid, coffer_session.pid]
            with open("pids.part", "w") as file:
                print(*pids, file=file)
            os.rename("pids.part", "pids")
            time.sleep(600)
        """
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", "base", *workers]
    child = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = pytester.path / "pids"
    wait_for(file.exists, 60)
    worker, *sandboxes = [int(pid) for pid in file.read_text().split()]
    assert all(map(is_running, sandboxes))
    # With xdist the worker is killed, because it has the sandboxes.
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: not any(map(is_running, sandboxes)) and is_clean(alone))
    child.kill()
    child.wait(60)


def test_workers_of_xdist_do_not_meet(pytester: pytest.Pytester, alone: Path) -> None:
    pytest.importorskip("xdist")
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.parametrize("n", range(12))
        def test_own(coffer, coffer_session, n):
            assert list(coffer.list_invoices()) == []
            assert coffer_session.url != coffer.url
            coffer.pay(coffer.create_invoice({"amount": "5.00", "currency": "EUR", "orderId": "same"}))
            assert n != 7, "one fails"
        """,
        "-n",
        "3",
    )
    result.assert_outcomes(passed=11, failed=1)
    assert "POST /v1/invoices 201" in result.stdout.str()
    assert is_clean(alone)


def test_tests_of_asyncio_use_it_in_a_thread(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_asyncio")
    result = run(
        pytester,
        """
        import asyncio, pytest

        @pytest.mark.asyncio
        async def test_async(coffer):
            hooks = coffer.receiver()
            invoice = await asyncio.to_thread(coffer.create_invoice, {"amount": "5.00", "currency": "EUR"})
            several = await asyncio.gather(*(asyncio.to_thread(coffer.get_invoice, invoice) for _ in range(8)))
            assert {each["id"] for each in several} == {invoice["id"]}
            assert (await asyncio.to_thread(coffer.pay, invoice))["paid"]
            assert (await asyncio.to_thread(hooks.next, "invoice.confirmed")).event["data"]["object"]["paid"]
        """,
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )
    result.assert_outcomes(passed=1)
