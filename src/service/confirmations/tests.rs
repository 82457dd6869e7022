//! Tests of confirmation tiers: at each edge of a tier, a payment is confirmed by exactly the needed number of
//! confirmations.

#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use crate::domain::asset::Chain;
use crate::domain::confirmations::OnChain;
use crate::domain::{
    Asset, Block, ChainPosition, ChainStep, ChainStepOutcome, ConfirmationTiers, Currency, Depth,
    Invoice, Mode, Observation, PaymentState, Units,
};
use crate::service::chains::apply::{BatchLimit, BatchStart};
use crate::service::observations::record_observation;
use crate::service::tests::{
    NOW, TempFile, block_on, live_caller, live_service, request_without_key, seeded_service, write,
};
use crate::service::{Requester, Service, Step};
use crate::store::chain_cursors::{self, ChainCursor};
use crate::store::{confirmation_tiers, invoices, payments, quotes};
use serde_json::{Value, json};
use std::sync::Arc;

/// Height of the block that contains all payments.
const HEIGHT: u32 = 1000;

fn litecoin() -> &'static Asset {
    Asset::find("LTC").unwrap()
}

/// A service with real live mode, and a sandbox on the same file. The sandbox provides the prices of coins.
struct TestShop {
    simulated: Arc<Service>,
    real: Arc<Service>,
    /// Number of transactions that were sent.
    sent: usize,
    _file: TempFile,
}

impl TestShop {
    fn new() -> TestShop {
        let (simulated, file) = seeded_service();
        TestShop { real: live_service(&file), simulated, sent: 0, _file: file }
    }

    /// Creates an invoice of this price, with litecoin selected.
    #[track_caller]
    fn create_invoice(&self, price: &str, currency: &str) -> Invoice {
        let (service, caller) = (&self.simulated, live_caller(&self.simulated));
        let body = json!({ "amount": price, "currency": currency, "asset": "LTC" });
        let (requester, request) = (Requester::Key(caller.key_id()), request_without_key(&body));
        let made = block_on(service.create_invoice(NOW, &caller, requester, request)).unwrap();
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let id = made.get("id").and_then(Value::as_str).unwrap().to_owned();
        write(service, NOW, move |step| Ok(invoices::by_id(step.tx, &id)?.unwrap()))
    }

    /// Pays this many cents of an invoice, in the block at `HEIGHT`.
    #[track_caller]
    fn pay_invoice(&mut self, invoice: &Invoice, cents: i64) {
        self.sent = self.sent.saturating_add(1);
        let (of, txid) = (invoice.seq, format!("t{}", self.sent));
        let rate_in_tenths = match invoice.currency {
            Currency::Eur => 800,
            Currency::Usd => 864,
        };
        write(&self.real, NOW, move |step| {
            let Step { tx, .. } = *step;
            let quote = quotes::of_invoice(tx, of)?.remove(0);
            let worth = u128::try_from(cents).unwrap();
            let units = (worth * 10_000_000 + rate_in_tenths / 2) / rate_in_tenths;
            let seen = Observation {
                mode: Mode::Live,
                asset: litecoin(),
                txid,
                position: 0,
                address: quote.address,
                amount: Units(units),
                seen_at: NOW,
                block: Some(Block { height: HEIGHT, hash: "h".to_owned() }),
                spends: Vec::new(),
            };
            record_observation(step, &seen, None)?.unwrap().into_booked_owner()?;
            let all = payments::of_invoice(tx, of)?;
            assert_eq!(all.last().unwrap().value.0, cents);
            Ok(())
        });
    }

    /// Moves the cursor so that the block at `HEIGHT` has this many confirmations.
    #[track_caller]
    fn set_confirmations(&self, confirmations: u32) {
        let block = Block {
            height: HEIGHT.saturating_add(confirmations).saturating_sub(1),
            hash: "h".to_owned(),
        };
        let reached = ChainPosition { block: block.clone(), time: NOW };
        let cursor = ChainCursor {
            chain: Chain::Litecoin,
            network: "main".to_owned(),
            reached: reached.clone(),
            complete: block.clone(),
            head_height: block.height,
            head_time: NOW,
            stepped_at: NOW,
            stopped: None,
        };
        write(&self.real, NOW, move |step| Ok(chain_cursors::put(step.tx, &cursor)?));
        let step = Arc::new(ChainStep {
            chain: Chain::Litecoin,
            network: "main".to_owned(),
            head: reached,
            from: None,
            keep: Vec::new(),
            outcome: ChainStepOutcome::RolledBackTo(block),
        });
        let mut part = BatchStart::Confirm(0);
        while part != BatchStart::Done {
            let bound = BatchLimit::new(1, || true);
            part = self.real.apply_chain_step(NOW, &step, part, bound).unwrap();
        }
    }

