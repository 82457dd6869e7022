//! State machine of a server's order.
//!
//! Invariant: after an unknown outcome of the provisioner, only a person takes the next step.

use crate::domain::refusal::{Refusal, RefusalCode};
use crate::domain::text_enum::text_enum;

text_enum! {
    /// Status of a server.
    ///
    /// ```text
    /// queued ──▶ provisioning ──▶ active ──▶ deleted
    ///  │  ▲         │    └──▶ failed ──┐        ▲
    ///  │  └─release─┘                  └────────┤
    ///  └────────────────────────────────────────┘
    /// ```
    ///
    /// Without a provisioner, an operator takes the server from `queued` to `active` or `failed` in one step.
    pub enum ServerStatus {
        /// The server is ordered.
        Queued = "queued",
        /// The provisioner is creating the server.
        Provisioning = "provisioning",
        /// The server exists.
        Active = "active",
        /// The server was not created, and nothing is left of the attempt.
        Failed = "failed",
        /// The server is deleted, or the order was discarded.
        Deleted = "deleted",
    }
}

text_enum! {
    /// State of the provisioner command of an order.
    pub enum CommandState {
        /// The command runs for this order.
        Running = "running",
        /// The command ended without an outcome, or the outcome was lost.
        Unknown = "unknown",
    }
}

text_enum! {
    /// Action of an operator on an order.
    pub enum OperatorStep {
        /// Marks the server as existing.
        Activate = "activate",
        /// Marks the server as not created.
        Fail = "fail",
        /// Marks the server as deleted.
        Delete = "delete",
        /// Lets the provisioner try again after an unknown outcome.
        Release = "release",
    }
}

/// Task of the provisioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisionerTask {
    /// Create the server.
    Create,
    /// Delete the server.
    Delete,
}

/// State of an order: the status, the request to delete, and the state of the provisioner, combined in one value.
///
/// The state determines the possible next steps. Impossible combinations have no variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// The server waits to be created.
    Queued,
    /// The provisioner was started to create the server.
    Creating(CommandState),
    /// The server exists.
    Active,
    /// The server exists and waits to be deleted.
    Unwanted,
    /// The server exists, and the provisioner was started to delete it.
    Deleting(CommandState),
    /// The server was not created.
    Failed,
    /// The server is deleted.
    Deleted,
}

/// A step of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// The reseller cancels the order or deletes the server.
    Discard,
    /// The provisioner is started.
    Start,
    /// The provisioner did its task.
    Done,
    /// The provisioner refused its task.
    Declined,
    /// The outcome of the provisioner is unknown.
    Lost,
    /// An operator takes an action.
    Operator(OperatorStep),
}

impl ServerState {
    /// Returns the state from its stored parts; `None` for an impossible combination.
    pub fn from_parts(
        status: ServerStatus,
        deletion_wanted: bool,
        command: Option<CommandState>,
    ) -> Option<ServerState> {
        match (status, deletion_wanted, command) {
            (ServerStatus::Queued, false, None) => Some(ServerState::Queued),
            (ServerStatus::Provisioning, false, Some(state)) => Some(ServerState::Creating(state)),
            (ServerStatus::Active, false, None) => Some(ServerState::Active),
            (ServerStatus::Active, true, None) => Some(ServerState::Unwanted),
            (ServerStatus::Active, true, Some(state)) => Some(ServerState::Deleting(state)),
            (ServerStatus::Failed, false, None) => Some(ServerState::Failed),
            (ServerStatus::Deleted, _, None) => Some(ServerState::Deleted),
            _ => None,
        }
    }

    /// Returns the public status.
    pub const fn status(self) -> ServerStatus {
        match self {
            ServerState::Queued => ServerStatus::Queued,
            ServerState::Creating(_) => ServerStatus::Provisioning,
            ServerState::Active | ServerState::Unwanted | ServerState::Deleting(_) => {
                ServerStatus::Active
            }
            ServerState::Failed => ServerStatus::Failed,
            ServerState::Deleted => ServerStatus::Deleted,
        }
    }

    /// Returns the state of the provisioner command.
    pub const fn command(self) -> Option<CommandState> {
        match self {
            ServerState::Creating(state) | ServerState::Deleting(state) => Some(state),
            ServerState::Queued
            | ServerState::Active
            | ServerState::Unwanted
            | ServerState::Failed
            | ServerState::Deleted => None,
        }
    }

    /// Returns the current or next task of the provisioner; `None` if there is none.
    pub const fn task(self) -> Option<ProvisionerTask> {
        match self {
            ServerState::Queued | ServerState::Creating(_) => Some(ProvisionerTask::Create),
            ServerState::Unwanted | ServerState::Deleting(_) => Some(ProvisionerTask::Delete),
            ServerState::Active | ServerState::Failed | ServerState::Deleted => None,
        }
    }

