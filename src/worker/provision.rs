//! Runs the provisioner, the operator's program that creates and removes ordered servers.

use super::command::CommandResult;
use super::command_job::CommandJob;
use crate::domain::{ProvisionerResult, Time};
use crate::service::servers::ServerJob;
use crate::service::{Error, Service};
use serde_json::Value;
use std::sync::Arc;

/// The job that runs the provisioner for each server order.
pub struct ProvisionJob {
    /// Service that stores the orders.
    pub service: Arc<Service>,
}

impl CommandJob for ProvisionJob {
    const NAME: &'static str = "provision";
    type WorkItem = ServerJob;

    async fn begin_next_item(&self, now: Time) -> Result<Option<ServerJob>, Error> {
        self.service.start_server_job(now).await
    }

    fn name_and_input(order: &ServerJob) -> (String, Value) {
        (format!("server {}", order.id), order.input.clone())
    }

    async fn store_result(
        &self,
        now: Time,
        order: &ServerJob,
        answered: &CommandResult,
    ) -> Result<(), Error> {
        let answer = answered.clone().and_then(|answer| {
            ProvisionerResult::parse(order.task, &answer).map_err(|refusal| refusal.message)
        });
        self.service.end_server_job(now, &order.id, answer).await
    }
}
