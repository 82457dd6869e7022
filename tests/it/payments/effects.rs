//! Payments after the first payment of an invoice: top-ups, dropped and returning payments, payments in a coin that
//! was selected earlier.
//!
//! Every invoice is over 100.00 EUR, which is 1.25 LTC.

use crate::support::{Shop, TEST};
use serde_json::{Value, json};

/// Creates a shop with an invoice that waits for 1.25 LTC, and returns the shop and the invoice's id.
#[track_caller]
pub fn create_waiting_invoice() -> (Shop, String) {
    let shop = Shop::open();
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    (shop, invoice["id"].as_str().unwrap().to_owned())
}

#[test]
fn each_reversal_reverts_status_and_balance() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    let mut booked = String::new();
    let mut stands = |state: Option<&str>, more: &str, expected: &str| {
        if let Some(state) = state {
            shop.set_payment_state(&payment, state);
        }
        booked += more;
        assert_eq!(shop.invoice_and_ledger_state(&id), format!("{expected}:{booked}"));
    };
    let adjusted = " adjustment adjustment";
    stands(None, "", "detected \"1.25\" null \"0.00\"");
    stands(Some("confirmed"), " sale fee", "confirmed \"1.25\" since \"99.00\"");
    for _ in 0..2 {
        stands(Some("orphaned"), adjusted, "detected \"1.25\" null \"0.00\"");
        stands(Some("confirmed"), adjusted, "confirmed \"1.25\" since \"99.00\"");
    }
    // A dropped confirmed payment fails the invoice at once, before the deadline, so that the merchant does not ship.
    stands(Some("dropped"), adjusted, "failed null null \"0.00\"");
    stands(Some("seen"), "", "detected \"1.25\" null \"0.00\"");
    stands(Some("confirmed"), adjusted, "confirmed \"1.25\" since \"99.00\"");
    shop.assert_audit_clean();
}

impl Shop {
    /// Returns an invoice's status, received amount, confirmation time and available balance, then the kinds of all
    /// ledger entries, oldest first.
    #[track_caller]
    fn invoice_and_ledger_state(&self, id: &str) -> String {
        let get = |path: &str| self.get(path, Some(TEST)).expect(200).json();
        let (invoice, ledger) = (self.get_invoice(id), get("/v1/ledger?limit=100"));
        let entries = ledger["data"].as_array().unwrap().iter().rev();
        let kinds: String =
            entries.map(|entry| format!(" {}", entry["kind"].as_str().unwrap())).collect();
        let since = match invoice["confirmedAt"].is_string() {
            true => "since",
            false => "null",
        };
        let available = &get("/v1/balances")["data"][0]["available"];
        let (status, received) = (invoice["status"].as_str().unwrap(), &invoice["amountReceived"]);
        format!("{status} {received} {since} {available}:{kinds}")
    }

    /// Pays, confirms the payment, and returns the payment's id.
    #[track_caller]
    fn pay_in_full(&self, body: Value) -> String {
        let payment = self.pay(body);
        self.set_payment_state(&payment, "confirmed");
        payment
    }

    #[track_caller]
    pub fn select_asset(&self, id: &str, asset: &str) -> Value {
        let path = format!("/v1/invoices/{id}/select");
        let answer = self.post(&path, Some(TEST), json!({ "asset": asset }));
        answer.expect(200).json()
    }
}

#[test]
fn second_payment_tops_up_an_underpaid_invoice() {
    let (shop, id) = create_waiting_invoice();
    shop.pay_in_full(json!({ "invoice": id, "amount": "0.625" }));
    let rest = shop.pay(json!({ "invoice": id }));
    let booked = "sale 50.00, fee -0.50";
    let told = "created detected underpaid detected";
    shop.assert_invoice(&id, "detected", told, booked, ["49.50", "49.50"]);
    assert_eq!(shop.get_invoice(&id)["amountReceived"], "1.25");
    shop.set_payment_state(&rest, "confirmed");
    let booked = "sale 50.00, fee -0.50, sale 50.00, fee -0.50";
    let told = "created detected underpaid detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, booked, ["99.00", "0.00"]);
}

#[test]
fn top_up_after_the_deadline_is_paid_late() {
    let (shop, id) = create_waiting_invoice();
    shop.pay_in_full(json!({ "invoice": id, "amount": "0.625" }));
    shop.advance("20m");
    let rest = shop.pay(json!({ "invoice": id }));
    let told = "created detected underpaid";
    shop.assert_invoice(&id, "underpaid", told, "sale 50.00, fee -0.50", ["49.50", "0.00"]);
    shop.set_payment_state(&rest, "confirmed");
    let booked = "sale 50.00, fee -0.50, sale 50.00, fee -0.50";
    let told = "created detected underpaid paid_late";
    shop.assert_invoice(&id, "paid_late", told, booked, ["99.00", "0.00"]);
    assert_eq!(shop.get_invoice(&id)["confirmedAt"], Value::Null);
}

