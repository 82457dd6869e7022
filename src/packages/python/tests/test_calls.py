"""Tests of the methods against a running sandbox."""

import asyncio
import json
import math
import pickle
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Type

import pytest
from coffer_sandbox import (
    ApiError,
    Balance,
    Coffer,
    CofferError,
    Deposit,
    Event,
    Invoice,
    LedgerEntry,
    NoAnswerError,
    Payout,
    Refund,
    WaitTimeoutError,
)
from coffer_sandbox._models import Model, camel

# Fields that are only in `raw`: constants, and data of the chain.
LEFT_OUT = {"object", "confirmations", "confirmationsNeeded", "explorerUrl", "warnings"}


@pytest.mark.parametrize("model", [Balance, Deposit, Event, Invoice, LedgerEntry, Payout, Refund])
def test_models_have_the_fields_of_the_document(model: Type[Model], real_binary: str) -> None:
    document = json.loads(subprocess.run([real_binary, "openapi"], capture_output=True, check=True).stdout)
    properties = document["components"]["schemas"][model.__name__]["properties"]
    assert {camel(each.name) for each in fields(model)} - {"raw"} - LEFT_OUT == set(properties) - LEFT_OUT


def test_money_is_decimal_and_never_float(coffer: Coffer) -> None:
    invoice = coffer.create_invoice(Decimal("20.10"), "USD", metadata={"weight": 1.1, "count": 2})
    assert isinstance(invoice.amount, Decimal) and invoice.amount == Decimal("20.10")
    assert invoice.metadata == {"weight": Decimal("1.1"), "count": 2}
    for wrong in (20.1, True, None):
        with pytest.raises(TypeError, match="amount must be str or Decimal"):
            coffer.create_invoice(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        coffer.create_invoice(Decimal("NaN"))
    assert coffer.create_invoice(Decimal("1E+2")).amount == 100
    assert coffer.create_invoice(7).amount == 7


def test_an_error_says_what_is_wrong(coffer: Coffer) -> None:
    with pytest.raises(ApiError) as caught:
        coffer.create_invoice("20.001")
    error = caught.value
    assert (error.status, error.code, error.field) == (400, "invalid_request", "amount")
    assert error.request_id and error.request_id in coffer.log.read()
    assert str(error) == f"POST /v1/invoices: 400 invalid_request: {error.message} (amount)"
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.field, copy.status) == (str(error), "amount", 400)
    coffer.faults.refuse(status=503)
    with pytest.raises(ApiError) as caught:
        coffer.request("GET", "/v1/merchant")
    assert caught.value.status == 503 and caught.value.retry_after is not None
    with pytest.raises(ApiError, match="401 unauthorized"):
        coffer.request("GET", "/v1/merchant", key="sk_test_wrong")
    with pytest.raises(ValueError, match="path"):
        coffer.request("GET", "v1/merchant")


def test_the_same_order_or_key_makes_one_invoice(coffer: Coffer) -> None:
    first = coffer.create_invoice("5.00", order_id="a b/c")
    assert coffer.create_invoice("6.00", order_id="a b/c").warnings
    assert coffer.invoices(order_id="a b/c") == [coffer.invoice(first)]
    keyed = [coffer.create_invoice("5.00", idempotency_key="k") for _ in range(2)]
    assert keyed[0].id == keyed[1].id


def test_payments_move_through_all_states(coffer: Coffer) -> None:
    invoice = coffer.create_invoice("20.00", asset="LTC")
    payment = coffer.send(invoice)
    assert (payment.state, coffer.invoice(invoice).status) == ("seen", "detected")
    assert payment.confirm().state == "confirmed" and coffer.invoice(invoice).paid
    assert payment.reorganise().state == "seen" and not coffer.invoice(invoice).paid
    assert payment.drop().state == "dropped" and coffer.invoice(invoice).amount_received is None
    assert payment.reappear().state == "seen"
    other = payment.replace(amount=Decimal("0.1"), txid="b" * 64)
    assert (payment.state, other.state, other.txid) == ("dropped", "seen", "b" * 64)
    assert coffer.invoice(invoice).amount_received == Decimal("0.1")
    with pytest.raises(ApiError):
        coffer.send(invoice, "-1")


def test_a_payment_gets_its_confirmations_one_after_the_other(coffer: Coffer) -> None:
    invoice = coffer.create_invoice("20.00", asset="LTC")
    payment = coffer.send(invoice)
    assert (payment.confirmations, payment.confirmations_needed) == (0, 3)
    assert payment.set_confirmations(2).confirmations == 2 and not coffer.invoice(invoice).paid
    assert payment.set_confirmations(3).state == "confirmed" and coffer.invoice(invoice).paid
    assert (payment.confirmations, payment.confirmations_needed) == (None, None)


