"""Tests of the methods against a running sandbox."""

import asyncio
import json
from datetime import datetime, timedelta, timezone
from typing import Optional

import pytest
from coffer_client import ApiError, Client, NoAnswerError
from coffer_client.types import CreatedInvoice
from coffer_sandbox import Sandbox, WaitTimeoutError


def create(coffer: Client, amount: str = "20.00") -> CreatedInvoice:
    return coffer.create_invoice({"amount": amount, "currency": "EUR"})


def test_it_is_a_client_that_makes_each_request_once(coffer: Sandbox) -> None:
    for fault in (coffer.faults.drop_answer, coffer.faults.refuse):
        fault("POST /v1/invoices")
        with pytest.raises((ApiError, NoAnswerError)):
            create(coffer)
    assert coffer.state()["counts"]["invoices"] == 1
    assert not coffer.get_merchant()["livemode"] and coffer.live.get_merchant()["livemode"]
    assert Client(coffer.url, coffer.keys.secret_live).get_merchant()["livemode"]


def test_a_number_is_no_amount(coffer: Sandbox) -> None:
    invoice = create(coffer)
    for wrong in (1, 0.1):
        with pytest.raises(TypeError, match="amount must be text"):
            coffer.payments.amount(invoice, wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="amount must be text"):
            coffer.refund(invoice, amount=wrong)  # type: ignore[arg-type]
    assert coffer.state()["counts"]["payments"] == 0


def test_payments_move_through_all_states(coffer: Sandbox) -> None:
    invoice = coffer.create_invoice({"amount": "20.00", "currency": "EUR", "asset": "LTC"})
    payments = coffer.payments
    payment = payments.exact(invoice, confirm=False)
    assert (payment["state"], coffer.get_invoice(invoice)["status"]) == ("seen", "detected")
    assert payments.confirm(payment)["state"] == "confirmed" and coffer.get_invoice(invoice)["paid"]
    assert payments.reorganise(payment)["state"] == "seen" and not coffer.get_invoice(invoice)["paid"]
    assert payments.drop(payment)["state"] == "dropped" and coffer.get_invoice(invoice)["amountReceived"] is None
    assert payments.reappear(payment["id"])["state"] == "seen"
    other = payments.replace(payment, amount="0.1", txid="b" * 64)
    assert (other["state"], other["txid"]) == ("seen", "b" * 64)
    assert coffer.get_invoice(invoice)["amountReceived"] == "0.1"
    with pytest.raises(ApiError):
        payments.amount(invoice, "-1")


def test_a_payment_gets_its_confirmations_one_after_the_other(coffer: Sandbox) -> None:
    invoice = coffer.create_invoice({"amount": "20.00", "currency": "EUR", "asset": "LTC"})
    payment = coffer.payments.exact(invoice, confirm=False)
    assert (payment["confirmations"], payment["confirmationsNeeded"]) == (0, 3)
    two = coffer.payments.set_confirmations(payment, 2)
    assert two["confirmations"] == 2 and not coffer.get_invoice(invoice)["paid"]
    assert coffer.payments.set_confirmations(payment, 3)["state"] == "confirmed"
    assert coffer.get_invoice(invoice)["paid"]


@pytest.mark.parametrize("asset", [None, "DOGE", "USDC-SPL", "ETH"])
@pytest.mark.parametrize(
    "case, status", [("exact", "confirmed"), ("under", "underpaid"), ("over", "overpaid"), ("late", "paid_late")]
)
def test_every_way_to_pay_in_both_modes(coffer: Sandbox, case: str, status: str, asset: Optional[str]) -> None:
    for client in (coffer, coffer.live):
        paid = coffer.pay(create(client)["id"], case=case, asset=asset, txid="c" * 64 if asset == "DOGE" else None)
        assert (paid["status"], paid["livemode"]) == (status, client is coffer.live)
        assert asset in (None, paid["asset"])


def test_parts_of_a_payment_add_up(coffer: Sandbox) -> None:
    invoice = coffer.select_coin(create(coffer), {"asset": "LTC"})
    assert invoice["amountExpected"] == "0.25"
    assert coffer.pay(invoice, case="under")["amountReceived"] == "0.125"
    # Half of the other half, then more than the rest.
    assert coffer.pay(invoice, case="under", confirm=False)["amountReceived"] == "0.1875"
    assert coffer.pay(invoice, case="over")["amountReceived"] == "0.28125"
    address = coffer.get_invoice(invoice)["depositAddress"]
    seen = coffer.payments.see({"address": address, "asset": "LTC", "amount": "0.01"})
    assert coffer.payments.confirm(seen)["state"] == "confirmed"
    with pytest.raises(ValueError, match="case must be one of exact, under, over, late"):
        coffer.pay(invoice, case="twice")
    with pytest.raises(ApiError, match="404 not_found"):
        coffer.pay("00000000-0000-7000-8000-000000000000", case="late")


