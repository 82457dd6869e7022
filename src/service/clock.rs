//! The server's clock, as stored in the file.
//!
//! Invariant: the time in the file never goes back, unless an operator set the clock back on purpose.

use super::{Error, Service, Step};
use crate::domain::Time;
use crate::domain::time::HOUR_MS;
use crate::store::{Store, deliveries, file};
use std::sync::Arc;

/// Longest wait between two attempts of a delivery, with a margin, in milliseconds.
const DELIVERY_WAIT_MS_MAX: i64 = 11 * HOUR_MS;

/// Records in a file that the operator accepts the wall clock. A running server reads this record from the file.
pub fn accept_clock(store: &Store, wall: Time) -> Result<(), Error> {
    store.write_and_wait(move |tx| Ok(file::accept_clock(tx, wall)?))
}

/// Returns the latest time that a file has recorded, and how many times an operator accepted the wall clock.
pub fn stored_clock(store: &Store) -> Result<(Time, i64), Error> {
    store.read(|db| Ok(file::clock_state(db)?.unwrap_or((Time(0), 0))))
}

impl Service {
    /// Returns how many times an operator accepted the wall clock.
    pub fn clock_accept_count(&self) -> Result<i64, Error> {
        Ok(stored_clock(&self.store)?.1)
    }

    /// Stores the current time, and how far an untrusted wall clock is ahead of the current time.
    ///
    /// If the clock was set back, deliveries that are due more than 11 hours from now become due now.
    pub async fn store_clock_reading(
        self: &Arc<Self>,
        now: Time,
        set_back: bool,
        ahead_ms: Option<i64>,
    ) -> Result<(), Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            if set_back {
                deliveries::make_deliveries_due(tx, now, now.plus_ms(DELIVERY_WAIT_MS_MAX))?;
            }
            Ok(file::save_clock_time(tx, now, set_back, ahead_ms)?)
        })
        .await
    }
}