def test_every_way_to_pay(coffer: Coffer) -> None:
    def new() -> Invoice:
        return coffer.create_invoice("20.00")

    assert coffer.pay(new()).status == "confirmed"
    assert coffer.pay(new(), asset="DOGE").asset_symbol == "DOGE"
    assert coffer.pay(new().id).paid
    live = coffer.pay(coffer.live.create_invoice("5.00").id)
    assert live.paid and live.livemode
    late = coffer.pay_late(coffer.live.create_invoice("5.00").id)
    assert (late.status, late.livemode) == ("paid_late", True)
    with pytest.raises(ApiError, match="404 not_found"):
        coffer.pay_late("00000000-0000-7000-8000-000000000000")
    assert coffer.underpay(new()).status == "underpaid"
    assert coffer.overpay(new()).status == "overpaid"
    chosen = coffer.select(new(), "BTC")
    assert chosen.amount_expected is not None and chosen.deposit_address is not None
    assert coffer.pay(chosen, chosen.amount_expected / 2).status == "underpaid"
    coffer.send_to_address(chosen.deposit_address, chosen.amount_expected / 2).confirm()
    assert coffer.invoice(chosen).paid
    assert coffer.cancel(new()).status == "cancelled"
    late = coffer.pay_late(new())
    assert (late.status, late.paid) == ("paid_late", False)
    assert coffer.pay_late(late).confirmed_at is None


def test_time_moves(coffer: Coffer) -> None:
    coffer.clock.freeze()
    begun = coffer.clock.now()
    assert begun.tzinfo is not None and coffer.clock.now() == begun
    assert coffer.clock.advance(timedelta(days=1, seconds=1)) == begun + timedelta(days=1, seconds=1)
    assert coffer.clock.advance("1h") == begun + timedelta(days=1, seconds=3601)
    moment = datetime(2040, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert coffer.clock.set(moment) == moment
    coffer.clock.unfreeze()
    with pytest.raises(ApiError, match="400"):
        coffer.clock.set(begun)
    for wrong in (timedelta(milliseconds=1), timedelta(seconds=-1)):
        with pytest.raises(ValueError):
            coffer.clock.advance(wrong)
    with pytest.raises(ValueError, match="zone"):
        coffer.clock.set(datetime(2050, 1, 1))


def test_balances_refunds_payouts_and_deposits(coffer: Coffer) -> None:
    live = coffer.pay(coffer.live.create_invoice("100.00"))
    assert live.livemode and live.paid
    assert coffer.live.balance().available == Decimal("99.00") and coffer.balance().available == 0
    refund = coffer.create_refund(live, "10.00", reason="broken")
    for step, status in (("approve", "approved"), ("process", "processing"), ("pay", "paid")):
        refund = coffer.move_refund(refund, step)
        assert refund.status == status
    assert coffer.live.refund(refund).amount == 10
    payout = coffer.live.create_payout("50.00")
    payout = coffer.move_payout(payout, "reject", reason="not today")
    assert coffer.live.payout(payout).failure_reason == "not today"
    kinds = [entry.kind for entry in coffer.live.ledger(currency="EUR")]
    assert kinds == ["payout_reversal", "payout", "refund", "fee", "sale"]
    with pytest.raises(ApiError, match="test_mode"):
        coffer.create_payout()
    coffer.customer_addresses("customer:1")
    deposit = coffer.deposit("customer:1", "0.5", asset="BTC")
    assert deposit.gross_eur == Decimal("30000.00")
    assert coffer.deposits(customer="customer:1") == [deposit]


def test_faults_and_their_end(coffer: Coffer) -> None:
    coffer.faults.drop_answer("POST /v1/invoices")
    with pytest.raises(NoAnswerError, match="POST /v1/invoices: no answer"):
        coffer.create_invoice("5.00", order_id="a")
    assert len(coffer.invoices(order_id="a")) == 1
    coffer.faults.empty_pool()
    with pytest.raises(ApiError) as caught:
        coffer.select(coffer.create_invoice("5.00"), "BTC")
    assert caught.value.code == "coin_unavailable"
    coffer.faults.stale_rates()
    assert coffer.live.create_invoice("5.00", asset="BTC").warnings
    coffer.faults.delay(by_ms=1)
    coffer.faults.clear()
    assert coffer.state()["faults"] == {"calls": [], "pool": None, "rates": None}
    coffer.faults.delay("GET /v1/merchant", by_ms=60_000)
    with pytest.raises(NoAnswerError):
        coffer.request("GET", "/v1/merchant", timeout=0.05)


def test_an_inbox_gets_what_is_told(coffer: Coffer) -> None:
    inbox = coffer.inbox("shop")
    assert coffer.inbox("shop").url == inbox.url and len(coffer.state()["account"]["endpoints"]) == 1
    inbox.answer(500, times=1)
    invoice = coffer.create_invoice("5.00", webhook_url=coffer.inbox("own", as_endpoint=False).url)
    created = inbox.wait("invoice.created")
    created.verify(coffer.webhook_secret)
    assert created.event.invoice.id == invoice.id
    coffer.inbox("own", as_endpoint=False).wait().verify(coffer.legacy_secret)
    coffer.clock.advance("10s")
    assert len(inbox.messages("invoice.created")) == 2
    assert {each["state"] for each in coffer.deliveries()} == {"delivered"}
    with pytest.raises(WaitTimeoutError, match=r"within 0\.2 s; the inbox was sent: invoice.created, invoice.created"):
        inbox.wait("invoice.confirmed", timeout=0.2)
    inbox.clear()
    assert inbox.messages() == []


def test_an_inbox_waits_for_longer_than_one_call_may(coffer: Coffer) -> None:
    inbox = coffer.inbox("shop")
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(inbox.wait, "invoice.expired", timeout=timeout) for timeout in (300.0, math.inf)]
        coffer.create_invoice("5.00")
        coffer.clock.advance("20m")
        assert {each.result().type for each in waiting} == {"invoice.expired"}
    for timeout in (0.0, -1.0, math.nan):
        assert inbox.wait(timeout=timeout).type == "invoice.created"
        with pytest.raises(WaitTimeoutError, match="no invoice.confirmed within"):
            inbox.wait("invoice.confirmed", timeout=timeout)


