//! Operations of the operator, and the settings of the sandbox account.

use super::merchant::{ASSETS, random_customer_name};
use super::scene::Caller;
use super::{RandomOperation, new_operation};
use crate::support::Response;
use crate::support::surfpool::address_without_key;
use serde_json::{Value, json};

pub(super) static OPERATIONS: [RandomOperation; 13] = [
    new_operation("cancel an invoice", 15, cancel_invoice),
    new_operation("cancel it in the sandbox", 5, cancel_invoice_in_sandbox),
    new_operation("adjust the books", 8, adjust_balance),
    new_operation("read the interface", 15, read_resource),
    new_operation("resend since", 1, resend_events),
    new_operation("import addresses", 5, import_addresses),
    new_operation("resolve what matched nothing", 3, resolve_unmatched_payment),
    new_operation("give away what matched nothing", 20, assign_unmatched_payment),
    new_operation("undo what was made of what matched nothing", 10, undo_payment_assignment),
    new_operation("switch something", 10, change_account_setting),
    new_operation("close and open", 2, disable_and_enable_feature),
    new_operation("replace the endpoints", 3, replace_endpoints),
    new_operation("empty an inbox", 3, clear_inbox),
];

fn cancel_invoice(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let path = format!("invoices/{invoice}/cancel");
    Some(caller.send_about_account(side, "POST", &path, &Value::Null))
}

fn cancel_invoice_in_sandbox(caller: &mut Caller) -> Option<Response> {
    let (_, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let path = format!("/sandbox/invoices/{invoice}/cancel");
    Some(caller.send_to_sandbox("POST", &path, &Value::Null))
}

fn adjust_balance(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let amount = caller.dice.pick(&["250.00", "1000.00", "-0.01", "-75.50"]);
    let currency = caller.dice.pick(&["EUR", "USD"]);
    let body = json!({ "currency": currency, "amount": amount, "memo": "counted again" });
    Some(caller.send_about_account(side, "POST", "adjustments", &body))
}

fn read_resource(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let of_invoice = caller.dice.pick(&["", "/timeline"]);
    let of_invoice = format!("invoices/{invoice}{of_invoice}");
    let lists = ["invoices", "balances", "ledger", "events", "deliveries", "payouts"];
    let rest = caller.dice.pick(&lists);
    let rest = if caller.dice.once_in(2) { of_invoice.as_str() } else { rest };
    let answer = caller.send_about_account(side, "GET", rest, &Value::Null);
    assert_eq!(answer.status, 200, "{}", answer.text);
    Some(answer)
}

fn resend_events(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let body = json!({ "since": caller.scene.shop.now() });
    Some(caller.send_about_account(side, "POST", "resend", &body))
}

fn import_addresses(caller: &mut Caller) -> Option<Response> {
    // The third address is chosen from only 100 addresses, so it may have been imported before.
    let mut address =
        |sides: usize| address_without_key(u32::try_from(caller.dice.roll(sides)).unwrap());
    let body = json!({ "addresses": [address(1 << 30), address(1 << 30), address(100)] });
    Some(caller.send_as_operator("POST", "/dashboard/api/pools/solana/addresses", &body))
}

fn resolve_unmatched_payment(caller: &mut Caller) -> Option<Response> {
    let path = "/dashboard/api/unmatched-payments";
    let list = caller.send_as_operator("GET", path, &Value::Null).expect(200).json();
    let id = list["data"][0]["id"].as_str()?;
    let path = format!("{path}/{id}");
    Some(caller.send_as_operator("POST", &path, &json!({ "note": "asked the customer" })))
}

fn assign_unmatched_payment(caller: &mut Caller) -> Option<Response> {
    let path = "/dashboard/api/unmatched-payments?limit=200";
    let list = caller.send_as_operator("GET", path, &Value::Null);
    let list = list.expect(200).json();
    let lost = list["data"].as_array()?;
    if lost.is_empty() {
        return None;
    }
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let lost = lost[caller.dice.roll(lost.len())]["id"].as_str()?;
    let body = if caller.dice.once_in(3) {
        let customer = random_customer_name(caller);
        json!({ "account": caller.scene.sides[side].account, "customer": customer })
    } else {
        json!({ "invoice": invoice })
    };
    let path = format!("/dashboard/api/unmatched-payments/{lost}/assign");
    let answer = caller.send_as_operator("POST", &path, &body);
    if answer.status == 200 {
        let given = answer.json();
        let id = given["payment"].as_str().or(given["deposit"].as_str())?;
        caller.scene.payments.add(side, id, &mut caller.dice);
    }
    Some(answer)
}

fn undo_payment_assignment(caller: &mut Caller) -> Option<Response> {
    let path = "/dashboard/api/unmatched-payments";
    let list = caller.send_as_operator("GET", path, &Value::Null);
    let list = list.expect(200).json();
    let all = list["data"].as_array().filter(|all| !all.is_empty())?;
    let id = all[caller.dice.roll(all.len())]["id"].as_str()?;
    Some(caller.send_as_operator("POST", &format!("{path}/{id}/undo"), &Value::Null))
}

fn change_account_setting(caller: &mut Caller) -> Option<Response> {
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
    Some(caller.send_to_sandbox("PATCH", "/sandbox/account", &body))
}

/// Disables an account feature and enables it again. In between, requests of other connections are rejected.
fn disable_and_enable_feature(caller: &mut Caller) -> Option<Response> {
    let (closed, open) = match caller.dice.roll(4) {
        0 => (json!({ "status": "suspended" }), json!({ "status": "active" })),
        1 => (json!({ "maintenance": true }), json!({ "maintenance": false })),
        2 => (json!({ "customersEnabled": false }), json!({ "customersEnabled": true })),
        _ => (json!({ "status": "pending" }), json!({ "status": "active" })),
    };
    let path = "/sandbox/account";
    let first = caller.send_to_sandbox("PATCH", path, &closed);
    assert_eq!(first.status, 200, "{}", first.text);
    Some(caller.send_to_sandbox("PATCH", path, &open))
}

fn replace_endpoints(caller: &mut Caller) -> Option<Response> {
    let inbox = format!("{}/sandbox/inbox/shop", caller.scene.shop.url());
    let dead = "http://127.0.0.1:9/";
    let all = [
        json!({ "url": inbox }),
        json!({ "url": inbox, "mode": "test", "format": "legacy" }),
        json!({ "url": inbox, "types": ["invoice.confirmed", "payout.paid", "refund.paid"] }),
        json!({ "url": dead, "types": ["invoice.failed", "deposit.confirmed"] }),
    ];
    let chosen: Vec<_> = all.iter().filter(|_| caller.dice.once_in(2)).collect();
    Some(caller.send_to_sandbox("PATCH", "/sandbox/account", &json!({ "endpoints": chosen })))
}

fn clear_inbox(caller: &mut Caller) -> Option<Response> {
    let path = caller.dice.pick(&["/sandbox/inbox/shop", "/sandbox/inbox/own"]);
    Some(caller.send_to_sandbox("DELETE", path, &Value::Null))
}
