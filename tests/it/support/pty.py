"""Runs a command on a new pseudo-terminal and prints all output; for tests/it/support/pty.rs.

Arguments: the width in columns, the text at which Ctrl-C is pressed (may be empty), and the command. The last line has
the exit code and whether the terminal settings are restored.
"""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios

columns, awaited, *command = sys.argv[1:]
terminal, other = os.openpty()
fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
before = termios.tcgetattr(other)


def take():
    """Makes it the terminal of the new session, and hears Ctrl-C also where whoever runs the tests does not."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# The command has ended when no process holds the other end.
alive, held = os.pipe()
child = subprocess.Popen(
    command, stdin=other, stdout=other, stderr=other, pass_fds=[held], start_new_session=True, preexec_fn=take
)
os.close(held)
os.set_blocking(terminal, False)
sent, ends = b"", False
while True:
    ready, _, _ = select.select([terminal] if ends else [terminal, alive], [], [], 0 if ends else None)
    ends = ends or alive in ready
    if terminal in ready:
        sent += os.read(terminal, 65536)
    elif ends:
        break
    if awaited and awaited.encode() in sent:
        awaited = ""
        os.write(terminal, b"\x03")
code = child.wait()
is_kept = termios.tcgetattr(other) == before
sys.stdout.buffer.write(sent + f"\nended {code} kept {is_kept}".encode())
