//! The table `used_steps`: which codes of an authenticator app were used, by their steps of time.

use super::statement::commands;
use super::{StoreError, Tx};
use rusqlite::named_params;

commands! {
    USE = "insert into used_steps (user, step) select :user, :step \
        where not exists (select 1 from used_steps where user = :user and step between :step and :newest)";
    DELETE_OF_USER = "delete from used_steps where user = :user";
}

/// Uses the code of a step, where no code may be newer than that of `newest`. False where that step, or a later one up to
/// `newest`, was used before: one after it was used by a clock that was ahead, and stays used until its time has come.
pub fn take(tx: &Tx<'_>, user: i64, step: i64, newest: i64) -> Result<bool, StoreError> {
    let params = named_params! { ":user": user, ":step": step, ":newest": newest };
    USE.run(tx, params).map(|rows| rows == 1)
}

/// Forgets all of a user's.
pub fn delete_of_user(tx: &Tx<'_>, user: i64) -> Result<(), StoreError> {
    DELETE_OF_USER
        .run(tx, named_params! { ":user": user })
        .map(drop)
}
