//! The table `unmatched_payments`: payments that match no invoice and no customer.

use super::statement::statements;
use super::{PageBounds, Reader, StoreError, Tx};
use crate::domain::{
    Mode, ResourceKind, Time, UnmatchedPayment, UnmatchedReason, UnmatchedResolution,
};

/// An unmatched payment to be stored.
pub struct NewUnmatchedPayment<'a> {
    /// Id of the unmatched payment.
    pub id: &'a str,
    /// Observation of the payment, by its `seq`.
    pub observation: i64,
    /// Reason why the payment is unmatched.
    pub reason: UnmatchedReason,
    /// Account that owns the receiving address, by its `seq`; `None` without an owner.
    pub account: Option<i64>,
    /// Invoice that owns the receiving address, by its `seq`; `None` if no invoice owns it.
    pub invoice: Option<i64>,
}

statements! {
    row read(
        u.seq, u.id, u.observation, o.state, o.mode, o.asset, o.txid, o.position, o.address, o.amount, u.reason,
        account_id = "a.id", invoice_id = "i.id", o.seen_at, u.outcome, u.resolved_at, u.note,
        u.return_txid,
    ) -> UnmatchedPayment {
        Ok(UnmatchedPayment {
            seq, id, observation, state, mode, asset, txid, position, address, amount, reason, account_id,
            invoice_id, seen_at, outcome, resolved_at, note, return_txid,
        })
    }

    /// Returns the unmatched payment with this id.
    pub fn by_id(db, id: &str) -> Option<UnmatchedPayment> =
        select "from unmatched_payments u join observations o on o.seq = u.observation \
            left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
            where u.id = :id";

    /// Returns the unmatched payment that belongs to an observation, unless a person has assigned the payment.
    pub fn of_observation(db, observation: i64) -> Option<UnmatchedPayment> =
        select "from unmatched_payments u join observations o on o.seq = u.observation \
            left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
            where u.observation = :observation and u.outcome is not 'assigned'";

    fn page_of_all(db, page: PageBounds) -> Vec<UnmatchedPayment> =
        select "from unmatched_payments u join observations o on o.seq = u.observation \
            left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
            where u.seq < :before order by u.seq desc limit :limit"
        with { before: page.before, limit: page.limit };

    fn page_of_open(db, page: PageBounds) -> Vec<UnmatchedPayment> =
        select "from unmatched_payments u join observations o on o.seq = u.observation \
            left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
            where u.resolved_at is null and u.seq < :before order by u.seq desc limit :limit"
        with { before: page.before, limit: page.limit };

    /// Inserts an unmatched payment.
    pub fn insert(tx, new: &NewUnmatchedPayment<'_>) = insert into unmatched_payments {
        id: new.id, observation: new.observation, reason: new.reason, account: new.account, invoice: new.invoice,
    } noting { note_change(tx); };

    /// Saves a person's resolution of a payment. The time of the first resolution stays.
    pub fn resolve(
        tx, seq: i64, outcome: UnmatchedResolution, note: Option<&str>, return_txid: Option<&str>, now: Time
    ) =
        "update unmatched_payments set outcome = :outcome, resolved_at = ifnull(resolved_at, :now), note = :note, \
            return_txid = :return_txid where seq = :seq"
        noting { note_change(tx); };

    /// Removes the resolution of a payment.
    pub fn reopen(tx, seq: i64) =
        "update unmatched_payments set outcome = null, resolved_at = null, note = null, return_txid = null \
            where seq = :seq"
        noting { note_change(tx); };
}

/// After the commit, tells the pages of operators. The list of these payments covers both modes.
fn note_change(tx: &Tx<'_>) {
    for mode in Mode::ALL {
        tx.note_resource_change(None, *mode, ResourceKind::Unmatched);
    }
}

/// Returns a page of unmatched payments, newest first. With `only_open`, only unresolved ones.
pub fn page(
    db: &Reader<'_>,
    only_open: bool,
    page: PageBounds,
) -> Result<Vec<UnmatchedPayment>, StoreError> {
    if only_open { page_of_open(db, page) } else { page_of_all(db, page) }
}
