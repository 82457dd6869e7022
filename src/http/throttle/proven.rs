//! The clients by which users have signed in before.
//!
//! What always holds: only who proves the same kind of thing makes another client forgotten, and a new password makes all
//! of a user's forgotten.

use super::{Key, key};
use crate::service::operator::members::Mark;
use std::collections::HashMap;

/// Clients remembered of one user.
const CLIENTS_MAX: usize = 8;

/// By user: the password, and the clients that have proven something under it, the last one at the end.
#[derive(Default)]
pub(super) struct Proven(HashMap<i64, ([u8; 32], Vec<Key>)>);

impl Proven {
    /// Has this client proven it under the user's present password?
    pub(super) fn has(&self, mark: &Mark, client: &str) -> bool {
        self.0.get(&mark.user).is_some_and(|(password, clients)| {
            *password == mark.password && clients.contains(&key(client))
        })
    }

    /// This client has proven it just now.
    pub(super) fn add(&mut self, mark: &Mark, client: &str) {
        let (password, clients) = self.0.entry(mark.user).or_default();
        // Another password than the one before: who knew that one proves nothing any more.
        if *password != mark.password {
            *password = mark.password;
            clients.clear();
        }
        clients.retain(|known| *known != key(client));
        clients.push(key(client));
        if clients.len() > CLIENTS_MAX {
            clients.remove(0);
        }
    }
}
