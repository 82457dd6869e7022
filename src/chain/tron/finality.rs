//! The API of final blocks, `/walletsolidity`, which may fail while `/wallet` answers.
//!
//! Invariant: while it fails, no further block counts as final.

use super::answers::HeaderResponse;
use super::{NodeApi, Tron, parse_header};
use crate::chain::backoff::StepBackoff;
use crate::chain::{FinalProblem, NodeError};
use crate::domain::ChainState;
use serde_json::json;

/// Smallest number of blocks by which the final height advances. With a smaller number, the final height would
/// advance in each poll, because a block is produced every 3 s.
const FINAL_STEP: u32 = 4;
/// Time limit of the request for the newest final block, in milliseconds. New blocks are not read while it waits, and a
/// node that leaves a request for its newest block unanswered for longer counts as hanging.
const HEAD_MS_MAX: u64 = 4_000;
/// Base-2 logarithm of the longest backoff after final blocks could not be read, in steps. Such a request may take as
/// long as the time limit of any request.
const BACKOFF_LOG2_MAX: u32 = 2;

#[derive(Default)]
pub(super) struct FinalApi {
    /// Why the API gives no final blocks at present.
    problem: Option<FinalProblem>,
    /// `true` if the last request for the newest final block failed.
    has_no_head: bool,
    backoff: StepBackoff,
    /// `true` if this step belongs to the backoff.
    is_waiting: bool,
    path: String,
    /// Height of the newest final block that was read.
    complete: u32,
}

impl FinalApi {
    pub(super) fn begin_step(&mut self, known: &ChainState) {
        self.is_waiting = self.backoff.take_step();
        self.complete = known.complete.as_ref().map_or(0, |complete| complete.height);
    }

    /// Returns the height of the newest final block that was read.
    pub(super) fn complete(&self) -> u32 {
        self.complete
    }

    pub(super) fn problem(&self) -> Option<&FinalProblem> {
        self.problem.as_ref()
    }

    pub(super) fn set_path(&mut self, path: &str) {
        path.clone_into(&mut self.path);
    }

    /// Returns the error because of which the API must not be asked for blocks in this step.
    pub(super) fn unavailable(&self) -> Option<NodeError> {
        let problem = self.problem.as_ref().filter(|_| self.has_no_head || self.is_waiting);
        problem.map(FinalProblem::to_error)
    }
}

impl Tron {
    /// Requests the newest final block, and updates the final height. A failure leaves the height as it is. `newest` is
    /// the height of the newest block.
    pub(super) fn update_final_height(&mut self, newest: u32) {
        if self.finality.is_waiting {
            return;
        }
        let last = self.fetch_final_height();
        self.finality.has_no_head = last.is_err();
        match last {
            Ok(last) => {
                if !self.finality.backoff.is_waiting() {
                    self.finality.problem = None;
                }
                // Another node behind the url may have reported the final block, which may be above the newest block of
                // this node.
                let last = last.min(newest);
                let is_late =
                    |before: u32| !(before..before.saturating_add(FINAL_STEP)).contains(&last);
                if self.finalized.is_none_or(is_late) {
                    self.finalized = Some(last);
                }
            }
            Err(error) => self.finality.problem = Some(self.final_problem_of(error)),
        }
    }

    fn fetch_final_height(&mut self) -> Result<u32, NodeError> {
        let path = NodeApi::Final.method_path("getnowblock");
        self.finality.set_path(&path);
        let newest: HeaderResponse = self.rpc.post_within(&path, &json!({}), HEAD_MS_MAX)?;
        let header = self.rpc.distrust_if_invalid(parse_header(&newest))?;
        let height = header.map(|header| header.block.height);
        height.ok_or_else(|| NodeError::Unreachable("it names no final block".to_owned()))
    }

    /// Records the outcome of a request for final blocks or their receipts. An error gets the request that failed.
    pub(super) fn record_final_read<T>(
        &mut self,
        read: Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        let error = match read {
            Ok(read) => {
                self.finality.backoff.reset();
                self.finality.problem = None;
                return Ok(read);
            }
            Err(error) => error,
        };
        // Another node behind the url may have the blocks, and a shorter range may be below the limit.
        if !matches!(error, NodeError::Behind | NodeError::Limited(_)) {
            self.finality.backoff.record_failure(BACKOFF_LOG2_MAX);
        }
        let problem = self.final_problem_of(error);
        let told = problem.to_error();
        self.finality.problem = Some(problem);
        Err(told)
    }

    fn final_problem_of(&self, error: NodeError) -> FinalProblem {
        let asked = format!("{} at {}", self.finality.path, self.rpc.label());
        FinalProblem { asked, error }
    }
}
