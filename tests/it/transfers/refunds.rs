//! Refund requests: amount, invoice, destination, and their effect on the invoice.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

const LITECOIN: &str = "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";

/// Requests a refund with this body.
#[track_caller]
fn post_refund(shop: &Shop, body: Value) -> Response {
    shop.post("/sandbox/refunds", None, body)
}

impl Shop {
    /// Returns a refund in test mode.
    #[track_caller]
    fn read_refund(&self, id: &str) -> Value {
        let refund = self.get(&format!("/v1/refunds/{id}"), Some(TEST));
        refund.expect(200).json()
    }
}

/// Returns `refundedAmount` of an invoice in test mode.
#[track_caller]
fn refunded_amount(shop: &Shop, invoice: &str) -> Value {
    shop.get_invoice(invoice)["refundedAmount"].clone()
}

#[test]
fn refund_response_is_as_documented_and_shown_on_its_invoice() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    assert_eq!(refunded_amount(&shop, &invoice), Value::Null);
    let body = json!({ "invoice": invoice, "amount": "30.00", "reason": "One too many" });
    let refund = post_refund(&shop, body).expect(201).json();
    let id = refund["id"].as_str().unwrap();
    let expected = json!({
        "object": "refund", "id": id, "invoiceId": invoice, "status": "requested", "livemode": false,
        "currency": "EUR", "amount": "30.00", "asset": "LTC", "assetSymbol": "LTC", "chain": "litecoin",
        "toAddress": refund["toAddress"], "amountCrypto": null, "networkFeeCrypto": null, "rate": null, "txid": null,
        "reason": "One too many", "failureReason": null, "requestedAt": shop.now(), "approvedAt": null,
        "finalizedAt": null,
    });
    assert_eq!(refund.to_string(), expected.to_string(), "the order of the fields");
    let read = shop.get(&format!("/v1/refunds/{id}"), Some(TEST));
    assert_eq!(read.expect(200).json(), refund);
    assert_eq!(refunded_amount(&shop, &invoice), "30.00");
    assert_eq!(shop.balance_fields(TEST, "EUR"), ["70.00", "30.00", "0.00", "-30.00"]);
    assert_eq!(shop.transfer_ledger(id, TEST), "refund -30.00");
    shop.apply_actions("refunds", id, &["approve", "fail"]);
    assert_eq!(refunded_amount(&shop, &invoice), Value::Null);
}

#[test]
fn refund_of_an_overpaid_invoice_is_its_excess_unless_an_amount_is_given() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let excess = |invoice: &str| interface.get(&format!("invoices/{invoice}"))["excess"].clone();
    for by_dashboard in [false, true] {
        let invoice = shop.create_invoice("20.00", json!({}))["id"].as_str().unwrap().to_owned();
        let refund = |amount: Option<&str>| {
            let body = json!({ "invoice": invoice, "amount": amount, "toAddress": LITECOIN });
            if by_dashboard {
                interface.request("POST", "refunds", &body)
            } else {
                post_refund(shop, body)
            }
        };
        let path = format!("/v1/invoices/{invoice}/simulate");
        shop.post(&path, Some(TEST), json!({ "case": "over", "asset": "LTC" })).expect(200);
        assert_eq!(shop.get_invoice(&invoice)["status"], "overpaid");
        assert_eq!(shop.get_invoice(&invoice).get("excess"), None);
        assert_eq!(excess(&invoice), "10.00");
        let part = refund(Some("4.00")).expect(201).json();
        assert_eq!(excess(&invoice), "6.00");
        let rest = refund(None).expect(201).json();
        assert_eq!((&part["amount"], &rest["amount"]), (&json!("4.00"), &json!("6.00")));
        assert_eq!(excess(&invoice), "0.00");
        let refused = refund(None);
        refused.assert_error(400, "invalid_amount", Some("amount"));
        let said = "amount must be given: the excess of this overpaid invoice is refunded, and 20.00 EUR are left to refund";
        assert_eq!(refused.json()["message"], said);
        // A given amount may be more than the excess.
        refund(Some("5.00")).expect(201);
        assert_eq!(excess(&invoice), "0.00");
        // A cancelled refund gives its part back.
        let id = rest["id"].as_str().unwrap();
        shop.apply_actions("refunds", id, &["cancel"]);
        assert_eq!(excess(&invoice), "1.00");
        assert_eq!(refund(None).expect(201).json()["amount"], "1.00");
    }
    // Any other invoice has no excess.
    let exact = shop.fund_balance(TEST, "100.00", "EUR");
    assert_eq!(excess(&exact), Value::Null);
    let all = shop.create_refund(&exact, None);
    assert_eq!(shop.read_refund(&all)["amount"], "100.00");
}

