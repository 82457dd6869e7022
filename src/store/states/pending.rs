//! Values that a transaction has changed, until their hashes are in the audit log.

use super::values::{ValueKey, ValueKind, values_with_key};
use super::{hashes_to_json, insert_hash_entry, pool_hash, pool_import_name};
use crate::store::{StoreError, Tx};
use std::cell::RefCell;

/// A changed value whose new hash must be added to the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ChangedValue {
    /// Values of a kind with this key. The text is the name of the value if it may have been removed.
    Value(ValueKind, ValueKey, Option<String>),
    /// An import of pool addresses, by the pool and the `seq` of the first and last address.
    Pool(String, i64, i64),
}

/// Changed values whose hashes are not in the audit log yet.
#[derive(Default)]
pub(in crate::store) struct PendingChanges(RefCell<Vec<ChangedValue>>);

impl PendingChanges {
    fn add(&self, changed: ChangedValue) {
        let mut all = self.0.borrow_mut();
        if !all.contains(&changed) {
            all.push(changed);
        }
    }
}

impl Tx<'_> {
    /// Records the change of a value that is never removed.
    pub(in crate::store) fn note_value_change(&self, kind: ValueKind, seq: i64) {
        self.pending.add(ChangedValue::Value(kind, ValueKey::Number(seq), None));
    }

    pub(in crate::store) fn note_key_change(&self, id: &str) {
        let key = ValueKey::Text(id.to_owned());
        self.pending.add(ChangedValue::Value(ValueKind::Key, key, None));
    }

    /// Records the change or removal of an account's payout address.
    pub(in crate::store) fn note_payout_address_change(&self, account: i64, chain: &str) {
        let name = format!("payout_address {account} {chain}");
        let kind = ValueKind::PayoutAddress;
        self.pending.add(ChangedValue::Value(kind, ValueKey::Number(account), Some(name)));
    }

    /// Records the change or removal of a setting of a coin.
    pub(in crate::store) fn note_coin_change(&self, kind: ValueKind, setting: &str, asset: &str) {
        let name = format!("{setting} {asset}");
        let key = ValueKey::Text(asset.to_owned());
        self.pending.add(ChangedValue::Value(kind, key, Some(name)));
    }

    /// Records that an address was added to a pool. Consecutive additions share one hash.
    pub(in crate::store) fn note_pool_addition(&self, pool: &str, seq: i64) {
        let mut all = self.pending.0.borrow_mut();
        let same = all.iter_mut().find_map(|changed| match changed {
            ChangedValue::Pool(of, _, last) if of == pool => Some(last),
            ChangedValue::Pool(..) | ChangedValue::Value(..) => None,
        });
        match same {
            Some(last) => *last = seq,
            None => all.push(ChangedValue::Pool(pool.to_owned(), seq, seq)),
        }
    }

    /// Returns the hashes of the changed values as JSON for the audit log, and forgets these values. `None` if no
    /// value was changed.
    pub(in crate::store) fn take_hashes(&self) -> Result<Option<String>, StoreError> {
        let changed = self.pending.0.take();
        if changed.is_empty() {
            return Ok(None);
        }
        let mut states = Vec::new();
        for one in changed {
            match one {
                ChangedValue::Pool(pool, first, last) => {
                    let link = pool_hash(self, &pool, first, last)?;
                    states.push((pool_import_name(&pool, first, last), Some(link)));
                }
                ChangedValue::Value(kind, key, None) => {
                    let found = values_with_key(self, kind, &key)?.into_iter();
                    states.extend(found.map(|state| (state.name, Some(state.link))));
                }
                ChangedValue::Value(kind, key, Some(name)) => {
                    let mut found = values_with_key(self, kind, &key)?.into_iter();
                    let link = found.find(|state| state.name == name);
                    states.push((name, link.map(|state| state.link)));
                }
            }
        }
        Ok((!states.is_empty()).then(|| hashes_to_json(states)))
    }

    /// Inserts an audit log entry with the hashes of changed values that no other entry contains.
    pub(in crate::store) fn insert_pending_hashes(&self) -> Result<(), StoreError> {
        match self.take_hashes()? {
            None => Ok(()),
            Some(states) => self.run_on_conn(|conn| insert_hash_entry(conn, "coffer", &states)),
        }
    }
}
