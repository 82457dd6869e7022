//! A submitted write. The diagram in [`super`] shows its states.
//!
//! Invariant: a job may run more than once, and its answer is the result of the last run. A success is answered only
//! after the commit.

use super::{StoreError, Tx};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// A submitted write, independent of the types of its result.
pub(super) trait Job: Send {
    /// Runs the job. Returns `true` if it succeeds.
    fn run(&mut self, tx: &Tx<'_>) -> bool;

    /// Returns `true` if the job may run again after its rows were rolled back.
    fn is_repeatable(&self) -> bool;

    /// Makes the job pending again, after its rows were rolled back.
    fn reset(&mut self);

    /// Sends the answer to the caller, after the end of the batch.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A submitted write: its work, the result of the last run, and the channel for the answer.
pub(super) struct SubmittedJob<W, T, E> {
    pub(super) work: W,
    pub(super) is_repeatable: bool,
    /// `None` while the job is pending.
    pub(super) result: Option<Result<T, E>>,
    pub(super) answer: oneshot::Sender<Result<T, E>>,
}

impl<W, T, E> Job for SubmittedJob<W, T, E>
where
    W: FnMut(&Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let work = || {
            let value = (self.work)(tx)?;
            tx.insert_pending_hashes()?;
            Ok(value)
        };
        let panicked = |_| Err(StoreError::Failed("a write panicked".to_owned()).into());
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked);
        self.result.insert(result).is_ok()
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    fn reset(&mut self) {
        self.result = None;
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.result, committed) {
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(_)) | None, Err(error)) => Err(error.into()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(StoreError::writer_stopped_error().into()),
        };
        // The caller may have gone away. The write is committed nevertheless.
        let _ = self.answer.send(answer);
    }
}
