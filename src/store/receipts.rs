//! The tables `receipts`, `receipt_accounts` and `receipt_languages`: accounts whose payers get receipts, the invoices
//! that got one, and the languages of their payers.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::{Language, Time};

statements! {
    /// Returns `true` if the payers of an account get receipts.
    pub fn is_on(db, account: i64) -> (found: bool) =
        "select exists (select 1 from receipt_accounts where account = :account) as found";

    /// Returns the number of receipts of an account since a time, at most `limit`.
    pub fn count_since(db, account: i64, since: Time, limit: i64) -> (count: i64) =
        "select count(*) as count from (select 1 from receipts \
            where account = :account and queued_at > :since limit :limit)";

    /// Returns the language in which the payer of an invoice saw the checkout last.
    pub fn language(db, invoice: i64) -> Option<(language: Language)> =
        "select language from receipt_languages where invoice = :invoice";

    fn switch_on(tx, account: i64) =
        "insert into receipt_accounts (account) values (:account) on conflict (account) do nothing";

    fn switch_off(tx, account: i64) = "delete from receipt_accounts where account = :account";

    /// Records that an invoice gets its receipt. Returns `false` if it got one before.
    pub fn take(tx, invoice: i64, account: i64, now: Time) -> bool =
        "insert into receipts (invoice, account, queued_at) values (:invoice, :account, :now) \
            on conflict (invoice) do nothing";

    /// Stores the language in which the payer of an invoice saw the checkout.
    pub fn save_language(tx, invoice: i64, language: Language, now: Time) =
        "insert into receipt_languages (invoice, language, seen_at) values (:invoice, :language, :now) \
            on conflict (invoice) do update set language = excluded.language, seen_at = excluded.seen_at";

    /// Deletes the languages that were stored before a time.
    pub fn prune_languages(tx, before: Time, limit: u32) -> usize =
        "delete from receipt_languages where invoice in (select invoice from receipt_languages \
            where seen_at < :before limit :limit)";
}

/// Switches the receipts of an account on or off.
pub fn set(tx: &Tx<'_>, account: i64, enabled: bool) -> Result<(), StoreError> {
    if enabled { switch_on(tx, account) } else { switch_off(tx, account) }
}
