//! What is paid to a customer's address: recorded, moved, booked, told.
//!
//! What always holds: a deposit books its sale and fee once in its life, at the rate of the moment when it is first
//! confirmed, and every time it becomes confirmed that is told.

use super::Owned;
use super::payment::worth;
use crate::domain::customer::Customer;
use crate::domain::deposit::{Deposit, DepositStatus};
use crate::domain::event::EventType;
use crate::domain::ledger::RefType;
use crate::domain::money::{Cents, Currency};
use crate::domain::observation::Observation;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::domain::{id, render};
use crate::service::Error;
use crate::service::books::{Step, book_step};
use crate::service::events::{Subject, record};
use crate::store::ledger::{Booking, Source};
use crate::store::{Tx, accounts, deposits, observations};

/// Records a deposit as seen, with what it is worth at that moment.
pub(super) fn see_deposit(
    tx: &Tx<'_>,
    now: Time,
    customer: &Customer,
    (observation, seen): (i64, &Observation),
    replaced: Option<&Owned>,
) -> Result<Deposit, Error> {
    let created_at = match replaced {
        Some(Owned::Deposit(old))
            if old.customer == customer.seq
                && old.asset == seen.asset
                && seen.amount <= old.amount =>
        {
            old.created_at
        }
        Some(_) | None => seen.seen_at,
    };
    let mut deposit = Deposit {
        seq: 0,
        id: id::new(now).to_string(),
        account: customer.account,
        mode: customer.mode,
        customer: customer.seq,
        observation,
        customer_ref: customer.reference.clone(),
        asset: seen.asset,
        address: seen.address.clone(),
        txid: seen.txid.clone(),
        position: seen.position,
        amount: seen.amount,
        rate: seen.asset.test_rate(Currency::Eur)?,
        gross: Cents::ZERO,
        fee: Cents::ZERO,
        status: DepositStatus::Detected,
        was_confirmed: false,
        created_at,
        confirmed_at: None,
    };
    price(tx, &mut deposit)?;
    deposit.seq = deposits::insert(tx, &deposit)?;
    Ok(deposit)
}

/// Puts into a deposit what it is worth at this moment, and the fee on that.
fn price(tx: &Tx<'_>, deposit: &mut Deposit) -> Result<(), Error> {
    deposit.rate = deposit.asset.test_rate(Currency::Eur)?;
    deposit.gross = worth(deposit.rate, deposit.amount, deposit.asset)?;
    deposit.fee = deposit
        .gross
        .fee(accounts::by_seq(tx, deposit.account)?.fee)?;
    Ok(())
}

/// Moves a deposit to its next state, and books what follows.
pub(super) fn advance_deposit(
    tx: &Tx<'_>,
    now: Time,
    deposit: Deposit,
    next: PaymentState,
) -> Result<Owned, Error> {
    let before = deposit.status.state();
    observations::update(tx, deposit.observation, before, next, now)?;
    let confirmed_at = (next == PaymentState::Confirmed).then_some(now);
    book_deposit(tx, now, deposit, next, confirmed_at)
}

/// Books what follows from a deposit having come to its next state, and tells of it where it is confirmed.
pub(super) fn book_deposit(
    tx: &Tx<'_>,
    now: Time,
    mut deposit: Deposit,
    next: PaymentState,
    confirmed_at: Option<Time>,
) -> Result<Owned, Error> {
    let before = deposit.status.state();
    let was_confirmed = deposit.was_confirmed;
    let confirms = next == PaymentState::Confirmed;
    if confirms && !was_confirmed {
        price(tx, &mut deposit)?;
        deposits::confirm(tx, &deposit)?;
    }
    deposit.status = next.into();
    deposit.was_confirmed |= confirms;
    deposit.confirmed_at = confirmed_at;
    let booking = Booking {
        account: deposit.account,
        mode: deposit.mode,
        currency: Currency::Eur,
        ref_type: RefType::Deposit,
        ref_id: &deposit.id,
        source: Source::Deposit(deposit.seq),
    };
    let step = Step {
        value: deposit.gross,
        was_confirmed,
        before,
        next,
    };
    book_step(tx, now, &booking, step)?;
    if confirms {
        let object = render::customer::deposit(&deposit, deposit.net()?)?;
        let subject = Subject {
            account: deposit.account,
            mode: deposit.mode,
            id: &deposit.id,
            object: &object,
            own_url: None,
        };
        record(tx, now, EventType::DepositConfirmed, &subject)?;
    }
    Ok(Owned::Deposit(Box::new(deposit)))
}
