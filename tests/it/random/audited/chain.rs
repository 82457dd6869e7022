//! Operations on the chains and the clock: payments to invoices, customers and foreign addresses, and their state
//! changes.

use super::merchant::ASSETS;
use super::scene::{Caller, created_id};
use super::{RandomOperation, new_operation};
use crate::support::Response;
use crate::support::dice::Dice;
use serde_json::{Value, json};

const FOREIGN: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";

pub(super) static OPERATIONS: [RandomOperation; 11] = [
    new_operation("pay an invoice", 100, pay_invoice),
    new_operation("pay to a customer's address", 30, pay_customer),
    new_operation("pay to nobody", 3, pay_foreign_address),
    new_operation("put a transaction", 40, create_transaction),
    new_operation("move our own money", 10, move_between_own_addresses),
    new_operation("pay next to nothing", 10, pay_dust),
    new_operation("pay in a coin that was not asked for", 20, pay_other_coin),
    new_operation("tell that it was made earlier", 6, pay_with_earlier_time),
    new_operation("let a chain lag", 8, toggle_chain_lag),
    new_operation("move a payment", 160, change_payment_state),
    new_operation("move the clock", 6, advance_clock),
];

fn pay_invoice(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let dice = &mut caller.dice;
    let asset = dice.once_in(4).then(|| dice.pick(&ASSETS));
    let amount = dice.once_in(3).then(|| dice.pick(&["0", "0.000001", "0.01", "1", "25"]));
    let body = json!({ "invoice": invoice, "asset": asset, "amount": amount });
    create_payment(caller, side, &body)
}

/// Returns one of 40 transaction ids, each in one of four spellings.
fn random_txid(dice: &mut Dice) -> String {
    let id = format!("{:0>64}", format!("ab{}", dice.roll(40)));
    match dice.roll(4) {
        0 => id,
        1 => id.to_uppercase(),
        2 => format!("0x{id}"),
        _ => format!("0X{}", id.to_uppercase()),
    }
}

/// Creates a transaction with two outputs to one invoice, and perhaps outputs to another invoice, a customer and a
/// foreign address.
fn create_transaction(caller: &mut Caller) -> Option<Response> {
    let (side, first) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let (_, second) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let customer = caller.scene.addresses.pick_random(&mut caller.dice);
    let dice = &mut caller.dice;
    let mut amount = || dice.pick(&["0", "0.00000001", "0.001", "1", "99999999999"]);
    let mut outputs = vec![
        json!({ "invoice": first, "amount": amount() }),
        json!({ "invoice": first }),
        json!({ "invoice": second, "amount": amount() }),
        json!({ "address": FOREIGN, "asset": "BTC", "amount": "0.5" }),
    ];
    outputs.truncate(1 + dice.roll(4));
    if let Some((_, customer)) = customer
        && dice.once_in(3)
    {
        let asset = dice.pick(&ASSETS);
        outputs.push(json!({ "address": customer, "asset": asset, "amount": "0.02" }));
    }
    let txid = match dice.roll(4) {
        0 => Some(format!("several-{}", dice.roll(100))),
        1 => Some(random_txid(dice)),
        _ => None,
    };
    let mut body = json!({ "txid": txid, "outputs": outputs });
    if dice.once_in(8) {
        body["coinbase"] = json!(true);
    } else if dice.once_in(8) {
        let (_, spent) = caller.scene.payments.pick_random(&mut caller.dice)?;
        body["spends"] = json!([spent]);
    }
    Some(create_outputs(caller, side, &body))
}

/// Creates a transaction with several outputs.
fn create_outputs(caller: &mut Caller, side: usize, body: &Value) -> Response {
    let answer = caller.send_to_sandbox("POST", "/sandbox/payments", body);
    if answer.status < 300 {
        for payment in answer.json()["data"].as_array().unwrap() {
            let id = payment["id"].as_str().unwrap();
            caller.scene.payments.add(side, id, &mut caller.dice);
        }
    }
    answer
}

/// Sends the money of a received payment to another of our own addresses.
fn move_between_own_addresses(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let (_, spent) = caller.scene.payments.pick_random(&mut caller.dice)?;
    let outputs = json!([{ "invoice": invoice, "amount": "1" }]);
    let answer = create_outputs(caller, side, &json!({ "spends": [spent], "outputs": outputs }));
    (answer.status >= 300 || answer.json()["data"][0]["state"] == "own").then_some(answer)
}

/// Pays less than a cent to an invoice. The payment stays unmatched.
fn pay_dust(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let answer =
        create_payment(caller, side, &json!({ "invoice": invoice, "amount": "0.00000001" }))?;
    (answer.status >= 300 || answer.json()["state"] == "unmatched").then_some(answer)
}

