//! Deletes data with a limited lifetime: idempotency responses, delivery attempts, delivered deliveries, sessions and
//! replaced secrets. Never deletes events, and no delivery that is pending or failed. In production, logs the newest
//! hash-chain links of the ledger and the audit log once a day.

use super::{NextStep, Worker};
use crate::domain::Time;
use crate::domain::time::{DAY_MS, HOUR_MS};
use crate::service::{Error, Service};
use std::sync::Arc;

/// The worker that deletes expired data.
pub struct PruningWorker {
    service: Arc<Service>,
    /// Time for which delivery attempts are kept, in milliseconds.
    keep_attempts_ms: i64,
    /// `true` if the newest hash-chain links are logged. `false` in a sandbox, whose file ends with the process.
    logs_heads: bool,
    next: Time,
    /// Time at which the newest hash-chain links are logged next.
    next_heads: Time,
}

impl PruningWorker {
    /// Creates a worker that prunes for the first time at its first wake-up.
    pub fn new(service: Arc<Service>, keep_attempts_ms: i64, logs_heads: bool) -> PruningWorker {
        PruningWorker { service, keep_attempts_ms, logs_heads, next: Time(0), next_heads: Time(0) }
    }
}

impl PruningWorker {
    /// Logs the newest hash-chain links of the ledger and the audit log once a day.
    fn log_hash_chain_heads_daily(&mut self, now: Time) -> Result<(), Error> {
        let waits = now < self.next_heads && self.next_heads <= now.plus_ms(DAY_MS);
        if self.logs_heads && !waits {
            for head in self.service.log_heads()? {
                log::info!("history: head={head}");
            }
            self.next_heads = now.plus_ms(DAY_MS);
        }
        Ok(())
    }
}

impl Worker for PruningWorker {
    const NAME: &'static str = "prune";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        // If the clock was set back, the planned time of the next pruning may be far in the future. Pruning then runs
        // at once instead.
        let waits = now < self.next && self.next <= now.plus_ms(HOUR_MS);
        if waits {
            return Ok(NextStep::At(self.next));
        }
        self.log_hash_chain_heads_daily(now)?;
        if self.service.prune_old_rows(now, self.keep_attempts_ms).await? {
            return Ok(NextStep::Again);
        }
        self.next = now.plus_ms(HOUR_MS);
        Ok(NextStep::At(self.next))
    }
}
