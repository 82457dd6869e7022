//! Deposits: what is paid to customers' addresses, booked in EUR.
//!
//! What does not live here: looking at chains. What always holds: a deposit books its sale and fee once in its life,
//! and every time it becomes confirmed that is told.

use super::books::{Step, book_step};
use super::customers::known;
use super::events::{Subject, record};
use super::payments::{Sighting, worth};
use super::{Caller, Error, Json, Service};
use crate::domain::asset::Asset;
use crate::domain::customer::{Customer, Family, check_ref};
use crate::domain::deposit::{Deposit, DepositStatus};
use crate::domain::event::EventType;
use crate::domain::ledger::RefType;
use crate::domain::money::Currency;
use crate::domain::money::coin::Units;
use crate::domain::payment::simulated_txid;
use crate::domain::quote::unavailable;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::{id, render};
use crate::store::addresses::Owner;
use crate::store::ledger::{Booking, Source};
use crate::store::{Tx, accounts, addresses, deposits};
use std::sync::Arc;

/// What a customer is said to have paid.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The id of the coin.
    pub asset: String,
    /// How much of it, as a plain decimal of whole coins.
    pub amount: String,
}

/// Which deposits are asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Only of this customer.
    pub customer: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl Service {
    /// One deposit of a test customer through the same steps as a real one: seen, then confirmed.
    ///
    /// # Errors
    /// `forbidden` in live mode, `invalid_request`, `customers_disabled`, `not_found`, `coin_unavailable`.
    pub async fn simulate_deposit(
        self: &Arc<Self>,
        now: Time,
        caller: &Caller,
        reference: &str,
        paid: Simulated,
    ) -> Result<Json, Error> {
        check_ref(reference)?;
        if caller.mode().is_live() {
            let message = "only a test key can simulate a deposit";
            return Err(Refusal::new(Code::Forbidden, message).into());
        }
        let (caller, reference) = (caller.clone(), reference.to_owned());
        self.write(move |service, tx| {
            let customer = known(tx, &caller, &reference)?;
            let (asset, address) = taken_at(tx, &customer, &paid.asset)?;
            let amount = Units::parse(&paid.amount, asset.decimals)
                .map_err(|problem| Refusal::field("amount", problem))?;
            if amount == Units::ZERO {
                return Err(Refusal::field("amount", "must be more than zero").into());
            }
            let sighting = Sighting {
                amount,
                txid: simulated_txid(asset.chain, &id::new(now).to_string()),
                position: 0,
                seen_at: now,
            };
            let deposit = service.see_deposit(tx, now, &customer, asset, address, sighting)?;
            let deposit = service.advance_deposit(tx, now, deposit, DepositStatus::Confirmed)?;
            shown(&deposit)
        })
        .await
    }

    /// Records a deposit as seen, judging once what it is worth.
    pub(super) fn see_deposit(
        &self,
        tx: &Tx<'_>,
        now: Time,
        customer: &Customer,
        asset: &'static Asset,
        address: String,
        sighting: Sighting,
    ) -> Result<Deposit, Error> {
        let rate = asset.test_rate(Currency::Eur)?;
        let gross = worth(rate, &sighting, asset)?;
        let mut deposit = Deposit {
            seq: 0,
            id: id::new(now).to_string(),
            account: customer.account,
            mode: customer.mode,
            customer: customer.seq,
            customer_ref: customer.reference.clone(),
            asset,
            address,
            txid: sighting.txid,
            position: sighting.position,
            amount: sighting.amount,
            rate,
            gross,
            fee: gross.fee(accounts::by_seq(tx, customer.account)?.fee)?,
            status: DepositStatus::Detected,
            was_confirmed: false,
            created_at: sighting.seen_at,
            confirmed_at: None,
        };
        deposit.seq = deposits::insert(tx, &deposit)?;
        Ok(deposit)
    }

    /// Moves a deposit to its next status, books what follows, and tells of it where it is confirmed.
    ///
    /// # Errors
    /// `invalid_transition` where the machine has no such step.
    pub(super) fn advance_deposit(
        &self,
        tx: &Tx<'_>,
        now: Time,
        mut deposit: Deposit,
        next: DepositStatus,
    ) -> Result<Deposit, Error> {
        let before = deposit.status;
        if !before.may_become(next) {
            let message = format!("a deposit that is {before} does not become {next}");
            return Err(Refusal::of(Code::InvalidTransition, "state", message).into());
        }
        let confirms = next == DepositStatus::Confirmed;
        let step = Step {
            value: deposit.gross,
            was_confirmed: deposit.was_confirmed,
            before: before.state(),
            next: next.state(),
        };
        if confirms && !deposit.was_confirmed {
            deposit.fee = deposit
                .gross
                .fee(accounts::by_seq(tx, deposit.account)?.fee)?;
        }
        deposit.status = next;
        deposit.was_confirmed |= confirms;
        deposit.confirmed_at = confirms.then_some(now);
        let (fee, confirmed_at) = (deposit.fee, deposit.confirmed_at);
        deposits::update(tx, deposit.seq, before, next, fee, confirmed_at)?;
        let booking = Booking {
            account: deposit.account,
            mode: deposit.mode,
            currency: Currency::Eur,
            ref_type: RefType::Deposit,
            ref_id: &deposit.id,
            source: Source::Deposit(deposit.seq),
        };
        book_step(tx, now, &booking, step)?;
        if confirms {
            let object = shown(&deposit)?;
            let subject = Subject {
                account: deposit.account,
                mode: deposit.mode,
                id: &deposit.id,
                object: &object,
                own_url: None,
            };
            record(tx, now, EventType::DepositConfirmed, &subject)?;
        }
        Ok(deposit)
    }

    /// One deposit.
    ///
    /// # Errors
    /// `not_found` where it is not the caller's.
    pub fn deposit(&self, caller: &Caller, id: &str) -> Result<Json, Error> {
        let found = self.read(|db| Ok::<_, Error>(deposits::by_id(db, id)?))?;
        let mine = |deposit: &Deposit| {
            deposit.account == caller.account() && deposit.mode == caller.mode()
        };
        let found = found.filter(mine);
        shown(&found.ok_or_else(|| Refusal::not_found("deposit"))?)
    }

    /// The newest deposits.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file fails.
    pub fn deposits(&self, caller: &Caller, wanted: &Wanted) -> Result<Vec<Json>, Error> {
        let (account, mode) = (caller.account(), caller.mode());
        let customer = wanted.customer.as_deref();
        let found = self.read(|db| {
            Ok::<_, Error>(deposits::list(db, account, mode, customer, wanted.limit)?)
        })?;
        found.iter().map(shown).collect()
    }
}

/// The coin, and the customer's address that takes it.
fn taken_at(
    tx: &Tx<'_>,
    customer: &Customer,
    asset: &str,
) -> Result<(&'static Asset, String), Error> {
    let asset =
        Asset::find(asset).ok_or_else(|| unavailable(format!("{asset:?} is not an asset id")))?;
    let none = || {
        unavailable(format!(
            "the customer has no address that takes {}",
            asset.id
        ))
    };
    let family = Family::of(asset.chain).ok_or_else(none)?;
    let address = addresses::of_owner(tx, Owner::Customer(customer.seq), family.chain())?;
    Ok((asset, address.ok_or_else(none)?))
}

/// A deposit as it is answered.
fn shown(deposit: &Deposit) -> Result<Json, Error> {
    Ok(render::customer::deposit(deposit, deposit.net()?)?)
}
