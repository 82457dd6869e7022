"""Tests running sandboxes against their OpenAPI documents with schemathesis: document.py URL[,URL...] SCHEMATHESIS FOLDER

Each class of key calls the operations that it opens, then all others, as does a caller without a key. Operations that
change the answers of all others have runs of their own. Each sandbox takes one run after another, and is reset before
each run and after the last. FOLDER is for notes.
"""

import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import urllib.request

URLS, SCHEMATHESIS, NOTES = sys.argv[1].split(","), sys.argv[2], pathlib.Path(sys.argv[3])
CONFIG = pathlib.Path(__file__).parent / "schemathesis.toml"
PASSWORD = "a password of the sandbox"
WITHOUT = "--exclude-operation-id="

# Groups of operations with runs of their own: the clock, faults, restoring a snapshot, operations that end sessions or
# keys, and switches. A group includes the operations that it needs first.
APART = [
    ["sandboxClock"],
    ["sandboxAccount"],
    ["sandboxAddFault"],
    ["sandboxRestore", "sandboxSnapshot"],
    ["sandboxReset"],
    ["inboxBehave"],
    ["signOut"],
    ["changeOwnPassword"],
    ["createUser", "changeUser"],
    ["createKey", "rollKey", "revokeKey"],
    ["createResellerToken", "revokeResellerToken"],
    ["changeAccount"],
    ["decideOnAccount"],
    ["setSettings"],
    ["switchCoin"],
]
# Operations of a group that may also run with all others.
HARMLESS = {"sandboxSnapshot", "createUser", "createKey", "createResellerToken"}