#[test]
fn retry_creates_no_second_refund() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let ask = |amount: &str| {
        let body = json!({ "invoice": invoice, "amount": amount }).to_string();
        let key = [("Idempotency-Key", "one")];
        shop.send("POST", "/sandbox/refunds", &key, &body)
    };
    let made = ask("30.00").expect(201);
    assert_eq!(ask("30.00").expect(201).text, made.text);
    ask("31.00").assert_error(409, "idempotency_conflict", Some("amount"));
    assert_eq!(refunded_amount(&shop, &invoice), "30.00");
}

#[test]
fn refunds_never_exceed_the_confirmed_amount() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let refuse = |amount: Option<&str>| {
        let refused = shop.request_refund(&invoice, amount);
        refused.assert_error(400, "invalid_amount", Some("amount"));
    };
    for amount in ["100.01", "0", "0.00", "-1", "1.234", "x", "all", "99999999999999999999"] {
        refuse(Some(amount));
    }
    let first = shop.create_refund(&invoice, Some("60.00"));
    refuse(Some("40.01"));
    let second = shop.create_refund(&invoice, Some("30.00"));
    assert_eq!(refunded_amount(&shop, &invoice), "90.00");
    // A refund without an amount refunds the remaining amount.
    shop.create_refund(&invoice, None);
    assert_eq!(refunded_amount(&shop, &invoice), "100.00");
    refuse(None);
    refuse(Some("0.01"));
    // The amount of a rejected refund may be refunded again. The amount of a paid refund may not.
    shop.apply_actions("refunds", &first, &["approve", "process", "pay"]);
    refuse(Some("0.01"));
    shop.apply_actions("refunds", &second, &["reject"]);
    refuse(Some("30.01"));
    shop.create_refund(&invoice, Some("30.00"));
    assert_eq!(refunded_amount(&shop, &invoice), "100.00");
    assert_eq!(shop.balance_fields(TEST, "EUR"), ["0.00", "40.00", "0.00", "-100.00"]);
}

#[test]
fn refund_count_limit_includes_returned_refunds() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let first = shop.create_refund(&invoice, Some("0.01"));
    shop.apply_actions("refunds", &first, &["reject"]);
    shop.execute_sql(
        "create temp table made as
           with recursive n (n) as (select 2 union all select n + 1 from n where n < 999) select n.n as number, t.* from n, transfers t;
         update made set seq = number, id = printf('01a1fd55-7a80-7af2-8000-%012d', number);
         alter table made drop column number;
         insert into transfers select * from made;",
    );
    shop.create_refund(&invoice, Some("0.99"));
    for amount in [Some("0.01"), None, Some("x")] {
        let refused = shop.request_refund(&invoice, amount);
        refused.assert_error(400, "invoice_not_refundable", None);
        let message = refused.json()["message"].clone();
        assert!(message.as_str().unwrap().contains("at most 1000 refunds"), "{message}");
    }
    assert_eq!(refunded_amount(&shop, &invoice), "0.99");
    assert_eq!(shop.balance_fields(TEST, "EUR")[0], "99.01");
    // The limit counts the refunds of each invoice separately.
    let other = shop.fund_balance(TEST, "100.00", "EUR");
    shop.create_refund(&other, None);
}

#[test]
fn concurrent_refunds_never_exceed_the_confirmed_amount() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let asking: Vec<_> =
            (0..20).map(|_| scope.spawn(|| shop.request_refund(&invoice, Some("15.00")))).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let made = answers.iter().filter(|answer| answer.status == 201);
    assert_eq!(made.count(), 6);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.assert_error(400, "invalid_amount", Some("amount"));
    }
    assert_eq!(refunded_amount(&shop, &invoice), "90.00");
    assert_eq!(shop.balance_fields(TEST, "EUR"), ["10.00", "90.00", "0.00", "-90.00"]);
}

/// A refund requires confirmed payments. The status of the invoice does not matter.
#[test]
fn only_confirmed_payments_can_be_refunded() {
    let shop = Shop::open();
    let refuse = |invoice: &str| {
        let refused = shop.request_refund(invoice, Some("1.00"));
        refused.assert_error(400, "invoice_not_refundable", None);
    };
    let created = shop.create_invoice("20.00", json!({}));
    refuse(created["id"].as_str().unwrap());
    let seen = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let seen = seen["id"].as_str().unwrap();
    refuse(seen);
    let payment = shop.pay(json!({ "invoice": seen, "amount": "0.125" }));
    refuse(seen);
    shop.set_payment_state(&payment, "confirmed");
    shop.advance("20m");
    assert_eq!(shop.get_invoice(seen)["status"], "underpaid");
    let refused = shop.request_refund(seen, Some("10.01"));
    refused.assert_error(400, "invalid_amount", Some("amount"));
    let refund = shop.request_refund(seen, None).expect(201).json();
    assert_eq!(refund["amount"], "10.00");
    assert_eq!(shop.get_invoice(seen)["status"], "underpaid");
    // A dropped payment is no longer refundable.
    shop.apply_actions("refunds", refund["id"].as_str().unwrap(), &["cancel"]);
    shop.set_payment_state(&payment, "dropped");
    refuse(seen);
}

