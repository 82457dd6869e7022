//! Payments to customer addresses on the simulated chain and their later states.

use crate::support::{LIVE, Shop, TEST};
use serde_json::json;

const PAYMENTS_PATH: &str = "/sandbox/payments";

#[test]
fn payment_to_customer_is_a_deposit_in_both_modes() {
    let shop = Shop::with_customer();
    for key in [TEST, LIVE] {
        let address = shop.customer_address(key, "ada", "utxo");
        // The address accepts only one coin, so the request may omit the asset.
        let paid = json!({ "address": address, "amount": "0.001", "txid": format!("tx-{key}") });
        let seen = shop.post(PAYMENTS_PATH, None, paid.clone()).expect(201).json();
        let id = seen["id"].as_str().unwrap();
        let progress = json!({
            "id": id, "txid": format!("tx-{key}"), "state": "seen", "confirmations": 0, "confirmationsNeeded": 1,
        });
        assert_eq!(seen, progress);
        let deposit = shop.get_deposit(key, id);
        let fields = ["customer", "asset", "amountCrypto", "grossEur", "feeEur", "netEur"];
        assert_eq!(
            fields.map(|field| deposit[field].as_str().unwrap()),
            ["ada", "BTC", "0.001", "60.00", "0.60", "59.40"]
        );
        assert_eq!(deposit["livemode"], key == LIVE);
        shop.assert_deposit(key, id, "detected", 0, "", "0.00");
        assert_eq!(shop.post(PAYMENTS_PATH, None, paid.clone()).expect(200).json(), seen);
        assert_eq!(shop.set_payment_state(id, "confirmed")["state"], "confirmed");
        shop.assert_deposit(key, id, "confirmed", 1, "sale 60.00, fee -0.60", "59.40");
        let again = shop.post(PAYMENTS_PATH, None, paid).expect(200).json();
        assert_eq!((&again["id"], &again["state"]), (&seen["id"], &json!("confirmed")));
    }
}

#[test]
fn status_changes_of_a_booked_deposit_book_adjustments() {
    let shop = Shop::with_customer();
    let address = shop.customer_address(TEST, "ada", "evm");
    let id = shop.pay(json!({ "address": address, "asset": "USDC-BASE", "amount": "100" }));
    let booked = "sale 92.00, fee -0.92";
    shop.set_payment_state(&id, "confirmed");
    shop.assert_deposit(TEST, &id, "confirmed", 1, booked, "91.08");
    // A later change of the fee does not change a booked deposit.
    shop.update_account(json!({ "feeBps": 500 }));
    assert_eq!(shop.set_payment_state(&id, "orphaned")["state"], "seen");
    let booked = format!("{booked}, adjustment -92.00, adjustment 0.92");
    shop.assert_deposit(TEST, &id, "detected", 1, &booked, "0.00");
    shop.set_payment_state(&id, "confirmed");
    let booked = format!("{booked}, adjustment 92.00, adjustment -0.92");
    shop.assert_deposit(TEST, &id, "confirmed", 2, &booked, "91.08");
    assert_eq!(shop.get_deposit(TEST, &id)["feeEur"], "0.92");
    shop.set_payment_state(&id, "dropped");
    let booked = format!("{booked}, adjustment -92.00, adjustment 0.92");
    shop.assert_deposit(TEST, &id, "dropped", 2, &booked, "0.00");
    shop.set_payment_state(&id, "seen");
    shop.assert_deposit(TEST, &id, "detected", 2, &booked, "0.00");
    shop.set_payment_state(&id, "dropped");
    shop.set_payment_state(&id, "confirmed");
    let booked = format!("{booked}, adjustment 92.00, adjustment -0.92");
    shop.assert_deposit(TEST, &id, "confirmed", 3, &booked, "91.08");
    shop.assert_audit_clean();
}

#[test]
fn confirmation_fixes_the_fee() {
    let shop = Shop::with_customer();
    let address = shop.customer_address(TEST, "ada", "utxo");
    let id = shop.pay(json!({ "address": address, "amount": "0.001" }));
    shop.update_account(json!({ "feeBps": 200 }));
    shop.advance("5m");
    shop.set_payment_state(&id, "confirmed");
    shop.assert_deposit(TEST, &id, "confirmed", 1, "sale 60.00, fee -1.20", "58.80");
    let deposit = shop.get_deposit(TEST, &id);
    assert_eq!((&deposit["feeEur"], &deposit["netEur"]), (&json!("1.20"), &json!("58.80")));
    assert_ne!(deposit["createdAt"], deposit["confirmedAt"]);
    assert_eq!(deposit["confirmedAt"], shop.now());
    // At 60000 EUR, 0.00000001 BTC is worth less than a cent, so the deposit is confirmed but not booked.
    let little = shop.pay(json!({ "address": address, "amount": "0.00000001" }));
    shop.set_payment_state(&little, "confirmed");
    shop.assert_deposit(TEST, &little, "confirmed", 1, "", "58.80");
}

