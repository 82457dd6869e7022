//! The table `used_steps`: time steps whose authenticator codes were used.

use super::statement::statements;

statements! {
    /// Uses up the code of a time step. `newest` is the newest step that is accepted now.
    ///
    /// Returns `false` if this step or a later one up to `newest` was used before. Steps after `newest` were used
    /// while the clock was ahead, so they are ignored.
    pub fn use_step(tx, user: i64, step: i64, newest: i64) -> bool =
        "insert into used_steps (user, step) select :user, :step \
            where not exists (select 1 from used_steps where user = :user and step between :step and :newest)";

    /// Deletes all used codes of a user.
    pub fn delete_of_user(tx, user: i64) = "delete from used_steps where user = :user";
}
