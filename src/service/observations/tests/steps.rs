//! Tests of observations whose state changes: a payment that overflows the balance, another amount in another block,
//! and a replacement with an earlier time.

use super::{address_of_customer, bitcoin_observation, store_observation};
use crate::domain::progress::ignore_progress;
use crate::domain::time::HOUR_MS;
use crate::domain::{
    Cents, Currency, LedgerEntry, LedgerKind, Mode, Observation, ObservationChange, ObservationKey,
    ObservationOwner, Payment, PaymentState, RefType, Units, UnmatchedReason, id,
};
use crate::service::audit::audit;
use crate::service::observations::{change_observation, record_observation};
use crate::service::tests::{
    NOW, bitcoin, block_on, create_live_invoice, fixed_rate, live_caller, seeded_service, write,
};
use crate::service::{Service, Step};
use crate::store::{invoices, ledger, observations, quotes};
use std::sync::Arc;

/// Returns the address of a live invoice with bitcoin selected.
#[track_caller]
fn address_of_invoice(service: &Arc<Service>) -> String {
    let id = create_live_invoice(service);
    let caller = live_caller(service);
    block_on(service.select_coin(NOW, &caller, &id, "BTC".to_owned())).unwrap();
    write(service, NOW, move |step| {
        let Step { tx, .. } = *step;
        let invoice = invoices::by_id(tx, &id)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0).address)
    })
}

#[track_caller]
fn unwrap_payment(owned: ObservationOwner) -> Payment {
    match owned {
        ObservationOwner::Payment(both) => both.1,
        ObservationOwner::Deposit(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Destination(_) => {
            unreachable!("it is no payment")
        }
    }
}

fn audit_findings(service: &Arc<Service>) -> Vec<String> {
    let mut found = Vec::new();
    let audited = service.read(|db| {
        audit(db, &[], &mut |finding| found.push(format!("{finding:?}")), &mut ignore_progress)
    });
    audited.unwrap();
    found
}

/// Changes the state of an observation. Returns its owner, and `true` if the change could be booked.
#[track_caller]
fn change_state(
    service: &Arc<Service>,
    place: ObservationKey,
    to: PaymentState,
) -> (ObservationOwner, bool) {
    let outcome = write(service, NOW, move |step| {
        let change = match to {
            PaymentState::Seen => ObservationChange::Seen,
            PaymentState::Confirmed => ObservationChange::Confirmed,
            PaymentState::Dropped => ObservationChange::Dropped,
        };
        change_observation(step, &place, change)
    });
    (outcome.owned, outcome.refusal.is_none())
}

#[test]
fn payment_that_overflows_the_balance_is_booked_later() {
    let (service, _file) = seeded_service();
    let customer = address_of_customer(&service);
    let invoice = address_of_invoice(&service);
    let places = [(&customer, "a"), (&invoice, "b")].map(|(address, txid)| {
        let seen = bitcoin_observation(address, txid, NOW, Some(7));
        let place = seen.key();
        store_observation(&service, NOW, seen);
        place
    });
    let adjust = |amount: i64| {
        write(&service, NOW, move |step| {
            let entry = LedgerEntry {
                seq: 0,
                id: id::new(NOW).to_string(),
                currency: Currency::Eur,
                amount: Cents(amount),
                kind: LedgerKind::Adjustment,
                ref_type: RefType::Admin,
                ref_id: None,
                fee_bps: None,
                memo: Some("much".to_owned()),
                created_at: NOW,
            };
            Ok(ledger::insert_adjustment(step.tx, 1, Mode::Live, &entry, NOW)?)
        });
    };
    adjust(i64::MAX);
    let [deposited, paid] = places;
    for _ in 0..2 {
        for place in [&deposited, &paid] {
            let (owned, is_booked) = change_state(&service, place.clone(), PaymentState::Confirmed);
            assert_eq!((owned.state(), is_booked), (PaymentState::Seen, false));
        }
    }
    assert_eq!(audit_findings(&service), Vec::<String>::new());
    adjust(-1_000_000);
    let (owned, is_booked) = change_state(&service, paid.clone(), PaymentState::Confirmed);
    assert_eq!((owned.state(), is_booked), (PaymentState::Confirmed, true));
    // The deposit, which could not be booked, can still be dropped.
    let (owned, is_booked) = change_state(&service, deposited, PaymentState::Dropped);
    assert_eq!((owned.state(), is_booked), (PaymentState::Dropped, true));
    assert_eq!(audit_findings(&service), Vec::<String>::new());
}

#[test]
fn transaction_may_pay_another_amount_after_a_reorg() {
    let (service, _file) = seeded_service();
    let address = address_of_invoice(&service);
    let of = |amount, block| Observation {
        amount: Units(amount),
        ..bitcoin_observation(&address, "a", NOW, Some(block))
    };
    let place = of(1, 7).key();
    let much = unwrap_payment(store_observation(&service, NOW, of(10_000_000, 7)));
    change_state(&service, place.clone(), PaymentState::Confirmed);
    change_state(&service, place.clone(), PaymentState::Seen);
    // After the reorg the transaction pays less, then dust, then nothing, then the first amount.
    let less = unwrap_payment(store_observation(&service, NOW, of(100_000, 8)));
    assert_ne!(less.seq, much.seq);
    assert_eq!(audit_findings(&service), Vec::<String>::new());
    let state = |of: &Payment| {
        let observation = of.observation;
        write(&service, NOW, move |step| Ok(observations::by_seq(step.tx, observation)?.state))
    };
    assert_eq!(state(&much), PaymentState::Dropped);
    change_state(&service, place.clone(), PaymentState::Confirmed);
    let ObservationOwner::Unmatched(dust) = store_observation(&service, NOW, of(1, 9)) else {
        unreachable!("a satoshi pays");
    };
    assert_eq!(dust.reason, UnmatchedReason::Dust);
    assert_eq!(state(&less), PaymentState::Dropped);
    assert_eq!(audit_findings(&service), Vec::<String>::new());
    let nothing = of(0, 10);
    let nothing = write(&service, NOW, move |step| record_observation(step, &nothing, None));
    assert!(nothing.is_none());
    let again = unwrap_payment(store_observation(&service, NOW, of(10_000_000, 11)));
    change_state(&service, place, PaymentState::Confirmed);
    assert_eq!(state(&again), PaymentState::Confirmed);
    assert_eq!(audit_findings(&service), Vec::<String>::new());
}

#[test]
fn replacement_uses_its_own_time_and_future_times_are_capped() {
    let (service, _file) = seeded_service();
    let address = address_of_invoice(&service);
    let late = NOW.plus_ms(HOUR_MS);
    // The time of the block is in the future.
    let ahead = late.plus_ms(HOUR_MS);
    let first = unwrap_payment(store_observation(
        &service,
        late,
        bitcoin_observation(&address, "a", ahead, Some(7)),
    ));
    assert_eq!((first.seen_at, first.on_time), (late, false));
    // The replacement has an earlier time. The payment gets this time.
    let replace = |by: Observation| {
        let place = bitcoin_observation(&address, "a", NOW, None).key();
        write(&service, late, move |step| {
            change_observation(step, &place, ObservationChange::ReplacedBy(&by))
        })
    };
    let second = unwrap_payment(replace(bitcoin_observation(&address, "b", NOW, None)).owned);
    assert_eq!((second.seen_at, second.on_time), (NOW, true));
    assert_eq!(second.quoted, fixed_rate(bitcoin(), Currency::Eur, NOW));
}
