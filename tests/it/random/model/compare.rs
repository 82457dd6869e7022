//! Comparison of the service with the model: invoices, balances, the ledger and the events.

use super::paper::format_cents;
use super::{ModelHistory, account_key};
use coffer::domain::Time;
use serde_json::{Value, json};

impl ModelHistory {
    /// Asserts that an invoice of the service equals the invoice of the model.
    pub(super) fn assert_invoice_matches(&mut self, at: usize) {
        let invoice = &mut self.world.invoices[at];
        let path = format!("/v1/invoices/{}", invoice.id);
        let told = self.shop.get(&path, account_key(invoice.live)).expect(200).json();
        let coin = invoice.coin();
        if let Some(coin) = coin {
            let address = told["depositAddress"].as_str().unwrap().to_owned();
            let claimed = invoice.addresses.entry(coin.pool).or_insert(address.clone());
            assert_eq!(*claimed, address, "one address for each pool");
        }
        let time = |at: i64| Time(at).to_string();
        let paid = ["confirmed", "overpaid"].contains(&invoice.status);
        let expected = json!({
            "status": invoice.status, "paid": paid, "livemode": invoice.live,
            "asset": coin.map(|coin| coin.id),
            "rate": coin.map(|coin| coin.rate_text(invoice.currency)),
            "amountExpected": coin.map(|coin| coin.format_amount(coin.units_for_price(invoice.amount, invoice.currency))),
            "amountReceived": coin.zip(invoice.received_units()).map(|(coin, units)| coin.format_amount(units)),
            "createdAt": time(invoice.created_at), "expiresAt": time(invoice.expires_at),
            "confirmedAt": invoice.confirmed_at.map(time), "refundedAmount": null,
        });
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&told[field], value, "{field} of {at}");
        }
    }

    pub(super) fn assert_balances_match(&self) {
        for live in [false, true] {
            let told = self.shop.get("/v1/balances", account_key(live)).expect(200).json();
            for (at, currency) in ["EUR", "USD"].into_iter().enumerate() {
                let booked = |kind| format_cents(self.world.ledger_sum(live, currency, kind));
                let expected = json!({
                    "currency": currency, "available": booked(None), "sales": booked(Some("sale")),
                    "fees": booked(Some("fee")), "pending": format_cents(self.world.pending_net(live, currency)),
                    "reserved": "0.00", "payouts": "0.00", "refunds": "0.00",
                });
                assert_eq!(told["data"][at], expected, "live {live}");
            }
        }
    }

    /// Returns the items of all pages of a list, oldest first.
    pub(super) fn list_items_of_all_pages(&self, path: &str, live: bool) -> Vec<Value> {
        let (mut found, mut before) = (Vec::new(), String::new());
        loop {
            let page = self
                .shop
                .get(&format!("{path}limit=200{before}"), account_key(live))
                .expect(200)
                .json();
            found.extend(page["data"].as_array().unwrap().clone());
            match page["nextBefore"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        found.reverse();
        found
    }

    pub(super) fn assert_ledger_and_events_match(&self) {
        for live in [false, true] {
            let told = self.list_items_of_all_pages("/v1/ledger?", live);
            let expected = self.world.ledger.iter().filter(|entry| entry.live == live);
            let expected: Vec<Value> = expected
                .map(|entry| {
                    json!([
                        entry.kind,
                        format_cents(entry.amount),
                        entry.currency,
                        entry.fee_bps,
                        "invoice",
                        entry.invoice,
                        Time(entry.at).to_string(),
                        live
                    ])
                })
                .collect();
            let fields = [
                "kind",
                "amount",
                "currency",
                "feeBps",
                "refType",
                "refId",
                "createdAt",
                "livemode",
            ];
            let told: Vec<Value> = told
                .iter()
                .map(|entry| fields.iter().map(|field| entry[field].clone()).collect())
                .collect();
            assert_eq!(told, expected);
        }
        for invoice in &self.world.invoices {
            let told = self.list_items_of_all_pages(
                &format!("/v1/events?object={}&", invoice.id),
                invoice.live,
            );
            let told: Vec<_> = told
                .iter()
                .map(|event| {
                    let text = |value: &Value| value.as_str().unwrap().to_owned();
                    let at: Time = text(&event["created"]).parse().unwrap();
                    (text(&event["type"]), text(&event["data"]["object"]["status"]), at.0)
                })
                .collect();
            assert_eq!(told, invoice.events);
        }
    }
}
