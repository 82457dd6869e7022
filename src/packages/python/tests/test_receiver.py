"""Tests of the receiver in the test's own process."""

import http.client
import threading
from typing import List

import pytest
from coffer_sandbox import Coffer, CofferError, Receiver, SignatureError, WaitTimeoutError, Webhook


def post(receiver: Receiver, headers: "dict[str, str]", body: bytes = b"{}") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", int(receiver.url.split(":")[2].split("/")[0]), timeout=10)
    try:
        connection.putrequest("POST", "/webhooks")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


def test_what_is_not_signed_is_refused(coffer: Coffer) -> None:
    with Receiver(["another"]) as receiver:
        coffer.add_endpoint(receiver.url)
        coffer.create_invoice("5.00")
        with pytest.raises(WaitTimeoutError, match="received: nothing; refused: no signature fits"):
            # Waits for the refusal in short steps.
            for _ in range(200):
                try:
                    receiver.wait(timeout=0.05)
                except WaitTimeoutError:
                    if receiver.refused:
                        raise
        assert post(receiver, {"Content-Length": "2"}) == 400
        assert post(receiver, {"Content-Length": "x"}) == 411
        assert post(receiver, {"Content-Length": str(1 << 40)}) == 413
        assert receiver.received == []


@pytest.mark.parametrize(
    "secret",
    ["whsec_Zg==", "whsec_Zh==", "whsec_Zg", "whsec_Zg==Zg==", "whsec_-_-_", "whsec_schl\u00fcssel", "\u20ac", "whsec"],
)
def test_every_form_of_secret_is_the_key_that_coffer_takes(coffer: Coffer, secret: str) -> None:
    inbox = coffer.inbox("shop", as_endpoint=False)
    coffer.add_endpoint(inbox.url, secret=secret)
    coffer.create_invoice("5.00")
    webhook = inbox.wait("invoice.created")
    webhook.verify(secret)
    # The second of its two signatures.
    del webhook.headers["webhook-signature"]
    webhook.verify(secret)
    with pytest.raises(SignatureError):
        webhook.verify(secret + "x")


def test_an_invoice_of_its_own_webhook_url(coffer: Coffer) -> None:
    hooks = coffer.receive_webhooks(as_endpoint=False)
    coffer.create_invoice("5.00", webhook_url=hooks.url)
    hooks.wait("invoice.created").verify(coffer.legacy_secret)


@pytest.mark.parametrize("raises", [KeyError("order"), pytest.fail.Exception("order"), SystemExit(3)])
def test_what_a_handler_raises_is_told_and_answered_with_500(coffer: Coffer, raises: BaseException) -> None:
    seen: List[str] = []

    def handle(webhook: Webhook) -> None:
        seen.append(webhook.event.id)
        if len(seen) == 1:
            raise raises

    hooks = coffer.receive_webhooks(handle, types=["invoice.created"])
    coffer.create_invoice("5.00")
    with pytest.raises(CofferError, match="handler") as caught:
        hooks.wait(timeout=10.0)
    assert caught.value.__cause__ is raises
    hooks.clear()
    coffer.clock.advance("10s")
    assert hooks.wait().event.id == seen[0] == seen[1]
    assert [attempt["status"] for attempt in coffer.deliveries()[0]["attempts"]] == [500, 200]


def test_several_at_once_and_both_ends(coffer: Coffer) -> None:
    hooks = [coffer.receive_webhooks() for _ in range(3)]
    assert len({each.url for each in hooks}) == 3
    for _ in range(20):
        coffer.create_invoice("5.00")
    for each in hooks:
        each.wait("invoice.created", count=20)
    coffer.stop()
    for each in hooks:
        each.close()
        with pytest.raises(OSError):
            post(each, {"Content-Length": "2"})
    assert not [thread for thread in threading.enumerate() if thread.name == "coffer-receiver"]
