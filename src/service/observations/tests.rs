//! Tests of the rate at which incoming money is priced: late payments, deposits in their first block, coins without a
//! rate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod steps;

use super::ObservationOwner;
use crate::domain::rate::FRESH_MS_MAX;
use crate::domain::time::{HOUR_MS, MINUTE_MS};
use crate::domain::{
    Block, Currency, Deposit, Mode, Observation, PaymentState, RateQuote, RefusalCode, Time, Units,
    UnmatchedReason,
};
use crate::service::intake::assign::{Assignee, assign_unmatched_payment};
use crate::service::observations::{change_owned_observation, record_observation};
use crate::service::pools::claim_address;
use crate::service::tests::{
    NOW, STALE, bitcoin, block_on, create_live_invoice, fixed_rate, live_caller, live_service,
    seeded_service, unwrap_refusal, write,
};
use crate::service::{Faults, Service, Step};
use crate::store::addresses::AddressOwner;
use crate::store::{accounts, customers, invoices, observations, quotes};
use serde_json::Value;
use std::sync::Arc;

/// Returns an observation of 0.001 bitcoin in live mode.
fn bitcoin_observation(
    address: &str,
    txid: &str,
    seen_at: Time,
    block: Option<u32>,
) -> Observation {
    Observation {
        mode: Mode::Live,
        asset: bitcoin(),
        txid: txid.to_owned(),
        position: 0,
        address: address.to_owned(),
        amount: Units(100_000),
        seen_at,
        block: block.map(|height| Block { height, hash: format!("hash{height}") }),
        spends: Vec::new(),
    }
}

/// Stores an observation at a time and returns its owner.
#[track_caller]
fn store_observation(service: &Arc<Service>, now: Time, seen: Observation) -> ObservationOwner {
    let outcome =
        service.write_and_wait(now, move |step| record_observation(step, &seen, None)).unwrap();
    outcome.unwrap().owned
}

#[test]
fn late_payment_uses_newest_rate_or_else_its_quote() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let id = create_live_invoice(&simulated);
    let caller = live_caller(&simulated);
    block_on(simulated.select_coin(NOW, &caller, &id, "BTC".to_owned())).unwrap();
    let of = id.clone();
    let quote = write(&simulated, NOW, move |step| {
        let Step { tx, .. } = *step;
        let invoice = invoices::by_id(tx, &of)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0))
    });
    let in_time = quote.quoted;
    assert_eq!(in_time, fixed_rate(bitcoin(), Currency::Eur, NOW));
    let late = NOW.plus_ms(HOUR_MS);
    let stale = late.plus_ms(-FRESH_MS_MAX - 1);
    let rate = |at| RateQuote { at, ..in_time.clone() };
    for (txid, service, faults, seen_at, on_time, expected) in [
        ("a", &simulated, Faults::default(), NOW, true, in_time.clone()),
        ("b", &simulated, Faults::default(), late, false, rate(late)),
        ("c", &simulated, STALE, late, false, rate(stale)),
        ("d", &real, Faults::default(), late, false, in_time.clone()),
        ("e", &real, Faults::default(), NOW, true, in_time.clone()),
    ] {
        service.set_faults(faults);
        let seen = bitcoin_observation(&quote.address, txid, seen_at, None);
        let ObservationOwner::Payment(both) = store_observation(service, late, seen) else {
            unreachable!("{txid} is no payment");
        };
        let (_, payment) = *both;
        assert_eq!((payment.on_time, payment.quoted), (on_time, expected), "{txid}");
    }
}

#[track_caller]
fn address_of_customer(service: &Arc<Service>) -> String {
    write(service, NOW, |step| {
        let Step { tx, .. } = *step;
        let account = accounts::all(tx)?.remove(0).seq;
        let customer = customers::insert(tx, account, Mode::Live, "ada", NOW)?;
        let (owner, chain) = (AddressOwner::Customer(customer.seq), bitcoin().chain);
        let address = claim_address(step, account, Mode::Live, chain, owner)?;
        Ok(address.unwrap())
    })
}