    /// Returns the state after a step.
    ///
    /// # Errors
    /// `invalid_transition` if this state has no such step.
    pub fn after_step(self, step: ServerStep) -> Result<ServerState, Refusal> {
        let next = match step {
            ServerStep::Discard => self.after_deletion_request(),
            ServerStep::Start => match self {
                ServerState::Queued => Some(ServerState::Creating(CommandState::Running)),
                ServerState::Unwanted => Some(ServerState::Deleting(CommandState::Running)),
                _ => None,
            },
            ServerStep::Done | ServerStep::Declined | ServerStep::Lost => {
                self.after_command_end(step)
            }
            ServerStep::Operator(step) => self.after_operator_step(step),
        };
        next.ok_or_else(|| self.step_refusal(step))
    }

    /// Returns the state after the reseller requested the deletion.
    ///
    /// An order without a server is deleted at once. The provisioner or an operator first removes an existing server.
    const fn after_deletion_request(self) -> Option<ServerState> {
        match self {
            ServerState::Queued | ServerState::Failed | ServerState::Deleted => {
                Some(ServerState::Deleted)
            }
            ServerState::Active | ServerState::Unwanted => Some(ServerState::Unwanted),
            ServerState::Deleting(state) => Some(ServerState::Deleting(state)),
            ServerState::Creating(_) => None,
        }
    }

    /// Returns the state after the end of a command; `None` if no command runs.
    const fn after_command_end(self, step: ServerStep) -> Option<ServerState> {
        match (self, step) {
            (ServerState::Creating(CommandState::Running), ServerStep::Done) => {
                Some(ServerState::Active)
            }
            (ServerState::Creating(CommandState::Running), ServerStep::Declined) => {
                Some(ServerState::Failed)
            }
            (ServerState::Creating(CommandState::Running), ServerStep::Lost) => {
                Some(ServerState::Creating(CommandState::Unknown))
            }
            (ServerState::Deleting(CommandState::Running), ServerStep::Done) => {
                Some(ServerState::Deleted)
            }
            (ServerState::Deleting(CommandState::Running), ServerStep::Declined) => {
                Some(ServerState::Active)
            }
            (ServerState::Deleting(CommandState::Running), ServerStep::Lost) => {
                Some(ServerState::Deleting(CommandState::Unknown))
            }
            _ => None,
        }
    }

    /// Returns the state after an operator's action; `None` while a command runs, or if the action is impossible.
    const fn after_operator_step(self, step: OperatorStep) -> Option<ServerState> {
        match (self, step) {
            (
                ServerState::Creating(CommandState::Running)
                | ServerState::Deleting(CommandState::Running)
                | ServerState::Deleted,
                _,
            ) => None,
            (ServerState::Queued, OperatorStep::Activate)
            | (ServerState::Creating(CommandState::Unknown), OperatorStep::Activate)
            | (ServerState::Unwanted, OperatorStep::Activate)
            | (ServerState::Deleting(CommandState::Unknown), OperatorStep::Activate) => {
                Some(ServerState::Active)
            }
            (ServerState::Queued, OperatorStep::Fail)
            | (ServerState::Creating(CommandState::Unknown), OperatorStep::Fail) => {
                Some(ServerState::Failed)
            }
            (ServerState::Creating(CommandState::Unknown), OperatorStep::Release) => {
                Some(ServerState::Queued)
            }
            (ServerState::Deleting(CommandState::Unknown), OperatorStep::Release) => {
                Some(ServerState::Unwanted)
            }
            (_, OperatorStep::Delete) => Some(ServerState::Deleted),
            (
                ServerState::Active | ServerState::Failed,
                OperatorStep::Activate | OperatorStep::Fail | OperatorStep::Release,
            )
            | (ServerState::Queued, OperatorStep::Release)
            | (ServerState::Unwanted, OperatorStep::Fail | OperatorStep::Release)
            | (ServerState::Deleting(CommandState::Unknown), OperatorStep::Fail) => None,
        }
    }

    /// Returns a 409 that names the state and the refused step.
    fn step_refusal(self, step: ServerStep) -> Refusal {
        let (status, doing) = (self.status(), step.refused_step_text());
        let message = match self.command() {
            Some(CommandState::Running) => {
                format!("the server is {status} and its provisioner is at work; it cannot {doing}")
            }
            Some(CommandState::Unknown) => format!(
                "the server is {status} and what its provisioner did is not known; it cannot {doing} before an operator decides"
            ),
            None => format!("the server is {status}; it cannot {doing}"),
        };
        Refusal::new(RefusalCode::InvalidTransition, message)
    }
}

impl ServerStep {
    /// Returns the end of the sentence "it cannot …" in a refusal.
    const fn refused_step_text(self) -> &'static str {
        match self {
            ServerStep::Discard | ServerStep::Operator(OperatorStep::Delete) => "be deleted",
            ServerStep::Start => "be begun",
            ServerStep::Done | ServerStep::Declined | ServerStep::Lost => "be ended by a command",
            ServerStep::Operator(OperatorStep::Activate) => "be activated",
            ServerStep::Operator(OperatorStep::Fail) => "fail",
            ServerStep::Operator(OperatorStep::Release) => "be released",
        }
    }
}

#[cfg(test)]
mod tests;
