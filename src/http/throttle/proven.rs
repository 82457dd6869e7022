//! The clients by which users have signed in before.
//!
//! What always holds: only who proves the same kind of thing makes another client forgotten, and what is proven under
//! another password, or another second factor, makes all of a user's forgotten.

use super::{Key, key};
use std::collections::HashMap;

/// Clients remembered of one user.
const CLIENTS_MAX: usize = 8;

/// By user: under what, and the clients that have proven something under it, the last one at the end.
#[derive(Default)]
pub(super) struct Proven(HashMap<i64, (Key, Vec<Key>)>);

impl Proven {
    /// Has this client proven it under this?
    pub(super) fn has(&self, user: i64, under: Key, client: &str) -> bool {
        self.0.get(&user).is_some_and(|(proven_under, clients)| {
            *proven_under == under && clients.contains(&key(client))
        })
    }

    /// This client has proven it under this just now.
    pub(super) fn add(&mut self, user: i64, under: Key, client: &str) {
        let (proven_under, clients) = self.0.entry(user).or_default();
        // Another one than before: who knew that one proves nothing any more.
        if *proven_under != under {
            *proven_under = under;
            clients.clear();
        }
        clients.retain(|known| *known != key(client));
        clients.push(key(client));
        if clients.len() > CLIENTS_MAX {
            clients.remove(0);
        }
    }
}
