//! Has ordered servers made and removed by the provisioner.

use super::command::Answered;
use super::errands::Errands;
use crate::domain::server::outcome::Answer;
use crate::domain::time::Time;
use crate::service::servers::ServerErrand;
use crate::service::{Error, Service};
use serde_json::Value;
use std::sync::Arc;

/// The orders that wait for a provisioner.
pub struct Provision {
    /// Where they are kept.
    pub service: Arc<Service>,
}

impl Errands for Provision {
    const NAME: &'static str = "provision";
    type Order = ServerErrand;

    async fn begin(&self, now: Time) -> Result<Option<ServerErrand>, Error> {
        self.service.begin_server_errand(now).await
    }

    fn describe(order: &ServerErrand) -> (String, Value) {
        (format!("server {}", order.id), order.input.clone())
    }

    async fn end(&self, now: Time, order: &ServerErrand, answered: &Answered) -> Result<(), Error> {
        let answer = answered.clone().and_then(|answer| {
            Answer::parse(order.errand, &answer).map_err(|refusal| refusal.message)
        });
        self.service.end_server_errand(now, &order.id, answer).await
    }
}
