//! Operations of the operator, and the settings of the sandbox account.

use super::merchant::{ASSETS, customer_name};
use super::scene::Caller;
use super::{RandomOperation, operation};
use crate::support::Response;
use crate::support::surfpool::key_of;
use serde_json::{Value, json};

pub(super) static OPERATIONS: [RandomOperation; 13] = [
    operation("cancel an invoice", 15, cancel),
    operation("cancel it in the sandbox", 5, cancel_in_sandbox),
    operation("adjust the books", 8, adjust),
    operation("read the interface", 15, read),
    operation("resend since", 1, resend),
    operation("import addresses", 5, import),
    operation("resolve what matched nothing", 3, resolve),
    operation("give away what matched nothing", 20, assign),
    operation("undo what was made of what matched nothing", 10, undo),
    operation("switch something", 10, switch),
    operation("close and open", 2, close_and_open),
    operation("replace the endpoints", 3, endpoints),
    operation("empty an inbox", 3, empty),
];

fn cancel(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.random(&mut caller.dice)?;
    let path = format!("invoices/{invoice}/cancel");
    Some(caller.interface(side, "POST", &path, &Value::Null))
}

fn cancel_in_sandbox(caller: &mut Caller) -> Option<Response> {
    let (_, invoice) = caller.scene.invoices.random(&mut caller.dice)?;
    let path = format!("/sandbox/invoices/{invoice}/cancel");
    Some(caller.sandbox("POST", &path, &Value::Null))
}

fn adjust(caller: &mut Caller) -> Option<Response> {
    let side = caller.side();
    let amount = caller.dice.pick(&["250.00", "1000.00", "-0.01", "-75.50"]);
    let currency = caller.dice.pick(&["EUR", "USD"]);
    let body = json!({ "currency": currency, "amount": amount, "memo": "counted again" });
    Some(caller.interface(side, "POST", "adjustments", &body))
}

fn read(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.random(&mut caller.dice)?;
    let of_invoice = caller.dice.pick(&["", "/timeline"]);
    let of_invoice = format!("invoices/{invoice}{of_invoice}");
    let lists = [
        "invoices",
        "balances",
        "ledger",
        "events",
        "deliveries",
        "payouts",
    ];
    let rest = caller.dice.pick(&lists);
    let rest = if caller.dice.once_in(2) {
        of_invoice.as_str()
    } else {
        rest
    };
    let answer = caller.interface(side, "GET", rest, &Value::Null);
    assert_eq!(answer.status, 200, "{}", answer.text);
    Some(answer)
}

fn resend(caller: &mut Caller) -> Option<Response> {
    let side = caller.side();
    let body = json!({ "since": caller.scene.shop.now() });
    Some(caller.interface(side, "POST", "resend", &body))
}

fn import(caller: &mut Caller) -> Option<Response> {
    // The last address may have been imported before.
    let mut address = |sides: usize| key_of(u32::try_from(caller.dice.roll(sides)).unwrap());
    let body = json!({ "addresses": [address(1 << 30), address(1 << 30), address(100)] });
    Some(caller.operator("POST", "/dashboard/api/pools/solana/addresses", &body))
}

fn resolve(caller: &mut Caller) -> Option<Response> {
    let path = "/dashboard/api/unmatched-payments";
    let list = caller
        .operator("GET", path, &Value::Null)
        .expect(200)
        .json();
    let id = list["data"][0]["id"].as_str()?;
    let path = format!("{path}/{id}");
    Some(caller.operator("POST", &path, &json!({ "note": "asked the customer" })))
}

