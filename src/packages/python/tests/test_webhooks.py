"""Tests of the receiver in the test's own process, and of the inbox inside the sandbox."""

import http.client
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, List

import pytest
from coffer_client import CofferError, SignatureError, verify
from coffer_client.types import CreatedInvoice
from coffer_sandbox import Receiver, Sandbox, SandboxError, WaitTimeoutError, Webhook


def create(coffer: Sandbox) -> CreatedInvoice:
    return coffer.create_invoice({"amount": "5.00", "currency": "EUR"})


def post(url: str, headers: Dict[str, str], body: bytes = b"{}") -> int:
    host, path = url.replace("http://", "").split("/", 1)
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.putrequest("POST", f"/{path}")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("kind", ["receiver", "inbox"])
def test_next_returns_each_webhook_once(coffer: Sandbox, kind: str) -> None:
    hooks = coffer.receiver() if kind == "receiver" else coffer.inbox("shop")
    first, second = create(coffer), create(coffer)
    coffer.pay(second)
    assert hooks.next("invoice.confirmed", about=second["id"]).event["data"]["object"]["paid"]
    assert hooks.next("invoice.created", about=second).about == second["id"]
    assert hooks.next("invoice.created").about == first["id"]
    assert hooks.next().type == "invoice.detected"
    came = "invoice.created, invoice.created, invoice.detected, invoice.confirmed"
    with pytest.raises(WaitTimeoutError, match=f"no webhook within 0 s; received: {came}$"):
        hooks.next(timeout=0)
    assert len(hooks.list()) == 4 and [each.type for each in hooks.list("invoice.detected")] == ["invoice.detected"]
    hooks.clear()
    assert hooks.list() == []
    create(coffer)
    assert hooks.next().type == "invoice.created"
    # After a reset the inbox is empty, and the receiver is no endpoint.
    coffer.reset()
    with pytest.raises(WaitTimeoutError, match="no invoice.created within 0 s"):
        hooks.next("invoice.created", timeout=0)


@pytest.mark.parametrize("kind", ["receiver", "inbox"])
def test_a_webhook_is_sent_again_until_it_is_answered(coffer: Sandbox, kind: str) -> None:
    hooks = coffer.receiver() if kind == "receiver" else coffer.inbox("shop")
    hooks.respond(status=500, times=2, delay_ms=1)
    invoice = create(coffer)
    # The same event three times, of which each is the next once.
    for pause in ("0s", "10s", "30s"):
        coffer.clock.advance(pause)
        webhook = hooks.next("invoice.created", about=invoice)
        assert verify(webhook.body, webhook.headers, coffer.webhook_secret)["id"] == webhook.event["id"]
    [delivery] = coffer.deliveries()
    assert [attempt["status"] for attempt in delivery["attempts"]] == [500, 500, 200]
    hooks.respond(status=503)
    create(coffer)
    coffer.clock.advance("1h")
    hooks.respond()
    coffer.clock.advance("1d")
    assert [attempt["status"] for attempt in coffer.deliveries()[1]["attempts"]][-2:] == [503, 200]


@pytest.mark.parametrize("kind", ["receiver", "inbox"])
def test_options_of_an_endpoint(coffer: Sandbox, kind: str) -> None:
    legacy = {"format": "legacy", "types": ["invoice.created"], "mode": "test", "secret": "of the shop"}
    old, own = (
        (coffer.receiver(**legacy), coffer.receiver(endpoint=False))  # type: ignore[arg-type]
        if kind == "receiver"
        else (coffer.inbox("old", **legacy), coffer.inbox("own", endpoint=False))  # type: ignore[arg-type]
    )
    coffer.live.create_invoice({"amount": "1.00", "currency": "EUR"})
    invoice = coffer.create_invoice({"amount": "5.00", "currency": "EUR", "webhookUrl": own.url})
    coffer.pay(invoice)
    coffer.delivered()
    [webhook] = old.list()
    assert webhook.type == webhook.event["event"] == "invoice.created" and webhook.about == invoice["id"]
    with pytest.raises(SignatureError):
        verify(webhook.body, webhook.headers, coffer.webhook_secret, tolerance=math.inf)
    told = own.next("invoice.created")
    verify(told.body, told.headers, coffer.legacy_secret)
    again = coffer.state()["account"]["endpoints"]
    assert [(each["url"], each["format"], each["mode"]) for each in again] == [(old.url, "legacy", "test")]


@pytest.mark.parametrize("kind", ["receiver", "inbox"])
def test_next_waits_as_long_as_it_is_told(coffer: Sandbox, kind: str) -> None:
    hooks = coffer.receiver() if kind == "receiver" else coffer.inbox("shop")
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(hooks.next, "invoice.expired", timeout=timeout) for timeout in (300.0, math.inf)]
        other = pool.submit(hooks.next, "invoice.cancelled", timeout=1.2)
        for _ in range(2):
            create(coffer)
        coffer.clock.advance("20m")
        assert len({each.result().about for each in waiting}) == 2
        with pytest.raises(WaitTimeoutError, match=r"no invoice.cancelled within 1\.2 s; received: invoice\."):
            other.result()
    for timeout in (0.0, -1.0, math.nan):
        with pytest.raises(WaitTimeoutError, match="no invoice.confirmed within"):
            hooks.next("invoice.confirmed", timeout=timeout)


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_webhooks_come_in_the_order_of_their_events_or_shuffled(coffer: Sandbox, is_shuffled: bool) -> None:
    # The first is answered when all others wait.
    are_created = threading.Event()
    hooks = coffer.receiver(types=["invoice.created"], handler=lambda _: are_created.wait(30))
    if is_shuffled:
        coffer.faults.shuffle_deliveries()
    created = [create(coffer)["id"] for _ in range(20)]
    are_created.set()
    coffer.delivered()
    came = [each.about for each in hooks.list()]
    assert set(came) == set(created) and (came != created) == is_shuffled


