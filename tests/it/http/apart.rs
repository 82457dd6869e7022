//! Isolation of accounts and modes from each other.

use crate::customers::addresses::create_second_account;
use crate::support::{LIVE, Response, Shop, TEST};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Returns the pending balance in EUR.
#[track_caller]
fn pending_balance(shop: &Shop, key: &str) -> Value {
    let balances = shop.get("/v1/balances", Some(key)).expect(200).json();
    balances["data"][0]["pending"].clone()
}

#[test]
fn pending_balance_belongs_to_one_account_and_mode() {
    let shop = Shop::open();
    let others = ["test", "live"].map(|mode| create_second_account(shop.file(), mode));
    let keys = [TEST, LIVE, &others[0], &others[1]];
    let mut expected = keys.map(|_| "0.00".to_owned());
    for (at, key) in keys.iter().enumerate() {
        let amount = format!("{}00.00", at + 1);
        let body = json!({ "amount": amount, "currency": "EUR", "asset": "LTC" });
        let invoice = shop.post("/v1/invoices", Some(key), body).expect(201);
        shop.pay(json!({ "invoice": invoice.json()["id"] }));
        expected[at] = format!("{}.00", (at + 1) * 99);
        assert_eq!(keys.map(|key| pending_balance(&shop, key)), expected);
    }
}

/// Creates a payment whose transaction id is always the same.
#[track_caller]
fn pay_with_same_txid(shop: &Shop, mut body: Value) -> Response {
    body["txid"] = json!("the-same");
    shop.post("/sandbox/payments", None, body)
}

#[test]
fn same_txid_in_two_modes_makes_two_payments() {
    let shop = Shop::open();
    let mut ids = Vec::new();
    for key in [TEST, LIVE] {
        let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC" });
        let invoice = shop.post("/v1/invoices", Some(key), body).expect(201);
        let invoice = invoice.json()["id"].clone();
        let address = shop.customer_address(key, "ada", "utxo");
        for body in
            [json!({ "invoice": invoice }), json!({ "address": address, "amount": "0.001" })]
        {
            let first = pay_with_same_txid(&shop, body.clone()).expect(201).json();
            assert_eq!(pay_with_same_txid(&shop, body).expect(200).json(), first);
            assert!(!ids.contains(&first["id"]), "{first}");
            ids.push(first["id"].clone());
        }
        assert_eq!(pending_balance(&shop, key), "19.80");
    }
}

#[test]
fn payouts_of_one_account_do_not_limit_another() {
    let shop = Shop::open();
    let other = create_second_account(shop.file(), "live");
    for key in [LIVE, &other] {
        shop.fund_balance(key, "20000.00", "EUR");
    }
    let conn = Connection::open(shop.file()).unwrap();
    conn.execute_batch(
        "create temp table copied as select * from payout_addresses where account = 1;
         update copied set account = 2;
         insert into payout_addresses select * from copied;",
    )
    .unwrap();
    let ask = |key: &str, amount: &str| {
        let body = json!({ "amount": amount });
        shop.post("/v1/payouts", Some(key), body)
    };
    let paid = ["approve", "process", "pay"];
    let most = ask(&other, "10000.00").expect(201).json();
    // Payouts of the other account do not count towards the daily limit of the account with the key `LIVE`.
    let own = ask(LIVE, "20.00").expect(201).json();
    for payout in [&most, &own] {
        shop.apply_actions("payouts", payout["id"].as_str().unwrap(), &paid);
    }
    ask(&other, "20.00").assert_error(400, "daily_limit", Some("amount"));
    ask(LIVE, "9980.00").expect(201);
    // The other account pays a fee of 1 %: 20000.00 less a fee of 200.00 and a payout of 10000.00 is 9800.00.
    for (key, available) in [(LIVE, "10000.00"), (&other, "9800.00")] {
        assert_eq!(shop.balance_fields(key, "EUR")[0], available);
    }
}
