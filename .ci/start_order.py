"""Writes src/main.ld anew, the functions that a server runs until it is idle:
start_order.py <coffer, a release build with its symbols: CARGO_PROFILE_RELEASE_STRIP=none>

Valgrind watches `coffer sandbox` and `coffer serve` from their start to their first answer and a while after it.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

COFFER = sys.argv[1]
SCRIPT = pathlib.Path(__file__).parent.parent / "src" / "main.ld"
HEAD = """/* The functions that a server runs until it is idle, side by side in the program: where they are scattered, nearly all
   of the program is in memory, because the system reads around each page that is asked for.
   All others come by name: those of one kind side by side pack smaller.
   Made by .ci/start_order.py. A name that no function has any more does no harm, and one that is missing costs memory. */
"""
# How long the workers are watched after the first answer.
IDLE_SECONDS = 5
# Of a name that several functions have, so much is what was run, or it comes last.
SHARE_MIN = 0.5


def ran(command, folder):
    """The functions that a server runs until it is idle."""
    arguments = [command, "--file", f"{folder}/{command}.db", "--listen", "127.0.0.1:0", "--log", "error"]
    notes = f"{folder}/{command}.calls"
    options = ["--tool=callgrind", f"--callgrind-out-file={notes}", "--compress-strings=no", "--demangle=no"]
    server = subprocess.Popen(
        ["valgrind", "-q", *options, COFFER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    url = re.search(r"url=(\S+)", server.stdout.readline()).group(1)
    path, headers = ("/v1/merchant", {"X-API-Key": "sk_test_sandbox"}) if command == "sandbox" else ("/readyz", {})
    urllib.request.urlopen(urllib.request.Request(url + path, headers=headers)).close()
    time.sleep(IDLE_SECONDS)
    # What its end runs is not wanted.
    subprocess.run(["callgrind_control", "-d", str(server.pid)], check=True, capture_output=True)
    server.kill()
    server.wait()
    calls = pathlib.Path(f"{notes}.1").read_text().splitlines()
    return {re.sub(r"'\d+$", "", line[3:]) for line in calls if line.startswith("fn=")}


def pattern(name):
    """The name without the hashes and numbers that are others for each compiler, build and instance."""
    name = re.sub(r"17h[0-9a-f]{16}E.*$", "17h*", name)
    name = re.sub(r"\.\d+$", ".*", name)
    return re.sub(r"(?<=C)s[0-9A-Za-z]*_(?=\d)", "s*_", name)


with tempfile.TemporaryDirectory() as folder:
    run = ran("sandbox", folder) | ran("serve", folder)
symbols = subprocess.run(["nm", "-S", "--defined-only", COFFER], check=True, capture_output=True, text=True).stdout
symbols = re.findall(r"(\S+) (\S+) [tTwW] (\S+)", symbols)
sizes = {name: int(size, 16) for _, size, name in symbols}
# Functions that came out the same are one, and which of their names it stands under is the linker's choice.
places = {place for place, _, name in symbols if name in run}
run |= {name for place, _, name in symbols if place in places}
all_bytes, run_bytes = collections.Counter(), collections.Counter()
for name, size in sizes.items():
    all_bytes[pattern(name)] += size
    run_bytes[pattern(name)] += size * (name in run)
names = sorted(name for name, size in run_bytes.items() if size > 0)
mostly = [name for name in names if run_bytes[name] >= SHARE_MIN * all_bytes[name]]
partly = sorted(set(names) - set(mostly), key=lambda name: -run_bytes[name] / all_bytes[name])
lines = "".join(f"    *(.text*.{name})\n" for name in mostly + partly)
START = f"  .text.start :\n  {{\n{lines}  }}\n"
REST = "  .text.rest :\n  {\n    *(SORT_BY_NAME(.text.*))\n  }\n"
SCRIPT.write_text(f"{HEAD}SECTIONS\n{{\n{START}{REST}}}\nINSERT BEFORE .text;\n")
print(f"{len(mostly)} names and {len(partly)} of several functions, {sum(run_bytes.values())} bytes")