    /// Returns the state of each payment on its chain, and whether the payment is confirmed.
    #[track_caller]
    fn payment_states(&self, invoice: &Invoice) -> Vec<(OnChain, bool)> {
        let stands = self.real.read(|db| {
            let payments = payments::of_invoice(db, invoice.seq)?;
            let on_chain = self.real.on_chain_reader().read_states(db, &payments)?;
            let states = payments.iter().map(|one| one.state);
            Ok(on_chain.into_iter().zip(states.map(PaymentState::is_confirmed)).collect())
        });
        stands.unwrap()
    }

    /// Asserts that each payment needs this many confirmations, and is confirmed by exactly this many.
    #[track_caller]
    fn assert_needed_confirmations(&self, invoice: &Invoice, needed: u32) {
        for fewer in 1..needed {
            self.set_confirmations(fewer);
            for (on_chain, is_confirmed) in self.payment_states(invoice) {
                assert!(!is_confirmed, "{fewer} of {needed}");
                assert_eq!(on_chain.confirmations, Some(fewer));
                assert_eq!(on_chain.confirmations_needed, Some(Depth::Blocks(needed)));
                let url = on_chain.explorer_url.unwrap();
                assert!(url.starts_with("https://litecoinspace.org/tx/t"), "{url}");
            }
        }
        self.set_confirmations(needed);
        for (on_chain, is_confirmed) in self.payment_states(invoice) {
            assert!(is_confirmed, "{needed}");
            assert_eq!((on_chain.confirmations, on_chain.confirmations_needed), (None, None));
        }
    }
}

#[test]
fn price_and_sum_of_payments_select_the_tier() {
    for currency in ["EUR", "USD"] {
        for (price, paid, needed) in [
            // Columns: price, payments in cents, needed confirmations. The price selects the tier.
            ("249.99", &[24_999][..], 3),
            ("250.00", &[25_000], 6),
            ("2499.99", &[249_999], 6),
            ("2500.00", &[250_000], 12),
            // The price selects the tier, although the payment is smaller.
            ("249.99", &[2], 3),
            ("250.00", &[2], 6),
            ("2500.00", &[2], 12),
            // The payment exceeds the price and selects the tier.
            ("1.00", &[24_999], 3),
            ("1.00", &[25_000], 6),
            ("249.99", &[249_999], 6),
            ("250.00", &[250_000], 12),
            // The sum of all unconfirmed payments selects the tier.
            ("20.00", &[12_500, 12_499], 3),
            ("20.00", &[12_500, 12_500], 6),
            ("249.99", &[24_999, 2], 6),
            ("20.00", &[83_333, 83_333, 83_333], 6),
            ("20.00", &[83_333, 83_333, 83_334], 12),
        ] {
            let mut shop = TestShop::new();
            let invoice = shop.create_invoice(price, currency);
            for cents in paid {
                shop.pay_invoice(&invoice, *cents);
            }
            shop.assert_needed_confirmations(&invoice, needed);
        }
    }
}

#[test]
fn new_tiers_apply_at_once_and_unconfirm_nothing() {
    let mut shop = TestShop::new();
    let [one, two] = ["100.00", "200.00"].map(|price| shop.create_invoice(price, "EUR"));
    shop.pay_invoice(&one, 10_000);
    shop.pay_invoice(&two, 20_000);
    let set = |tiers: Value| {
        let tiers = ConfirmationTiers::read(litecoin(), "LTC", &tiers).unwrap();
        write(&shop.real, NOW, move |step| {
            Ok(confirmation_tiers::set_tiers(step.tx, litecoin(), Some(&tiers))?)
        });
    };
    let needed = |invoice: &Invoice| shop.payment_states(invoice).remove(0).0.confirmations_needed;
    shop.set_confirmations(2);
    assert_eq!([needed(&one), needed(&two)], [Some(Depth::Blocks(3)); 2]);
    set(json!([{ "below": "100.01", "confirmations": 2 }, { "confirmations": 200 }]));
    assert_eq!([needed(&one), needed(&two)], [Some(Depth::Blocks(2)), Some(Depth::Blocks(200))]);
    shop.set_confirmations(2);
    assert_eq!([needed(&one), needed(&two)], [None, Some(Depth::Blocks(200))]);
    set(json!([{ "confirmations": 150 }]));
    shop.set_confirmations(149);
    assert!(shop.payment_states(&one).remove(0).1);
    assert!(!shop.payment_states(&two).remove(0).1);
    shop.set_confirmations(150);
    assert!(shop.payment_states(&two).remove(0).1);
}
