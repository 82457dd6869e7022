"""Runs the cases of src/packages/cases.json, which the clients of all languages share."""

import contextlib
import http.server
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from coffer_client import ApiError, Client, NoAnswerError, SignatureError, verify
from coffer_sandbox import Sandbox

CASES = json.loads((Path(__file__).parents[3] / "cases.json").read_text(encoding="utf-8"))["cases"]
ERRORS: Dict[str, Any] = {
    "ApiError": ApiError,
    "NoAnswerError": NoAnswerError,
    "SignatureError": SignatureError,
    "argument": (TypeError, ValueError),
}
Json = Dict[str, Any]


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def perform(client: Client, case: Json, arguments: List[Any]) -> Any:
    """Performs the call of a case. A list is read to its end."""
    options = {"idempotency_key": case["idempotencyKey"]} if "idempotencyKey" in case else {}
    answer = getattr(client, snake(case["call"]))(*arguments, **options)
    return list(answer) if case["call"].startswith("list") else answer


def requests_of(coffer: Sandbox) -> Dict[str, int]:
    """Returns the number of requests for each operation, without the sandbox's own."""
    text = coffer.request("GET", "/metrics")
    found: Dict[str, int] = {}
    for operation, count in re.findall(r'^coffer_requests_total\{operation="(\w+)".*\} (\d+)$', text, re.MULTILINE):
        if not re.match("sandbox|inbox|metrics", operation):
            found[operation] = found.get(operation, 0) + int(count)
    return found


@contextlib.contextmanager
def scripted(answers: List[Json]) -> Iterator[Tuple[str, List[str]]]:
    """A server that gives these answers, the last one for ever. Yields its URL and the requests that it got."""
    got: List[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = answers[min(len(got), len(answers) - 1)]
            got.append(self.requestline)
            body = answer["body"].encode()
            self.send_response(answer["status"])
            for name, value in {**answer["headers"], "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Logs nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()


def has(answer: Any, wanted: Any) -> bool:
    """Returns True if an answer has the wanted fields, at any depth."""
    if isinstance(wanted, dict):
        return isinstance(answer, dict) and all(name in answer and has(answer[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(answer) >= len(wanted) and all(map(has, answer, wanted))
    return type(answer) is type(wanted) and bool(answer == wanted)


@contextlib.contextmanager
def expects_end_of(case: Json, secrets: List[str]) -> Iterator[None]:
    """Checks the error of a case, if it has one."""
    if "error" not in case:
        yield
        return
    wanted = dict(case["error"])
    with pytest.raises(ERRORS[wanted.pop("type")]) as caught:
        yield
    error = caught.value
    assert {name: getattr(error, snake(name)) for name in wanted} == wanted
    while error is not None:
        assert not [secret for secret in secrets if len(secret) > 5 and secret in str(error)]
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("case", [each for each in CASES if "call" in each], ids=lambda case: str(case["name"]))
def test_call(coffer_session: Sandbox, case: Json) -> None:
    coffer = coffer_session
    coffer.reset()
    own = Client(coffer.url, coffer.keys.secret_test)
    made: List[Any] = []

    def given(arguments: List[Any]) -> List[Any]:
        return [filled(each) for each in arguments]

    def filled(argument: Any) -> Any:
        match = re.fullmatch(r"\$(\d+)(\.id)?", argument) if isinstance(argument, str) else None
        if match is None:
            return argument
        return made[int(match[1])]["id"] if match[2] else made[int(match[1])]

    for step in case.get("setup", []):
        for _ in range(step.get("times", 1) - 1):
            perform(own, step, given(step["arguments"]))
        made.append(perform(own, step, given(step["arguments"])))
    for fault in case.get("faults", []):
        coffer.faults.add(fault)
    with contextlib.ExitStack() as stack:
        url, got = stack.enter_context(scripted(case["answers"])) if "answers" in case else (coffer.url, [])
        key = case.get("key", coffer.keys.secret_test)
        client = Client(case.get("url", url).replace("$url", coffer.url), key, **case.get("options", {}))
        before = requests_of(coffer)
        begun = time.monotonic()
        with expects_end_of(case, [key]):
            answer = perform(client, case, given(case["arguments"]))
            assert has(answer, case.get("result", {} if isinstance(answer, dict) else []))
            assert len(answer) == case.get("length", len(answer))
        took = time.monotonic() - begun
        after = requests_of(coffer)
    assert case.get("seconds", {}).get("min", 0) <= took <= case.get("seconds", {}).get("max", 60)
    if "answers" in case:
        assert len(got) == case.get("requests", len(got))
    elif "requests" in case:
        counts = {name: count - before.get(name, 0) for name, count in after.items()}
        assert {name: count for name, count in counts.items() if count} == case["requests"]
    counted = coffer.state()["counts"]
    assert {name: counted[name] for name in case.get("after", {})} == case.get("after", {})


@pytest.mark.parametrize("case", [each for each in CASES if "verify" in each], ids=lambda case: str(case["name"]))
def test_verify(case: Json) -> None:
    given = case["verify"]
    with expects_end_of(case, given["secret"]):
        options = {name: given[name] for name in ("tolerance", "now")}
        event = verify(given["payload"].encode(), given["headers"], given["secret"], **options)
        assert has(event, case["result"])


def test_half_of_the_answers_are_dropped(coffer_session: Sandbox) -> None:
    coffer = coffer_session
    coffer.reset()
    # A thread can meet the faults of others, so more attempts are allowed than usually.
    client = Client(coffer.url, coffer.keys.secret_test, attempts=8)
    before = requests_of(coffer).get("createInvoice", 0)

    def create(number: int) -> str:
        if number % 2:
            coffer.faults.drop_answer("POST /v1/invoices")
        return client.create_invoice({"amount": "5.00", "currency": "EUR"})["id"]

    with ThreadPoolExecutor(8) as pool:
        created = set(pool.map(create, range(200)))
    assert created == {invoice["id"] for invoice in client.list_invoices()}
    assert len(created) == coffer.state()["counts"]["invoices"] == 200
    assert requests_of(coffer)["createInvoice"] - before == 300
