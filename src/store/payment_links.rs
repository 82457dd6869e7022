//! The table `payment_links`.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::link::PaymentLink;
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(seq, id, account, mode, name, amount, currency, description, active, created_at) -> PaymentLink {
        Ok(PaymentLink { seq, id, account, mode, name, amount, currency, description, active, created_at })
    }
    BY_ID = select "from payment_links where id = :id";
    PAGE = select "from payment_links where account = :account and mode = :mode and seq < :before \
        order by seq desc limit :limit";
}

values! {
    OPEN_INVOICES(open: i64, first_end: Option<Time>) = "select count(*) as open, min(expires_at) as first_end \
        from invoices where payment_link_id = :link and status in ('created', 'awaiting_payment') and expires_at > :now";
}

commands! {
    INSERT = "insert into payment_links (id, account, mode, name, amount, currency, description, active, created_at) \
        values (:id, :account, :mode, :name, :amount, :currency, :description, :active, :created_at)";
    UPDATE = "update payment_links set name = :name, amount = :amount, description = :description, active = :active \
        where seq = :seq";
}

/// Adds a link; its `seq`.
pub fn insert(tx: &Tx<'_>, link: &PaymentLink) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": link.id,
        ":account": link.account,
        ":mode": link.mode,
        ":name": link.name,
        ":amount": link.amount,
        ":currency": link.currency,
        ":description": link.description,
        ":active": link.active,
        ":created_at": link.created_at,
    };
    INSERT.insert(tx, params)
}

/// Saves what can change of a link.
pub fn update(tx: &Tx<'_>, link: &PaymentLink) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": link.seq,
        ":name": link.name,
        ":amount": link.amount,
        ":description": link.description,
        ":active": link.active,
    };
    UPDATE.run(tx, params).map(drop)
}

/// The link with this id, whoever's it is: for those who open it.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<PaymentLink>, StoreError> {
    BY_ID.first(db, named_params! { ":id": id })
}

/// Returns how many open invoices of a link nobody has paid yet, and when the first of them expires.
pub fn open_invoices(
    db: &Reader<'_>,
    id: &str,
    now: Time,
) -> Result<(i64, Option<Time>), StoreError> {
    OPEN_INVOICES.only(db, named_params! { ":link": id, ":now": now })
}

/// The links of an account that are older than `before`, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    before: i64,
    limit: u32,
) -> Result<Vec<PaymentLink>, StoreError> {
    let params =
        named_params! { ":account": account, ":mode": mode, ":before": before, ":limit": limit };
    PAGE.all(db, params)
}
