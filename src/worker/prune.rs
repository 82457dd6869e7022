//! Deletes data with a limited lifetime: idempotency responses, attempts, sessions and rolled secrets. Never deletes
//! events or deliveries. Once a day, logs the heads of a production file's hash-chained logs.

use super::{Next, Worker};
use crate::domain::time::{DAY_MS, HOUR_MS, Time};
use crate::service::{Error, Service};
use std::sync::Arc;

/// The worker that deletes expired data.
pub struct Prune {
    service: Arc<Service>,
    /// `true` if heads of the hash-chained logs are written to the log. `false` in a sandbox, whose file ends with
    /// the process.
    logs_heads: bool,
    next: Time,
    /// Time at which the heads are logged next.
    next_heads: Time,
}

impl Prune {
    /// Creates a worker that prunes for the first time when it is first woken.
    pub fn new(service: Arc<Service>, logs_heads: bool) -> Prune {
        Prune {
            service,
            logs_heads,
            next: Time(0),
            next_heads: Time(0),
        }
    }
}

impl Prune {
    /// Logs the heads of the hash-chained logs once a day.
    fn log_heads(&mut self, now: Time) -> Result<(), Error> {
        let waits = now < self.next_heads && self.next_heads <= now.plus_ms(DAY_MS);
        if self.logs_heads && !waits {
            for head in self.service.heads()? {
                log::info!("history: head={head}");
            }
            self.next_heads = now.plus_ms(DAY_MS);
        }
        Ok(())
    }
}

impl Worker for Prune {
    const NAME: &'static str = "prune";

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        // If the clock was set back, pruning waits no longer than an hour.
        let waits = now < self.next && self.next <= now.plus_ms(HOUR_MS);
        if waits {
            return Ok(Next::At(self.next));
        }
        self.log_heads(now)?;
        if self.service.prune(now).await? {
            return Ok(Next::Again);
        }
        self.next = now.plus_ms(HOUR_MS);
        Ok(Next::At(self.next))
    }
}
