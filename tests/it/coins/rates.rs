//! Rates: what is priced at which, what keeps where its rate came from, and what a stale rate holds up.

use crate::coins::table::COINS;
use crate::file::audit::findings;
use crate::file::old_files::{column, opened};
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop, TEST};
use serde_json::json;

/// One more millisecond than a fresh rate may be old.
const JUST_STALE: &str = "180001";

impl Shop {
    /// An invoice over 100.00 EUR in litecoin; its id.
    #[track_caller]
    fn in_litecoin(&self, key: &str) -> String {
        let body = json!({ "amount": "100.00", "currency": "EUR", "asset": "LTC" });
        let made = self.post("/v1/invoices", Some(key), body).expect(201);
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// Pretends that live mode's rates are stale, or no longer.
    #[track_caller]
    fn rates_are_stale(&self, are: bool) {
        if are {
            let body = json!({ "rates": "stale" });
            self.post("/sandbox/faults", None, body).expect(200);
        } else {
            self.send("DELETE", "/sandbox/faults", &[], "").expect(204);
        }
    }

    /// At which rate by whom the one with this id is priced, and how long before a moment of its own that was.
    #[track_caller]
    fn priced(&self, table: &str, moment: &str, id: &str) -> String {
        self.query_text(&format!(
            "select concat_ws(' ', rate, rate_source, {moment} - rate_at) from {table} where id = '{id}'"
        ))
    }
}

#[test]
fn a_quote_keeps_where_its_rate_came_from() {
    let shop = Shop::open();
    let quotes = "select group_concat(concat_ws(' ', i.mode, q.rate, q.rate_source, q.created_at - q.rate_at), ', ')
        from quotes q join invoices i on i.seq = q.invoice";
    let kept = "test 80 fixed 0, live 80 fixed 0";
    for key in [TEST, LIVE] {
        let id = shop.in_litecoin(key);
        shop.advance("1m");
        // Picked again it is the same quote.
        let path = format!("/v1/invoices/{id}/select");
        shop.post(&path, Some(key), json!({ "asset": "LTC" }))
            .expect(200);
    }
    assert_eq!(shop.query_text(quotes), kept);
    shop.is_right();
}

#[test]
fn a_payment_in_time_has_its_quotes_rate_and_a_late_one_that_of_the_day() {
    let shop = Shop::open();
    for (key, is_stale, age) in [
        (TEST, false, "0"),
        (LIVE, false, "0"),
        (TEST, true, "0"),
        (LIVE, true, JUST_STALE),
    ] {
        let id = shop.in_litecoin(key);
        // As if it had been half of what it is now when the coin was picked.
        shop.execute_sql("update quotes set rate = '40'; update invoices set rate = '40'; update payments set rate = '40' where on_time");
        shop.rates_are_stale(is_stale);
        shop.advance("1m");
        let pay = |amount: &str| {
            let paid = shop.pay(json!({ "invoice": id, "amount": amount }));
            shop.move_payment(&paid, "confirmed");
            paid
        };
        let in_time = pay("1");
        shop.advance("1h");
        let late = pay("1");
        assert_eq!(
            shop.priced("payments", "created_at", &in_time),
            "40 fixed 60000"
        );
        assert_eq!(
            shop.priced("payments", "created_at", &late),
            format!("80 fixed {age}")
        );
        assert_eq!(
            shop.invoice_ledger(&id, key),
            "sale 40.00, fee -0.40, sale 80.00, fee -0.80"
        );
        shop.rates_are_stale(false);
    }
}

#[test]
fn a_deposit_is_shown_at_the_newest_rate_and_booked_at_that_of_its_block() {
    let shop = Shop::open();
    for (key, age) in [(TEST, "0"), (LIVE, JUST_STALE)] {
        shop.addresses(key, "ada").expect(201);
        let address = shop.address_of(key, "ada", "utxo");
        shop.rates_are_stale(true);
        let id = shop.pay(json!({ "address": address, "amount": "0.001" }));
        assert_eq!(
            shop.priced("deposits", "created_at", &id),
            format!("60000 fixed {age}")
        );
        // As if it had been another one then.
        shop.execute_sql(&format!(
            "update deposits set rate = '50000', gross = 5000, fee = 50 where id = '{id}'"
        ));
        assert_eq!(shop.deposit(key, &id)["grossEur"], "50.00");
        shop.rates_are_stale(false);
        shop.advance("10m");
        shop.move_payment(&id, "confirmed");
        shop.deposit_stands(key, &id, "confirmed", 1, "sale 60.00, fee -0.60", "59.40");
        assert_eq!(shop.priced("deposits", "fixed_at", &id), "60000 fixed 0");
        // It stays, whatever becomes of the block.
        shop.advance("10m");
        for state in ["orphaned", "confirmed"] {
            shop.move_payment(&id, state);
            assert_eq!(
                shop.priced("deposits", "created_at", &id),
                "60000 fixed -600000"
            );
        }
        shop.is_right();
    }
}

#[test]
fn where_rates_are_stale_no_coin_is_on_offer_and_money_on_its_way_goes_on() {
    let shop = Shop::open();
    let funded = shop.fund(LIVE, "500.00", "EUR");
    let refund = shop.refund(&funded, Some("30.00"));
    let (open, test) = (shop.in_litecoin(LIVE), shop.in_litecoin(TEST));
    shop.rates_are_stale(true);
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
    shop.move_payment(&paid, "confirmed");
    shop.apply("refunds", &refund, &["approve", "process", "pay"]);
    shop.is_right();
}

/// What was priced before rates had sources was priced by the fixed table.
#[test]
fn what_an_older_file_priced_was_priced_by_the_fixed_table() {
    for version in ["v1", "v2", "v2_chains", "v3"] {
        let scratch = Scratch::new();
        let [file, old] = ["file.db", "old.db"].map(|name| scratch.old_file(version, name));
        let (mut process, _) = opened(&file);
        assert!(process.close());
        for table in ["quotes", "payments", "deposits"] {
            let is_there =
                format!("select name from sqlite_schema where type = 'table' and name = '{table}'");
            if column(&old, &is_there).is_empty() {
                continue;
            }
            let rates = format!("select rate from {table} order by seq");
            assert_eq!(column(&file, &rates), column(&old, &rates), "{version}");
            let sources = format!("select distinct rate_source from {table}");
            assert_eq!(column(&file, &sources), ["fixed"], "{version}");
        }
        let of_another_moment = "select id from payments p where p.rate_at <> iif(p.on_time,
            (select q.created_at from quotes q where q.seq = p.quote), p.created_at)";
        let not_as_booked = "select id from deposits d where (d.fixed_at is null) = d.was_confirmed
            or d.fixed_at <> (select min(l.created_at) from ledger l where l.deposit = d.seq and l.kind = 'sale')";
        for wrong in [of_another_moment, not_as_booked] {
            assert_eq!(column(&file, wrong), Vec::<String>::new(), "{version}");
        }
        assert_eq!(findings(&file), Vec::<String>::new(), "{version}");
    }
}
