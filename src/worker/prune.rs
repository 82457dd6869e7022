//! Removes what is kept only for a while: idempotency answers, attempts, sessions, rolled secrets. Never events or
//! deliveries.

use super::{Next, Worker};
use crate::domain::time::{HOUR_MS, Time};
use crate::service::{Error, Service};
use std::sync::Arc;

/// The pruning worker.
pub struct Prune {
    service: Arc<Service>,
    next: Time,
}

impl Prune {
    /// Prunes for the first time when it is first woken.
    pub fn new(service: Arc<Service>) -> Prune {
        Prune {
            service,
            next: Time(0),
        }
    }
}

impl Worker for Prune {
    const NAME: &'static str = "prune";

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        // A clock that was set back must not make it wait until it has caught up.
        let waits = now < self.next && self.next <= now.plus_ms(HOUR_MS);
        if waits {
            return Ok(Next::At(self.next));
        }
        if self.service.prune(now).await? {
            return Ok(Next::Again);
        }
        self.next = now.plus_ms(HOUR_MS);
        Ok(Next::At(self.next))
    }
}
