"""Runs 200 tests, eight at a time, each with its own sandbox: `many.py VENV_BIN FOLDER`.

Checks that tests do not affect each other, and that no process or file is left. Prints the time that a sandbox adds.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

TESTS = 200
# One worker runs this many tests in about the same time.
TESTS_ALONE = 50
TEST = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_alone(coffer, number):
    assert list(coffer.list_invoices()) == [] and coffer.deliveries() == []
    hooks = coffer.receiver()
    # The same order id everywhere: in a shared service it would be one invoice.
    invoice = coffer.create_invoice({{"amount": f"{{number + 1}}.00", "currency": "EUR", "orderId": "order"}})
    coffer.clock.advance(f"{{number}}m" if number < 20 else "19m")
    assert coffer.pay(invoice)["paid"]
    # First attempts come in the order of the events.
    for type in ("invoice.created", "invoice.detected", "invoice.confirmed"):
        webhook = hooks.next()
        assert (webhook.type, webhook.about) == (type, invoice["id"])
    [only] = coffer.list_invoices()
    assert (only["id"], only["amount"]) == (invoice["id"], f"{{number + 1}}.00")
    assert len(hooks.list()) == 3

@pytest.mark.parametrize("number", range({count}))
def test_without(number):
    pass
"""
# Only the process that starts the workers writes, so each phase is reported once.
PLUGIN = """
import os

def pytest_runtest_logreport(report):
    if report.when != "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        with open({out!r}, "a") as file:
            print(report.nodeid, report.duration, file=file)
"""


def main(venv: Path, work: Path) -> None:
    folder = work / "many"
    folder.mkdir()
    out = folder / "durations"
    (folder / "conftest.py").write_text(PLUGIN.format(out=str(out)))
    for tests, workers in ((TESTS_ALONE, 1), (TESTS, 8)):
        (folder / "test_many.py").write_text(TEST.format(count=tests))
        out.write_text("")
        command = [str(venv / "pytest"), "-q", "-p", "no:cacheprovider", "-n", str(workers)]
        subprocess.run([*command, "--basetemp", str(work / "base"), str(folder)], check=True, timeout=300)
        print(f"a sandbox of its own adds to each of {tests} tests, {workers} at a time: {added(out, tests)}")
        left = running(venv / "coffer")
        assert not left, f"processes are left: {left}"


def added(out: Path, tests: int) -> str:
    """Returns the extra time of set-up and tear-down, compared with a test without a sandbox."""
    took: Dict[str, float] = {}
    for line in out.read_text().splitlines():
        name, seconds = line.rsplit(" ", 1)
        took[name] = took.get(name, 0.0) + float(seconds) * 1000
    alone = sorted(ms for name, ms in took.items() if "test_alone" in name)
    without = [ms for name, ms in took.items() if "test_without" in name]
    assert len(alone) == len(without) == tests, (len(alone), len(without))
    base = statistics.median(without)
    return f"median {statistics.median(alone) - base:.1f} ms, p99 {alone[tests * 99 // 100 - 1] - base:.1f} ms"


def running(program: Path) -> List[str]:
    """Returns every process that runs a program."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.path.samefile(process / "exe", program):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
