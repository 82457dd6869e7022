//! Servers and the provisioner command: selects the server for the next run, and stores the result.
//!
//! `worker` runs the command, and `api::operator::servers` has the operator's decisions.
//!
//! Invariant: the start of a run is committed before the run. A run whose result was lost is repeated only if an
//! operator orders it.

use super::{Error, Service, Step, audit_log};
use crate::domain::{OrderedServer, ProvisionerResult, ProvisionerTask, ServerStep, Time};
use crate::store::{Tx, servers};
use serde_json::{Value, json};
use std::sync::Arc;

/// Actor in the audit log for results of the provisioner.
const PROVISIONER: &str = "provisioner";

/// One run of the provisioner command, for one server.
#[derive(Clone, Debug)]
pub struct ServerJob {
    /// Id of the server.
    pub id: String,
    /// Task of the provisioner.
    pub task: ProvisionerTask,
    /// JSON that the provisioner reads from standard input.
    pub input: Value,
}

impl Service {
    /// Takes the oldest order that waits for the provisioner. The start of the run is committed when this function
    /// returns.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if the file fails or a provisioner is already running.
    pub async fn start_server_job(self: &Arc<Self>, now: Time) -> Result<Option<ServerJob>, Error> {
        if self.read(|db| Ok(servers::next_pending_order(db)?))?.is_none() {
            return Ok(None);
        }
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let Some(mut server) = servers::next_pending_order(tx)? else {
                return Ok(None);
            };
            let before = server.state;
            server.take_step(ServerStep::Start, now)?;
            servers::update(tx, &server, before)?;
            Ok(server.state.task().map(|task| ServerJob {
                id: server.id.clone(),
                task,
                input: server.job_json(task),
            }))
        })
        .await
    }

    /// Stores the result of a provisioner run. `Err` contains the reason why the result is unknown.
    pub async fn end_server_job(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        answer: Result<ProvisionerResult, String>,
    ) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let server = servers::by_id(tx, &id)?;
            let server = server.ok_or_else(|| Error::Failed(format!("server {id} is gone")))?;
            store_job_end(tx, server, answer, now)
        })
        .await
    }

    /// Marks the server whose provisioner run was interrupted by the end of the previous process. The outcome of this
    /// run is unknown.
    pub fn record_interrupted_job(self: &Arc<Self>, now: Time) -> Result<(), Error> {
        self.write_and_wait(now, move |step| {
            let Step { tx, .. } = *step;
            match servers::order_in_progress(tx)? {
                Some(server) => {
                    let reason = "coffer ended while the provisioner was at work".to_owned();
                    store_job_end(tx, server, Err(reason), now)
                }
                None => Ok(()),
            }
        })
    }
}

fn store_job_end(
    tx: &Tx<'_>,
    mut server: OrderedServer,
    answer: Result<ProvisionerResult, String>,
    now: Time,
) -> Result<(), Error> {
    let before = server.state;
    let (step, action, detail) = match answer {
        Ok(ProvisionerResult::Done { address, provider_ref }) => {
            let detail = json!({ "address": address, "ref": provider_ref });
            server.address = address.or(server.address);
            server.provider_ref = provider_ref.or(server.provider_ref);
            server.failure_reason = None;
            (ServerStep::Done, "server.done", detail)
        }
        Ok(ProvisionerResult::Declined(reason)) => {
            let detail = json!({ "reason": reason });
            server.failure_reason = Some(reason);
            (ServerStep::Declined, "server.declined", detail)
        }
        Err(reason) => {
            log::error!(
                "provisioner outcome unknown, check by hand: server={} error={reason}",
                server.id
            );
            let detail = json!({ "reason": reason });
            (ServerStep::Lost, "server.outcome_unknown", detail)
        }
    };
    server.take_step(step, now)?;
    servers::update(tx, &server, before)?;
    audit_log::record(tx, now, PROVISIONER, action, Some(server.account), Some(&server.id), &detail)
}