def test_delivered_returns_what_failed(coffer: Sandbox) -> None:
    hooks = coffer.receiver(types=["invoice.created"])
    create(coffer)
    assert coffer.delivered() == coffer.delivered(check=True) == []
    hooks.respond(status=503)
    nobody = coffer.receiver(types=["invoice.cancelled"])
    nobody.close()
    coffer.cancel_invoice(create(coffer))
    failed = coffer.delivered()
    assert failed == coffer.deliveries()[1:]
    with pytest.raises(SandboxError) as caught:
        coffer.delivered(check=True)
    told = str(caught.value).splitlines()
    assert told[0] == "2 webhooks failed:"
    why = failed[1]["attempts"][0]["error"]
    then = [f"attempt 1, next at {each['nextAttemptAt']}" for each in failed]
    assert told[1:] == [
        f"invoice.created to {hooks.url}: status 503, {then[0]}",
        f"invoice.cancelled to {nobody.url}: {why}, {then[1]}",
    ]
    # All attempts fail, and a delivery that is answered in the end has not failed.
    coffer.clock.advance("30d")
    assert [each["nextAttemptAt"] for each in coffer.delivered()] == [None, None]
    with pytest.raises(SandboxError, match=r"status 503, attempt \d+, the last\n"):
        coffer.delivered(check=True)
    create(coffer)
    assert len(coffer.delivered()) == 3
    hooks.respond()
    coffer.clock.advance("1h")
    assert len(coffer.delivered()) == 2


def test_delivered_returns_what_failed_of_any_age(coffer: Sandbox) -> None:
    inbox = coffer.inbox(types=["invoice.created"])
    inbox.respond(status=500, times=1)
    coffer.clock.freeze()
    first = create(coffer)
    coffer.delivered()
    for _ in range(500):
        create(coffer)
    [failed] = coffer.delivered()
    assert failed["event"] == list(coffer.list_events({"object": first["id"]}))[0]["id"]


def test_what_is_not_signed_is_refused(coffer: Sandbox) -> None:
    with Receiver(["another"]) as receiver:
        coffer.account({"endpoints": [{"url": receiver.url}]})
        create(coffer)
        coffer.delivered()
        with pytest.raises(WaitTimeoutError, match="received: nothing; refused: no signature fits"):
            receiver.next(timeout=0)
        assert post(receiver.url, {"Content-Length": "2"}) == 400
        assert post(receiver.url, {"Content-Length": "x"}) == 411
        assert post(receiver.url, {"Content-Length": str(1 << 40)}) == 413
        assert receiver.list() == [] and len(receiver.refused) == 2
    inbox = coffer.inbox("forged")
    assert post(inbox.url, {"Content-Length": "2"}) == 200
    with pytest.raises(SandboxError, match="/sandbox/inbox/forged received a webhook that is not signed"):
        inbox.next()


@pytest.mark.parametrize(
    "secret",
    ["whsec_Zg==", "whsec_Zh==", "whsec_Zg", "whsec_Zg==Zg==", "whsec_-_-_", "whsec_schl\u00fcssel", "\u20ac", "whsec"],
)
def test_every_form_of_secret_is_the_key_that_coffer_takes(coffer: Sandbox, secret: str) -> None:
    inbox = coffer.inbox("shop", secret=secret)
    create(coffer)
    webhook = inbox.next("invoice.created")
    standard = {name: value for name, value in webhook.headers.items() if name.startswith("webhook-")}
    service = {"X-Service-Signature": webhook.headers["x-service-signature"]}
    for headers in (standard, service):
        verify(webhook.body, headers, secret)
        with pytest.raises(SignatureError):
            verify(webhook.body, headers, secret + "x")


@pytest.mark.parametrize("raises", [KeyError("order"), pytest.fail.Exception("order"), SystemExit(3)])
def test_what_a_handler_raises_is_told_and_answered_with_500(coffer: Sandbox, raises: BaseException) -> None:
    seen: List[str] = []

    def handle(webhook: Webhook) -> None:
        seen.append(webhook.event["id"])
        if len(seen) == 1:
            raise raises

    hooks = coffer.receiver(handler=handle, types=["invoice.created"])
    create(coffer)
    with pytest.raises(CofferError, match="handler") as caught:
        hooks.next(timeout=10.0)
    assert caught.value.__cause__ is raises
    coffer.clock.advance("10s")
    assert {hooks.next().event["id"], hooks.next().event["id"], *seen} == {seen[0]} and len(seen) == 2
    assert [attempt["status"] for attempt in coffer.deliveries()[0]["attempts"]] == [500, 200]


def test_several_at_once_and_both_ends(coffer: Sandbox) -> None:
    with ThreadPoolExecutor() as pool:
        hooks = [each.result() for each in [pool.submit(coffer.receiver) for _ in range(3)]]
    assert len(coffer.state()["account"]["endpoints"]) == 3
    for _ in range(20):
        create(coffer)
    for each in hooks:
        assert len({each.next("invoice.created").about for _ in range(20)}) == 20
    coffer.stop()
    for each in hooks:
        each.close()
        with pytest.raises(OSError):
            post(each.url, {"Content-Length": "2"})
    assert not [thread for thread in threading.enumerate() if thread.name == "coffer-receiver"]