def test_the_legacy_body_has_a_type_and_is_no_event(coffer: Coffer) -> None:
    inbox = coffer.inbox("old", as_endpoint=False)
    coffer.add_endpoint(inbox.url, format="legacy", types=["invoice.created"], secret="s")
    coffer.pay(coffer.create_invoice("5.00"))
    webhook = inbox.wait()
    webhook.verify("s")
    assert webhook.type == "invoice.created"
    with pytest.raises(CofferError, match="no type"):
        webhook.event


def test_snapshots_account_and_reset(coffer: Coffer) -> None:
    coffer.snapshot("empty")
    coffer.create_invoice("5.00")
    coffer.restore("empty")
    assert coffer.invoices() == []
    coffer.change_account(feeBps=0, maxInvoiceAmount="10.00")
    with pytest.raises(ApiError, match="amount_too_large"):
        coffer.create_invoice("20.00")
    assert coffer.change_chain("bitcoin", lagging=True)["lagging"] is True
    with pytest.raises(ApiError, match="nonsense"):
        coffer.change_account(nonsense=1)
    coffer.reset()
    assert coffer.create_invoice("20.00").amount == 20
    assert [event.type for event in coffer.events()] == ["invoice.created"]


def test_the_loop_of_asyncio_goes_on_meanwhile(coffer: Coffer) -> None:
    async def shop() -> int:
        received: "asyncio.Queue[bytes]" = asyncio.Queue()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            [length] = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line]
            await received.put(await reader.readexactly(length))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        await asyncio.to_thread(coffer.add_endpoint, f"http://127.0.0.1:{port}/")
        invoice = await asyncio.to_thread(coffer.create_invoice, "5.00")
        # This event loop must respond to a day of retries while the clock moves.
        await asyncio.to_thread(coffer.pay, invoice)
        await asyncio.to_thread(coffer.clock.advance, "1d")
        types = {json.loads(await received.get())["type"] for _ in range(3)}
        server.close()
        return len(types)

    assert asyncio.run(shop()) == 3


def test_a_stopped_clock_of_python_stops_nothing() -> None:
    freezegun = pytest.importorskip("freezegun")
    with freezegun.freeze_time("2001-01-01"):
        with Coffer() as coffer:
            hooks = coffer.receive_webhooks()
            inbox = coffer.inbox("shop")
            invoice = coffer.pay(coffer.create_invoice("5.00"))
            assert hooks.wait("invoice.confirmed").event.invoice == coffer.invoice(invoice)
            inbox.wait("invoice.confirmed").verify(coffer.webhook_secret)
            with pytest.raises(WaitTimeoutError):
                inbox.wait("invoice.expired", timeout=1.1)
            with pytest.raises(WaitTimeoutError):
                hooks.wait("invoice.expired", timeout=0.01)
            coffer.faults.drop_answer("GET /v1/merchant")
            with pytest.raises(NoAnswerError):
                coffer.request("GET", "/v1/merchant")
            assert "GET /v1/merchant" in coffer.log.read()
