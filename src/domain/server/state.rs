//! The states of a server's order, and every step between them.
//!
//! What lives here: the state machine. What does not: who may take which step. What always holds: where the
//! provisioner's outcome is not known, only a person takes the next step.

use crate::domain::refusal::{Code, Refusal};
use crate::domain::text_enum::text_enum;

text_enum! {
    /// Where a server stands.
    ///
    /// ```text
    /// queued ──▶ provisioning ──▶ active ──▶ deleted
    ///  │  ▲         │    └──▶ failed ──┐        ▲
    ///  │  └─release─┘                  └────────┤
    ///  └────────────────────────────────────────┘
    /// ```
    ///
    /// An operator who works by hand takes it from `queued` to `active` or `failed` in one step.
    pub enum ServerStatus {
        /// Ordered.
        Queued = "queued",
        /// Being made.
        Provisioning = "provisioning",
        /// Made.
        Active = "active",
        /// Not made, and nothing is left of the attempt.
        Failed = "failed",
        /// Gone.
        Deleted = "deleted",
    }
}

text_enum! {
    /// What the provisioner is at.
    pub enum CommandState {
        /// It was started for this order.
        Running = "running",
        /// It ended, or was lost, without saying what it did.
        Unknown = "unknown",
    }
}

text_enum! {
    /// What an operator does to an order.
    pub enum OperatorStep {
        /// It is there.
        Activate = "activate",
        /// It could not be made.
        Fail = "fail",
        /// It is gone.
        Delete = "delete",
        /// Its outcome was not known; the provisioner may try again.
        Release = "release",
    }
}

/// What the provisioner is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Make the server.
    Create,
    /// Remove it.
    Delete,
}

/// Where an order stands, with all that decides what may happen next: the status, whether its deletion is wanted, and
/// what the provisioner is at. What cannot be has no value here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Waits to be made.
    Queued,
    /// The provisioner was started to make it.
    Creating(CommandState),
    /// There.
    Active,
    /// There, and to be removed; nobody has begun.
    Unwanted,
    /// There, and the provisioner was started to remove it.
    Deleting(CommandState),
    /// Not made.
    Failed,
    /// Gone.
    Deleted,
}

/// What can happen to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The reseller wants it no more.
    Discard,
    /// The provisioner is about to be started.
    Start,
    /// It did what it was asked.
    Done,
    /// It says that it did not.
    Declined,
    /// What it did is not known.
    Lost,
    /// A person decides.
    Operator(OperatorStep),
}

impl ServerState {
    /// From what is stored; nothing where that cannot be.
    pub fn of(
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

    /// The status that everybody sees.
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

    /// What the provisioner is at.
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

    /// What the provisioner has to do next, or is doing.
    pub const fn task(self) -> Option<Task> {
        match self {
            ServerState::Queued | ServerState::Creating(_) => Some(Task::Create),
            ServerState::Unwanted | ServerState::Deleting(_) => Some(Task::Delete),
            ServerState::Active | ServerState::Failed | ServerState::Deleted => None,
        }
    }

    /// Where the step leads.
    ///
    /// # Errors
    /// `invalid_transition` where there is no such step from here.
    pub fn after(self, step: Step) -> Result<ServerState, Refusal> {
        let next = match step {
            Step::Discard => self.after_discard(),
            Step::Start => match self {
                ServerState::Queued => Some(ServerState::Creating(CommandState::Running)),
                ServerState::Unwanted => Some(ServerState::Deleting(CommandState::Running)),
                _ => None,
            },
            Step::Done | Step::Declined | Step::Lost => self.after_command(step),
            Step::Operator(step) => self.after_operator(step),
        };
        next.ok_or_else(|| self.refusal(step))
    }

    /// What is not made yet or not there any more is gone at once; what is there has to be removed first.
    const fn after_discard(self) -> Option<ServerState> {
        match self {
            ServerState::Queued | ServerState::Failed | ServerState::Deleted => {
                Some(ServerState::Deleted)
            }
            ServerState::Active | ServerState::Unwanted => Some(ServerState::Unwanted),
            ServerState::Deleting(state) => Some(ServerState::Deleting(state)),
            ServerState::Creating(_) => None,
        }
    }

    /// Only a command that runs can end.
    const fn after_command(self, step: Step) -> Option<ServerState> {
        match (self, step) {
            (ServerState::Creating(CommandState::Running), Step::Done) => Some(ServerState::Active),
            (ServerState::Creating(CommandState::Running), Step::Declined) => {
                Some(ServerState::Failed)
            }
            (ServerState::Creating(CommandState::Running), Step::Lost) => {
                Some(ServerState::Creating(CommandState::Unknown))
            }
            (ServerState::Deleting(CommandState::Running), Step::Done) => {
                Some(ServerState::Deleted)
            }
            (ServerState::Deleting(CommandState::Running), Step::Declined) => {
                Some(ServerState::Active)
            }
            (ServerState::Deleting(CommandState::Running), Step::Lost) => {
                Some(ServerState::Deleting(CommandState::Unknown))
            }
            _ => None,
        }
    }

    /// A person decides where no command runs.
    const fn after_operator(self, step: OperatorStep) -> Option<ServerState> {
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

    /// 409 that says where the order stands.
    fn refusal(self, step: Step) -> Refusal {
        let (status, doing) = (self.status(), step.text());
        let message = match self.command() {
            Some(CommandState::Running) => {
                format!("the server is {status} and its provisioner is at work; it cannot {doing}")
            }
            Some(CommandState::Unknown) => format!(
                "the server is {status} and what its provisioner did is not known; it cannot {doing} before an operator decides"
            ),
            None => format!("the server is {status}; it cannot {doing}"),
        };
        Refusal::new(Code::InvalidTransition, message)
    }
}

impl Step {
    /// The step in a sentence that begins with "it cannot".
    const fn text(self) -> &'static str {
        match self {
            Step::Discard | Step::Operator(OperatorStep::Delete) => "be deleted",
            Step::Start => "be begun",
            Step::Done | Step::Declined | Step::Lost => "be ended by a command",
            Step::Operator(OperatorStep::Activate) => "be activated",
            Step::Operator(OperatorStep::Fail) => "fail",
            Step::Operator(OperatorStep::Release) => "be released",
        }
    }
}

#[cfg(test)]
mod tests;
