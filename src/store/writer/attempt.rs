//! Doing something that may fail without failing the rest of its transaction.
//!
//! What always holds: nothing stays of what failed, and everything stays that was written before it.

use super::{StoreError, Tx};
use crate::store::statement::commands;
use std::cell::Cell;

commands! {
    SAVEPOINT = "savepoint attempt";
    ROLLBACK = "rollback to attempt";
    RELEASE = "release attempt";
}

impl Tx<'_> {
    /// Does something that may fail without the rest: then only what it wrote is taken back.
    ///
    /// # Errors
    /// [`StoreError`] where the transaction itself is at its end.
    pub fn attempt<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<T, E>, StoreError> {
        if let Some(again) = self.again {
            return self.attempt_without_savepoint(again, work);
        }
        SAVEPOINT.run(self, &[])?;
        let touched = self.touched();
        let outcome = work();
        self.check_open()?;
        if outcome.is_err() {
            self.forget_touched(touched);
            self.changes_accounts();
            ROLLBACK.run(self, &[])?;
        }
        RELEASE.run(self, &[])?;
        Ok(outcome)
    }

    /// [`Tx::attempt`] of a job that shares its savepoint: where what failed had written something, the whole job is taken back
    /// and done again, and then has savepoints.
    fn attempt_without_savepoint<T, E>(
        &self,
        again: &Cell<bool>,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<T, E>, StoreError> {
        let before = self.reader.conn.total_changes();
        let outcome = work();
        self.check_open()?;
        if outcome.is_err() && self.reader.conn.total_changes() != before {
            again.set(true);
            let message = "what failed has to be done again in a savepoint of its own";
            return Err(StoreError::Failed(message.to_owned()));
        }
        Ok(outcome)
    }

    /// Refuses to go on outside of the transaction.
    fn check_open(&self) -> Result<(), StoreError> {
        if self.reader.conn.is_autocommit() {
            let message = "an error ended the transaction";
            return Err(StoreError::Failed(message.to_owned()));
        }
        Ok(())
    }
}