#[track_caller]
fn unwrap_deposit(owned: ObservationOwner) -> Deposit {
    match owned {
        ObservationOwner::Deposit(deposit) => *deposit,
        ObservationOwner::Payment(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Destination(_) => {
            unreachable!("it is no deposit")
        }
    }
}

/// Changes the state of a deposit.
#[track_caller]
fn change_deposit_state(
    service: &Arc<Service>,
    now: Time,
    of: Deposit,
    next: PaymentState,
) -> Deposit {
    let of = ObservationOwner::Deposit(Box::new(of));
    unwrap_deposit(write(service, now, move |step| change_owned_observation(step, of, next)))
}

/// Returns the height of the block of an observation.
fn block_height_of(service: &Arc<Service>, observation: i64) -> Option<u32> {
    let observed = write(service, NOW, move |step| Ok(observations::by_seq(step.tx, observation)?));
    observed.seen.block.map(|block| block.height)
}

#[test]
fn first_block_fixes_the_rate_of_a_deposit() {
    let (simulated, _file) = seeded_service();
    let address = address_of_customer(&simulated);
    let at = |minutes: i64| NOW.plus_ms(minutes * MINUTE_MS);
    let rate = |at| fixed_rate(bitcoin(), Currency::Eur, at);
    let see = |minutes, txid, block| {
        let seen = bitcoin_observation(&address, txid, NOW, block);
        store_observation(&simulated, at(minutes), seen)
    };
    let change =
        |minutes, deposit, state| change_deposit_state(&simulated, at(minutes), deposit, state);
    // The deposit is seen while the rate is stale.
    simulated.set_faults(STALE);
    let shown = unwrap_deposit(see(0, "a", None));
    let just_stale = NOW.plus_ms(-FRESH_MS_MAX - 1);
    assert_eq!((shown.quoted, shown.fixed_at), (rate(just_stale), None));
    simulated.set_faults(Faults::default());
    // The deposit is seen again without a block, and then in two blocks. It is confirmed, orphaned, seen in a third
    // block, and confirmed again.
    let again = unwrap_deposit(see(1, "a", None));
    assert_eq!((again.quoted, again.fixed_at), (rate(just_stale), None));
    let fixed = |deposit: &Deposit, minutes| {
        assert_eq!(
            (deposit.quoted.clone(), deposit.fixed_at),
            (rate(at(minutes)), Some(at(minutes)))
        );
        deposit.clone()
    };
    for (minutes, block) in [(2, Some(7)), (3, Some(8)), (4, None)] {
        let again = see(minutes, "a", block);
        fixed(&unwrap_deposit(again), 2);
    }
    let again = unwrap_deposit(see(4, "a", Some(8)));
    let observation = again.observation;
    let confirmed = change(5, again, PaymentState::Confirmed);
    assert_eq!(block_height_of(&simulated, observation), Some(8));
    let orphaned = change(6, fixed(&confirmed, 2), PaymentState::Seen);
    assert_eq!(block_height_of(&simulated, observation), None, "its block is given up");
    let again = unwrap_deposit(see(7, "a", Some(9)));
    assert_eq!(fixed(&orphaned, 2).seq, again.seq);
    fixed(&change(8, again, PaymentState::Confirmed), 2);
    assert_eq!(block_height_of(&simulated, observation), Some(9));
    // Deposit `b` is in a block when it is first seen. Deposit `c` is confirmed without a known block.
    let mined = unwrap_deposit(see(9, "b", Some(9)));
    fixed(&change(10, fixed(&mined, 9), PaymentState::Confirmed), 9);
    let shown = unwrap_deposit(see(11, "c", None));
    assert_eq!((shown.quoted.clone(), shown.fixed_at), (rate(at(11)), None));
    let confirmed = change(12, shown, PaymentState::Confirmed);
    let as_stored = see(13, "c", Some(10));
    assert_eq!(fixed(&confirmed, 12).gross, fixed(&unwrap_deposit(as_stored), 12).gross);
}

#[test]
fn deposit_keeps_its_first_rate_if_none_is_known_later() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let address = address_of_customer(&simulated);
    let shown = unwrap_deposit(store_observation(
        &simulated,
        NOW,
        bitcoin_observation(&address, "a", NOW, None),
    ));
    let later = NOW.plus_ms(MINUTE_MS);
    let confirmed = change_deposit_state(&real, later, shown.clone(), PaymentState::Confirmed);
    assert_eq!(
        (confirmed.quoted, confirmed.gross, confirmed.fixed_at),
        (shown.quoted, shown.gross, Some(later))
    );
    // A deposit whose new value is too large to book is still accepted, with its earlier value.
    let shown = unwrap_deposit(store_observation(
        &simulated,
        NOW,
        bitcoin_observation(&address, "b", NOW, None),
    ));
    let amount = Units(u128::MAX);
    let grown = Deposit { amount, ..shown.clone() };
    let confirmed = change_deposit_state(&simulated, later, grown, PaymentState::Confirmed);
    assert_eq!(
        (confirmed.quoted, confirmed.gross, confirmed.fixed_at),
        (shown.quoted, shown.gross, Some(later))
    );
}

#[test]
fn deposit_without_any_rate_is_kept_as_unmatched() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let address = address_of_customer(&simulated);
    let owned = store_observation(&real, NOW, bitcoin_observation(&address, "a", NOW, Some(7)));
    let ObservationOwner::Unmatched(unmatched) = owned else {
        unreachable!("it was priced");
    };
    assert_eq!(unmatched.reason, UnmatchedReason::NoRate);
    assert!(unmatched.account_id.is_some());
    let id = unmatched.id.clone();
    // The unmatched payment is confirmed. Once a rate is known, it can be assigned to the customer.
    let confirmed = write(&real, NOW, move |step| {
        change_owned_observation(
            step,
            ObservationOwner::Unmatched(unmatched),
            PaymentState::Confirmed,
        )
    });
    assert_eq!(confirmed.state(), PaymentState::Confirmed);
    let account = simulated.read(|db| Ok(accounts::all(db)?.remove(0).id));
    let account = account.unwrap();
    let give = |service: &Arc<Service>| {
        let to = Assignee::Customer(account.clone(), "ada".to_owned());
        let id = id.clone();
        block_on(service.write(NOW, move |step| {
            assign_unmatched_payment(step, "operator@sandbox.test", &id, &to)
        }))
    };
    let none = unwrap_refusal(give(&real));
    assert_eq!(
        (none.code, none.param.as_deref()),
        (RefusalCode::CoinUnavailable, Some("customer"))
    );
    let given: Value = serde_json::from_str(give(&simulated).unwrap().get()).unwrap();
    assert!(given.get("deposit").is_some_and(Value::is_string), "{given}");
}
