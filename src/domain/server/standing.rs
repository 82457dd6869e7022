//! Where an order stands, and every step from there.
//!
//! What lives here: the machine. What does not: who may take which step. What always holds: an order whose outcome is
//! not known is moved by a person only.

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
pub enum Errand {
    /// Make the server.
    Create,
    /// Remove it.
    Delete,
}

/// Where an order stands, with all that decides what may happen next: the status, whether its deletion is wanted, and
/// what the provisioner is at. What cannot be has no value here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
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

impl Standing {
    /// From what is stored; nothing where that cannot be.
    pub fn of(
        status: ServerStatus,
        deletion_wanted: bool,
        command: Option<CommandState>,
    ) -> Option<Standing> {
        match (status, deletion_wanted, command) {
            (ServerStatus::Queued, false, None) => Some(Standing::Queued),
            (ServerStatus::Provisioning, false, Some(state)) => Some(Standing::Creating(state)),
            (ServerStatus::Active, false, None) => Some(Standing::Active),
            (ServerStatus::Active, true, None) => Some(Standing::Unwanted),
            (ServerStatus::Active, true, Some(state)) => Some(Standing::Deleting(state)),
            (ServerStatus::Failed, false, None) => Some(Standing::Failed),
            (ServerStatus::Deleted, _, None) => Some(Standing::Deleted),
            _ => None,
        }
    }

    /// The status that everybody sees.
    pub const fn status(self) -> ServerStatus {
        match self {
            Standing::Queued => ServerStatus::Queued,
            Standing::Creating(_) => ServerStatus::Provisioning,
            Standing::Active | Standing::Unwanted | Standing::Deleting(_) => ServerStatus::Active,
            Standing::Failed => ServerStatus::Failed,
            Standing::Deleted => ServerStatus::Deleted,
        }
    }

    /// What the provisioner is at.
    pub const fn command(self) -> Option<CommandState> {
        match self {
            Standing::Creating(state) | Standing::Deleting(state) => Some(state),
            Standing::Queued
            | Standing::Active
            | Standing::Unwanted
            | Standing::Failed
            | Standing::Deleted => None,
        }
    }

    /// What the provisioner has to do next, or is doing.
    pub const fn errand(self) -> Option<Errand> {
        match self {
            Standing::Queued | Standing::Creating(_) => Some(Errand::Create),
            Standing::Unwanted | Standing::Deleting(_) => Some(Errand::Delete),
            Standing::Active | Standing::Failed | Standing::Deleted => None,
        }
    }

    /// Where the step leads.
    ///
    /// # Errors
    /// `invalid_transition` where there is no such step from here.
    pub fn after(self, step: Step) -> Result<Standing, Refusal> {
        let next = match step {
            Step::Discard => self.after_discard(),
            Step::Start => match self {
                Standing::Queued => Some(Standing::Creating(CommandState::Running)),
                Standing::Unwanted => Some(Standing::Deleting(CommandState::Running)),
                _ => None,
            },
            Step::Done | Step::Declined | Step::Lost => self.after_command(step),
            Step::Operator(step) => self.after_operator(step),
        };
        next.ok_or_else(|| self.refusal(step))
    }

    /// What is not made yet or not there any more is gone at once; what is there has to be removed first.
    const fn after_discard(self) -> Option<Standing> {
        match self {
            Standing::Queued | Standing::Failed | Standing::Deleted => Some(Standing::Deleted),
            Standing::Active | Standing::Unwanted => Some(Standing::Unwanted),
            Standing::Deleting(state) => Some(Standing::Deleting(state)),
            Standing::Creating(_) => None,
        }
    }

    /// Only a command that runs can end.
    const fn after_command(self, step: Step) -> Option<Standing> {
        match (self, step) {
            (Standing::Creating(CommandState::Running), Step::Done) => Some(Standing::Active),
            (Standing::Creating(CommandState::Running), Step::Declined) => Some(Standing::Failed),
            (Standing::Creating(CommandState::Running), Step::Lost) => {
                Some(Standing::Creating(CommandState::Unknown))
            }
            (Standing::Deleting(CommandState::Running), Step::Done) => Some(Standing::Deleted),
            (Standing::Deleting(CommandState::Running), Step::Declined) => Some(Standing::Active),
            (Standing::Deleting(CommandState::Running), Step::Lost) => {
                Some(Standing::Deleting(CommandState::Unknown))
            }
            _ => None,
        }
    }

    /// A person decides where no command runs.
    const fn after_operator(self, step: OperatorStep) -> Option<Standing> {
        match (self, step) {
            (
                Standing::Creating(CommandState::Running)
                | Standing::Deleting(CommandState::Running)
                | Standing::Deleted,
                _,
            ) => None,
            (Standing::Queued, OperatorStep::Activate)
            | (Standing::Creating(CommandState::Unknown), OperatorStep::Activate)
            | (Standing::Unwanted, OperatorStep::Activate)
            | (Standing::Deleting(CommandState::Unknown), OperatorStep::Activate) => {
                Some(Standing::Active)
            }
            (Standing::Queued, OperatorStep::Fail)
            | (Standing::Creating(CommandState::Unknown), OperatorStep::Fail) => {
                Some(Standing::Failed)
            }
            (Standing::Creating(CommandState::Unknown), OperatorStep::Release) => {
                Some(Standing::Queued)
            }
            (Standing::Deleting(CommandState::Unknown), OperatorStep::Release) => {
                Some(Standing::Unwanted)
            }
            (_, OperatorStep::Delete) => Some(Standing::Deleted),
            (
                Standing::Active | Standing::Failed,
                OperatorStep::Activate | OperatorStep::Fail | OperatorStep::Release,
            )
            | (Standing::Queued, OperatorStep::Release)
            | (Standing::Unwanted, OperatorStep::Fail | OperatorStep::Release)
            | (Standing::Deleting(CommandState::Unknown), OperatorStep::Fail) => None,
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
