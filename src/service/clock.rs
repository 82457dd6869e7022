//! What the file keeps of the server's clock.
//!
//! What always holds: the time in the file never goes back, unless somebody set the clock back on purpose.

use super::{Error, Service};
use crate::domain::time::{HOUR_MS, Time};
use crate::store::{Store, deliveries, file};
use std::sync::Arc;

/// The longest wait between two attempts of a delivery, and a little.
const GAP_MS_MAX: i64 = 11 * HOUR_MS;

/// Says in a file that the wall clock is right, also to a server that has it open.
pub fn accept_clock(store: &Store, wall: Time) -> Result<(), Error> {
    store.write_and_wait(move |tx| Ok(file::accept_clock(tx, wall)?))
}

/// The latest moment that a file has seen, and how often a person has accepted the wall clock.
pub fn clock_of(store: &Store) -> Result<(Time, i64), Error> {
    store.read(|db| Ok(file::clock(db)?.unwrap_or((Time(0), 0))))
}

impl Service {
    /// How often a person has accepted the wall clock.
    pub fn clock_accepted(&self) -> Result<i64, Error> {
        Ok(clock_of(&self.store)?.1)
    }

    /// Keeps what the clock shows, and how far the wall clock is ahead of it while it is not believed. Where the clock
    /// was set back, deliveries that wait for the time before are due.
    pub async fn keep_clock_seen(
        self: &Arc<Self>,
        now: Time,
        set_back: bool,
        ahead_ms: Option<i64>,
    ) -> Result<(), Error> {
        self.write(move |_, tx| {
            if set_back {
                deliveries::bring_forward(tx, now, now.plus_ms(GAP_MS_MAX))?;
            }
            Ok(file::keep_clock(tx, now, set_back, ahead_ms)?)
        })
        .await
    }
}
