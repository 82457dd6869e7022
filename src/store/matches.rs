//! Objects of several tables that a text names.

use super::invoices::CanonicalNames;
use super::statement::statements;
use super::{Reader, StoreError};
use crate::domain::Mode;

statements! {
    fn find(
        db, account: i64, mode: Mode, text: &str, names: &CanonicalNames, with_unmatched: bool, limit: u32
    ) -> Vec<(kind: String, id: String, status: Option<String>, customer: Option<String>)> =
        file "sql/matches/named.sql"
        with { account, mode, text, addresses: &names.addresses, txids: &names.txids, with_unmatched, limit };
}

/// An object that a text names.
#[derive(Clone, Debug)]
pub struct NamedObject {
    /// Type of the object: customer, payout, refund, deposit or unmatched_payment.
    pub kind: String,
    /// Id of the object, or the reference of a customer.
    pub id: String,
    /// Status of the object; `None` for a customer.
    pub status: Option<String>,
    /// Reference of the customer, for a customer or a deposit.
    pub customer: Option<String>,
}

/// Returns the newest objects of an account whose reference, id, address or txid is the text. Invoices are not among
/// them. Unmatched payments are those of all accounts.
pub fn named_by(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    text: &str,
    with_unmatched: bool,
    limit: u32,
) -> Result<Vec<NamedObject>, StoreError> {
    let names = CanonicalNames::new(text)?;
    let found = find(db, account, mode, text, &names, with_unmatched, limit)?;
    let object = |(kind, id, status, customer)| NamedObject { kind, id, status, customer };
    Ok(found.into_iter().map(object).collect())
}
