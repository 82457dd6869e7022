//! Exchange rates of quotes, payments and deposits: their source, and the effect of stale rates.

use crate::coins::table::COINS;
use crate::support::{LIVE, Shop, TEST};
use serde_json::json;

/// Age of a stale rate, in milliseconds: one more than the maximum age of a fresh rate.
const STALE_RATE_AGE_MS: &str = "180001";

impl Shop {
    /// Creates an invoice of 100.00 EUR in litecoin and returns its id.
    #[track_caller]
    fn create_litecoin_invoice(&self, key: &str) -> String {
        let body = json!({ "amount": "100.00", "currency": "EUR", "asset": "LTC" });
        self.post("/v1/invoices", Some(key), body).expect(201).id()
    }

    /// Turns the stale-rates fault of live mode on or off.
    #[track_caller]
    fn set_rates_stale(&self, are: bool) {
        if are {
            let body = json!({ "rates": "stale" });
            self.post("/sandbox/faults", None, body).expect(200);
        } else {
            self.send("DELETE", "/sandbox/faults", &[], "").expect(204);
        }
    }

    /// Returns rate, rate source and rate age of a row. The age is measured at the time in the column `moment`, in
    /// milliseconds.
    #[track_caller]
    fn rate_and_age(&self, table: &str, moment: &str, id: &str) -> String {
        self.query_text(&format!(
            "select concat_ws(' ', rate, rate_source, {moment} - rate_at) from {table} where id = '{id}'"
        ))
    }
}

#[test]
fn quote_keeps_its_rate_source() {
    let shop = Shop::open();
    let quotes = "select group_concat(concat_ws(' ', i.mode, q.rate, q.rate_source, q.created_at - q.rate_at), ', ')
        from quotes q join invoices i on i.seq = q.invoice";
    let kept = "test 80 fixed 0, live 80 fixed 0";
    for key in [TEST, LIVE] {
        let id = shop.create_litecoin_invoice(key);
        shop.advance("1m");
        // The second selection of the same coin keeps the quote.
        let path = format!("/v1/invoices/{id}/select");
        shop.post(&path, Some(key), json!({ "asset": "LTC" })).expect(200);
    }
    assert_eq!(shop.query_text(quotes), kept);
    shop.assert_audit_clean();
}

#[test]
fn late_payment_uses_current_rate_instead_of_quoted() {
    let shop = Shop::open();
    for (key, is_stale, age) in
        [(TEST, false, "0"), (LIVE, false, "0"), (TEST, true, "0"), (LIVE, true, STALE_RATE_AGE_MS)]
    {
        let id = shop.create_litecoin_invoice(key);
        // Simulates that the rate was half as high when the coin was selected.
        shop.execute_sql("update quotes set rate = '40'; update invoices set rate = '40'; update payments set rate = '40' where on_time");
        shop.set_rates_stale(is_stale);
        shop.advance("1m");
        let pay = |amount: &str| {
            let paid = shop.pay(json!({ "invoice": id, "amount": amount }));
            shop.set_payment_state(&paid, "confirmed");
            paid
        };
        let in_time = pay("1");
        shop.advance("1h");
        let late = pay("1");
        assert_eq!(shop.rate_and_age("payments", "created_at", &in_time), "40 fixed 60000");
        assert_eq!(shop.rate_and_age("payments", "created_at", &late), format!("80 fixed {age}"));
        assert_eq!(shop.invoice_ledger(&id, key), "sale 40.00, fee -0.40, sale 80.00, fee -0.80");
        shop.set_rates_stale(false);
    }
}

#[test]
fn deposit_is_booked_at_the_rate_of_its_block() {
    let shop = Shop::open();
    for (key, age) in [(TEST, "0"), (LIVE, STALE_RATE_AGE_MS)] {
        shop.create_addresses(key, "ada").expect(201);
        let address = shop.customer_address(key, "ada", "utxo");
        shop.set_rates_stale(true);
        let id = shop.pay(json!({ "address": address, "amount": "0.001" }));
        assert_eq!(shop.rate_and_age("deposits", "created_at", &id), format!("60000 fixed {age}"));
        // Simulates a rate that was different when the payment was seen.
        shop.execute_sql(&format!(
            "update deposits set rate = '50000', gross = 5000, fee = 50 where id = '{id}'"
        ));
        assert_eq!(shop.get_deposit(key, &id)["grossEur"], "50.00");
        shop.set_rates_stale(false);
        shop.advance("10m");
        shop.set_payment_state(&id, "confirmed");
        shop.assert_deposit(key, &id, "confirmed", 1, "sale 60.00, fee -0.60", "59.40");
        assert_eq!(shop.rate_and_age("deposits", "fixed_at", &id), "60000 fixed 0");
        // A reorg does not change the rate that the first confirmation fixed.
        shop.advance("10m");
        for state in ["orphaned", "confirmed"] {
            shop.set_payment_state(&id, state);
            assert_eq!(shop.rate_and_age("deposits", "created_at", &id), "60000 fixed -600000");
        }
        shop.assert_audit_clean();
    }
}

#[test]
fn coin_with_stale_rate_is_unavailable_but_payments_are_booked() {
    let shop = Shop::open();
    let funded = shop.fund_balance(LIVE, "500.00", "EUR");
    let refund = shop.create_refund(&funded, Some("30.00"));
    let (open, test) = (shop.create_litecoin_invoice(LIVE), shop.create_litecoin_invoice(TEST));
    shop.set_rates_stale(true);
    for (key, id, coins) in [(LIVE, &open, 0), (TEST, &test, COINS.len())] {
        let list = shop.get("/v1/currencies", Some(key)).expect(200).json();
        assert_eq!(list["data"].as_array().unwrap().len(), coins);
        let path = format!("/v1/invoices/{id}/select");
        let pick = |asset: &str| shop.post(&path, Some(key), json!({ "asset": asset }));
        pick("LTC").expect(200);
        if coins == 0 {
            pick("BTC").assert_error(400, "coin_unavailable", Some("asset"));
        } else {
            pick("BTC").expect(200);
        }
    }
    let paid = shop.pay(json!({ "invoice": open }));
    shop.set_payment_state(&paid, "confirmed");
    shop.apply_actions("refunds", &refund, &["approve", "process", "pay"]);
    shop.assert_audit_clean();
}
