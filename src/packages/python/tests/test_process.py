"""Tests of the process: its start, its end, and that it leaves nothing behind."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Callable, List

import coffer_client
import coffer_sandbox
import pytest
from coffer_client import Client, NoAnswerError
from coffer_sandbox import CofferVersionWarning, Sandbox, SandboxError, find_binary

MakeProgram = Callable[[str], str]
REFUSES_SECOND_START = 'case "$1" in --version) exec "$real" --version;; esac'


def pid_of(coffer: Sandbox) -> int:
    return coffer.pid


def is_running(pid: int) -> bool:
    """Returns True if a process runs. A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(what: Callable[[], bool], seconds: float = 30.0) -> None:
    """Waits until a condition holds."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come to be so"
        time.sleep(0.005)


def test_it_ends_and_leaves_nothing(alone: Path) -> None:
    with Sandbox() as coffer:
        pid = pid_of(coffer)
        coffer.snapshot("a")
        assert is_running(pid) and list(alone.iterdir())
    assert not is_running(pid) and list(alone.iterdir()) == []
    coffer.stop()
    with pytest.raises(SandboxError, match="has been stopped"):
        coffer.create_invoice({"amount": "5.00", "currency": "EUR"})


def test_an_address_of_its_own_may_be_asked_for() -> None:
    with Sandbox(args=["--listen", "127.0.0.2:0"]) as coffer:
        assert coffer.url.startswith("http://127.0.0.2:") and list(coffer.list_invoices()) == []
        taken = coffer.url.rsplit("/", 1)[1]
        with pytest.raises(SandboxError, match="(?s)before it was ready.*Address already in use"):
            Sandbox(args=[f"--listen={taken}"])


def test_a_crash_is_told_once_and_leaves_nothing(alone: Path) -> None:
    coffer = Sandbox()
    coffer.snapshot("a")
    assert "POST /sandbox/snapshots/a 200" in coffer.log
    os.kill(pid_of(coffer), signal.SIGKILL)
    with pytest.raises(SandboxError, match=r"was ended by signal 9 by itself\nthe end of its log:\n.*snapshots/a"):
        coffer.create_invoice({"amount": "5.00", "currency": "EUR"})
    # The request has reported the end, so stop() does not.
    coffer.stop()
    assert list(alone.iterdir()) == []


def test_a_crash_that_no_call_saw_is_told_at_the_end(alone: Path) -> None:
    coffer = Sandbox()
    os.kill(pid_of(coffer), signal.SIGKILL)
    with pytest.raises(SandboxError, match="signal 9"):
        coffer.stop()
    assert list(alone.iterdir()) == []


def test_a_call_under_way_is_told_of_a_crash(coffer: Sandbox) -> None:
    coffer.faults.delay("GET /v1/merchant", delay_ms=60_000)
    killer = subprocess.Popen(["sh", "-c", f"read x; kill -9 {pid_of(coffer)}"], stdin=subprocess.PIPE)
    killer.communicate(b"\n", timeout=30)
    with pytest.raises(SandboxError, match="signal 9"):
        coffer.live.request("GET", "/v1/merchant")


def test_what_nobody_holds_ends(alone: Path) -> None:
    pid = pid_of(Sandbox())
    gc.collect()
    assert not is_running(pid) and list(alone.iterdir()) == []


@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "raise SystemExit(3)"])
def test_it_ends_with_the_process_that_started_it(alone: Path, end: str) -> None:
    script = f"""
import os, signal
from coffer_sandbox import Sandbox
coffer = Sandbox()
coffer.snapshot("a")
print(coffer._process._child.pid, flush=True)
{end}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    pid = int(done.stdout)
    wait_for(lambda: not is_running(pid) and list(alone.iterdir()) == [])
    assert done.stderr == b""


def test_a_fork_that_goes_on_does_not_keep_it(alone: Path) -> None:
    script = """
import os, sys
from coffer_sandbox import Sandbox
coffer = Sandbox()
reading, writing = os.pipe()
if os.fork() == 0:
    os.close(writing)
    os.read(reading, 1)      # until neither the parent nor a sandbox holds the other end
    coffer.stop()            # this process did not start it
    os.write(1, b"fork ends\\n")
    os._exit(0)
print(coffer._process._child.pid, flush=True)
os.set_inheritable(writing, True)
os.kill(os.getpid(), 9)
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    said, _ = child.communicate(timeout=60)
    first, second = said.decode().splitlines()
    assert second == "fork ends"
    wait_for(lambda: not is_running(int(first)) and list(alone.iterdir()) == [])


def test_a_fork_is_told_of_a_lost_answer_and_not_of_an_end() -> None:
    script = """