#[test]
fn two_seen_half_payments_make_the_invoice_detected() {
    let (shop, id) = create_waiting_invoice();
    let first = shop.pay(json!({ "invoice": id, "amount": "0.625" }));
    let second = shop.pay(json!({ "invoice": id }));
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "99.00"]);
    shop.set_payment_state(&first, "confirmed");
    let told = "created detected detected";
    shop.assert_invoice(&id, "detected", told, "sale 50.00, fee -0.50", ["49.50", "49.50"]);
    shop.set_payment_state(&second, "confirmed");
    let booked = "sale 50.00, fee -0.50, sale 50.00, fee -0.50";
    let told = "created detected detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, booked, ["99.00", "0.00"]);
}

#[test]
fn further_confirmed_payment_repeats_the_status_event() {
    let (shop, id) = create_waiting_invoice();
    shop.pay_in_full(json!({ "invoice": id, "amount": "1.5" }));
    shop.pay_in_full(json!({ "invoice": id, "amount": "0.0125" }));
    let booked = "sale 120.00, fee -1.20, sale 1.00, fee -0.01";
    let told = "created detected overpaid overpaid";
    shop.assert_invoice(&id, "overpaid", told, booked, ["119.79", "0.00"]);
}

#[test]
fn dropped_payment_reverts_the_status_and_may_return() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    shop.set_payment_state(&payment, "dropped");
    shop.assert_invoice(&id, "awaiting_payment", "created detected", "", ["0.00", "0.00"]);
    shop.set_payment_state(&payment, "seen");
    let told = "created detected detected";
    shop.assert_invoice(&id, "detected", told, "", ["0.00", "99.00"]);
    shop.set_payment_state(&payment, "dropped");
    shop.select_asset(&id, "SOL");
    shop.advance("30m");
    shop.set_payment_state(&payment, "confirmed");
    let told = "created detected detected failed confirmed";
    let booked = "sale 100.00, fee -1.00";
    shop.assert_invoice(&id, "confirmed", told, booked, ["99.00", "0.00"]);
    assert_eq!(shop.get_invoice(&id)["asset"], "LTC", "the coin of the payment");
}

#[test]
fn each_reorg_of_a_payment_books_an_adjustment() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay_in_full(json!({ "invoice": id }));
    let mut booked = "sale 100.00, fee -1.00".to_owned();
    let mut told = "created detected confirmed".to_owned();
    for _ in 0..2 {
        shop.set_payment_state(&payment, "orphaned");
        booked += ", adjustment -100.00, adjustment 1.00";
        told += " detected";
        shop.assert_invoice(&id, "detected", &told, &booked, ["0.00", "99.00"]);
        shop.advance("1h");
        shop.set_payment_state(&payment, "confirmed");
        booked += ", adjustment 100.00, adjustment -1.00";
        told += " confirmed";
        shop.assert_invoice(&id, "confirmed", &told, &booked, ["99.00", "0.00"]);
        assert_eq!(shop.get_invoice(&id)["confirmedAt"], json!(shop.now()));
    }
    shop.update_account(json!({ "feeBps": 500 }));
    shop.set_payment_state(&payment, "dropped");
    booked += ", adjustment -100.00, adjustment 1.00";
    told += " failed";
    shop.assert_invoice(&id, "failed", &told, &booked, ["0.00", "0.00"]);
}

#[test]
fn dropped_payment_leaves_other_payments_booked() {
    let (shop, id) = create_waiting_invoice();
    let first = shop.pay_in_full(json!({ "invoice": id }));
    shop.pay_in_full(json!({ "invoice": id }));
    shop.set_payment_state(&first, "dropped");
    let booked =
        "sale 100.00, fee -1.00, sale 100.00, fee -1.00, adjustment -100.00, adjustment 1.00";
    let told = "created detected confirmed overpaid confirmed";
    shop.assert_invoice(&id, "confirmed", told, booked, ["99.00", "0.00"]);
}

#[test]
fn reversal_uses_the_booked_fee() {
    let shop = Shop::open();
    shop.update_account(json!({ "feeBps": 10_000 }));
    let id = shop.create_invoice("100.00", json!({ "asset": "LTC" }))["id"].clone();
    shop.pay_in_full(json!({ "invoice": id, "amount": "0.25" }));
    shop.update_account(json!({ "feeBps": 0 }));
    let all = shop.pay_in_full(json!({ "invoice": id, "amount": "1" }));
    let booked = "sale 20.00, fee -20.00, sale 80.00";
    let id = id.as_str().unwrap();
    let told = "created detected underpaid detected confirmed";
    shop.assert_invoice(id, "confirmed", told, booked, ["80.00", "0.00"]);
    shop.set_payment_state(&all, "dropped");
    let booked = format!("{booked}, adjustment -80.00");
    let told = format!("{told} underpaid");
    shop.assert_invoice(id, "underpaid", &told, &booked, ["0.00", "0.00"]);
}