def test_time_moves(coffer: Sandbox) -> None:
    begun = coffer.clock.freeze()
    assert begun.tzinfo is not None and coffer.clock.get() == begun
    assert coffer.clock.advance("1d1s") == begun + timedelta(days=1, seconds=1)
    moment = datetime(2040, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert coffer.clock.set(moment) == moment
    assert coffer.clock.set("2041-01-01T00:00:00Z").year == 2041
    coffer.clock.unfreeze()
    with pytest.raises(ApiError, match="400"):
        coffer.clock.set(begun)
    with pytest.raises(ValueError, match="zone"):
        coffer.clock.set(datetime(2050, 1, 1))


def test_balances_and_refunds(coffer: Sandbox) -> None:
    live = coffer.pay(create(coffer.live, "100.00"))
    assert live["livemode"] and live["paid"]
    available = [balance["available"] for balance in coffer.live.list_balances()]
    assert available == ["99.00", "0.00"]
    refund = coffer.refund(live, amount="10.00", reason="broken")
    for step, status in (("approve", "approved"), ("process", "processing"), ("pay", "paid")):
        refund = coffer.move_refund(refund, step)
        assert refund["status"] == status
    assert coffer.live.get_refund(refund)["amount"] == "10.00"
    assert coffer.refund(live["id"])["amount"] == "90.00"
    kinds = [entry["kind"] for entry in coffer.live.list_ledger({"currency": "EUR"})]
    assert kinds == ["refund", "refund", "fee", "sale"]


def test_a_payout_is_moved(coffer: Sandbox) -> None:
    coffer.pay(create(coffer.live, "100.00"))
    payout = coffer.live.create_payout({"amount": "50.00"})
    assert coffer.move_payout(payout, "reject", reason="not today")["failureReason"] == "not today"
    assert coffer.live.get_payout(payout)["status"] == "rejected"
    payout = coffer.live.create_payout({"amount": "all"})
    for step in ("approve", "process"):
        coffer.move_payout(payout, step)
    assert coffer.move_payout(payout, "pay", txid="d" * 64)["txid"] == "d" * 64


def test_faults_and_their_end(coffer: Sandbox) -> None:
    coffer.faults.empty_pool()
    with pytest.raises(ApiError) as caught:
        coffer.select_coin(create(coffer), {"asset": "BTC"})
    assert caught.value.code == "coin_unavailable"
    coffer.faults.stale_rates()
    assert coffer.live.create_invoice({"amount": "5.00", "currency": "EUR", "asset": "BTC"})["warnings"]
    coffer.faults.delay(delay_ms=1)
    coffer.faults.add({"route": "GET /v1/events", "status": 500, "times": 1})
    coffer.faults.clear()
    assert coffer.state()["faults"] == {"calls": [], "pool": None, "rates": None, "deliveries": None}
    coffer.faults.refuse(status=429, times=2)
    for _ in range(2):
        with pytest.raises(ApiError) as caught:
            coffer.get_merchant()
        assert caught.value.status == 429 and str(caught.value.request_id) in coffer.log
    coffer.faults.delay("GET /v1/merchant", delay_ms=60_000)
    with pytest.raises(NoAnswerError):
        coffer.request("GET", "/v1/merchant", timeout=0.05)


def test_snapshots_account_and_reset(coffer: Sandbox) -> None:
    coffer.snapshot("empty")
    create(coffer)
    coffer.restore("empty")
    assert list(coffer.list_invoices()) == []
    assert coffer.account({"feeBps": 0, "maxInvoiceAmount": "10.00"})["account"]["feeBps"] == 0
    with pytest.raises(ApiError, match="amount_too_large"):
        create(coffer)
    with pytest.raises(ApiError, match="nonsense"):
        coffer.account({"nonsense": 1})
    coffer.reset()
    create(coffer)
    assert [event["type"] for event in coffer.list_events()] == ["invoice.created"]


def test_the_loop_of_asyncio_goes_on_meanwhile(coffer: Sandbox) -> None:
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
        await asyncio.to_thread(coffer.account, {"endpoints": [{"url": f"http://127.0.0.1:{port}/"}]})
        invoice = await asyncio.to_thread(create, coffer)
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
        with Sandbox() as coffer:
            hooks = coffer.receiver()
            inbox = coffer.inbox("shop")
            invoice = coffer.pay(create(coffer))
            assert hooks.next("invoice.confirmed").event["data"]["object"] == coffer.get_invoice(invoice)
            assert inbox.next("invoice.confirmed").about == invoice["id"]
            for each in (inbox, hooks):
                with pytest.raises(WaitTimeoutError):
                    each.next("invoice.expired", timeout=1.1)
            coffer.faults.drop_answer("GET /v1/merchant")
            with pytest.raises(NoAnswerError):
                coffer.get_merchant()
            assert "GET /v1/merchant" in coffer.log