#[test]
fn refund_may_make_the_balance_negative() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    let payout = shop.create_payout("90.00");
    shop.apply_actions("payouts", &payout, &["approve", "process", "pay"]);
    let refund = shop.create_refund(&invoice, None);
    assert_eq!(shop.balance_fields(LIVE, "EUR"), ["-90.00", "100.00", "-90.00", "-100.00"]);
    // A negative balance does not allow a payout.
    let all = shop.request_payout("all");
    all.assert_error(400, "below_minimum", Some("amount"));
    shop.apply_actions("refunds", &refund, &["approve", "process", "pay"]);
    assert_eq!(shop.balance_fields(LIVE, "EUR"), ["-90.00", "0.00", "-90.00", "-100.00"]);
}

#[test]
fn refund_defaults_to_the_coin_of_the_invoice() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let to = |asset: Value, address: &str| {
        post_refund(
            &shop,
            json!({ "invoice": invoice, "amount": "1.00", "asset": asset, "toAddress": address }),
        )
    };
    let litecoin = "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";
    let refund = to(Value::Null, &litecoin.to_ascii_uppercase()).expect(201).json();
    assert_eq!(refund["toAddress"], litecoin, "the address is in canonical form");
    // An address in the request does not change the default address. A request may also name the default address.
    let unnamed =
        || shop.read_refund(&shop.create_refund(&invoice, Some("1.00")))["toAddress"].clone();
    let fixed = unnamed();
    assert_eq!(unnamed(), fixed);
    to(Value::Null, fixed.as_str().unwrap()).expect(201);
    // An address of the main network is accepted. An address of another chain or with a typing error is rejected.
    to(Value::Null, "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9").expect(201);
    let ethereum = "0x52908400098527886E0F7030069857D2E4169EE7";
    for wrong in [ethereum, &litecoin[..40], "x"] {
        to(Value::Null, wrong).assert_error(400, "invalid_request", Some("toAddress"));
    }
    let refund = to(json!("USDC-BASE"), ethereum).expect(201).json();
    assert_eq!((&refund["asset"], &refund["chain"]), (&json!("USDC-BASE"), &json!("base")));
    to(json!("BTC"), litecoin).assert_error(400, "invalid_request", Some("toAddress"));
    to(json!("XMR"), litecoin).assert_error(400, "invalid_request", Some("asset"));
}

#[test]
fn invalid_body_names_the_field() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    for (field, value) in [
        ("invoice", Value::Null),
        ("invoice", json!(1)),
        ("amount", json!(5)),
        ("toAddress", json!("")),
        ("reason", json!("")),
        ("reason", json!("x".repeat(501))),
        ("more", json!(1)),
    ] {
        let mut body = json!({ "invoice": invoice });
        body[field] = value;
        post_refund(&shop, body).assert_error(400, "invalid_request", Some(field));
    }
    for nobodys in ["x", "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946"] {
        post_refund(&shop, json!({ "invoice": nobodys })).assert_error(404, "not_found", None);
    }
    assert_eq!(refunded_amount(&shop, &invoice), Value::Null);
}

#[test]
fn refunds_are_listed_newest_first_by_mode_and_invoice() {
    let shop = Shop::open();
    let (one, other) =
        (shop.fund_balance(TEST, "100.00", "EUR"), shop.fund_balance(TEST, "100.00", "EUR"));
    let live = shop.fund_balance(LIVE, "100.00", "EUR");
    let of_one = shop.create_refund(&one, Some("1.00"));
    let of_other = shop.create_refund(&other, Some("1.00"));
    let again = shop.create_refund(&one, Some("2.00"));
    let of_live = shop.create_refund(&live, Some("1.00"));
    let listed = |query: &str, key: &str| shop.list_ids(&format!("/v1/refunds{query}"), key);
    assert_eq!(listed("", TEST), [&*again, &of_other, &of_one]);
    assert_eq!(listed("?limit=1", TEST), [&*again]);
    assert_eq!(listed("", LIVE), [&*of_live]);
    let by_invoice = |invoice: &str| format!("?invoiceId={invoice}");
    assert_eq!(listed(&by_invoice(&one), TEST), [&*again, &of_one]);
    assert_eq!(listed(&by_invoice(&one.to_uppercase()), TEST), [&*again, &of_one]);
    assert_eq!(listed(&by_invoice(&live), TEST), Vec::<String>::new());
    for wrong in ["limit=101", "limit=0", "invoiceId=x", "invoiceId="] {
        let answer = shop.get(&format!("/v1/refunds?{wrong}"), Some(TEST));
        answer.assert_error(400, "invalid_request", wrong.split('=').next());
    }
    for (id, key) in [(&of_live, TEST), (&of_one, LIVE)] {
        let answer = shop.get(&format!("/v1/refunds/{id}"), Some(key));
        answer.assert_error(404, "not_found", None);
    }
    // The id of a refund is not found among the payouts.
    let answer = shop.get(&format!("/v1/payouts/{of_live}"), Some(LIVE));
    answer.assert_error(404, "not_found", None);
}