fn assign(caller: &mut Caller) -> Option<Response> {
    let path = "/dashboard/api/unmatched-payments?limit=200";
    let list = caller.operator("GET", path, &Value::Null);
    let list = list.expect(200).json();
    let lost = list["data"].as_array()?;
    if lost.is_empty() {
        return None;
    }
    let (side, invoice) = caller.scene.invoices.random(&mut caller.dice)?;
    let lost = lost[caller.dice.roll(lost.len())]["id"].as_str()?;
    let body = if caller.dice.once_in(3) {
        let customer = customer_name(caller);
        json!({ "account": caller.scene.sides[side].account, "customer": customer })
    } else {
        json!({ "invoice": invoice })
    };
    let path = format!("/dashboard/api/unmatched-payments/{lost}/assign");
    let answer = caller.operator("POST", &path, &body);
    if answer.status == 200 {
        let given = answer.json();
        let id = given["payment"].as_str().or(given["deposit"].as_str())?;
        caller.scene.payments.add(side, id, &mut caller.dice);
    }
    Some(answer)
}

fn undo(caller: &mut Caller) -> Option<Response> {
    let path = "/dashboard/api/unmatched-payments";
    let list = caller.operator("GET", path, &Value::Null);
    let list = list.expect(200).json();
    let all = list["data"].as_array().filter(|all| !all.is_empty())?;
    let id = all[caller.dice.roll(all.len())]["id"].as_str()?;
    Some(caller.operator("POST", &format!("{path}/{id}/undo"), &Value::Null))
}

fn switch(caller: &mut Caller) -> Option<Response> {
    let dice = &mut caller.dice;
    let solana = bs58::encode([9; 32]).into_string();
    let body = match dice.roll(7) {
        0..=2 => json!({ "feeBps": dice.pick(&[0, 1, 100, 150, 10_000]) }),
        3 => json!({ "maxInvoiceAmount": dice.pick(&["50.00", "50000.00", "100000.00"]) }),
        4 => json!({ "payoutMinimum": dice.pick(&["1.00", "20.00"]),
            "payoutDailyLimit": dice.pick(&["500.00", "10000.00"]) }),
        5 => json!({ "payoutAsset": "SOL", "payoutAddress": solana }),
        _ => json!({ "payoutAsset": dice.pick(&ASSETS) }),
    };
    Some(caller.sandbox("PATCH", "/sandbox/account", &body))
}

/// Disables an account feature and enables it again. Requests of other connections meanwhile are rejected.
fn close_and_open(caller: &mut Caller) -> Option<Response> {
    let (closed, open) = match caller.dice.roll(4) {
        0 => (
            json!({ "status": "suspended" }),
            json!({ "status": "active" }),
        ),
        1 => (
            json!({ "maintenance": true }),
            json!({ "maintenance": false }),
        ),
        2 => (
            json!({ "customersEnabled": false }),
            json!({ "customersEnabled": true }),
        ),
        _ => (
            json!({ "status": "pending" }),
            json!({ "status": "active" }),
        ),
    };
    let path = "/sandbox/account";
    let first = caller.sandbox("PATCH", path, &closed);
    assert_eq!(first.status, 200, "{}", first.text);
    Some(caller.sandbox("PATCH", path, &open))
}

fn endpoints(caller: &mut Caller) -> Option<Response> {
    let inbox = format!("{}/sandbox/inbox/shop", caller.scene.shop.url());
    let dead = "http://127.0.0.1:9/";
    let all = [
        json!({ "url": inbox }),
        json!({ "url": inbox, "mode": "test", "format": "legacy" }),
        json!({ "url": inbox, "types": ["invoice.confirmed", "payout.paid", "refund.paid"] }),
        json!({ "url": dead, "types": ["invoice.failed", "deposit.confirmed"] }),
    ];
    let chosen: Vec<_> = all.iter().filter(|_| caller.dice.once_in(2)).collect();
    Some(caller.sandbox("PATCH", "/sandbox/account", &json!({ "endpoints": chosen })))
}

fn empty(caller: &mut Caller) -> Option<Response> {
    let path = caller
        .dice
        .pick(&["/sandbox/inbox/shop", "/sandbox/inbox/own"]);
    Some(caller.sandbox("DELETE", path, &Value::Null))
}
