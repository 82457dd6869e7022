//! Random histories of the real service on a real file. Each step is compared with a model. At the end, the ledger,
//! the events and the file are compared.
//!
//! Invariant: a history depends only on its seed. A failure prints the seed and the steps.

#![expect(clippy::arithmetic_side_effects, reason = "a count that overflows fails the test")]

mod compare;
mod invariants;
mod paper;
mod reference;
mod several;

use crate::support::dice::Dice;
use crate::support::{LIVE, Response, Shop, TEST};
use coffer::domain::Time;
use paper::{COINS, Coin, format_cents};
use reference::{ExpectedError, ExpectedState, ModelInvoice};
use serde_json::json;
use std::collections::BTreeMap;

/// Number of steps of one history.
const STEPS: usize = 150;
/// Maximum number of invoices of one history.
const INVOICES: usize = 5;

fn random_coin(dice: &mut Dice) -> &'static Coin {
    &COINS[dice.roll(COINS.len())]
}

/// A shop, its model, and the steps taken so far.
struct ModelHistory {
    seed: u64,
    dice: Dice,
    shop: Shop,
    world: ExpectedState,
    steps: Vec<String>,
}

impl Drop for ModelHistory {
    #[expect(clippy::print_stderr, reason = "a failed history is shown")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}:\n{}", self.seed, self.steps.join("\n"));
        }
    }
}

fn account_key(live: bool) -> Option<&'static str> {
    Some(if live { LIVE } else { TEST })
}

/// Asserts that the service accepts the request with this status, or rejects it with the error that the model
/// expects.
#[track_caller]
fn assert_outcome(answer: &Response, status: u16, outcome: Result<(), ExpectedError>) {
    match outcome {
        Ok(()) => assert_eq!(answer.status, status, "{}", answer.text),
        Err((status, code)) => answer.assert_error(status, code, answer.json()["param"].as_str()),
    }
}

impl ModelHistory {
    fn start(seed: u64) -> ModelHistory {
        let shop = Shop::open();
        let inbox = format!("{}/sandbox/inbox/model", shop.url());
        let confirmed = json!({ "url": inbox, "types": ["invoice.confirmed", "invoice.failed"] });
        shop.update_account(json!({ "endpoints": [{ "url": inbox, "mode": "test" }, confirmed] }));
        let state = shop.get("/sandbox", None).expect(200).json();
        let now: Time = state["time"].as_str().unwrap().parse().unwrap();
        let world = ExpectedState { now: now.0, fee_bps: 100, ..ExpectedState::default() };
        let (dice, steps) = (Dice::new(seed), Vec::new());
        ModelHistory { seed, dice, shop, world, steps }
    }

    fn record_step(&mut self, step: String) {
        self.steps.push(format!("{:>4} {step}", self.steps.len()));
    }

    /// Runs one step and compares the invoices that it may have changed.
    fn run_step(&mut self) {
        let count = self.world.invoices.len();
        if count == 0 || count < INVOICES && self.dice.roll(12) == 0 {
            self.create_invoice();
            return self.assert_invoice_matches(count);
        }
        let at = self.dice.roll(count);
        match self.dice.roll(22) {
            0 | 1 => self.select_coin(at),
            2 => self.cancel_invoice(at),
            3 => self.simulate_payment(at),
            4 | 5 => return self.advance_clock(),
            6 => self.change_fee(),
            7..=10 => self.pay_invoice(at),
            20 => self.pay_several_outputs(at),
            21 => self.move_between_own_addresses(at),
            _ => self.change_payment_state(at),
        }
        self.assert_invoice_matches(at);
    }

    fn create_invoice(&mut self) {
        let amount = self.dice.pick(&[10_000, 10_000, 1_999, 100, 50, 33_333, 5_000_000]);
        let currency = self.dice.pick(&["EUR", "USD"]);
        let live = self.dice.roll(2) == 0;
        let ttl = self.dice.pick(&[60, 120, 300]);
        let coin = (self.dice.roll(2) == 0).then(|| random_coin(&mut self.dice));
        self.record_step(format!("create {amount} {currency} live {live} ttl {ttl} {coin:?}"));
        let own_url = format!("{}/sandbox/inbox/own", self.shop.url());
        let body = json!({
            "amount": format_cents(amount), "currency": currency, "ttlSeconds": ttl, "asset": coin.map(|coin| coin.id),
            "webhookUrl": (self.dice.roll(2) == 0).then_some(own_url),
        });
        let made = self.shop.post("/v1/invoices", account_key(live), body).expect(201).json();
        let now = self.world.now;
        let invoice = ModelInvoice {
            id: made["id"].as_str().unwrap().to_owned(),
            live,
            currency,
            amount,
            created_at: now,
            expires_at: now + ttl * 1_000,
            cancelled_at: None,
            status: "created",
            confirmed_at: None,
            quotes: Vec::new(),
            picked: None,
            payments: Vec::new(),
            events: Vec::new(),
            addresses: BTreeMap::new(),
        };
        self.world.create_invoice(invoice, coin);
    }

