//! Payouts and refunds sent by hand: payment data for the sender's wallet, and paged lists.

use crate::support::installation::{EMAIL, Installation, RunningServer, SOLANA};
use crate::support::object_ids;
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use serde_json::{Value, json};

const EVM_ADDRESS: &str = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";

/// Returns a payout as the operator interface shows it.
#[track_caller]
fn get_payout(served: &Installation, running: &RunningServer, id: &str) -> Value {
    let path = format!("/dashboard/api/accounts/{}/payouts/{id}", served.account);
    running.operator_get(&path)
}

/// Applies an action to a payout, and asserts success.
#[track_caller]
fn apply_payout_action(running: &RunningServer, id: &str, body: &Value) {
    let path = format!("/dashboard/api/payouts/{id}");
    running.operator_request("POST", &path, body).expect(200);
}

#[test]
fn payment_uri_is_shown_while_payout_is_sent_by_hand() {
    let (served, running) = Installation::start_new(&[]);
    for (payee, uri) in [
        (SOLANA, Some(format!("solana:{}?amount=0.199", SOLANA[2]))),
        (
            ["BTC", "bitcoin", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"],
            Some("bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.199".to_owned()),
        ),
        (
            ["USDC-BASE", "base", EVM_ADDRESS],
            Some(format!(
                "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address={EVM_ADDRESS}&uint256=199000"
            )),
        ),
        // Tron has no standard payment URI: the QR code contains the address.
        (["TRX", "tron", "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"], None),
    ] {
        let id = served.create_approved_payout_to(&running, payee);
        // An approved payout may still be cancelled, so it has no payment URI yet.
        let approved = get_payout(&served, &running, &id);
        assert_eq!(
            [&approved["paymentUri"], &approved["qr"], &approved["begun"]],
            [&Value::Null; 3]
        );
        apply_payout_action(&running, &id, &json!({ "action": "process" }));
        // The start is stored with the payout. The audit log is only for people.
        let edit = "update audit_log set actor = 'other', at = 7 where action = 'payout.process'";
        served.open_file().execute(edit, []).unwrap();
        let sent = get_payout(&served, &running, &id);
        assert_eq!(sent["paymentUri"], json!(uri), "{payee:?}");
        let begun = &sent["begun"];
        assert_eq!(begun["by"], EMAIL);
        assert!(begun["at"].as_str() >= sent["approvedAt"].as_str());
        assert!(sent["qr"]["path"].as_str().unwrap().starts_with("M4 4h7v1h-7z"));
        // A started signer command may have sent the payout, so no payment URI is shown.
        let file = served.open_file();
        for sending in ["'running'", "'unknown'"] {
            file.execute(&format!("update transfers set sending = {sending} where id = ?1"), [&id])
                .unwrap();
            let sent = get_payout(&served, &running, &id);
            assert_eq!([&sent["paymentUri"], &sent["qr"]], [&Value::Null; 2], "{sending}");
        }
        file.execute("update transfers set sending = null where id = ?1", [&id]).unwrap();
        apply_payout_action(
            &running,
            &id,
            &json!({ "action": "pay", "reason": "sent from the exchange" }),
        );
        let paid = get_payout(&served, &running, &id);
        assert_eq!(paid["status"], "paid");
        let over = [&paid["paymentUri"], &paid["qr"], &paid["begun"]];
        assert_eq!(over, [&Value::Null; 3]);
    }
}

#[test]
fn unfollowed_chain_has_no_payment_uri_with_test_networks() {
    let (served, running) = Installation::start_new(&["--test-networks"]);
    let id = served.create_approved_payout_to(&running, ["ETH", "ethereum", EVM_ADDRESS]);
    apply_payout_action(&running, &id, &json!({ "action": "process" }));
    let sent = get_payout(&served, &running, &id);
    assert_eq!(sent["paymentUri"], Value::Null);
    assert_ne!(sent["qr"], Value::Null, "the address alone");
}

#[test]
fn old_refunds_are_listed_filtered_and_found() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let payment = interface.shop.pay(json!({ "invoice": invoice["id"] }));
    interface.shop.set_payment_state(&payment, "confirmed");
    let to = &invoice["depositAddress"];
    let body = json!({ "invoice": invoice["id"], "amount": "1.00", "toAddress": to });
    let mut made = Vec::new();
    for _ in 0..5 {
        let refund = interface.request("POST", "refunds", &body).expect(201).json();
        made.insert(0, refund["id"].as_str().unwrap().to_owned());
    }
    let reject = json!({ "action": "reject" });
    let path = format!("/dashboard/api/refunds/{}", made[4]);
    interface.send_as_operator("POST", &path, &reject).expect(200);
    let all = "/dashboard/api/refunds?mode=test&limit=2";
    let of_all = |rest: &str| interface.get_path(&format!("{all}{rest}"));
    let of_account = |rest: &str| interface.get(&format!("refunds?limit=2{rest}"));
    let both: [&dyn Fn(&str) -> Value; 2] = [&of_account, &of_all];
    for list in both {
        let (mut found, mut before) = (Vec::new(), String::new());
        loop {
            let page = list(&before);
            found.extend(object_ids(&page));
            assert_eq!(page["hasMore"], page["nextBefore"] != Value::Null);
            let Some(next) = page["nextBefore"].as_str() else {
                break;
            };
            before = format!("&before={next}");
        }
        assert_eq!(found, made);
        assert_eq!(object_ids(&list("&status=rejected")), made[4..]);
        assert_eq!(object_ids(&list(&format!("&status=requested&before={}", made[2]))), made[3..4]);
    }
    assert_found_by_id(&interface, &made[4], invoice["id"].as_str().unwrap());
}

/// Asserts that only permitted users can read the oldest refund by its id, and that ids of other lists are rejected
/// as cursors.
#[track_caller]
fn assert_found_by_id(interface: &OperatorInterface, refund: &str, invoice: &str) {
    let oldest = interface.get(&format!("refunds/{refund}"));
    assert_eq!(oldest["status"], "rejected");
    // A transfer on a simulated chain has no payment URI, because no person has to send it.
    assert_eq!([&oldest["paymentUri"], &oldest["qr"]], [&Value::Null; 2]);
    let get = |cookie: &str, path: &str| interface.send(cookie, "GET", path, &Value::Null);
    let account = &interface.account;
    let own = format!("/dashboard/api/accounts/{account}/refunds/{refund}?mode=test");
    get(&interface.merchant, &own).expect(200);
    get(&interface.stranger, &own).assert_error(404, "not_found", None);
    let elsewhere = own.replace(account, OTHER_ACCOUNT);
    get(&interface.operator, &elsewhere).assert_error(404, "not_found", None);
    for wrong in [own.replace("mode=test", "mode=live"), own.replace("refunds", "payouts")] {
        get(&interface.operator, &wrong).assert_error(404, "not_found", None);
    }
    for before in [OTHER_ACCOUNT, invoice] {
        let page = get(&interface.operator, &interface.path(&format!("refunds?before={before}")));
        page.assert_error(400, "invalid_request", Some("before"));
    }
}