#[test]
fn confirmation_fixes_the_rate() {
    let shop = Shop::with_customer();
    let address = shop.customer_address(TEST, "ada", "utxo");
    let id = shop.pay(json!({ "address": address, "amount": "0.001" }));
    // Simulates a rate that was different when the payment was seen.
    shop.execute_sql("update deposits set rate = '50000', gross = 5000, fee = 50");
    assert_eq!(shop.get_deposit(TEST, &id)["grossEur"], "50.00");
    shop.set_payment_state(&id, "confirmed");
    shop.assert_deposit(TEST, &id, "confirmed", 1, "sale 60.00, fee -0.60", "59.40");
    assert_eq!(shop.get_deposit(TEST, &id)["rate"], "60000");
    // After the confirmation, the rate no longer changes.
    shop.set_payment_state(&id, "orphaned");
    let booked = "sale 60.00, fee -0.60, adjustment -60.00, adjustment 0.60";
    shop.assert_deposit(TEST, &id, "detected", 1, booked, "0.00");
    shop.assert_audit_clean();
}

#[test]
fn seen_deposit_can_be_replaced() {
    let shop = Shop::with_customer();
    let address = shop.customer_address(TEST, "ada", "tron");
    let id = shop.pay(json!({ "address": address, "asset": "TRX", "amount": "10" }));
    let seen_at = shop.get_deposit(TEST, &id)["createdAt"].clone();
    shop.advance("1h");
    let path = format!("{PAYMENTS_PATH}/{id}");
    // If a payment is replaced by a payment of the same amount, the new payment keeps the time of the old payment.
    let same = shop.post(&path, None, json!({ "state": "replaced" }));
    let same = same.expect(200).json();
    let same = same["id"].as_str().unwrap();
    assert_eq!(shop.get_deposit(TEST, same)["createdAt"], seen_at);
    let path = format!("{PAYMENTS_PATH}/{same}");
    let body = json!({ "state": "replaced", "amount": "20" });
    let next = shop.post(&path, None, body.clone()).expect(200).json();
    assert_eq!((&next["state"], next["id"] == id.as_str()), (&json!("seen"), false));
    let next = next["id"].as_str().unwrap();
    shop.assert_deposit(TEST, &id, "dropped", 0, "", "0.00");
    shop.assert_deposit(TEST, same, "dropped", 0, "", "0.00");
    shop.assert_deposit(TEST, next, "detected", 0, "", "0.00");
    let deposit = shop.get_deposit(TEST, next);
    assert_eq!(
        (&deposit["createdAt"], &deposit["amountCrypto"]),
        (&json!(shop.now()), &json!("20"))
    );
    shop.post(&path, None, body.clone()).assert_error(409, "invalid_transition", Some("state"));
    for state in ["dropped", "orphaned"] {
        shop.post(&path, None, json!({ "state": state })).assert_error(
            409,
            "invalid_transition",
            Some("state"),
        );
    }
    shop.set_payment_state(next, "confirmed");
    shop.post(&format!("{PAYMENTS_PATH}/{next}"), None, body).assert_error(
        409,
        "invalid_transition",
        Some("state"),
    );
    shop.assert_audit_clean();
}

#[test]
fn shared_address_requires_an_asset() {
    let shop = Shop::with_customer();
    let (evm, utxo) =
        (shop.customer_address(TEST, "ada", "evm"), shop.customer_address(TEST, "ada", "utxo"));
    for (body, code, param) in [
        (json!({ "address": evm, "amount": "1" }), "invalid_request", "asset"),
        (json!({ "address": evm, "asset": "ETH" }), "invalid_request", "amount"),
        (json!({ "address": evm, "asset": "XMR", "amount": "1" }), "coin_unavailable", "asset"),
        (json!({ "address": utxo, "asset": "LTC", "amount": "1" }), "coin_unavailable", "asset"),
        (json!({ "address": utxo }), "invalid_request", "amount"),
        (json!({ "address": utxo, "amount": "9".repeat(30) }), "invalid_request", "amount"),
    ] {
        shop.post(PAYMENTS_PATH, None, body).assert_error(400, code, Some(param));
    }
    let list = shop.get("/v1/deposits", Some(TEST)).expect(200).json();
    assert_eq!(list["data"], json!([]));
    // An EVM address is recognized in lower case, and all EVM coins share it.
    let lower = evm.to_lowercase();
    for asset in ["ETH", "USDC-POLYGON"] {
        let id = shop.pay(json!({ "address": lower, "asset": asset, "amount": "1" }));
        let deposit = shop.get_deposit(TEST, &id);
        assert_eq!((&deposit["address"], &deposit["asset"]), (&json!(evm), &json!(asset)));
    }
}