    fn select_coin(&mut self, at: usize) {
        let coin = random_coin(&mut self.dice);
        self.record_step(format!("select {at} {}", coin.id));
        let invoice = &self.world.invoices[at];
        let path = format!("/v1/invoices/{}/select", invoice.id);
        let answer = self.shop.post(&path, account_key(invoice.live), json!({ "asset": coin.id }));
        assert_outcome(&answer, 200, self.world.select_coin(at, coin));
    }

    fn cancel_invoice(&mut self, at: usize) {
        self.record_step(format!("cancel {at}"));
        let path = format!("/sandbox/invoices/{}/cancel", self.world.invoices[at].id);
        let answer = self.shop.post(&path, None, json!({}));
        assert_outcome(&answer, 200, self.world.cancel_invoice(at));
    }

    fn simulate_payment(&mut self, at: usize) {
        let case = self.dice.pick(&["exact", "under", "over"]);
        let wanted = (self.dice.roll(3) == 0).then(|| random_coin(&mut self.dice));
        self.record_step(format!("simulate {at} {case} {wanted:?}"));
        let invoice = &self.world.invoices[at];
        let path = format!("/v1/invoices/{}/simulate", invoice.id);
        let body = json!({ "case": case, "asset": wanted.map(|coin| coin.id) });
        let answer = self.shop.post(&path, account_key(invoice.live), body);
        let due = match case {
            "exact" => invoice.due_cents(),
            "under" => (invoice.due_cents() / 2).max(1),
            _ => invoice.due_cents() + (invoice.due_cents() + 1) / 2,
        };
        let outcome = match (invoice.live, invoice.simulated_payment_coin(wanted)) {
            (true, _) => Err((403, "not_test_invoice")),
            (false, Err(refused)) => Err(refused),
            (false, Ok(coin)) => {
                let units = coin.units_for_price(due, invoice.currency);
                let now = self.world.now;
                let last = invoice.payments.len();
                let paid = self.world.add_payment(at, coin, units, now);
                paid.and_then(|_| self.world.change_payment_state(at, last, "confirmed"))
            }
        };
        assert_outcome(&answer, 200, outcome);
        if outcome.is_ok() {
            let (id, txid) = invariants::last_payment(self.shop.file());
            self.world.set_ids_of_last_payment(at, id, txid);
        }
    }

    fn change_fee(&mut self) {
        let bps = self.dice.pick(&[0, 100, 250, 33, 10_000]);
        self.record_step(format!("fee {bps}"));
        self.shop.update_account(json!({ "feeBps": bps }));
        self.world.fee_bps = bps;
    }

    fn advance_clock(&mut self) {
        let seconds = self.dice.pick(&[0, 1, 20, 60]);
        self.record_step(format!("advance {seconds} s"));
        self.shop.advance(&format!("{seconds}s"));
        self.world.advance_clock(self.world.now + seconds * 1_000);
        (0..self.world.invoices.len()).for_each(|at| self.assert_invoice_matches(at));
        self.assert_balances_match();
    }

    /// Chooses an amount near a threshold of the invoice's price.
    fn choose_amount(&mut self, coin: &Coin, at: usize) -> i128 {
        let invoice = &self.world.invoices[at];
        let price = coin.units_for_price(invoice.amount, invoice.currency);
        let share = self
            .dice
            .pick(&[0, 1, 3_000, 5_000, 7_000, 9_949, 9_950, 10_000, 10_050, 10_051, 20_000]);
        price * share / 10_000
    }