import os
from coffer_sandbox import Sandbox
with Sandbox() as coffer:
    coffer.faults.drop_answer("GET /v1/merchant")
    child = os.fork()
    if child == 0:
        try:
            coffer.request("GET", "/v1/merchant")
        except Exception as error:
            os.write(1, f"{type(error).__name__}: {error}\\n".encode())
        os.write(1, f"{'GET /v1/merchant' in coffer.log}\\n".encode())
        os._exit(0)
    os.waitpid(child, 0)
    list(coffer.list_invoices())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    told, is_logged = done.stdout.decode().splitlines()
    assert told.startswith("NoAnswerError: GET /v1/merchant: no answer") and is_logged == "True"


def test_two_do_not_meet_and_ports_are_free_again() -> None:
    urls: List[str] = []
    for _ in range(3):
        with Sandbox() as one, Sandbox() as other:
            assert one.url != other.url
            one.create_invoice({"amount": "5.00", "currency": "EUR", "orderId": "a"})
            one.clock.advance("1d")
            assert list(other.list_invoices()) == [] and other.clock.get() < one.clock.get()
            urls += [one.url, other.url]
    # An ended sandbox's port refuses connections at once.
    with pytest.raises(NoAnswerError):
        Client(urls[0], "sk_test_sandbox", attempts=1).get_merchant()
    # The port can be used again.
    port = urls[0].rsplit(":", 1)[1]
    with Sandbox(args=["--public-url", f"http://localhost:{port}"]) as coffer:
        invoice = coffer.create_invoice({"amount": "5.00", "currency": "EUR"})
        assert invoice["checkoutUrl"].startswith(f"http://localhost:{port}/")


def test_what_the_environment_says_of_another_is_not_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFFER_LISTEN", "nonsense")
    monkeypatch.setenv("COFFER_PUBLIC_URL", "nonsense")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with Sandbox(env={"COFFER_PUBLIC_URL": "http://localhost:1"}) as coffer:
        invoice = coffer.pay(coffer.create_invoice({"amount": "5.00", "currency": "EUR"}))
        assert invoice["paid"] and invoice["checkoutUrl"].startswith("http://localhost:1/")


def test_the_program_is_the_one_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, real_binary: str) -> None:
    with pytest.raises(SandboxError, match="/nowhere/coffer is not a program that can be run"):
        Sandbox(binary="/nowhere/coffer")
    with pytest.raises(SandboxError, match="is not a program"):
        Sandbox(binary=str(tmp_path))
    plain = tmp_path / "plain"
    plain.write_text("text")
    with pytest.raises(SandboxError, match="is not a program"):
        Sandbox(binary=str(plain))
    plain.chmod(0o755)
    with pytest.raises(SandboxError, match="could not be started"):
        Sandbox(binary=str(plain))
    monkeypatch.setenv("COFFER_BINARY", "/nowhere/else")
    with pytest.raises(SandboxError, match="/nowhere/else"):
        Sandbox()
    monkeypatch.setenv("COFFER_BINARY", os.path.relpath(real_binary))
    assert find_binary() == real_binary
    with Sandbox() as coffer:
        monkeypatch.chdir(tmp_path)
        assert list(coffer.list_invoices()) == []


def test_it_is_found_beside_the_package(tmp_path: Path, real_binary: str) -> None:
    # As `pip install --target` leaves it: not in PATH, and without metadata.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "coffer").symlink_to(real_binary)
    for package in (coffer_client, coffer_sandbox):
        (tmp_path / package.__name__).symlink_to(Path(str(package.__file__)).parent)
    script = "from coffer_sandbox import find_binary; print(find_binary())"
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [os.path.realpath(sys.executable), "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(tmp_path / "bin" / "coffer")


def test_a_missing_client_is_told_with_both_files(tmp_path: Path) -> None:
    (tmp_path / "coffer_sandbox").symlink_to(Path(coffer_sandbox.__file__).parent)
    command = [os.path.realpath(sys.executable), "-S", "-c", "import coffer_sandbox"]
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True)
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("ImportError: ") and "./coffer_client-*.whl ./coffer_sandbox-*" in last


def test_another_program_of_this_name_is_told(make_program: MakeProgram) -> None:
    with pytest.raises(SandboxError, match="is not coffer: to --version it said 'coffee 1'"):
        Sandbox(binary=make_program("echo coffee 1"))
    with pytest.raises(SandboxError, match="is not coffer"):
        Sandbox(binary="/bin/cat")


def test_another_version_is_used_and_told(make_program: MakeProgram) -> None:
    binary = make_program('case "$1" in --version) echo coffer 0.0.1;; *) exec "$real" "$@";; esac')
    with pytest.warns(CofferVersionWarning, match=r"is coffer 0\.0\.1, and this package is made for"):
        coffer = Sandbox(binary=binary)
    assert coffer._process.version == "0.0.1" and not coffer.get_merchant()["livemode"]
    coffer.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sandbox().stop()


