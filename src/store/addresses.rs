//! The table `addresses`: who owns each deposit address, and which wallet derived it.
//!
//! What always holds: an address has one owner, and its row is never changed.

use super::statement::{commands, rows, values};
use super::wallets::Taken;
use super::{Reader, StoreError, Tx};
use crate::domain::address;
use crate::domain::asset::{Chain, Mode};
use crate::domain::time::Time;
use rusqlite::named_params;

/// Who an address belongs to, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// An invoice, by its `seq`.
    Invoice(i64),
    /// A customer, by its `seq`.
    Customer(i64),
}

impl Owner {
    /// The columns `invoice` and `customer`.
    fn columns(self) -> [Option<i64>; 2] {
        match self {
            Owner::Invoice(seq) => [Some(seq), None],
            Owner::Customer(seq) => [None, Some(seq)],
        }
    }
}

/// A live address that somebody has.
#[derive(Clone, Debug)]
pub struct LiveAddress {
    /// Order of insertion.
    pub seq: i64,
    /// Canonical text of the address.
    pub address: String,
    /// Time before which nobody had the address.
    pub since: Time,
    /// Deadline of the invoice; `None` for an address of a customer.
    pub expires_at: Option<Time>,
}

rows! {
    fn read_live(
        addresses.seq, addresses.address,
        since = "ifnull(invoices.created_at, customers.created_at)", invoices.expires_at,
    ) -> LiveAddress {
        Ok(LiveAddress { seq, address, since, expires_at })
    }
    LIVE_AFTER = select "from addresses left join invoices on invoices.seq = addresses.invoice \
        left join customers on customers.seq = addresses.customer \
        where addresses.seq > :after and addresses.mode = 'live' and addresses.pool = :pool \
        order by addresses.seq";
}

values! {
    SPARE(seq: i64, address: String, since: Time) = "select seq, address, imported_at as since from pool_addresses \
        where pool = :pool and state <> 'assigned'";

    /// One of the two is null.
    OF_OWNER(address: String) = "select address from addresses where invoice = :invoice and pool = :pool \
        union all \
        select address from addresses where customer = :customer and pool = :pool";

    LIVE(address: String) = "select address from addresses where mode = 'live' and pool = :pool \
        union all \
        select address from pool_addresses where pool = :pool";

    /// Returns `true` if money is sent to an address, on whatever chain: it is a payout address, or a transfer goes there.
    pub fn is_sent_to(db, address: &str) -> (found: bool) =
        "select exists ( \
            select 1 from payout_addresses where address = :address \
            union all select 1 from transfers where to_address = :address) as found";

    OWNER(invoice: Option<i64>, customer: Option<i64>) =
        "select invoice, customer from addresses where mode = :mode and pool = :pool and address = :address";
}

commands! {
    INSERT = "insert into addresses (mode, pool, address, invoice, customer, wallet, wallet_index, script) \
        values (:mode, :pool, :address, :invoice, :customer, :wallet, :index, :script)";
}

/// Gives an address to its owner, for ever: one that a wallet derived, or one that was imported.
pub fn insert(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
    (address, taken): (&str, Option<Taken>),
    owner: Owner,
) -> Result<(), StoreError> {
    let [invoice, customer] = owner.columns();
    let params = named_params! {
        ":mode": mode, ":pool": chain.address_pool(), ":address": address, ":invoice": invoice, ":customer": customer,
        ":wallet": taken.map(|taken| taken.wallet),
        ":index": taken.map(|taken| i64::try_from(taken.index).unwrap_or(i64::MAX)),
        ":script": address::output_script(chain, address),
    };
    INSERT.insert(tx, params)?;
    if mode.is_live() {
        tx.note(|changes| changes.addresses.push((chain, address.to_owned())));
    }
    Ok(())
}

/// Every live address of a chain's pool, also of those that are still to be handed out.
pub fn each_live(
    db: &Reader<'_>,
    chain: Chain,
    each: impl FnMut(String),
) -> Result<(), StoreError> {
    LIVE.each(db, named_params! { ":pool": chain.address_pool() }, each)
}

/// Each live address of a chain's pool that somebody has, behind this `seq`, in their order.
pub fn each_live_after(
    db: &Reader<'_>,
    chain: Chain,
    after: i64,
    each: impl FnMut(LiveAddress),
) -> Result<(), StoreError> {
    let params = named_params! { ":after": after, ":pool": chain.address_pool() };
    LIVE_AFTER.each(db, params, each)
}

/// Each imported address of a chain's pool that nobody has: its `seq`, its text, and the time of its import.
pub fn each_spare(
    db: &Reader<'_>,
    chain: Chain,
    each: impl FnMut((i64, String, Time)),
) -> Result<(), StoreError> {
    SPARE.each(db, named_params! { ":pool": chain.address_pool() }, each)
}

/// The address that somebody has on this chain.
pub fn of_owner(db: &Reader<'_>, owner: Owner, chain: Chain) -> Result<Option<String>, StoreError> {
    let [invoice, customer] = owner.columns();
    let params =
        named_params! { ":invoice": invoice, ":customer": customer, ":pool": chain.address_pool() };
    OF_OWNER.first(db, params)
}

/// Whose address it is, on this chain and on those that share its pool.
pub fn owner(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
) -> Result<Option<Owner>, StoreError> {
    let params =
        named_params! { ":mode": mode, ":pool": chain.address_pool(), ":address": address };
    let found = OWNER.first(db, params)?;
    match found {
        None => Ok(None),
        Some((Some(invoice), None)) => Ok(Some(Owner::Invoice(invoice))),
        Some((None, Some(customer))) => Ok(Some(Owner::Customer(customer))),
        Some(_) => Err(StoreError::Failed(format!(
            "address {address} does not have exactly one owner"
        ))),
    }
}
