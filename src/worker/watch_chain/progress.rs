//! The outcome of one step, for the thread that follows a chain.

use crate::chain::NodeError;
use crate::chain::follow::NodeLag;
use crate::domain::{ChainPosition, ChainStep, ChainStepOutcome};
use crate::service::Error;

/// The reason why a step failed.
#[derive(Debug)]
pub enum StepError {
    /// The node failed, or its answer was rejected.
    Node(NodeError),
    /// The file failed, or accepts no writes.
    File(Error),
    /// The server has stopped.
    Closed,
}

impl std::fmt::Display for StepError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StepError::Node(error) => write!(out, "its node {error}"),
            StepError::File(error) => write!(out, "{error}"),
            StepError::Closed => out.write_str("the server has stopped"),
        }
    }
}

/// The progress of a chain after a step.
#[derive(Clone, Debug)]
pub enum ChainProgress {
    /// More steps are needed at once, for this number of unread blocks.
    Behind(u32),
    /// The node's newest block and its mempool have been read.
    AtHead(ChainPosition),
    /// The node lacks a block that was read already.
    NodeLags(NodeLag),
    /// The chain is stopped for this reason until a person acts.
    Stopped(String),
}

pub(super) fn progress_after(step: &ChainStep) -> ChainProgress {
    match &step.outcome {
        ChainStepOutcome::Forward(forward) if forward.to.block == step.head.block => {
            let is_read = forward.scanned_to.is_some();
            let complete = forward.complete.is_none() || step.chain.has_outputs();
            if is_read && complete {
                ChainProgress::AtHead(step.head.clone())
            } else {
                ChainProgress::Behind(0)
            }
        }
        ChainStepOutcome::Forward(forward) => {
            let (head, to) = (step.head.block.height, forward.to.block.height);
            ChainProgress::Behind(head.saturating_sub(to))
        }
        ChainStepOutcome::Stopped(why) => ChainProgress::Stopped(why.clone()),
        ChainStepOutcome::Started { .. }
        | ChainStepOutcome::RolledBackTo(_)
        | ChainStepOutcome::Rescanned(_)
        | ChainStepOutcome::ClaimChecked(_)
        | ChainStepOutcome::BalancesChecked(_)
        | ChainStepOutcome::HeightFound { .. } => ChainProgress::Behind(0),
    }
}
