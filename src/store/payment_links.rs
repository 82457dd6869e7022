//! The table `payment_links`.

use super::statement::{commands, rows, values};
use crate::domain::asset::Mode;
use crate::domain::link::PaymentLink;
use crate::domain::time::Time;

rows! {
    fn read(seq, id, account, mode, name, amount, currency, description, active, created_at) -> PaymentLink {
        Ok(PaymentLink { seq, id, account, mode, name, amount, currency, description, active, created_at })
    }

    /// The link with this id, whoever's it is: for those who open it.
    pub fn by_id(db, id: &str) -> Option<PaymentLink> = select "from payment_links where id = :id";

    /// The links of an account that are older than `before`, newest first.
    pub fn page(db, account: i64, mode: Mode, before: i64, limit: u32) -> Vec<PaymentLink> =
        select "from payment_links where account = :account and mode = :mode and seq < :before \
            order by seq desc limit :limit";
}

values! {
    /// Returns how many open invoices of a link nobody has paid yet, and when the first of them expires.
    pub fn open_invoices(db, id: &str, now: Time) -> (open: i64, first_end: Option<Time>) =
        "select count(*) as open, min(expires_at) as first_end \
            from invoices where payment_link_id = :id and status in ('created', 'awaiting_payment') and expires_at > \
            :now";
}

commands! {
    /// Adds a link; its `seq`.
    pub fn insert(tx, link: &PaymentLink) -> i64 = insert into payment_links {
        id: link.id, account: link.account, mode: link.mode, name: link.name, amount: link.amount,
        currency: link.currency, description: link.description, active: link.active, created_at: link.created_at,
    };

    /// Saves what can change of a link.
    pub fn update(tx, link: &PaymentLink) =
        "update payment_links set name = :name, amount = :amount, description = :description, active = :active \
            where seq = :seq"
        with {
            seq: link.seq, name: link.name, amount: link.amount, description: link.description, active: link.active,
        };
}
