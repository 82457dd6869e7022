"""Holds a running sandbox against its own documents, the interface's and that of its controls:
document.py <url> <schemathesis> <folder for its notes>

Each class of key calls everything that it opens, then everything else too; so does who has none. What changes the
answers of all other operations is called by itself. The sandbox is reset before each run, and after the last.
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.request

URL, SCHEMATHESIS, NOTES = sys.argv[1:]
CONFIG = pathlib.Path(__file__).parent / "schemathesis.toml"
PASSWORD = "a password of the sandbox"

# Each by itself, with what it needs to begin with: the clock, pretended faults, going back, what ends sessions or
# keys, and every switch.
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
# What is made apart too does not spoil anything.
HARMLESS = {"sandboxSnapshot", "createUser", "createKey", "createResellerToken"}


def send(method, path, body=None, **headers):
    """Sends JSON and answers the JSON and the headers; a refusal ends everything."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None, answer.headers


DOCUMENT = None


def sign_in(email, password):
    """The session of who signs in."""
    body = {"email": email, "password": password}
    _, headers = send("POST", "/dashboard/api/session", body)
    return headers["Set-Cookie"].split(";")[0].split("=")[1]


def begin():
    """From the seed: the sessions, and the ids of the account and of one of each thing that can be acted on."""
    send("POST", "/sandbox/reset")
    seeded = {"Cookie": "coffer_session=" + sign_in("operator@sandbox.test", "sandbox")}
    account = send("GET", "/dashboard/api/accounts", **seeded)[0]["data"][0]["id"]
    sessions = {}
    for role, of_account in (("operator", None), ("merchant", account)):
        email = f"{role}@shop.test"
        user = {"email": email, "password": PASSWORD, "role": role, "account": of_account}
        send("POST", "/dashboard/api/users", user, **seeded)
        sessions[role] = sign_in(email, PASSWORD)
    send("PATCH", "/sandbox/account", {"endpoints": [{"url": URL + "/sandbox/inbox/shop"}]})
    known = {"ACCOUNT": account}
    for mode in ("test", "live"):
        known |= make_one_of_each(mode)
        deliveries = send("GET", f"/dashboard/api/accounts/{account}/deliveries?mode={mode}", **seeded)[0]["data"]
        known |= {f"DELIVERY_{mode.upper()}": deliveries[0]["id"]}
    return sessions, known


