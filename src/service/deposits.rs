//! Reads deposits, and simulates one.
//!
//! `observations` stores deposits, and `intake` books them.
//!
//! Invariant: the same code handles simulated deposits and deposits on a chain.

use super::confirmations::OnChainReader;
use super::customers::find_customer;
use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::observations::{change_owned_observation, record_observation};
use super::{Error, Json, Scope, Service, Step};
use crate::domain::customer::check_reference;
use crate::domain::payment::simulated_txid;
use crate::domain::quote::coin_unavailable;
use crate::domain::{
    Asset, Customer, Deposit, Observation, ObservationOwner, PaymentState, Refusal, RefusalCode,
    Time, Units, id,
};
use crate::render;
use crate::store::addresses::{self, AddressOwner};
use crate::store::{Reader, Tx, deposits};
use std::sync::Arc;

/// Coin and amount of a deposit to simulate.
#[derive(Clone, Debug)]
pub struct SimulatedDeposit {
    /// Id of the coin.
    pub asset: String,
    /// Amount: a plain decimal, in whole coins.
    pub amount: String,
}

/// Query for deposits.
#[derive(Clone, Debug)]
pub struct DepositQuery {
    /// Reference of the customer whose deposits are returned. `None` for all customers.
    pub customer: Option<String>,
    /// Maximum number of deposits.
    pub limit: u32,
}

impl Service {
    /// Simulates a deposit of a test customer, with the same steps as a real one: seen, then confirmed.
    ///
    /// # Errors
    ///
    /// `forbidden` in live mode. `invalid_request`, `customers_disabled`, `not_found`, `coin_unavailable`.
    pub async fn simulate_deposit(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        reference: &str,
        paid: SimulatedDeposit,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        check_reference(reference)?;
        if scope.mode().is_live() {
            let message = "only a test key can simulate a deposit";
            return Err(Refusal::new(RefusalCode::Forbidden, message).into());
        }
        let (scope, reference) = (*scope, reference.to_owned());
        self.write(now, move |step| {
            request.run_once(step, scope, || {
                let deposit = pay_customer(step, &scope, &reference, &paid)?;
                Ok(IdempotentResponse::created(deposit))
            })
        })
        .await
    }

    /// Returns one deposit.
    ///
    /// # Errors
    ///
    /// `not_found` if the deposit is not the caller's.
    pub fn deposit(&self, scope: &Scope, id: &str) -> Result<Json, Error> {
        let mine =
            |deposit: &Deposit| deposit.account == scope.account() && deposit.mode == scope.mode();
        self.read_snapshot(|db| {
            let found = deposits::by_id(db, id)?.filter(mine);
            let found = found.ok_or_else(|| Refusal::not_found("deposit"))?;
            render_deposit(db, &mut self.on_chain_reader(), &found)
        })
    }

    /// Returns the newest deposits.
    pub fn deposits(&self, scope: &Scope, wanted: &DepositQuery) -> Result<Vec<Json>, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        let customer = wanted.customer.as_deref();
        self.read_snapshot(|db| {
            let found = deposits::list(db, account, mode, customer, wanted.limit)?;
            let mut depths = self.on_chain_reader();
            let shown = |one| render_deposit(db, &mut depths, one);
            found.iter().map(shown).collect()
        })
    }
}

/// Returns the coin, and the customer's address that accepts this coin.
fn coin_and_address(
    tx: &Tx<'_>,
    customer: &Customer,
    asset: &str,
) -> Result<(&'static Asset, String), Error> {
    let asset = Asset::find(asset)
        .ok_or_else(|| coin_unavailable(format!("{asset:?} is not an asset id")))?;
    let none = || coin_unavailable(format!("the customer has no address that takes {}", asset.id));
    let family = asset.chain.row().customer_family.ok_or_else(none)?;
    let address =
        addresses::of_owner(tx, AddressOwner::Customer(customer.seq), family.encoding_chain())?;
    Ok((asset, address.ok_or_else(none)?))
}

fn render_deposit(
    db: &Reader<'_>,
    depths: &mut OnChainReader<'_>,
    deposit: &Deposit,
) -> Result<Json, Error> {
    let on_chain = depths.read_state(db, deposit)?;
    Ok(render::customer::deposit(deposit, deposit.net_amount()?, &on_chain)?)
}

/// Pays to a test customer's address in one payment, which is confirmed at once.
fn pay_customer(
    step: &Step<'_>,
    scope: &Scope,
    reference: &str,
    paid: &SimulatedDeposit,
) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let customer = find_customer(tx, scope, reference)?;
    let (asset, address) = coin_and_address(tx, &customer, &paid.asset)?;
    let amount = Units::parse(&paid.amount, asset.decimals)
        .map_err(|problem| Refusal::field("amount", problem))?;
    let seen = Observation {
        mode: customer.mode,
        asset,
        txid: simulated_txid(asset.chain, &id::new(now).to_string()),
        position: 0,
        address,
        amount,
        seen_at: now,
        block: None,
        spends: Vec::new(),
    };
    let seen = record_observation(step, &seen, None)?;
    let seen = seen.ok_or_else(|| Refusal::field("amount", "must be more than zero"))?;
    let paid = change_owned_observation(step, seen.into_booked_owner()?, PaymentState::Confirmed)?;
    match paid {
        ObservationOwner::Deposit(deposit) => {
            render_deposit(tx, &mut service.on_chain_reader(), &deposit)
        }
        ObservationOwner::Payment(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Destination(_) => {
            Err(Error::Failed("the address is not the customer's".to_owned()))
        }
    }
}
