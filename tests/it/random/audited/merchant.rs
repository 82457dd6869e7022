//! Operations of a merchant with the secret key.

use super::scene::{Caller, created_id};
use super::{RandomOperation, new_operation};
use crate::support::Response;
use serde_json::{Value, json};

/// Ids of coins. Most coins share an address pool with other coins.
pub(super) const ASSETS: [&str; 13] = [
    "BTC",
    "LTC",
    "DOGE",
    "ETH",
    "USDT-ERC20",
    "USDC-ERC20",
    "USDC-BASE",
    "USDC-POLYGON",
    "TRX",
    "USDT-TRC20",
    "SOL",
    "USDC-SPL",
    "USDT-SPL",
];

pub(super) static OPERATIONS: [RandomOperation; 8] = [
    new_operation("create an invoice", 120, create_invoice),
    new_operation("create it again", 20, repeat_invoice_creation),
    new_operation("pick a coin", 60, select_coin),
    new_operation("simulate a payment", 40, simulate_payment),
    new_operation("make a customer's addresses", 30, create_addresses),
    new_operation("simulate a deposit", 20, simulate_deposit),
    new_operation("request a payout", 40, request_payout),
    new_operation("read something", 60, read_resource),
];

fn create_invoice(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let dice = &mut caller.dice;
    let asset = (!dice.once_in(3)).then(|| dice.pick(&ASSETS));
    let own = format!("{}/sandbox/inbox/own", caller.scene.shop.url());
    let order = dice.roll(5_000);
    let body = json!({
        "amount": dice.pick(&["0.01", "1.00", "19.99", "20", "100.00", "333.33", "5000.00", "60000.00"]),
        "currency": dice.pick(&["EUR", "USD"]),
        "asset": asset,
        "orderId": dice.once_in(4).then(|| format!("order-{order}")),
        "ttlSeconds": dice.pick(&[60, 300, 1200, 86_400]),
        "webhookUrl": dice.once_in(5).then_some(own),
        "metadata": { "cart": order },
    });
    let answer = caller.send_as_merchant(side, "POST", "/v1/invoices", &body);
    if let Some(id) = created_id(&answer) {
        caller.scene.invoices.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

/// Creates an invoice with an order id or idempotency key that other requests also use.
fn repeat_invoice_creation(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let number = caller.dice.roll(500);
    let by_key = caller.dice.once_in(2);
    let order = (!by_key).then(|| format!("again-{number}"));
    let body = json!({ "amount": "25.00", "currency": "EUR", "asset": "BTC", "orderId": order });
    let once = format!("again-{number}");
    let key = caller.scene.sides[side].key.clone();
    let mut headers = vec![("X-API-Key", key.as_str())];
    if by_key {
        headers.push(("Idempotency-Key", once.as_str()));
    }
    let answer = caller.send("POST", "/v1/invoices", &headers, &body);
    if let Some(id) = created_id(&answer) {
        caller.scene.invoices.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

fn select_coin(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let body = json!({ "asset": caller.dice.pick(&ASSETS) });
    let path = format!("/v1/invoices/{invoice}/select");
    Some(caller.send_as_merchant(side, "POST", &path, &body))
}

fn simulate_payment(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let case = caller.dice.pick(&["exact", "exact", "under", "over"]);
    let body = json!({ "case": case, "asset": caller.dice.pick(&ASSETS) });
    let path = format!("/v1/invoices/{invoice}/simulate");
    Some(caller.send_as_merchant(side, "POST", &path, &body))
}

/// Returns the name of one of ten regular customers, or of one of 200 other customers.
pub(super) fn random_customer_name(caller: &mut Caller) -> String {
    let of = if caller.dice.once_in(2) { 10 } else { 200 };
    format!("customer-{}", caller.dice.roll(of))
}

fn create_addresses(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let path = format!("/v1/customers/{}/addresses", random_customer_name(caller));
    let answer = caller.send_as_merchant(side, "POST", &path, &Value::Null);
    if answer.status == 201 {
        for entry in answer.json()["addresses"].as_array().unwrap() {
            let address = entry["address"].as_str().unwrap();
            caller.scene.addresses.add(side, address, &mut caller.dice);
        }
    }
    Some(answer)
}

fn simulate_deposit(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let body = json!({ "asset": caller.dice.pick(&ASSETS), "amount": caller.dice.pick(&["0.001", "1.5", "20"]) });
    let path = format!("/v1/customers/{}/simulate", random_customer_name(caller));
    Some(caller.send_as_merchant(side, "POST", &path, &body))
}

fn request_payout(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let amount = caller.dice.pick(&["20.00", "25.50", "100.00", "all"]);
    let body = json!({ "amount": amount, "currency": caller.dice.pick(&["EUR", "USD"]) });
    let answer = if caller.dice.once_in(3) {
        caller.send_about_account(side, "POST", "payouts", &body)
    } else {
        caller.send_as_merchant(side, "POST", "/v1/payouts", &body)
    };
    if let Some(id) = created_id(&answer) {
        caller.scene.payouts.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

fn read_resource(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let path = caller.dice.pick(&[
        "/v1/invoices",
        "/v1/invoices?status=confirmed",
        "/v1/invoices/",
        "/v1/currencies",
        "/v1/merchant",
        "/v1/balances",
        "/v1/ledger?limit=20",
        "/v1/events?limit=20",
        "/v1/events?object=",
        "/v1/payouts",
        "/v1/refunds?invoiceId=",
        "/v1/deposits",
    ]);
    let of_invoice = path.ends_with(['/', '=']);
    let path = format!("{path}{}", if of_invoice { &invoice } else { "" });
    let answer = caller.send_as_merchant(side, "GET", &path, &Value::Null);
    assert_eq!(answer.status, 200, "{}", answer.text);
    Some(answer)
}