def make_one_of_each(mode):
    """Ids of an open and a paid invoice, a payment seen, one of nobody's, a refund, a payout; besides a customer."""
    key = {"X-API-Key": f"sk_{mode}_sandbox"}
    wanted = {"amount": "2000.00", "currency": "EUR", "asset": "LTC"}
    opened, paid, seen = (send("POST", "/v1/invoices", wanted, **key)[0]["id"] for _ in range(3))
    payment = send("POST", "/sandbox/payments", {"invoice": paid})[0]["id"]
    send("POST", f"/sandbox/payments/{payment}", {"state": "confirmed"})
    made = {
        "OPEN": opened,
        "PAID": paid,
        "PAYMENT": send("POST", "/sandbox/payments", {"invoice": seen})[0]["id"],
        "REFUND": send("POST", "/sandbox/refunds", {"invoice": paid, "amount": "5.00"})[0]["id"],
    }
    send("POST", "/v1/customers/ada/addresses", {}, **key)
    nobodys = {"test": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "live": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"}
    nobody = {"address": nobodys[mode], "asset": "BTC", "amount": "0.001"}
    made["UNMATCHED"] = send("POST", "/sandbox/payments", nobody)[0]["id"]
    # Payouts are of live mode only.
    if mode == "live":
        made["PAYOUT"] = send("POST", "/v1/payouts", {"amount": "50.00", "currency": "EUR"}, **key)[0]["id"]
        # Only one may be open, and a run asks for its own.
        send("POST", f"/sandbox/payouts/{made['PAYOUT']}", {"action": "reject"})
    return {f"{name}_{mode.upper()}": one for name, one in made.items()}


def done():
    """How often each operation has done what it was asked."""
    with urllib.request.urlopen(URL + "/metrics") as answer:
        text = answer.read().decode()
    return {one: int(times) for one, times in re.findall(r'operation="(\w+)",status="2xx"} (\d+)', text)}


def documents():
    """Both documents as one: what one of them makes the other acts on."""
    whole, controls = (send("GET", path)[0] for path in ("/v1/openapi.json", "/sandbox/openapi.json"))
    whole["paths"] |= controls["paths"]
    for kind, parts in controls["components"].items():
        whole["components"].setdefault(kind, {}).update(parts)
    return whole


def operations():
    """Which security scheme each operation asks for; none: it is open."""
    paths = DOCUMENT["paths"].values()
    each = [operation for path in paths for operation in path.values()]
    return {one["operationId"]: next(iter([*one["security"], {}][0]), "") for one in each}


def hold(title, credentials, *arguments, opens=None, tells_idle=False):
    """One run; answers whether nothing was found. `credentials`: a secret key, a public one, a reseller's token and a
    session, or none. `opens`: the security scheme of the operations that may do anything, beside open ones."""
    sessions, known = begin()
    names = ("SECRET", "PUBLIC", "RESELLER", "SESSION")
    held = {name: sessions.get(one, one) for name, one in zip(names, credentials or ())}
    text = CONFIG.read_text()
    if not held:
        before, _, after = text.partition("[auth.openapi]\n")
        text = before + "[generation]\nwith-security-parameters = false\n\n" + after.partition("\n\n")[2]
    for name, value in (held | known).items():
        text = text.replace("${COFFER_" + name + "}", value)
    config = pathlib.Path(NOTES) / "schemathesis.toml"
    config.write_text(text)
    print(f"\ndocument: {title}", flush=True)
    document = pathlib.Path(NOTES) / "openapi.json"
    document.write_text(json.dumps(DOCUMENT))
    command = [SCHEMATHESIS, "--config-file", config, "run", document, "--url", URL, "--no-color"]
    before = done()
    run = subprocess.run([*command, *arguments], cwd=NOTES, text=True, stdout=subprocess.PIPE)
    send("DELETE", "/sandbox/faults")
    grown = {one for one, times in done().items() if times > before.get(one, 0)}
    lines = [line.strip("= ") for line in run.stdout.splitlines()]
    told = [line for line in lines if " generated, " in line or "No issues found" in line]
    print("\n".join(told) if run.returncode == 0 else run.stdout, flush=True)
    schemes = operations()
    if opens is not None:
        wrong = sorted(one for one in grown if schemes[one] not in ("", opens))
        if wrong:
            print(f"document: done, and should have been refused: {', '.join(wrong)}")
        return run.returncode == 0 and not wrong
    idle = sorted(one for one in schemes if one not in grown and f"--exclude-operation-id={one}" not in arguments)
    if tells_idle:
        print(f"have done nothing but refuse: {', '.join(idle)}")
    return run.returncode == 0


def only(operations):
    """The arguments that leave out all but these."""
    return [f"--include-operation-id={operation}" for operation in operations]


def without(operations):
    """The arguments that leave these out."""
    return [f"--exclude-operation-id={operation}" for operation in operations]


def main():
    global DOCUMENT
    DOCUMENT = documents()
    spoiling = {one for group in APART for one in group} - HARMLESS
    test = ("sk_test_sandbox", "pk_test_sandbox", "rt_sandbox", "operator")
    live = ("sk_live_sandbox", "pk_live_sandbox", "rt_sandbox", "merchant")
    rest = without(sorted(spoiling))
    whole = ["--max-examples", "20", *rest]
    good = hold("test keys, the reseller's token, an operator", test, *whole, tells_idle=True)
    whole = ["--max-examples", "10", *rest]
    good &= hold("live keys, the reseller's token, a merchant's user", live, *whole, tells_idle=True)
    # Payouts are of live mode, and an operator decides on them.
    of_payouts = ["createPayout", "getPayout", "movePayout", "sandboxMovePayout"]
    whole = ["--max-examples", "30", *only(of_payouts)]
    good &= hold("payouts, with a live key and an operator", (*live[:3], "operator"), *whole)
    for group in APART:
        phases = "examples,coverage,fuzzing" + (",stateful" if len(group) > 1 else "")
        good &= hold(" and ".join(group), test, "--max-examples", "50", "--phases", phases, *only(group))
    # One credential wherever any is asked for: right at some operations, of the wrong class or none at all others.
    schemes = {"sk": "apiKey", "pk": "publicKey", "rt": "reseller", "operator": "session", "merchant": "session"}
    light = ["--phases", "examples,fuzzing", "--max-examples", "3", *rest]
    for one in dict.fromkeys(test + live + ("unknown",)):
        good &= hold(f"{one} everywhere", (one,) * 4, *light, opens=schemes.get(one.split("_")[0], "none"))
    good &= hold("no key at all", None, *light, opens="none")
    send("POST", "/sandbox/reset")
    return 0 if good else 1


sys.exit(main())
