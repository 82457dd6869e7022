//! Tests of the rate at which incoming money is priced: late payments, deposits in their first block, coins without a
//! rate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod steps;

use super::ObservationOwner;
use super::assign::Assignee;
use crate::domain::asset::Mode;
use crate::domain::deposit::Deposit;
use crate::domain::money::Currency;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, Observation};
use crate::domain::payment::PaymentState;
use crate::domain::rate::{FRESH_MS_MAX, RateQuote};
use crate::domain::refusal::Code;
use crate::domain::time::{HOUR_MS, MINUTE_MS, Time};
use crate::domain::unmatched::UnmatchedReason;
use crate::service::tests::{
    NOW, STALE, bitcoin, done, fixed, live, live_invoice, real, refused, seeded, write,
};
use crate::service::{Faults, Service};
use crate::store::addresses::Owner;
use crate::store::{accounts, customers, invoices, observations, quotes};
use serde_json::Value;
use std::sync::Arc;

/// Returns an observation of 0.001 bitcoin in live mode.
fn seen(address: &str, txid: &str, seen_at: Time, block: Option<u32>) -> Observation {
    Observation {
        mode: Mode::Live,
        asset: bitcoin(),
        txid: txid.to_owned(),
        position: 0,
        address: address.to_owned(),
        amount: Units(100_000),
        seen_at,
        block: block.map(|height| Block {
            height,
            hash: format!("hash{height}"),
        }),
        spends: Vec::new(),
    }
}

/// Stores an observation at a time and returns its owner.
#[track_caller]
fn observe(service: &Arc<Service>, now: Time, seen: Observation) -> ObservationOwner {
    let outcome = service
        .write_and_wait(move |service, tx| service.observe(tx, now, &seen, None))
        .unwrap();
    outcome.unwrap().owned
}

#[test]
fn what_comes_late_is_worth_the_newest_rate_and_else_its_quotes() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let id = live_invoice(&simulated);
    let caller = live(&simulated);
    done(simulated.select(NOW, &caller, &id, "BTC".to_owned())).unwrap();
    let of = id.clone();
    let quote = write(&simulated, move |_, tx| {
        let invoice = invoices::by_id(tx, &of)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0))
    });
    let in_time = quote.quoted;
    assert_eq!(in_time, fixed(bitcoin(), Currency::Eur, NOW));
    let late = NOW.plus_ms(HOUR_MS);
    let stale = late.plus_ms(-FRESH_MS_MAX - 1);
    let rate = |at| RateQuote {
        at,
        ..in_time.clone()
    };
    for (txid, service, faults, seen_at, on_time, expected) in [
        (
            "a",
            &simulated,
            Faults::default(),
            NOW,
            true,
            in_time.clone(),
        ),
        ("b", &simulated, Faults::default(), late, false, rate(late)),
        ("c", &simulated, STALE, late, false, rate(stale)),
        ("d", &real, Faults::default(), late, false, in_time.clone()),
        ("e", &real, Faults::default(), NOW, true, in_time.clone()),
    ] {
        service.set_faults(faults);
        let seen = seen(&quote.address, txid, seen_at, None);
        let ObservationOwner::Payment(both) = observe(service, late, seen) else {
            unreachable!("{txid} is no payment");
        };
        let (_, payment) = *both;
        assert_eq!(
            (payment.on_time, payment.quoted),
            (on_time, expected),
            "{txid}"
        );
    }
}

/// Returns the bitcoin address of a customer in live mode.
#[track_caller]
fn address_of_customer(service: &Arc<Service>) -> String {
    write(service, |service, tx| {
        let account = accounts::all(tx)?.remove(0).seq;
        let customer = customers::insert(tx, account, Mode::Live, "ada", NOW)?;
        let (owner, chain) = (Owner::Customer(customer.seq), bitcoin().chain);
        let address = service.claim(tx, NOW, account, Mode::Live, chain, owner)?;
        Ok(address.unwrap())
    })
}

