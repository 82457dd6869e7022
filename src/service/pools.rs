//! Where addresses come from: simulated ones, and pools that the operator imports.
//!
//! What does not live here: deriving them from public keys. What always holds: an address is handed out once, to one
//! owner, in the transaction that makes it the owner's.

use super::{Error, Service};
use crate::domain::address;
use crate::domain::asset::{Chain, Mode};
use crate::store::addresses::Owner;
use crate::store::{Reader, Tx, addresses, pool_addresses};

impl Service {
    /// Is there something that hands out addresses of this chain, be it empty?
    pub(super) fn has_pool(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
    ) -> Result<bool, Error> {
        Ok(self.simulates(mode) || pool_addresses::is_used(db, chain)?)
    }

    /// Gives the next address of a chain to its owner, for ever; none where there is none left.
    pub(super) fn claim(
        &self,
        tx: &Tx<'_>,
        mode: Mode,
        chain: Chain,
        owner: Owner,
    ) -> Result<Option<String>, Error> {
        let address = if self.simulates(mode) {
            let index = addresses::next_index(tx, mode, chain)?;
            let label = format!("coffer {mode} {}", chain.address_pool());
            Some(address::test_address(chain, &label, index))
        } else {
            pool_addresses::take(tx, chain)?
        };
        if let Some(address) = &address {
            addresses::insert(tx, mode, chain, address, owner)?;
        }
        Ok(address)
    }
}
