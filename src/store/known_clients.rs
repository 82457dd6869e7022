//! The table `known_clients`: SHA-256 hashes of the clients from which users have signed in.

use super::statement::statements;
use super::{StoreError, Tx};

statements! {
    /// Returns `true` if a user has signed in from this client.
    pub fn is_known_client(db, client: &[u8; 32]) -> (found: bool) =
        "select exists (select 1 from known_clients where client = :client) as found";

    fn insert(tx, user: i64, client: &[u8; 32]) =
        "insert or replace into known_clients (user, client) values (:user, :client)";

    fn keep_newest(tx, user: i64, limit: u32) =
        "delete from known_clients where user = :user and seq not in \
            (select seq from known_clients where user = :user order by seq desc limit :limit)";
}

/// Adds a client of a user, and deletes all but the newest `limit` clients of the user.
pub fn add(tx: &Tx<'_>, user: i64, client: &[u8; 32], limit: u32) -> Result<(), StoreError> {
    insert(tx, user, client)?;
    keep_newest(tx, user, limit)
}