def test_a_version_that_cannot_be_used_is_told(make_program: MakeProgram, alone: Path) -> None:
    said = REFUSES_SECOND_START
    with pytest.raises(SandboxError, match="(?s)ended with exit code 2 before it was ready.*unexpected argument"):
        Sandbox(binary=make_program(f'{said}; echo "error: unexpected argument" >&2; exit 2'))
    with pytest.raises(SandboxError, match="cannot be used: its first line is b'coffer ready"):
        Sandbox(binary=make_program(f'{said}; echo "coffer ready url=x"; read line'))
    with pytest.raises(SandboxError, match="(?s)ended with exit code .* before it was ready"):
        Sandbox(args=["--nonsense"])
    with pytest.raises(SandboxError, match="closed its standard output before it was ready"):
        Sandbox(binary=make_program(f"{said}; exec >&-; read line; exit 0"))
    assert list(alone.iterdir()) == []


def test_a_start_that_takes_too_long_is_told_with_its_log(make_program: MakeProgram) -> None:
    binary = make_program(f"{REFUSES_SECOND_START}; echo $$ looks at the disk >&2; read line; exit 0")
    match = r"(?s)not ready after 0\.3 s .*--coffer-start-timeout.*looks at the disk"
    with pytest.raises(SandboxError, match=match) as caught:
        Sandbox(binary=binary, timeout=0.3)
    pid = int(str(caught.value).splitlines()[-1].split()[0])
    assert not is_running(pid)


def test_a_start_that_is_given_up_at_any_moment_leaves_nothing(alone: Path) -> None:
    for moment in range(20):
        with contextlib.suppress(SandboxError):
            Sandbox(timeout=0.0005 * moment).stop()
        assert list(alone.iterdir()) == []


def test_a_start_that_has_to_be_killed_leaves_nothing(
    make_program: MakeProgram, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coffer_sandbox._process.START_STOP_TIMEOUT", 0.2)
    # The process has its file, is stopped, and has never reported that it is ready.
    script = f"""
        {REFUSES_SECOND_START}
        (
            while [ ! -s "{tmp_path}/up" ]; do sleep 0.01; done
            kill -STOP $$
            echo stopped >&2
            while kill -0 $$ 2>/dev/null; do sleep 0.01; done
        ) &
        exec "$real" "$@" --ready-file "{tmp_path}/up" >&2
    """
    with pytest.raises(SandboxError, match="was not ready after 5 s") as caught:
        Sandbox(binary=make_program(script), timeout=5.0)
    assert "stopped" in str(caught.value) and list(alone.iterdir()) == []


def test_one_that_does_not_end_is_killed(coffer: Sandbox, monkeypatch: pytest.MonkeyPatch, alone: Path) -> None:
    monkeypatch.setattr("coffer_sandbox._process.STOP_TIMEOUT", 0.2)
    held = Sandbox()
    os.kill(pid_of(held), signal.SIGSTOP)
    with pytest.raises(SandboxError, match="did not end within 0.2 s and was killed"):
        held.stop()
    assert not is_running(pid_of(held)) and list(alone.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(alone: Path) -> None:
    alone.chmod(0o500)
    with pytest.raises(SandboxError, match="(?s)before it was ready.*ermission denied"):
        Sandbox()


def test_a_folder_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(SandboxError, match="(?s)before it was ready.*gone"):
        Sandbox()


def test_a_long_log_is_cut_at_its_beginning() -> None:
    with Sandbox() as coffer:
        for _ in range(50):
            list(coffer.list_invoices())
        log = coffer._process.log
        assert coffer.log.count("GET /v1/invoices 200") == 50
        start = log.size
        coffer.get_merchant()
        assert log.read(start).count("\n") == 1
    cut = log.read(0, 100)
    assert cut.startswith(f"[{log.size - 100} bytes before this are left out]\n") and len(cut) < 160


def test_no_warning_and_no_descriptor_is_left() -> None:
    script = """
import gc, os
from coffer_sandbox import Sandbox
def use():
    with Sandbox() as coffer:
        hooks = coffer.receiver()
        coffer.pay(coffer.create_invoice({"amount": "5.00", "currency": "EUR"}))
        hooks.next("invoice.confirmed")
        coffer.log
    Sandbox().get_merchant()
use()
gc.collect()
before = os.listdir("/proc/self/fd")
use()
gc.collect()
assert os.listdir("/proc/self/fd") == before
"""
    done = subprocess.run([sys.executable, "-W", "error", "-X", "dev", "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