    fn pay_invoice(&mut self, at: usize) {
        let invoice = &self.world.invoices[at];
        let quoted = (!invoice.quotes.is_empty()).then(|| self.dice.pick(&invoice.quotes));
        let known = (!invoice.payments.is_empty()).then(|| self.dice.roll(invoice.payments.len()));
        let wanted = match self.dice.roll(4) {
            0 => Some(random_coin(&mut self.dice)),
            1 => quoted,
            2 if self.dice.roll(4) == 0 && known.is_some() => {
                return self.repeat_payment(at, known.unwrap());
            }
            _ => None,
        };
        let outcome = match wanted {
            Some(coin) if !invoice.quotes.is_empty() => {
                let quoted = invoice.quotes.iter().any(|quoted| quoted.id == coin.id);
                if quoted { Ok(coin) } else { Err(reference::UNAVAILABLE) }
            }
            wanted => invoice.simulated_payment_coin(wanted),
        };
        let mut body = json!({ "invoice": invoice.id, "asset": wanted.map(|coin| coin.id) });
        let mut units =
            outcome.map_or(0, |coin| coin.units_for_price(invoice.due_cents(), invoice.currency));
        if let Ok(coin) = outcome
            && self.dice.roll(3) > 0
        {
            units = self.choose_amount(coin, at);
            body["amount"] = json!(coin.format_amount(units));
        }
        self.record_step(format!("pay {at} {wanted:?} {body}"));
        let answer = self.shop.post("/sandbox/payments", None, body);
        let now = self.world.now;
        let outcome = outcome.and_then(|coin| self.world.add_payment(at, coin, units, now));
        assert_outcome(&answer, 201, outcome.map(drop));
        self.store_payment_ids(at, &answer, outcome);
    }

    /// Requests an earlier payment again. The response must have the id of that payment.
    fn repeat_payment(&mut self, at: usize, which: usize) {
        let (invoice, known) = (&self.world.invoices[at], &self.world.invoices[at].payments[which]);
        let body = json!({ "invoice": invoice.id, "asset": known.coin.id, "txid": known.txid });
        // If the transaction has several outputs, the response has the payment id of the first output.
        let is_it = |payment: &&reference::ModelPayment| {
            payment.txid == known.txid && payment.coin.id == known.coin.id
        };
        let first = invoice.payments.iter().find(is_it);
        let id = first.unwrap().id.clone();
        self.record_step(format!("pay again {at} {which} {body}"));
        let answer = self.shop.post("/sandbox/payments", None, body).expect(200);
        assert_eq!(answer.json()["id"], json!(id));
    }

    /// Stores the ids of the last payment in the model. Does nothing if the value was too small for a payment.
    fn store_payment_ids(
        &mut self,
        at: usize,
        answer: &Response,
        seen: Result<bool, ExpectedError>,
    ) {
        let Ok(is_payment) = seen else {
            return;
        };
        let answer = answer.json();
        assert_eq!(answer["state"] == "unmatched", !is_payment, "{answer}");
        if !is_payment {
            return;
        }
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        self.world.set_ids_of_last_payment(at, text("id"), text("txid"));
    }

    fn change_payment_state(&mut self, at: usize) {
        let payments = &self.world.invoices[at].payments;
        if payments.is_empty() {
            return;
        }
        // One of the last three payments is chosen, so that most older payments keep their state.
        let which = payments.len() - 1 - self.dice.roll(payments.len().min(3));
        let (id, coin, old) =
            (payments[which].id.clone(), payments[which].coin, payments[which].units);
        let to = ["confirmed", "confirmed", "dropped", "orphaned", "seen", "replaced"];
        let step = self.dice.pick(&to);
        let mut body = json!({ "state": step });
        let mut units = old;
        if step == "replaced" && self.dice.roll(2) == 0 {
            units = self.choose_amount(coin, at);
            body["amount"] = json!(coin.format_amount(units));
        }
        self.record_step(format!("move {at} {which} {body}"));
        let answer = self.shop.post(&format!("/sandbox/payments/{id}"), None, body);
        if step == "replaced" {
            let outcome = self.world.replace_payment(at, which, units);
            assert_outcome(&answer, 200, outcome.map(drop));
            self.store_payment_ids(at, &answer, outcome);
        } else {
            assert_outcome(&answer, 200, self.world.change_payment_state(at, which, step));
        }
    }

    /// Runs the random steps of this seed, and counts the events and ledger entries by type.
    fn run_history(seed: u64, counts: &mut BTreeMap<String, usize>) {
        let mut history = ModelHistory::start(seed);
        (0..STEPS).for_each(|_| history.run_step());
        history.assert_balances_match();
        history.assert_ledger_and_events_match();
        history.shop.advance("0s");
        let now = Time(history.world.now);
        invariants::assert_invariants(history.shop.file(), now);
        let world = &history.world;
        let events = world.invoices.iter().flat_map(|invoice| &invoice.events);
        let kinds = world.ledger.iter().map(|entry| entry.kind.to_owned());
        for name in events.map(|event| event.0.clone()).chain(kinds) {
            *counts.entry(name).or_default() += 1;
        }
    }
}

#[test]
fn random_histories_match_the_model() {
    let mut counts = BTreeMap::new();
    for seed in (1..=44).chain([222]) {
        ModelHistory::run_history(seed, &mut counts);
    }
    assert_eq!(counts.len(), 9 + 3, "every kind of event and entry occurs: {counts:?}");
    assert!(counts.values().all(|count| *count > 20), "{counts:?}");
}
