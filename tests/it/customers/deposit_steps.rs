//! What is paid to customers' addresses on the simulated chain, and what becomes of it.

use crate::file::audit::findings;
use crate::support::{LIVE, Shop, TEST};
use serde_json::json;

const PATH: &str = "/sandbox/payments";

/// A shop with the customer `ada` in both modes.
fn shop() -> Shop {
    let shop = Shop::open();
    shop.addresses(TEST, "ada").expect(201);
    shop.addresses(LIVE, "ada").expect(201);
    shop
}

#[test]
fn what_a_customer_pays_is_a_deposit_in_both_modes() {
    let shop = shop();
    for key in [TEST, LIVE] {
        let address = shop.address_of(key, "ada", "utxo");
        // The address takes one coin only, which need not be said.
        let paid = json!({ "address": address, "amount": "0.001", "txid": format!("tx-{key}") });
        let seen = shop.post(PATH, None, paid.clone()).expect(201).json();
        let id = seen["id"].as_str().unwrap();
        assert_eq!(
            seen,
            json!({ "id": id, "txid": format!("tx-{key}"), "state": "seen" })
        );
        let deposit = shop.deposit(key, id);
        let fields = [
            "customer",
            "asset",
            "amountCrypto",
            "grossEur",
            "feeEur",
            "netEur",
        ];
        assert_eq!(
            fields.map(|field| deposit[field].as_str().unwrap()),
            ["ada", "BTC", "0.001", "60.00", "0.60", "59.40"]
        );
        assert_eq!(deposit["livemode"], key == LIVE);
        shop.deposit_stands(key, id, "detected", 0, "", "0.00");
        assert_eq!(shop.post(PATH, None, paid.clone()).expect(200).json(), seen);
        assert_eq!(shop.move_payment(id, "confirmed")["state"], "confirmed");
        shop.deposit_stands(key, id, "confirmed", 1, "sale 60.00, fee -0.60", "59.40");
        let again = shop.post(PATH, None, paid).expect(200).json();
        assert_eq!(
            (&again["id"], &again["state"]),
            (&seen["id"], &json!("confirmed"))
        );
    }
}

#[test]
fn what_happens_to_a_deposit_later_is_adjusted() {
    let shop = shop();
    let address = shop.address_of(TEST, "ada", "evm");
    let id = shop.pay(json!({ "address": address, "asset": "USDC-BASE", "amount": "100" }));
    let booked = "sale 92.00, fee -0.92";
    shop.move_payment(&id, "confirmed");
    shop.deposit_stands(TEST, &id, "confirmed", 1, booked, "91.08");
    // A fee changed since then does not change what was booked.
    shop.update_account(json!({ "feeBps": 500 }));
    assert_eq!(shop.move_payment(&id, "orphaned")["state"], "seen");
    let booked = format!("{booked}, adjustment -92.00, adjustment 0.92");
    shop.deposit_stands(TEST, &id, "detected", 1, &booked, "0.00");
    shop.move_payment(&id, "confirmed");
    let booked = format!("{booked}, adjustment 92.00, adjustment -0.92");
    shop.deposit_stands(TEST, &id, "confirmed", 2, &booked, "91.08");
    assert_eq!(shop.deposit(TEST, &id)["feeEur"], "0.92");
    shop.move_payment(&id, "dropped");
    let booked = format!("{booked}, adjustment -92.00, adjustment 0.92");
    shop.deposit_stands(TEST, &id, "dropped", 2, &booked, "0.00");
    shop.move_payment(&id, "seen");
    shop.deposit_stands(TEST, &id, "detected", 2, &booked, "0.00");
    shop.move_payment(&id, "dropped");
    shop.move_payment(&id, "confirmed");
    let booked = format!("{booked}, adjustment 92.00, adjustment -0.92");
    shop.deposit_stands(TEST, &id, "confirmed", 3, &booked, "91.08");
    assert!(findings(shop.file()).is_empty());
}

#[test]
fn the_fee_is_that_of_the_moment_of_confirmation() {
    let shop = shop();
    let address = shop.address_of(TEST, "ada", "utxo");
    let id = shop.pay(json!({ "address": address, "amount": "0.001" }));
    shop.update_account(json!({ "feeBps": 200 }));
    shop.advance("5m");
    shop.move_payment(&id, "confirmed");
    shop.deposit_stands(TEST, &id, "confirmed", 1, "sale 60.00, fee -1.20", "58.80");
    let deposit = shop.deposit(TEST, &id);
    assert_eq!(
        (&deposit["feeEur"], &deposit["netEur"]),
        (&json!("1.20"), &json!("58.80"))
    );
    assert_ne!(deposit["createdAt"], deposit["confirmedAt"]);
    assert_eq!(deposit["confirmedAt"], shop.now());
    // A deposit counts however small; nothing is booked for what is worth nothing.
    let little = shop.pay(json!({ "address": address, "amount": "0.00000001" }));
    shop.move_payment(&little, "confirmed");
    shop.deposit_stands(TEST, &little, "confirmed", 1, "", "58.80");
}

