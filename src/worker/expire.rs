//! Closes invoices whose time is up, at the moment it is up.

use super::{Next, Worker};
use crate::domain::time::Time;
use crate::service::{Error, Service};
use std::sync::Arc;

/// The expiry worker.
pub struct Expire {
    /// What it works on.
    pub service: Arc<Service>,
}

impl Worker for Expire {
    const NAME: &'static str = "expire";

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        match self.service.next_expiry()? {
            None => Ok(Next::Idle),
            Some(at) if at > now => Ok(Next::At(at)),
            Some(_) => self.service.expire_invoices(now).await.map(|_| Next::Again),
        }
    }
}