#[track_caller]
fn deposit(owned: ObservationOwner) -> Deposit {
    match owned {
        ObservationOwner::Deposit(deposit) => *deposit,
        ObservationOwner::Payment(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Sent(_) => {
            unreachable!("it is no deposit")
        }
    }
}

/// Changes the state of a deposit.
#[track_caller]
fn moved(service: &Arc<Service>, now: Time, of: Deposit, next: PaymentState) -> Deposit {
    let of = ObservationOwner::Deposit(Box::new(of));
    deposit(write(service, move |service, tx| {
        service.advance_owned(tx, now, of, next)
    }))
}

/// Returns the height of the block of an observation.
fn height_of(service: &Arc<Service>, observation: i64) -> Option<u32> {
    let observed = write(service, move |_, tx| {
        Ok(observations::by_seq(tx, observation)?)
    });
    observed.seen.block.map(|block| block.height)
}

#[test]
fn a_sighting_shows_a_deposits_rate_and_its_first_block_fixes_it() {
    let (simulated, _file) = seeded();
    let address = address_of_customer(&simulated);
    let at = |minutes: i64| NOW.plus_ms(minutes * MINUTE_MS);
    let rate = |at| fixed(bitcoin(), Currency::Eur, at);
    // The deposit is seen while the rate is stale.
    simulated.set_faults(STALE);
    let shown = deposit(observe(&simulated, at(0), seen(&address, "a", NOW, None)));
    let just_stale = NOW.plus_ms(-FRESH_MS_MAX - 1);
    assert_eq!((shown.quoted, shown.fixed_at), (rate(just_stale), None));
    simulated.set_faults(Faults::default());
    // The deposit is seen again without a block, and then in two blocks. It is confirmed, orphaned, seen in a third
    // block, and confirmed again.
    let again = deposit(observe(&simulated, at(1), seen(&address, "a", NOW, None)));
    assert_eq!((again.quoted, again.fixed_at), (rate(just_stale), None));
    let fixed = |deposit: &Deposit, minutes| {
        assert_eq!(
            (deposit.quoted.clone(), deposit.fixed_at),
            (rate(at(minutes)), Some(at(minutes)))
        );
        deposit.clone()
    };
    for (minutes, block) in [(2, Some(7)), (3, Some(8)), (4, None)] {
        let again = observe(&simulated, at(minutes), seen(&address, "a", NOW, block));
        fixed(&deposit(again), 2);
    }
    let again = seen(&address, "a", NOW, Some(8));
    let again = deposit(observe(&simulated, at(4), again));
    let observation = again.observation;
    let confirmed = moved(&simulated, at(5), again, PaymentState::Confirmed);
    assert_eq!(height_of(&simulated, observation), Some(8));
    let orphaned = moved(&simulated, at(6), fixed(&confirmed, 2), PaymentState::Seen);
    assert_eq!(
        height_of(&simulated, observation),
        None,
        "its block is given up"
    );
    let again = deposit(observe(
        &simulated,
        at(7),
        seen(&address, "a", NOW, Some(9)),
    ));
    assert_eq!(fixed(&orphaned, 2).seq, again.seq);
    fixed(&moved(&simulated, at(8), again, PaymentState::Confirmed), 2);
    assert_eq!(height_of(&simulated, observation), Some(9));
    // One deposit is in a block when it is first seen. Another is confirmed without a known block.
    let mined = deposit(observe(
        &simulated,
        at(9),
        seen(&address, "b", NOW, Some(9)),
    ));
    fixed(
        &moved(
            &simulated,
            at(10),
            fixed(&mined, 9),
            PaymentState::Confirmed,
        ),
        9,
    );
    let shown = deposit(observe(&simulated, at(11), seen(&address, "c", NOW, None)));
    assert_eq!((shown.quoted.clone(), shown.fixed_at), (rate(at(11)), None));
    let confirmed = moved(&simulated, at(12), shown, PaymentState::Confirmed);
    let as_stored = observe(&simulated, at(13), seen(&address, "c", NOW, Some(10)));
    assert_eq!(
        fixed(&confirmed, 12).gross,
        fixed(&deposit(as_stored), 12).gross
    );
}

#[test]
fn a_deposit_keeps_the_rate_that_it_was_shown_with_where_none_is_known_any_more() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let address = address_of_customer(&simulated);
    let shown = deposit(observe(&simulated, NOW, seen(&address, "a", NOW, None)));
    let later = NOW.plus_ms(MINUTE_MS);
    let confirmed = moved(&real, later, shown.clone(), PaymentState::Confirmed);
    assert_eq!(
        (confirmed.quoted, confirmed.gross, confirmed.fixed_at),
        (shown.quoted, shown.gross, Some(later))
    );
    // A deposit that was seen is accepted even if its new value is more than can be booked.
    let shown = deposit(observe(&simulated, NOW, seen(&address, "b", NOW, None)));
    let amount = Units(u128::MAX);
    let grown = Deposit {
        amount,
        ..shown.clone()
    };
    let confirmed = moved(&simulated, later, grown, PaymentState::Confirmed);
    assert_eq!(
        (confirmed.quoted, confirmed.gross, confirmed.fixed_at),
        (shown.quoted, shown.gross, Some(later))
    );
}

#[test]
fn a_deposit_of_which_no_rate_was_ever_known_is_kept_for_a_person() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let address = address_of_customer(&simulated);
    let owned = observe(&real, NOW, seen(&address, "a", NOW, Some(7)));
    let ObservationOwner::Unmatched(unmatched) = owned else {
        unreachable!("it was priced");
    };
    assert_eq!(unmatched.reason, UnmatchedReason::NoRate);
    assert!(unmatched.account_id.is_some());
    let id = unmatched.id.clone();
    // The unmatched payment changes state. Once a rate is known, it can be assigned to the customer.
    let confirmed = write(&real, move |service, tx| {
        service.advance_owned(
            tx,
            NOW,
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
        done(service.write(move |service, tx| {
            service.assign_unmatched(tx, NOW, "operator@sandbox.test", &id, &to)
        }))
    };
    let none = refused(give(&real));
    assert_eq!(
        (none.code, none.param.as_deref()),
        (Code::CoinUnavailable, Some("customer"))
    );
    let given: Value = serde_json::from_str(give(&simulated).unwrap().get()).unwrap();
    assert!(
        given.get("deposit").is_some_and(Value::is_string),
        "{given}"
    );
}
