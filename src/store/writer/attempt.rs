//! Doing something that may fail without failing the rest of its transaction.
//!
//! What always holds: nothing stays of what failed, and everything stays that was written before it.

use super::{StoreError, Tx};
use crate::store::statement::commands;

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
        SAVEPOINT.run(self, &[])?;
        let outcome = work();
        if self.reader.conn.is_autocommit() {
            let message = "an error ended the transaction";
            return Err(StoreError::Failed(message.to_owned()));
        }
        if outcome.is_err() {
            self.changes_accounts();
            ROLLBACK.run(self, &[])?;
        }
        RELEASE.run(self, &[])?;
        Ok(outcome)
    }
}
