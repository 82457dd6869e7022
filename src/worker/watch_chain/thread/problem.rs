//! Problems with following a chain, as values. A problem is logged when it begins.

use super::super::StepError;
use crate::chain::NodeError;
use std::mem::{Discriminant, discriminant};

/// A problem because of which the newest blocks of a chain are not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowProblem {
    /// Blocks are left to be read.
    Lagging,
    /// The node lacks the block of this height, which was read already.
    MissingBlock(u32),
    /// The chain is stopped until a person acts.
    Stopped,
    Node(Discriminant<NodeError>),
    /// The file failed, or accepts no writes.
    File,
}

impl FollowProblem {
    pub(super) fn of_step(failed: &StepError) -> FollowProblem {
        match failed {
            StepError::Node(error) => FollowProblem::Node(discriminant(error)),
            StepError::File(_) | StepError::Closed => FollowProblem::File,
        }
    }
}

/// A problem with which a chain is still followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartialProblem {
    Rescan,
    /// The node reports final blocks that differ from those that were read.
    FinalBlocks,
    /// The node does not give some transactions or addresses.
    SetAside,
}

#[cfg(test)]
mod tests {
    use super::{FollowProblem, NodeError, StepError};
    use crate::service::Error;

    #[test]
    fn failures_of_one_kind_are_one_problem_whatever_their_texts() {
        let problem = |error| FollowProblem::of_step(&StepError::Node(error));
        let text = |text: &str| text.to_owned();
        let first = problem(NodeError::Unreachable(text("no answer in time")));
        assert_eq!(first, problem(NodeError::Unreachable(text("status 502, request 7f3a"))));
        for other in [
            problem(NodeError::Limited(text("no answer in time"))),
            problem(NodeError::Behind),
            problem(NodeError::Lied(text("no answer in time"))),
            problem(NodeError::Wrong(text("no answer in time"))),
            FollowProblem::of_step(&StepError::File(Error::Failed(text("no answer in time")))),
            FollowProblem::MissingBlock(7),
            FollowProblem::Stopped,
            FollowProblem::Lagging,
        ] {
            assert_ne!(first, other);
        }
        assert_ne!(FollowProblem::MissingBlock(7), FollowProblem::MissingBlock(8));
    }
}
