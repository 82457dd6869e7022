//! The table `payment_links`: links by which customers create invoices.

use super::statement::{commands, rows, values};
use super::{PageBounds, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::link::PaymentLink;
use crate::domain::time::Time;

rows! {
    fn read(seq, id, account, mode, name, amount, currency, description, active, created_at) -> PaymentLink {
        Ok(PaymentLink { seq, id, account, mode, name, amount, currency, description, active, created_at })
    }

    /// Returns the payment link with this id, whatever its account.
    pub fn by_id(db, id: &str) -> Option<PaymentLink> = select "from payment_links where id = :id";

    /// Returns a page of an account's payment links, newest first.
    pub fn page(db, account: i64, mode: Mode, page: PageBounds) -> Vec<PaymentLink> =
        select "from payment_links where account = :account and mode = :mode and seq < :before \
            order by seq desc limit :limit"
        with { account, mode, before: page.before, limit: page.limit };
}

values! {
    /// Returns the number of open unpaid invoices of a payment link, and the time at which the first of them expires.
    pub fn count_open_invoices(db, id: &str, now: Time) -> (open: i64, first_end: Option<Time>) =
        "select count(*) as open, min(expires_at) as first_end \
            from invoices where payment_link_id = :id and status in ('created', 'awaiting_payment') and expires_at > \
            :now";
}

commands! {
    fn insert_row(tx, link: &PaymentLink) -> i64 = insert into payment_links {
        id: link.id, account: link.account, mode: link.mode, name: link.name, amount: link.amount,
        currency: link.currency, description: link.description, active: link.active, created_at: link.created_at,
    };

    fn update_row(tx, link: &PaymentLink) =
        "update payment_links set name = :name, amount = :amount, description = :description, active = :active \
            where seq = :seq"
        with {
            seq: link.seq, name: link.name, amount: link.amount, description: link.description, active: link.active,
        };
}

/// Inserts a payment link and returns its `seq`.
pub fn insert(tx: &Tx<'_>, link: &PaymentLink) -> Result<i64, StoreError> {
    tx.record_change(|changes| changes.payment_links = true);
    insert_row(tx, link)
}

/// Saves the fields of a payment link that can change.
pub fn update(tx: &Tx<'_>, link: &PaymentLink) -> Result<(), StoreError> {
    tx.record_change(|changes| changes.payment_links = true);
    update_row(tx, link)
}
