//! Attempts: work inside a job, which may fail without failing the job.
//!
//! ```text
//! own savepoint:     savepoint -- work --+-- done ------------------------ release
//!                                        +-- failed ----------- rollback -- release
//! shared savepoint:               work --+-- done, or failed without writing
//!                                        +-- failed after it had written: needs_own_savepoint,
//!                                            so the job fails, is reset, and runs again in a savepoint of its own
//! ```
//!
//! Invariant: the rows of failed work are rolled back, and no others.

use super::{StoreError, Tx};
use crate::store::statement::statements;
use std::cell::Cell;

statements! {
    fn savepoint(tx) = "savepoint attempt";

    fn rollback(tx) = "rollback to attempt";

    fn release(tx) = "release attempt";
}

impl Tx<'_> {
    /// Runs work that may fail. Its error rolls back the rows that the work wrote.
    ///
    /// # Errors
    /// [`StoreError`] if an error has ended the transaction.
    pub fn attempt<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<T, E>, StoreError> {
        if let Some(needs_own_savepoint) = self.needs_own_savepoint {
            return self.attempt_in_shared_savepoint(needs_own_savepoint, work);
        }
        savepoint(self)?;
        let touched = self.touched_count();
        let outcome = work();
        self.check_transaction_open()?;
        if outcome.is_err() {
            self.truncate_touched(touched);
            self.note_account_change();
            rollback(self)?;
        }
        release(self)?;
        Ok(outcome)
    }

    /// Runs [`Tx::attempt`] for a job in a shared savepoint.
    fn attempt_in_shared_savepoint<T, E>(
        &self,
        needs_own_savepoint: &Cell<bool>,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<T, E>, StoreError> {
        let before = self.reader.conn.total_changes();
        let outcome = work();
        self.check_transaction_open()?;
        if outcome.is_err() && self.reader.conn.total_changes() != before {
            needs_own_savepoint.set(true);
            let message = "what failed has to be done again in a savepoint of its own";
            return Err(StoreError::Failed(message.to_owned()));
        }
        Ok(outcome)
    }

    pub(super) fn check_transaction_open(&self) -> Result<(), StoreError> {
        if self.reader.conn.is_autocommit() {
            let message = "an error ended the transaction";
            return Err(StoreError::Failed(message.to_owned()));
        }
        Ok(())
    }
}
