//! A write that waits for its transaction: run on the writer's thread, answered once its batch has ended.
//!
//! What always holds: an answer says what came of the last time it was run, and only where that was committed does it
//! say that all went well.

use super::{StoreError, Tx, WriteError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// What a write answers.
pub(super) type Answer<T, E> = Result<T, WriteError<E>>;

/// One write, its types rubbed off.
pub(super) trait Job: Send {
    /// Runs it; true: what it wrote is to be kept.
    fn run(&mut self, tx: &Tx<'_>) -> bool;

    /// May it be run again where what it wrote was taken back?
    fn is_repeatable(&self) -> bool;

    /// What came of it was taken back, and it has not been run again.
    fn forget(&mut self);

    /// Answers it, given how its batch ended.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// What is done in a transaction.
pub(super) trait Work<T, E>: Send {
    /// May it be done again?
    const IS_REPEATABLE: bool;

    /// Does it.
    fn work(&mut self, tx: &Tx<'_>) -> Result<T, WriteError<E>>;
}

/// Work that is used up by being done.
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

/// Work that may be done again.
pub(super) struct Repeatable<W>(pub(super) W);

impl<T, E, W: Fn(&Tx<'_>) -> Result<T, E> + Send> Work<T, E> for Repeatable<W> {
    const IS_REPEATABLE: bool = true;

    fn work(&mut self, tx: &Tx<'_>) -> Result<T, WriteError<E>> {
        (self.0)(tx).map_err(WriteError::Refused)
    }
}

/// Work that somebody waits for.
pub(super) struct Asked<W, T, E> {
    work: W,
    /// What came of it; nothing: it was not done.
    outcome: Option<Answer<T, E>>,
    asker: oneshot::Sender<Answer<T, E>>,
}

impl<W, T, E> Asked<W, T, E> {
    /// Work that has not been done.
    pub(super) fn new(work: W, asker: oneshot::Sender<Answer<T, E>>) -> Self {
        Asked {
            work,
            outcome: None,
            asker,
        }
    }
}

impl<W: Work<T, E>, T: Send, E: Send> Job for Asked<W, T, E> {
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let work = &mut self.work;
        let work = || {
            let done = work.work(tx)?;
            tx.note_rest().map_err(WriteError::Store)?;
            Ok(done)
        };
        let outcome = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(failed("a write panicked")));
        self.outcome.insert(outcome).is_ok()
    }

    fn is_repeatable(&self) -> bool {
        W::IS_REPEATABLE
    }

    fn forget(&mut self) {
        self.outcome = None;
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.outcome, committed) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Ok(_)) | None, Err(error)) => Err(WriteError::Store(error)),
            (Some(Err(error)), _) => Err(error),
            (None, Ok(())) => Err(WriteError::Store(StoreError::closed())),
        };
        // The asker may be gone; the write stands all the same.
        let _ = self.asker.send(answer);
    }
}

fn failed<E>(message: &str) -> WriteError<E> {
    WriteError::Store(StoreError::Failed(message.to_owned()))
}