#[test]
fn payment_in_an_earlier_selected_coin_counts_at_the_rate_of_that_coin() {
    let shop = Shop::open();
    let id = shop.create_invoice("100.00", json!({}))["id"].as_str().unwrap().to_owned();
    let litecoin = shop.select_asset(&id, "LTC");
    let solana = shop.select_asset(&id, "SOL");
    assert_ne!(litecoin["depositAddress"], solana["depositAddress"]);
    assert_eq!(shop.select_asset(&id, "LTC"), litecoin, "the earlier quote is unchanged");
    assert_eq!(shop.select_asset(&id, "SOL"), solana);
    let older = shop.pay(json!({ "address": litecoin["depositAddress"], "amount": "0.625" }));
    let seen = shop.get_invoice(&id);
    for field in ["asset", "rate", "amountExpected", "depositAddress"] {
        assert_eq!(seen[field], litecoin[field], "{field}");
    }
    // The SOL payment counts towards the invoice, but is not part of the amount received in LTC.
    let newer = shop.pay(json!({ "invoice": id, "asset": "SOL" }));
    assert_eq!(shop.get_invoice(&id)["amountReceived"], "0.625");
    shop.set_payment_state(&older, "confirmed");
    shop.set_payment_state(&newer, "confirmed");
    let booked = "sale 50.00, fee -0.50, sale 50.00, fee -0.50";
    let told = "created detected detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, booked, ["99.00", "0.00"]);
    let path = "/sandbox/payments";
    shop.post(path, None, json!({ "invoice": id, "asset": "BTC" })).assert_error(
        400,
        "coin_unavailable",
        Some("asset"),
    );
}

#[test]
fn newest_selected_coin_is_shown_again_when_all_payments_drop() {
    let shop = Shop::open();
    let id = shop.create_invoice("100.00", json!({}))["id"].as_str().unwrap().to_owned();
    shop.select_asset(&id, "LTC");
    shop.select_asset(&id, "SOL");
    let first = shop.pay(json!({ "invoice": id, "asset": "LTC", "amount": "0.1" }));
    let second = shop.pay(json!({ "invoice": id, "amount": "0.1" }));
    assert_eq!(
        shop.get_invoice(&id)["amountReceived"],
        "0.2",
        "both payments in the coin of the invoice"
    );
    shop.set_payment_state(&first, "dropped");
    shop.set_payment_state(&second, "dropped");
    assert_eq!(shop.get_invoice(&id)["asset"], "SOL");
}

#[test]
fn payment_at_the_tolerance_bound_confirms_the_invoice() {
    for (amount, status) in [
        ("1.24375", "confirmed"),
        ("1.24362", "underpaid"),
        ("1.25625", "confirmed"),
        ("1.25638", "overpaid"),
    ] {
        let (shop, id) = create_waiting_invoice();
        shop.pay_in_full(json!({ "invoice": id, "amount": amount }));
        assert_eq!(shop.get_invoice(&id)["status"], status, "{amount}");
    }
}

#[test]
fn zero_amount_is_rejected() {
    let (shop, id) = create_waiting_invoice();
    let path = "/sandbox/payments";
    shop.post(path, None, json!({ "invoice": id, "amount": "0" })).assert_error(
        400,
        "invalid_request",
        Some("amount"),
    );
    let outputs = json!([
        { "invoice": id, "amount": "0" },
        { "invoice": id, "amount": "0.00" },
    ]);
    let none = shop.post(path, None, json!({ "outputs": outputs })).expect(200);
    assert_eq!(none.json(), json!({ "data": [] }));
    shop.assert_invoice(&id, "awaiting_payment", "created", "", ["0.00", "0.00"]);
    let seen = shop.pay(json!({ "invoice": id }));
    let body = json!({ "state": "replaced", "amount": "0" });
    shop.post(&format!("{path}/{seen}"), None, body).assert_error(
        400,
        "invalid_request",
        Some("amount"),
    );
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "99.00"]);
    shop.assert_audit_clean();
}

#[test]
fn payment_below_one_cent_pays_no_invoice() {
    let (shop, id) = create_waiting_invoice();
    let put = |amount: &str| {
        let body = json!({ "invoice": id, "amount": amount });
        shop.post("/sandbox/payments", None, body).expect(201).json()
    };
    // At 80 EUR for one coin, these amounts are worth 0.0099992 EUR and 0.01 EUR.
    assert_eq!(put("0.00012499")["state"], "unmatched");
    shop.assert_invoice(&id, "awaiting_payment", "created", "", ["0.00", "0.00"]);
    let reasons = shop.query_text("select group_concat(reason) from unmatched_payments");
    assert_eq!(reasons, "dust");
    assert_eq!(put("0.000125")["state"], "seen");
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "0.01"]);
    // The coin stays selected although the payment in this coin was dust.
    let other = shop.create_invoice("100.00", json!({}));
    let body = json!({ "invoice": other["id"], "asset": "SOL", "amount": "0.000000001" });
    shop.post("/sandbox/payments", None, body).expect(201);
    let other = shop.get_invoice(other["id"].as_str().unwrap());
    assert_eq!((&other["status"], &other["asset"]), (&json!("awaiting_payment"), &json!("SOL")));
    shop.assert_audit_clean();
}
