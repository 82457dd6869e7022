//! What happens on the chains and with the time: payments to invoices, customers and nobody, their steps, the clock.

use super::merchant::ASSETS;
use super::scene::{Caller, id};
use super::{Operation, operation};
use crate::support::Answer;
use serde_json::json;

/// An address of nobody's.
const NOBODY: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";

pub(super) static OPERATIONS: [Operation; 7] = [
    operation("pay an invoice", 100, pay),
    operation("pay to a customer's address", 30, pay_customer),
    operation("pay to nobody", 3, pay_nobody),
    operation("put a transaction", 40, transaction),
    operation("let a chain lag", 8, lag),
    operation("move a payment", 160, step),
    operation("move the clock", 6, advance),
];

fn pay(caller: &mut Caller) -> Option<Answer> {
    let (side, invoice) = caller.scene.invoices.any(&mut caller.dice)?;
    let dice = &mut caller.dice;
    let asset = dice.once_in(4).then(|| dice.pick(&ASSETS));
    let amount = dice
        .once_in(3)
        .then(|| dice.pick(&["0", "0.000001", "0.01", "1", "25"]));
    let body = json!({ "invoice": invoice, "asset": asset, "amount": amount });
    put(caller, side, &body)
}

/// One transaction: two outputs to one invoice, and perhaps others to another and to nobody.
fn transaction(caller: &mut Caller) -> Option<Answer> {
    let (side, first) = caller.scene.invoices.any(&mut caller.dice)?;
    let (_, second) = caller.scene.invoices.any(&mut caller.dice)?;
    let dice = &mut caller.dice;
    let mut amount = || dice.pick(&["0", "0.00000001", "0.001", "1", "99999999999"]);
    let mut outputs = vec![
        json!({ "invoice": first, "amount": amount() }),
        json!({ "invoice": first }),
        json!({ "invoice": second, "amount": amount() }),
        json!({ "address": NOBODY, "asset": "BTC", "amount": "0.5" }),
    ];
    outputs.truncate(1 + dice.roll(4));
    let txid = dice
        .once_in(2)
        .then(|| format!("several-{}", dice.roll(100)));
    let mut body = json!({ "txid": txid, "outputs": outputs });
    if dice.once_in(8) {
        body["coinbase"] = json!(true);
    } else if dice.once_in(8) {
        let (_, spent) = caller.scene.payments.any(&mut caller.dice)?;
        body["spends"] = json!([spent]);
    }
    let answer = caller.sandbox("POST", "/sandbox/payments", &body);
    if answer.status < 300 {
        for payment in answer.json()["data"].as_array().unwrap() {
            let id = payment["id"].as_str().unwrap();
            caller.scene.payments.add(side, id, &mut caller.dice);
        }
    }
    Some(answer)
}

fn lag(caller: &mut Caller) -> Option<Answer> {
    let chains = ["bitcoin", "litecoin", "ethereum", "solana"];
    let path = format!("/sandbox/chains/{}", caller.dice.pick(&chains));
    let body = json!({ "lagging": caller.dice.once_in(2) });
    Some(caller.sandbox("PATCH", &path, &body))
}

fn pay_customer(caller: &mut Caller) -> Option<Answer> {
    let (side, address) = caller.scene.addresses.any(&mut caller.dice)?;
    let dice = &mut caller.dice;
    let amount = dice.pick(&["0", "0.000001", "0.01", "1", "25"]);
    let body = json!({ "address": address, "asset": dice.pick(&ASSETS), "amount": amount });
    put(caller, side, &body)
}

fn pay_nobody(caller: &mut Caller) -> Option<Answer> {
    let txid = format!("nobody-{}", caller.dice.roll(50));
    let body = json!({ "address": NOBODY, "asset": "BTC", "amount": "0.5", "txid": txid });
    put(caller, 0, &body)
}

/// Puts a payment on a chain; now and then in a transaction that others are in, too.
fn put(caller: &mut Caller, side: usize, body: &serde_json::Value) -> Option<Answer> {
    let mut body = body.clone();
    if caller.dice.once_in(10) {
        body["txid"] = json!(format!("shared-{}", caller.dice.roll(200)));
    }
    let answer = caller.sandbox("POST", "/sandbox/payments", &body);
    if let Some(id) = id(&answer) {
        caller.scene.payments.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

fn step(caller: &mut Caller) -> Option<Answer> {
    let (side, payment) = caller.scene.payments.any(&mut caller.dice)?;
    let states = [
        "confirmed",
        "confirmed",
        "confirmed",
        "dropped",
        "orphaned",
        "seen",
        "replaced",
    ];
    let state = caller.dice.pick(&states);
    let path = format!("/sandbox/payments/{payment}");
    let txid = (state == "replaced" && caller.dice.once_in(2)).then(|| {
        format!(
            "{}-{}",
            caller.dice.pick(&["instead", "several"]),
            caller.dice.roll(100)
        )
    });
    let body = json!({ "state": state, "txid": txid });
    let answer = caller.sandbox("POST", &path, &body);
    if let Some(id) = id(&answer) {
        caller.scene.payments.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

fn advance(caller: &mut Caller) -> Option<Answer> {
    let spans = ["1s", "1s", "10s", "10s", "30s", "61s", "61s", "5m", "20m"];
    let span = if caller.dice.once_in(20) {
        "25h"
    } else {
        caller.dice.pick(&spans)
    };
    Some(caller.sandbox("POST", "/sandbox/clock", &json!({ "advance": span })))
}
