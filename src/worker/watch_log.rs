//! Watches the size of the write-ahead log. A log that keeps growing fills the disk and slows every read.

use super::{NextStep, Worker};
use crate::domain::Time;
use crate::domain::time::{MINUTE_MS, SECOND_MS};
use crate::service::{Error, Service, WAL_BYTES_WARNED};
use std::sync::Arc;

/// Interval between two checks, in milliseconds.
const CHECK_EVERY_MS: i64 = 10 * SECOND_MS;

/// The worker that watches the write-ahead log.
pub struct WalWatcher {
    service: Arc<Service>,
    /// Earliest time of the next warning.
    next: Time,
}

impl WalWatcher {
    /// Creates a worker for the write-ahead log of this service's database file.
    pub fn new(service: Arc<Service>) -> WalWatcher {
        WalWatcher { service, next: Time(0) }
    }
}

impl Worker for WalWatcher {
    const NAME: &'static str = "log";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        let bytes = self.service.wal_bytes();
        if bytes > WAL_BYTES_WARNED && now >= self.next {
            log::warn!(
                "write-ahead log is large, end long reads of the file: bytes={bytes} limit={WAL_BYTES_WARNED}"
            );
            self.next = now.plus_ms(MINUTE_MS);
        }
        Ok(NextStep::At(now.plus_ms(CHECK_EVERY_MS)))
    }
}
