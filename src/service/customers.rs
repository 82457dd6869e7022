//! Customers and their addresses. Their payments are in `deposits`.
//!
//! Invariant: a customer has at most one address for each address family, and keeps the address forever.

use super::pools::claim_address;
use super::{Error, Json, Scope, Service, Step};
use crate::domain::asset::Chain;
use crate::domain::customer::check_reference;
use crate::domain::{ChainFamily, Customer, Mode, Refusal, RefusalCode, Time};
use crate::render;
use crate::store::addresses::{self, AddressOwner};
use crate::store::{Reader, accounts, chains, customers};
use std::sync::Arc;

impl Service {
    /// Returns a customer's addresses, one for each family. Creates the missing addresses.
    ///
    /// # Errors
    ///
    /// `invalid_request`, `customers_disabled`, `pool_refilling`.
    pub async fn get_or_create_customer_addresses(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        reference: &str,
    ) -> Result<Json, Error> {
        check_reference(reference)?;
        let (account, mode, reference) = (scope.account(), scope.mode(), reference.to_owned());
        for family in ChainFamily::ALL {
            self.fill_stock(mode, family.encoding_chain())?;
        }
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            check_customers_enabled(tx, account)?;
            let customer = match customers::by_ref(tx, account, mode, &reference)? {
                Some(customer) => customer,
                None => customers::insert(tx, account, mode, &reference, now)?,
            };
            for family in ChainFamily::ALL {
                ensure_customer_address(step, &customer, *family)?;
                for chain in family.chains() {
                    chains::expect_payments(tx, mode, chain);
                }
            }
            service.render_customer(tx, &customer)
        })
        .await
    }

    /// Returns a customer's existing addresses.
    ///
    /// # Errors
    ///
    /// `invalid_request`. `customers_disabled`. `not_found` for a customer for whom no addresses were requested.
    pub fn customer_addresses(&self, scope: &Scope, reference: &str) -> Result<Json, Error> {
        check_reference(reference)?;
        self.read(|db| self.render_customer(db, &find_customer(db, scope, reference)?))
    }

    /// Returns a customer's addresses as JSON. The list of chains of an address is empty if the address currently
    /// cannot be paid on any chain.
    fn render_customer(&self, db: &Reader<'_>, customer: &Customer) -> Result<Json, Error> {
        let owner = AddressOwner::Customer(customer.seq);
        let mut found = Vec::new();
        for family in ChainFamily::ALL {
            if let Some(address) = addresses::of_owner(db, owner, family.encoding_chain())? {
                let chains = self.watched_chains(db, customer.mode, *family)?;
                found.push((*family, chains, address));
            }
        }
        Ok(render::customer::addresses(&customer.reference, &found)?)
    }

    /// Returns the chains of an address family on which the service observes payments.
    fn watched_chains(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        family: ChainFamily,
    ) -> Result<Vec<Chain>, Error> {
        let is_any = self.is_simulated(mode);
        let mut found = Vec::new();
        for chain in family.chains() {
            if is_any || self.is_chain_watched(db, chain)? {
                found.push(chain);
            }
        }
        Ok(found)
    }
}

/// Assigns an address of a family to a customer. Does nothing if the customer already has one, or if the family
/// has no pool.
fn ensure_customer_address(
    step: &Step<'_>,
    customer: &Customer,
    family: ChainFamily,
) -> Result<(), Error> {
    let Step { service, tx, .. } = *step;
    let (owner, chain) = (AddressOwner::Customer(customer.seq), family.encoding_chain());
    let is_there = addresses::of_owner(tx, owner, chain)?.is_some();
    if is_there || !service.has_pool(tx, customer.mode, chain)? {
        return Ok(());
    }
    match claim_address(step, customer.account, customer.mode, chain, owner)? {
        Some(_) => Ok(()),
        None => {
            let message = format!(
                "no {family} address is available now: the pool is being refilled, or the account has used its share"
            );
            Err(Refusal::new(RefusalCode::PoolRefilling, message).into())
        }
    }
}

/// Returns the caller's customer with this reference.
///
/// # Errors
///
/// `customers_disabled`, `not_found`.
pub(super) fn find_customer(
    db: &Reader<'_>,
    scope: &Scope,
    reference: &str,
) -> Result<Customer, Error> {
    check_customers_enabled(db, scope.account())?;
    customers::by_ref(db, scope.account(), scope.mode(), reference)?
        .ok_or_else(|| Refusal::not_found("customer").into())
}

fn check_customers_enabled(db: &Reader<'_>, account: i64) -> Result<(), Error> {
    if accounts::by_seq(db, account)?.customers_enabled {
        Ok(())
    } else {
        let message = "the customers feature is not enabled for this account";
        Err(Refusal::new(RefusalCode::CustomersDisabled, message).into())
    }
}
