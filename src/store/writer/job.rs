//! A submitted write. The drawing in [`super`] shows its states.
//!
//! Invariant: the answer is the result of the last run, and a success only after the commit.

use super::{StoreError, Tx, WriteError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// The answer to a write.
pub(in crate::store) type WriteAnswer<T, E> = Result<T, WriteError<E>>;

/// A submitted write, without its types.
pub(super) trait Job: Send {
    /// Runs the job. Returns `true` if it is done, and `false` if it failed.
    fn run(&mut self, tx: &Tx<'_>) -> bool;

    /// Returns `true` if the job may run again after its rows were rolled back.
    fn is_repeatable(&self) -> bool;

    /// Makes the job pending again, after its rows were rolled back.
    fn reset(&mut self);

    /// Answers the job after the end of its batch.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// The work of a job.
pub(super) trait Work<T, E>: Send {
    /// Whether the work may run again.
    const IS_REPEATABLE: bool;

    /// Runs the work.
    fn work(&mut self, tx: &Tx<'_>) -> Result<T, WriteError<E>>;
}

/// Work that runs once.
pub(super) struct Once<W>(pub(super) Option<W>);

impl<T, E, W: FnOnce(&Tx<'_>) -> Result<T, E> + Send> Work<T, E> for Once<W> {
    const IS_REPEATABLE: bool = false;

    fn work(&mut self, tx: &Tx<'_>) -> Result<T, WriteError<E>> {
        match self.0.take() {
            Some(work) => work(tx).map_err(WriteError::Refused),
            None => Err(failed("a write was to be done twice")),
        }
    }
}

/// Work that may run again.
pub(super) struct Repeatable<W>(pub(super) W);

impl<T, E, W: Fn(&Tx<'_>) -> Result<T, E> + Send> Work<T, E> for Repeatable<W> {
    const IS_REPEATABLE: bool = true;

    fn work(&mut self, tx: &Tx<'_>) -> Result<T, WriteError<E>> {
        (self.0)(tx).map_err(WriteError::Refused)
    }
}

/// The state of a job.
enum JobState<T, E> {
    Pending,
    Done(T),
    Failed(WriteError<E>),
}

/// Work with its state, and the channel of its answer.
pub(super) struct Submitted<W, T, E> {
    work: W,
    state: JobState<T, E>,
    answer: oneshot::Sender<WriteAnswer<T, E>>,
}

impl<W, T, E> Submitted<W, T, E> {
    /// Returns a pending job.
    pub(super) fn new(work: W, answer: oneshot::Sender<WriteAnswer<T, E>>) -> Self {
        Submitted {
            work,
            state: JobState::Pending,
            answer,
        }
    }
}

impl<W: Work<T, E>, T: Send, E: Send> Job for Submitted<W, T, E> {
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let work = &mut self.work;
        let work = || {
            let value = work.work(tx)?;
            tx.note_rest().map_err(WriteError::Store)?;
            Ok(value)
        };
        let result = catch_unwind(AssertUnwindSafe(work));
        self.state = match result.unwrap_or_else(|_| Err(failed("a write panicked"))) {
            Ok(value) => JobState::Done(value),
            Err(error) => JobState::Failed(error),
        };
        matches!(self.state, JobState::Done(_))
    }

    fn is_repeatable(&self) -> bool {
        W::IS_REPEATABLE
    }

    fn reset(&mut self) {
        self.state = JobState::Pending;
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.state, committed) {
            (JobState::Done(value), Ok(())) => Ok(value),
            (JobState::Done(_) | JobState::Pending, Err(error)) => Err(WriteError::Store(error)),
            (JobState::Failed(error), _) => Err(error),
            (JobState::Pending, Ok(())) => Err(WriteError::Store(StoreError::closed())),
        };
        // The caller may be gone. The write is committed all the same.
        let _ = self.answer.send(answer);
    }
}

fn failed<E>(message: &str) -> WriteError<E> {
    WriteError::Store(StoreError::Failed(message.to_owned()))
}
