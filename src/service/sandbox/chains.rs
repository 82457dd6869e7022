//! Makes simulated chains lag behind the clock.

use crate::domain::asset::Chain;
use crate::domain::time::Time;
use crate::service::{Error, Service};
use crate::store::{Tx, chains};

impl Service {
    /// Sets or clears the lag of a live chain. When the lag ends, updates the status of the invoices that waited for
    /// the chain.
    pub fn set_chain_lag(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        lagging: bool,
    ) -> Result<(), Error> {
        if lagging {
            return Ok(chains::mark_lagging(tx, chain, now)?);
        }
        chains::clear_lagging(tx, chain)?;
        while self.expire_batch(tx, now)? > 0 {}
        Ok(())
    }
}
