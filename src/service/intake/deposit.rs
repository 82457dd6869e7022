//! Deposits, which are payments to a customer's address: stores, prices and books them, and records their events.
//!
//! Invariant: sale and fee of a deposit are booked once, at the rate from when the deposit was first in a block. Each
//! confirmation records an event.

use super::payment::{PaymentChange, book_change, fiat_value};
use crate::domain::{
    Cents, Currency, Customer, Deposit, DepositStatus, EventType, Observation, ObservationOwner,
    PaymentState, RefType, Time, UnmatchedReason, id,
};
use crate::render;
use crate::service::events::{EventSubject, record_event};
use crate::service::rates::NoRate;
use crate::service::{Error, Step};
use crate::store::booking::{Booking, BookingSource};
use crate::store::{Tx, accounts, deposits};

/// Stores a new deposit, with its current value. The value is final if the deposit is in a block. If no rate
/// of the coin was ever known, stores nothing and returns the reason.
pub(in crate::service) fn insert_seen_deposit(
    step: &Step<'_>,
    customer: &Customer,
    observation: i64,
    seen: &Observation,
    replaced: Option<&ObservationOwner>,
) -> Result<Result<Deposit, UnmatchedReason>, Error> {
    let Step { service, tx, now } = *step;
    let created_at = match replaced {
        Some(ObservationOwner::Deposit(old))
            if old.customer == customer.seq
                && old.asset == seen.asset
                && seen.amount <= old.amount =>
        {
            old.created_at.min(seen.seen_at)
        }
        Some(_) | None => seen.seen_at,
    };
    let known = service.newest_rate(tx, customer.mode, seen.asset, Currency::Eur, now)?;
    let quoted = match known {
        Ok(quoted) => quoted.lowered_by(accounts::by_seq(tx, customer.account)?.spread)?,
        Err(NoRate) => return Ok(Err(UnmatchedReason::NoRate)),
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
        gross: fiat_value(quoted.rate, seen.amount, seen.asset)?,
        quoted,
        fixed_at: seen.block.as_ref().map(|_| now),
        fee: Cents::ZERO,
        status: DepositStatus::Detected,
        was_confirmed: false,
        created_at,
        confirmed_at: None,
    };
    deposit.fee = deposit_fee(tx, &deposit)?;
    deposit.seq = deposits::insert(tx, &deposit)?;
    Ok(Ok(deposit))
}

/// Makes the value of a deposit in a block final, unless the value is already final.
pub(in crate::service) fn freeze_value_in_block(
    step: &Step<'_>,
    mut deposit: Deposit,
) -> Result<Deposit, Error> {
    let Step { tx, .. } = *step;
    if deposit.fixed_at.is_none() {
        price_deposit(step, &mut deposit)?;
        deposit.fee = deposit_fee(tx, &deposit)?;
        deposits::save_terms(tx, &deposit)?;
    }
    Ok(deposit)
}

/// Sets the current rate and value of a deposit and makes them final, unless they are already final.
///
/// Keeps the earlier value if no rate is known now, or if the new value cannot be booked: a received deposit must
/// not be refused.
fn price_deposit(step: &Step<'_>, deposit: &mut Deposit) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    if deposit.fixed_at.is_some() {
        return Ok(());
    }
    deposit.fixed_at = Some(now);
    let (mode, asset) = (deposit.mode, deposit.asset);
    if let Ok(quoted) = service.newest_rate(tx, mode, asset, Currency::Eur, now)?
        && let Ok(quoted) = quoted.lowered_by(accounts::by_seq(tx, deposit.account)?.spread)
        && let Ok(gross) = fiat_value(quoted.rate, deposit.amount, asset)
    {
        (deposit.quoted, deposit.gross) = (quoted, gross);
    }
    Ok(())
}

/// Books a change of a deposit's state. The observation must have the new state already. Records an event if the deposit
/// is confirmed.
pub(in crate::service) fn book_deposit(
    step: &Step<'_>,
    mut deposit: Deposit,
    next: PaymentState,
    confirmed_at: Option<Time>,
) -> Result<ObservationOwner, Error> {
    let Step { service, tx, now } = *step;
    let before = deposit.status.payment_state();
    let status_before = Some(deposit.status).filter(|_| before != next);
    let was_confirmed = deposit.was_confirmed;
    let confirms = next == PaymentState::Confirmed;
    deposit.status = next.into();
    deposit.was_confirmed |= confirms;
    deposit.confirmed_at = confirmed_at;
    if confirms && !was_confirmed {
        price_deposit(step, &mut deposit)?;
        // The fee follows the account's fee rate at the time of booking.
        deposit.fee = deposit_fee(tx, &deposit)?;
        deposits::save_terms(tx, &deposit)?;
    }
    let booking = Booking {
        account: deposit.account,
        mode: deposit.mode,
        currency: Currency::Eur,
        ref_type: RefType::Deposit,
        ref_id: &deposit.id,
        source: BookingSource::Deposit(deposit.seq),
    };
    let change = PaymentChange { value: deposit.gross, was_confirmed, before, next };
    book_change(step, &booking, change)?;
    if confirms {
        let on_chain = service.on_chain_reader().read_state(tx, &deposit)?;
        let object = render::customer::deposit(&deposit, deposit.net_amount()?, &on_chain)?;
        let subject = EventSubject {
            account: deposit.account,
            mode: deposit.mode,
            id: &deposit.id,
            object: &object,
            own_url: None,
            status_before: status_before.map(DepositStatus::as_str),
            invoice: None,
        };
        record_event(tx, now, EventType::DepositConfirmed, &subject)?;
    }
    Ok(ObservationOwner::Deposit(Box::new(deposit)))
}

fn deposit_fee(tx: &Tx<'_>, deposit: &Deposit) -> Result<Cents, Error> {
    Ok(deposit.gross.fee(accounts::by_seq(tx, deposit.account)?.fee)?)
}
