//! Makes simulated chains lag behind the clock.

use crate::domain::asset::Chain;
use crate::service::invoices::expire_batch;
use crate::service::{Error, Step};
use crate::store::chains;

/// Sets or clears the lag of a live chain. When the lag ends, updates the status of the invoices that waited for
/// the chain.
pub fn set_chain_lag(step: &Step<'_>, chain: Chain, lagging: bool) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    if lagging {
        return Ok(chains::mark_lagging(tx, chain, now)?);
    }
    chains::clear_lagging(tx, chain)?;
    while expire_batch(step)? > 0 {}
    Ok(())
}
