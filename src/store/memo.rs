//! What the writer remembers of the rows that nearly every write asks for and hardly any changes: accounts and their
//! endpoints.
//!
//! What always holds: it is what a statement would read. Whoever changes such a row, takes a change back or finds that
//! another process has written forgets all of it.

use super::{StoreError, Tx};
use crate::domain::account::{Account, WebhookEndpoint};
use std::cell::RefCell;
use std::collections::HashMap;

/// Accounts that are remembered; one more, and all are forgotten, which is simple.
const ACCOUNTS_MAX: usize = 1024;

/// Something of each account, by the account's `seq`.
pub(super) type Remembered<T> = RefCell<HashMap<i64, T>>;

/// What the writer remembers.
#[derive(Default)]
pub(super) struct Memo {
    pub(super) accounts: Remembered<Account>,
    pub(super) endpoints: Remembered<Vec<WebhookEndpoint>>,
}

impl Memo {
    /// Forgets everything.
    pub(super) fn forget(&self) {
        self.accounts.borrow_mut().clear();
        self.endpoints.borrow_mut().clear();
    }
}

/// What is remembered of an account; what is not is read and remembered.
pub(super) fn recall<T: Clone>(
    remembered: Option<&Remembered<T>>,
    account: i64,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let Some(remembered) = remembered else {
        return read();
    };
    if let Some(known) = remembered.borrow().get(&account) {
        return Ok(known.clone());
    }
    let found = read()?;
    let mut remembered = remembered.borrow_mut();
    if remembered.len() >= ACCOUNTS_MAX {
        remembered.clear();
    }
    remembered.insert(account, found.clone());
    Ok(found)
}

impl Tx<'_> {
    /// Accounts or endpoints are different from now on.
    pub(super) fn changes_accounts(&self) {
        self.note(|changes| changes.accounts = true);
        if let Some(memo) = self.memo {
            memo.forget();
        }
    }
}
