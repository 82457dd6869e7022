//! The writer's cache of accounts and endpoints, which nearly every write reads and few writes change.
//!
//! Invariant: the cached values equal the rows. A change of such a row, a rollback, or a write of another process
//! clears the cache.

use super::{StoreError, Tx};
use crate::domain::{Account, WebhookEndpoint};
use std::cell::RefCell;
use std::collections::HashMap;

/// Maximum number of cached accounts. The cache is cleared before it would exceed this number.
const ACCOUNTS_MAX: usize = 1024;

/// Cached values by the `seq` of their account.
pub(super) type AccountCache<T> = RefCell<HashMap<i64, T>>;

#[derive(Default)]
pub(super) struct WriterCache {
    pub(super) accounts: AccountCache<Account>,
    pub(super) endpoints: AccountCache<Vec<WebhookEndpoint>>,
}

impl WriterCache {
    pub(super) fn clear(&self) {
        self.accounts.borrow_mut().clear();
        self.endpoints.borrow_mut().clear();
    }
}

pub(super) fn get_or_read<T: Clone>(
    cached: Option<&AccountCache<T>>,
    account: i64,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let Some(cached) = cached else {
        return read();
    };
    if let Some(known) = cached.borrow().get(&account) {
        return Ok(known.clone());
    }
    let found = read()?;
    let mut cached = cached.borrow_mut();
    if cached.len() >= ACCOUNTS_MAX {
        cached.clear();
    }
    cached.insert(account, found.clone());
    Ok(found)
}

impl Tx<'_> {
    /// Records that accounts or endpoints change, and clears the cache.
    pub(super) fn note_account_change(&self) {
        self.record_change(|changes| changes.accounts = true);
        if let Some(memo) = self.memo {
            memo.clear();
        }
    }
}