#[test]
fn the_rate_is_that_of_the_moment_of_confirmation() {
    let shop = shop();
    let address = shop.address_of(TEST, "ada", "utxo");
    let id = shop.pay(json!({ "address": address, "amount": "0.001" }));
    // As it would be where the rate was another one when it was seen.
    shop.execute_sql("update deposits set rate = '50000', gross = 5000, fee = 50");
    assert_eq!(shop.deposit(TEST, &id)["grossEur"], "50.00");
    shop.move_payment(&id, "confirmed");
    shop.deposit_stands(TEST, &id, "confirmed", 1, "sale 60.00, fee -0.60", "59.40");
    assert_eq!(shop.deposit(TEST, &id)["rate"], "60000");
    // From then on it stays.
    shop.move_payment(&id, "orphaned");
    let booked = "sale 60.00, fee -0.60, adjustment -60.00, adjustment 0.60";
    shop.deposit_stands(TEST, &id, "detected", 1, booked, "0.00");
    assert!(findings(shop.file()).is_empty());
}

#[test]
fn a_deposit_is_replaced_while_it_is_only_seen() {
    let shop = shop();
    let address = shop.address_of(TEST, "ada", "tron");
    let id = shop.pay(json!({ "address": address, "asset": "TRX", "amount": "10" }));
    let seen_at = shop.deposit(TEST, &id)["createdAt"].clone();
    shop.advance("1h");
    let path = format!("{PATH}/{id}");
    // What is not worth more was seen when that was.
    let same = shop.post(&path, None, json!({ "state": "replaced" }));
    let same = same.expect(200).json();
    let same = same["id"].as_str().unwrap();
    assert_eq!(shop.deposit(TEST, same)["createdAt"], seen_at);
    let path = format!("{PATH}/{same}");
    let body = json!({ "state": "replaced", "amount": "20" });
    let next = shop.post(&path, None, body.clone()).expect(200).json();
    assert_eq!(
        (&next["state"], next["id"] == id.as_str()),
        (&json!("seen"), false)
    );
    let next = next["id"].as_str().unwrap();
    shop.deposit_stands(TEST, &id, "dropped", 0, "", "0.00");
    shop.deposit_stands(TEST, same, "dropped", 0, "", "0.00");
    shop.deposit_stands(TEST, next, "detected", 0, "", "0.00");
    let deposit = shop.deposit(TEST, next);
    assert_eq!(
        (&deposit["createdAt"], &deposit["amountCrypto"]),
        (&json!(shop.now()), &json!("20"))
    );
    shop.post(&path, None, body.clone())
        .assert_error(409, "invalid_transition", Some("state"));
    for state in ["dropped", "orphaned"] {
        shop.post(&path, None, json!({ "state": state }))
            .assert_error(409, "invalid_transition", Some("state"));
    }
    shop.move_payment(next, "confirmed");
    shop.post(&format!("{PATH}/{next}"), None, body)
        .assert_error(409, "invalid_transition", Some("state"));
    assert!(findings(shop.file()).is_empty());
}

#[test]
fn what_a_customers_address_is_paid_in_has_to_be_told() {
    let shop = shop();
    let (evm, utxo) = (
        shop.address_of(TEST, "ada", "evm"),
        shop.address_of(TEST, "ada", "utxo"),
    );
    for (body, code, param) in [
        (
            json!({ "address": evm, "amount": "1" }),
            "invalid_request",
            "asset",
        ),
        (
            json!({ "address": evm, "asset": "ETH" }),
            "invalid_request",
            "amount",
        ),
        (
            json!({ "address": evm, "asset": "XMR", "amount": "1" }),
            "coin_unavailable",
            "asset",
        ),
        (
            json!({ "address": utxo, "asset": "LTC", "amount": "1" }),
            "coin_unavailable",
            "asset",
        ),
        (json!({ "address": utxo }), "invalid_request", "amount"),
        (
            json!({ "address": utxo, "amount": "9".repeat(30) }),
            "invalid_request",
            "amount",
        ),
    ] {
        shop.post(PATH, None, body)
            .assert_error(400, code, Some(param));
    }
    let list = shop.get("/v1/deposits", Some(TEST)).expect(200).json();
    assert_eq!(list["data"], json!([]));
    // One destination, written in another way; the coins share it.
    let lower = evm.to_lowercase();
    for asset in ["ETH", "USDC-POLYGON"] {
        let id = shop.pay(json!({ "address": lower, "asset": asset, "amount": "1" }));
        let deposit = shop.deposit(TEST, &id);
        assert_eq!(
            (&deposit["address"], &deposit["asset"]),
            (&json!(evm), &json!(asset))
        );
    }
}
