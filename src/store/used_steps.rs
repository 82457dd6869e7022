//! The table `used_steps`: which codes of an authenticator app were used, by their steps of time.

use super::statement::commands;

commands! {
    /// Uses the code of a step, where no code may be newer than that of `newest`. False where that step, or a later one up to
    /// `newest`, was used before: one after it was used by a clock that was ahead, and stays used until its time has come.
    pub fn take(tx, user: i64, step: i64, newest: i64) -> bool =
        "insert into used_steps (user, step) select :user, :step \
            where not exists (select 1 from used_steps where user = :user and step between :step and :newest)";

    /// Forgets all of a user's.
    pub fn delete_of_user(tx, user: i64) = "delete from used_steps where user = :user";
}
