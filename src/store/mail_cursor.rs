//! The table `mail_cursor`: the event up to which messages are queued.

use super::statement::statements;

statements! {
    /// Returns the `seq` of the event; `None` without a mail server, and before the first start after a restore.
    pub fn event(db) -> Option<(event: i64)> = "select event from mail_cursor where id = 1";

    /// Stores the `seq` of the event.
    pub fn set(tx, event: i64) =
        "insert into mail_cursor (id, event) values (1, :event) on conflict (id) do update set event = excluded.event";

    /// Removes the row, so that messages begin with the next event.
    pub fn remove(tx) = "delete from mail_cursor";

    /// Same as [`remove`], in a copy that is restored.
    pub(super) fn remove_on_conn(conn) = "delete from mail_cursor";
}
