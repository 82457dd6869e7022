"""A Coffer sandbox for pytest: copy this file beside your tests.

Every test that takes the fixture `coffer` gets a sandbox of its own, on a free port, and it is gone when the test ends.
The program is `coffer` of your PATH, or the one that the variable COFFER_BINARY names. Nothing but pytest is needed.
"""

import json
import os
import subprocess
import urllib.error
import urllib.request

import pytest

# Whatever proxy the environment names: the sandbox is on this machine.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Coffer:
    """A running sandbox."""

    def __init__(self):
        binary = os.environ.get("COFFER_BINARY", "coffer")
        command = [binary, "sandbox", "--listen", "127.0.0.1:0", "--json", "--exit-with-parent", "--log", "warn"]
        # It ends when its standard input is closed: with stop(), and with this process, however that ends.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{binary} ended with exit code {self.process.wait()}; standard error says why")
        ready = json.loads(line)
        self.url = ready["url"]
        self.keys = ready["keys"]
        self.webhook_secret = ready["webhookSecret"]

    def call(self, method, path, body=None, key=None):
        """The status and the JSON of an answer; with a key for everything outside /sandbox."""
        headers = {"X-API-Key": key} if key else {}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with OPENER.open(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, json.loads(answer.read() or "null")

    def test(self, method, path, body=None):
        """The JSON of an answer in test mode; an error is an exception."""
        status, answer = self.call(method, path, body, self.keys["secretTest"])
        assert status < 400, answer
        return answer

    def control(self, method, path, body=None):
        """The JSON of an answer of the sandbox's controls; an error is an exception."""
        status, answer = self.call(method, "/sandbox" + path, body)
        assert status < 400, answer
        return answer

    def stop(self):
        """Ends it and waits for its end."""
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        assert code == 0, f"coffer ended with exit code {code}"


@pytest.fixture
def coffer():
    """A sandbox for one test. It starts in milliseconds, so there is no need to share one."""
    sandbox = Coffer()
    yield sandbox
    sandbox.stop()
