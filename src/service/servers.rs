//! Servers and the provisioner command: for which server it is run, and what it answered.
//!
//! What does not live here: running it (`worker`), and what an operator decides (`operator::servers`). What always
//! holds: the start of a run is committed before the run, and a run whose answer was lost is not repeated unless a
//! person says so.

use super::audit_log::{self, Entry};
use super::{Error, Service};
use crate::domain::server::OrderedServer;
use crate::domain::server::outcome::ProvisionerResult;
use crate::domain::server::state::{ProvisionerTask, ServerStep};
use crate::domain::time::Time;
use crate::store::{Tx, servers};
use serde_json::{Value, json};
use std::sync::Arc;

/// Who acted, in the audit log.
const PROVISIONER: &str = "provisioner";

/// What the provisioner was started for.
#[derive(Clone, Debug)]
pub struct ServerJob {
    /// The server's id.
    pub id: String,
    /// What it is to do.
    pub task: ProvisionerTask,
    /// What it reads on its standard input.
    pub input: Value,
}

impl Service {
    /// Takes the oldest order that waits for the provisioner; it is committed as begun when this answers.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file fails, or where one runs already.
    pub async fn begin_server_job(self: &Arc<Self>, now: Time) -> Result<Option<ServerJob>, Error> {
        if self.read(|db| Ok(servers::next_to_do(db)?))?.is_none() {
            return Ok(None);
        }
        self.write(move |_, tx| {
            let Some(mut server) = servers::next_to_do(tx)? else {
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

    /// Stores what the provisioner answered; nothing where that is not known, with a text that says why.
    pub async fn end_server_job(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        answer: Result<ProvisionerResult, String>,
    ) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(move |_, tx| {
            let server = servers::by_id(tx, &id)?;
            let server = server.ok_or_else(|| Error::Failed(format!("server {id} is gone")))?;
            end(tx, server, answer, now)
        })
        .await
    }

    /// An order whose provisioner was lost with the process before this one: its outcome is not known.
    pub fn give_up_server_job(self: &Arc<Self>, now: Time) -> Result<(), Error> {
        self.write_and_wait(move |_, tx| match servers::running(tx)? {
            Some(server) => {
                let reason = "coffer ended while the provisioner was at work".to_owned();
                end(tx, server, Err(reason), now)
            }
            None => Ok(()),
        })
    }
}

/// The provisioner has ended, or was lost.
fn end(
    tx: &Tx<'_>,
    mut server: OrderedServer,
    answer: Result<ProvisionerResult, String>,
    now: Time,
) -> Result<(), Error> {
    let before = server.state;
    let (step, action, detail) = match answer {
        Ok(ProvisionerResult::Done {
            address,
            provider_ref,
        }) => {
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
                "server {}: what the provisioner did is not known, and an operator has to find out: {reason}",
                server.id
            );
            let detail = json!({ "reason": reason });
            (ServerStep::Lost, "server.outcome_unknown", detail)
        }
    };
    server.take_step(step, now)?;
    servers::update(tx, &server, before)?;
    let noted = Entry {
        action,
        account: Some(server.account),
        object: Some(&server.id),
        detail: &detail,
    };
    audit_log::record(tx, now, PROVISIONER, &noted)
}