class Sandbox:
    """A running sandbox and the folder for its notes."""

    def __init__(self, url, notes):
        self.url, self.notes = url, notes
        notes.mkdir(exist_ok=True)
        self.document = self.documents()

    def send(self, method, path, body=None, **headers):
        """Sends JSON and returns the JSON and the headers of the answer. A refusal ends everything."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
            return json.loads(text) if text else None, answer.headers

    def documents(self):
        """Merges both documents into one, since operations of one use objects of the other."""
        whole, controls = (self.send("GET", path)[0] for path in ("/v1/openapi.json", "/sandbox/openapi.json"))
        whole["paths"] |= controls["paths"]
        for kind, parts in controls["components"].items():
            whole["components"].setdefault(kind, {}).update(parts)
        return whole

    def operations(self):
        """Returns the security scheme of each operation, empty if it is open."""
        paths = self.document["paths"].values()
        each = [operation for path in paths for operation in path.values()]
        return {one["operationId"]: next(iter([*one["security"], {}][0]), "") for one in each}

    def sign_in(self, email, password):
        """Signs in and returns the session."""
        body = {"email": email, "password": password}
        _, headers = self.send("POST", "/dashboard/api/session", body)
        return headers["Set-Cookie"].split(";")[0].split("=")[1]

    def begin(self):
        """Resets the sandbox and returns the sessions, and the ids of the account and of one object of each kind."""
        self.send("POST", "/sandbox/reset")
        seeded = {"Cookie": "coffer_session=" + self.sign_in("operator@sandbox.test", "sandbox")}
        account = self.send("GET", "/dashboard/api/accounts", **seeded)[0]["data"][0]["id"]
        sessions = {}
        for role, of_account in (("operator", None), ("merchant", account)):
            email = f"{role}@shop.test"
            user = {"email": email, "password": PASSWORD, "role": role, "account": of_account}
            self.send("POST", "/dashboard/api/users", user, **seeded)
            sessions[role] = self.sign_in(email, PASSWORD)
        self.send("PATCH", "/sandbox/account", {"endpoints": [{"url": self.url + "/sandbox/inbox/shop"}]})
        known = {"ACCOUNT": account}
        for mode in ("test", "live"):
            known |= self.make_one_of_each(mode)
            path = f"/dashboard/api/accounts/{account}/deliveries?mode={mode}"
            deliveries = self.send("GET", path, **seeded)[0]["data"]
            known |= {f"DELIVERY_{mode.upper()}": deliveries[0]["id"]}
        return sessions, known

    def make_one_of_each(self, mode):
        """Makes one object of each kind and returns their ids."""
        key = {"X-API-Key": f"sk_{mode}_sandbox"}
        wanted = {"amount": "2000.00", "currency": "EUR", "asset": "LTC"}
        opened, paid, seen = (self.send("POST", "/v1/invoices", wanted, **key)[0]["id"] for _ in range(3))
        payment = self.send("POST", "/sandbox/payments", {"invoice": paid})[0]["id"]
        self.send("POST", f"/sandbox/payments/{payment}", {"state": "confirmed"})
        made = {
            "OPEN": opened,
            "PAID": paid,
            "PAYMENT": self.send("POST", "/sandbox/payments", {"invoice": seen})[0]["id"],
            "REFUND": self.send("POST", "/sandbox/refunds", {"invoice": paid, "amount": "5.00"})[0]["id"],
        }
        self.send("POST", "/v1/customers/ada/addresses", {}, **key)
        nobodys = {"test": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "live": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"}
        nobody = {"address": nobodys[mode], "asset": "BTC", "amount": "0.001"}
        made["UNMATCHED"] = self.send("POST", "/sandbox/payments", nobody)[0]["id"]
        # Payouts exist in live mode only.
        if mode == "live":
            wanted = {"amount": "50.00", "currency": "EUR"}
            made["PAYOUT"] = self.send("POST", "/v1/payouts", wanted, **key)[0]["id"]
            # Only one may be open, and a run creates its own.
            self.send("POST", f"/sandbox/payouts/{made['PAYOUT']}", {"action": "reject"})
        return {f"{name}_{mode.upper()}": one for name, one in made.items()}

    def done(self):
        """Returns the number of successful calls of each operation."""
        with urllib.request.urlopen(self.url + "/metrics") as answer:
            text = answer.read().decode()
        return {one: int(times) for one, times in re.findall(r'operation="(\w+)",status="2xx"} (\d+)', text)}

    def hold(self, title, credentials, *arguments, opens=None, tells_idle=False):
        """Makes one run and returns True if it found nothing. `credentials`: a secret key, a public key, a reseller's token
        and a session, or None. `opens`: the security scheme of the operations that may succeed, besides open ones."""
        sessions, known = self.begin()
        names = ("SECRET", "PUBLIC", "RESELLER", "SESSION")
        held = {name: sessions.get(one, one) for name, one in zip(names, credentials or ())}
        text = CONFIG.read_text()
        if not held:
            before, _, after = text.partition("[auth.openapi]\n")
            text = before + "[generation]\nwith-security-parameters = false\n\n" + after.partition("\n\n")[2]
        for name, value in (held | known).items():
            text = text.replace("${COFFER_" + name + "}", value)
        config = self.notes / "schemathesis.toml"
        config.write_text(text)
        document = self.notes / "openapi.json"
        document.write_text(json.dumps(self.document))
        command = [SCHEMATHESIS, "--config-file", config, "run", document, "--url", self.url, "--no-color"]
        before = self.done()
        run = subprocess.run([*command, *arguments], cwd=self.notes, text=True, capture_output=True)
        self.send("DELETE", "/sandbox/faults")
        grown = {one for one, times in self.done().items() if times > before.get(one, 0)}
        lines = [line.strip("= ") for line in run.stdout.splitlines()]
        short = [line for line in lines if " generated, " in line or "No issues found" in line]
        told = ["", f"document: {title}", *(short if run.returncode == 0 else [run.stdout]), *run.stderr.splitlines()]
        schemes = self.operations()
        wrong = []
        if opens is not None:
            wrong = sorted(one for one in grown if schemes[one] not in ("", opens))
            if wrong:
                told.append(f"document: done, and should have been refused: {', '.join(wrong)}")
        if tells_idle:
            left_out = {argument.removeprefix(WITHOUT) for argument in arguments}
            idle = sorted(one for one in schemes if one not in grown and one not in left_out)
            told.append(f"have done nothing but refuse: {', '.join(idle)}")
        # In one piece, as another sandbox writes too.
        sys.stdout.write("\n".join([*told, ""]))
        sys.stdout.flush()
        return run.returncode == 0 and not wrong

    def take(self, runs):
        """Makes runs until none is left, and returns True if they found nothing."""
        good = True
        try:
            for title, credentials, arguments, more in runs:
                good &= self.hold(title, credentials, *arguments, **more)
        finally:
            # After a refusal no sandbox begins another run.
            collections.deque(runs, 0)
        self.send("POST", "/sandbox/reset")
        return good


def only(operations):
    """Returns the arguments that include only these operations."""
    return [f"--include-operation-id={operation}" for operation in operations]


def without(operations):
    """Returns the arguments that exclude these operations."""
    return [WITHOUT + operation for operation in operations]


def all_runs():
    """Yields the runs, the longest first: the arguments of `hold`."""
    spoiling = {one for group in APART for one in group} - HARMLESS
    test = ("sk_test_sandbox", "pk_test_sandbox", "rt_sandbox", "operator")
    live = ("sk_live_sandbox", "pk_live_sandbox", "rt_sandbox", "merchant")
    rest = without(sorted(spoiling))
    whole = ["--max-examples", "20", *rest]
    yield "test keys, the reseller's token, an operator", test, whole, {"tells_idle": True}
    whole = ["--max-examples", "10", *rest]
    yield "live keys, the reseller's token, a merchant's user", live, whole, {"tells_idle": True}
    # Payouts exist in live mode, and an operator decides on them.
    of_payouts = ["createPayout", "getPayout", "movePayout", "sandboxMovePayout"]
    whole = ["--max-examples", "30", *only(of_payouts)]
    yield "payouts, with a live key and an operator", (*live[:3], "operator"), whole, {}
    for group in APART:
        phases = "examples,coverage,fuzzing" + (",stateful" if len(group) > 1 else "")
        yield " and ".join(group), test, ["--max-examples", "50", "--phases", phases, *only(group)], {}
    # One credential for all operations: right for some, of the wrong class or missing for all others.
    schemes = {"sk": "apiKey", "pk": "publicKey", "rt": "reseller", "operator": "session", "merchant": "session"}
    light = ["--phases", "examples,fuzzing", "--max-examples", "3", *rest]
    for one in dict.fromkeys(test + live + ("unknown",)):
        yield f"{one} everywhere", (one,) * 4, light, {"opens": schemes.get(one.split("_")[0], "none")}
    yield "no key at all", None, light, {"opens": "none"}


def main():
    # An iterator of a list is safe to share: no two sandboxes get the same run.
    runs = iter([*all_runs()])
    sandboxes = [Sandbox(url, NOTES / f"sandbox{at}") for at, url in enumerate(URLS)]
    with concurrent.futures.ThreadPoolExecutor(len(sandboxes)) as pool:
        ends = [pool.submit(sandbox.take, runs) for sandbox in sandboxes]
    return 0 if all([end.result() for end in ends]) else 1


sys.exit(main())
