"""Tests of the client besides the shared cases."""

import asyncio
import inspect
import json
import math
import pickle
import re
import socket
import subprocess
import typing
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Iterator, List

import coffer_client.types
import pytest
from coffer_client import ApiError, Client, CofferError, NoAnswerError, SignatureError, verify
from coffer_client.types import CreatedInvoice
from coffer_sandbox import Sandbox, find_binary

KEY = "sk_test_of_a_shop"


@pytest.fixture
def client(coffer: Sandbox) -> Client:
    return Client(coffer.url, coffer.keys.secret_test)


@pytest.fixture
def requests() -> Iterator[List[str]]:
    """The URL of a server that answers everything with `{"data": []}`, then the requests with their keys."""
    got: List[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            got.append(f"{self.requestline} {self.headers['X-API-Key']} {self.headers['Idempotency-Key']}")
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "11")
            self.end_headers()
            self.wfile.write(b'{"data":[]}')

        do_POST = do_PATCH = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Logs nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        got.append(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield got
        server.shutdown()


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def test_every_operation_of_the_document_has_a_method() -> None:
    command = [find_binary(), "openapi", "--merchant"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    operations = [each for path in document["paths"].values() for each in path.values() if "operationId" in each]
    names = {snake(each["operationId"]) for each in operations}
    methods = {name for name, _ in inspect.getmembers(Client, inspect.isfunction) if not name.startswith("_")}
    assert methods - names == {"request"} and names <= methods
    # The types can be read at runtime too, and say what the document requires.
    for name, schema in document["components"]["schemas"].items():
        if name != "Event":
            made = getattr(coffer_client.types, name)
            assert set(typing.get_type_hints(made)) == set(schema["properties"])
            assert made.__required_keys__ == set(schema.get("required", []))


def test_calls_of_asyncio_in_threads(client: Client) -> None:
    async def create() -> List[CreatedInvoice]:
        body: coffer_client.types.CreateInvoice = {"amount": "5.00", "currency": "EUR", "orderId": "same"}
        return await asyncio.gather(*(asyncio.to_thread(client.create_invoice, body) for _ in range(8)))

    assert len({invoice["id"] for invoice in asyncio.run(create())}) == 1


def test_a_list_is_read_while_it_is_used(client: Client, coffer: Sandbox) -> None:
    for _ in range(3):
        client.create_invoice({"amount": "5.00", "currency": "EUR"})
    invoices = client.list_invoices({"limit": 1})
    next(invoices)
    coffer.faults.refuse("GET /v1/invoices", status=500)
    with pytest.raises(ApiError):
        list(invoices)
    newest = next(client.list_invoices())
    assert [each["id"] for each in client.list_events({"object": newest["id"]})] != []


def test_each_post_has_its_own_key_and_a_retry_the_same(client: Client, requests: List[str]) -> None:
    url, got = requests[0], requests
    other = Client(url + "/of/a/proxy/v1/", KEY)
    for _ in range(2):
        other.request("POST", "/v1/invoices", {})
    other.request("POST", "/v1/invoices", {}, idempotency_key="my own")
    other.request("GET", "/v1/invoices", query={"a": "b c&d", "e": None})
    other.request("PATCH", "/v1/other", {"amount": None})
    keys = [line.split(KEY + " ")[1] for line in got[1:]]
    assert all(line.startswith("POST /of/a/proxy/v1/invoices HTTP/1.1 ") for line in got[1:4])
    assert got[4].startswith("GET /of/a/proxy/v1/invoices?a=b+c%26d HTTP/1.1 ") and got[5].startswith("PATCH ")
    assert len(keys[0]) == 36 and keys[0] != keys[1] and keys[2:] == ["my own", "None", "None"]


def test_other_methods_than_get_and_post_are_not_repeated(client: Client, coffer: Sandbox) -> None:
    coffer.faults.drop_answer("DELETE /reseller/servers/{id}")
    with pytest.raises(NoAnswerError):
        client.request("DELETE", "/reseller/servers/none")


def test_an_invoice_is_cancelled_once(client: Client, coffer: Sandbox) -> None:
    coffer.faults.drop_answer("POST /v1/invoices/{id}/cancel")
    invoice = client.create_invoice({"amount": "5.00", "currency": "EUR"})
    # The retry of the lost answer has the same key.
    assert client.cancel_invoice(invoice)["status"] == "cancelled"
    assert [event["type"] for event in client.list_events()] == ["invoice.cancelled", "invoice.created"]
    paid = coffer.pay(client.create_invoice({"amount": "5.00", "currency": "EUR"}))
    for other in (invoice, paid):
        with pytest.raises(ApiError) as caught:
            client.cancel_invoice(other["id"])
        assert (caught.value.status, caught.value.code) == (409, "invoice_not_cancellable")


def test_an_error_says_what_is_wrong_and_can_be_pickled(client: Client, coffer: Sandbox) -> None:
    with pytest.raises(ApiError) as caught:
        client.create_invoice({"amount": "20.001", "currency": "EUR"})
    error = caught.value
    assert str(error) == f"POST /v1/invoices: 400 invalid_request: {error.message} (amount)"
    assert error.request_id is not None and error.request_id in coffer.log
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.field, copy.status, copy.request_id) == (str(error), "amount", 400, error.request_id)
    assert isinstance(error, CofferError) and issubclass(NoAnswerError, (CofferError, ConnectionError))


@pytest.mark.parametrize(
    "url", ["", "pay.example.com", "ftp://a", "https://", "https://a:b@c", "https://u@a", "https://a?b", "https://a#b", "https://a:x"]
)
def test_a_wrong_address_is_told(url: str) -> None:
    with pytest.raises(ValueError):
        Client(url, KEY)


def test_a_list_takes_the_parameters_of_the_document_and_no_other(requests: List[str]) -> None:
    client = Client(requests[0], KEY)
    document = json.loads(subprocess.run([find_binary(), "openapi", "--merchant"], capture_output=True, check=True).stdout)
    lists = 0
    for path, operations in document["paths"].items():
        parameters = operations.get("get", {}).get("parameters", [])
        names = [each["name"] for each in parameters if each["in"] == "query"]
        if names:
            lists += 1
            list_items = getattr(client, snake(operations["get"]["operationId"]))
            with pytest.raises(TypeError, match=f"^GET {path}: unknown name 'statuus'. It takes {', '.join(names)}$"):
                list_items({"statuus": None})
            assert list(list_items(dict.fromkeys(names))) == []
    assert len(requests) - 1 == lists >= 6


def test_a_host_is_no_version() -> None:
    assert Client("https://v1/", KEY).url == "https://v1"


def test_what_is_wrong_is_told_before_it_is_sent_and_without_the_key(requests: List[str]) -> None:
    url = requests[0]
    for key in ("", f"{KEY}\n", f" {KEY}", f"{KEY}\u20ac"):
        with pytest.raises(ValueError, match="key must be") as caught:
            Client(url, key)
        assert KEY not in str(caught.value)
    with pytest.raises(ValueError, match="attempts"):
        Client(url, KEY, attempts=0)
    client = Client(url, KEY)
    for path in ("v1/merchant", "/v1/a b", "/v1/\r\nX: y", "/v1/é", "https://elsewhere/v1"):
        with pytest.raises(ValueError, match="path must begin with /"):
            client.request("GET", path)
    for name in ("", "a\r\nX: y", "\u20ac"):
        with pytest.raises(ValueError, match="idempotency_key"):
            client.request("POST", "/v1/invoices", {}, idempotency_key=name)
    for wrong in (None, 5, {}, {"id": 5}):
        with pytest.raises(TypeError, match="an id must be"):
            client.get_invoice(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        client.request("POST", "/v1/invoices", {"metadata": {"a": math.nan}})
    assert requests == [url]


def test_nobody_is_there(requests: List[str]) -> None:
    port = requests[0].rsplit(":", 1)[1]
    # A server without TLS, a port that nobody listens on, a name that nobody has.
    for url in (f"https://127.0.0.1:{port}", "http://127.0.0.1:3", "http://nobody.invalid"):
        with pytest.raises(NoAnswerError, match="POST /v1/payouts: no answer from") as caught:
            Client(url, KEY, attempts=1).create_payout({"amount": "all"})
        assert KEY not in str(caught.value) and caught.value.__cause__ is not None


JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


@pytest.mark.parametrize(
    "reply",
    [b"", b"of a stranger\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nof a stranger"]
    + [JSON_HEAD + text for text in (b"", b"[" * 100_000, b"5", b"{}", b'{"data": 5}', b'{"data": "of a stranger"}')],
    ids=lambda reply: repr(reply[-30:]),
)
def test_what_is_no_answer_of_coffer(reply: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(reply)

        thread = Thread(target=answer)
        thread.start()
        with pytest.raises(NoAnswerError, match="GET /v1/invoices: ") as caught:
            list(Client(f"http://127.0.0.1:{server.getsockname()[1]}", KEY, attempts=1).list_invoices())
        thread.join()
    assert "stranger" not in str(caught.value)


def test_a_payload_that_was_parsed_and_a_number_of_a_clock_that_is_none() -> None:
    with pytest.raises(TypeError, match="payload must be the raw body"):
        verify({"id": "evt_1"}, {}, "secret")  # type: ignore[arg-type]
    signed = {"X-Service-Signature": "t=1700000000,v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163"}
    assert verify("{}", signed, "secret", now=1_700_000_000) == verify(b"{}", signed, "secret", tolerance=math.inf)
    for now, tolerance in ((math.nan, 300.0), (math.inf, 300.0), (1_700_000_000.0, math.nan)):
        with pytest.raises(SignatureError, match="away from now"):
            verify(b"{}", signed, ["secret"], now=now, tolerance=tolerance)