/// Pays a coin other than the selected coin to the deposit address.
fn pay_other_coin(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let path = format!("/v1/invoices/{invoice}");
    let invoice = caller.send_as_merchant(side, "GET", &path, &Value::Null).expect(200);
    let invoice = invoice.json();
    let other = match invoice["asset"].as_str()? {
        "ETH" => "USDC-BASE",
        "USDC-BASE" | "USDC-POLYGON" | "USDT-ERC20" | "USDC-ERC20" => "ETH",
        "TRX" => "USDT-TRC20",
        "USDT-TRC20" => "TRX",
        "SOL" => "USDC-SPL",
        "USDC-SPL" | "USDT-SPL" => "SOL",
        _ => return None,
    };
    let body = json!({ "address": invoice["depositAddress"], "asset": other, "amount": "3" });
    let answer = create_payment(caller, side, &body)?;
    (answer.status >= 300 || answer.json()["state"] == "unmatched").then_some(answer)
}

/// Creates a payment while its chain lags, and then reports an earlier time for the payment.
fn pay_with_earlier_time(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let lagging = json!({ "lagging": true });
    let lagging = caller.send_to_sandbox("PATCH", "/sandbox/chains/bitcoin", &lagging);
    let since = lagging.expect(200).json()["scannedTo"].clone();
    let txid = random_txid(&mut caller.dice);
    let mut body = json!({ "invoice": invoice, "asset": "BTC", "txid": txid, "amount": "0.001" });
    create_separate_payment(caller, side, &body);
    body["seenAt"] = since;
    Some(create_separate_payment(caller, side, &body))
}

fn toggle_chain_lag(caller: &mut Caller) -> Option<Response> {
    let chains = ["bitcoin", "litecoin", "ethereum", "solana"];
    let path = format!("/sandbox/chains/{}", caller.dice.pick(&chains));
    let body = json!({ "lagging": caller.dice.once_in(2) });
    Some(caller.send_to_sandbox("PATCH", &path, &body))
}

fn pay_customer(caller: &mut Caller) -> Option<Response> {
    let (side, address) = caller.scene.addresses.pick_random(&mut caller.dice)?;
    let dice = &mut caller.dice;
    let amount = dice.pick(&["0", "0.000001", "0.01", "1", "25"]);
    let body = json!({ "address": address, "asset": dice.pick(&ASSETS), "amount": amount });
    create_payment(caller, side, &body)
}

fn pay_foreign_address(caller: &mut Caller) -> Option<Response> {
    let txid = format!("nobody-{}", caller.dice.roll(50));
    let body = json!({ "address": FOREIGN, "asset": "BTC", "amount": "0.5", "txid": txid });
    create_payment(caller, 0, &body)
}

/// Creates a payment, sometimes as part of a transaction with other payments.
fn create_payment(caller: &mut Caller, side: usize, body: &Value) -> Option<Response> {
    let mut body = body.clone();
    if caller.dice.once_in(10) {
        body["txid"] = json!(format!("shared-{}", caller.dice.roll(200)));
    }
    Some(create_separate_payment(caller, side, &body))
}

/// Creates the payment that `body` describes.
fn create_separate_payment(caller: &mut Caller, side: usize, body: &Value) -> Response {
    let answer = caller.send_to_sandbox("POST", "/sandbox/payments", body);
    if let Some(id) = created_id(&answer) {
        caller.scene.payments.add(side, &id, &mut caller.dice);
    }
    answer
}

fn change_payment_state(caller: &mut Caller) -> Option<Response> {
    let (side, payment) = caller.scene.payments.pick_random(&mut caller.dice)?;
    let states = ["confirmed", "confirmed", "confirmed", "dropped", "orphaned", "seen", "replaced"];
    let state = caller.dice.pick(&states);
    let path = format!("/sandbox/payments/{payment}");
    let txid = (state == "replaced" && caller.dice.once_in(2)).then(|| {
        format!("{}-{}", caller.dice.pick(&["instead", "several"]), caller.dice.roll(100))
    });
    let amounts = [Some("0.00000001"), Some("0.001"), Some("2"), None, None, None];
    let amount = (state == "replaced").then(|| caller.dice.pick(&amounts));
    let body = json!({ "state": state, "txid": txid, "amount": amount.flatten() });
    let answer = caller.send_to_sandbox("POST", &path, &body);
    if let Some(id) = created_id(&answer) {
        caller.scene.payments.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

fn advance_clock(caller: &mut Caller) -> Option<Response> {
    let spans = ["1s", "1s", "10s", "10s", "30s", "61s", "61s", "5m", "20m"];
    let span = if caller.dice.once_in(20) { "25h" } else { caller.dice.pick(&spans) };
    Some(caller.send_to_sandbox("POST", "/sandbox/clock", &json!({ "advance": span })))
}
