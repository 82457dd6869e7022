//! The table `addresses`: deposit addresses, each with its owner and the wallet that derived it.
//!
//! Invariant: an address has one owner, and the row of an address is never changed.

use super::statement::statements;
use super::wallets::WalletIndex;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::{Mode, Time, address};

/// The owner of an address, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOwner {
    /// An invoice, by its `seq`.
    Invoice(i64),
    /// A customer, by its `seq`.
    Customer(i64),
}

impl AddressOwner {
    fn invoice(self) -> Option<i64> {
        match self {
            AddressOwner::Invoice(seq) => Some(seq),
            AddressOwner::Customer(_) => None,
        }
    }

    fn customer(self) -> Option<i64> {
        match self {
            AddressOwner::Invoice(_) => None,
            AddressOwner::Customer(seq) => Some(seq),
        }
    }
}

/// A live address of an invoice or a customer.
#[derive(Clone, Debug)]
pub struct LiveAddress {
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// Canonical text of the address.
    pub address: String,
    /// Time at which the owner was created, in Unix milliseconds. Earlier payments to the address do not belong to
    /// the owner.
    pub since: Time,
    /// Deadline of the invoice; `None` for an address of a customer.
    pub expires_at: Option<Time>,
}

statements! {
    row read_live_address(
        addresses.seq, addresses.address,
        since = "ifnull(invoices.created_at, customers.created_at)", invoices.expires_at,
    ) -> LiveAddress {
        Ok(LiveAddress { seq, address, since, expires_at })
    }

    /// Passes to `each` the live addresses of a chain's pool that have an owner and a `seq` greater than `after`, in
    /// the order of insertion.
    pub fn each_live_after(db, chain: Chain, after: i64) -> each LiveAddress =
        select "from addresses left join invoices on invoices.seq = addresses.invoice \
            left join customers on customers.seq = addresses.customer \
            where addresses.seq > :after and addresses.mode = 'live' and addresses.pool = :pool \
            order by addresses.seq"
        with { after, pool: chain.address_pool() };

    /// Passes to `each` every imported address of a chain's pool without an owner, with its `seq` and its time of
    /// import.
    pub fn each_unassigned(db, chain: Chain) -> each (seq: i64, address: String, since: Time) =
        "select seq, address, imported_at as since from pool_addresses where pool = :pool and state <> 'assigned'"
        with { pool: chain.address_pool() };

    /// Passes every live address of a chain's pool to `each`, with or without an owner.
    pub fn each_live(db, chain: Chain) -> each (address: String) =
        "select address from addresses where mode = 'live' and pool = :pool \
            union all \
            select address from pool_addresses where pool = :pool"
        with { pool: chain.address_pool() };

    /// Returns the address of an owner on this chain.
    pub fn of_owner(db, owner: AddressOwner, chain: Chain) -> Option<(address: String)> =
        "select address from addresses where invoice = :invoice and pool = :pool \
            union all \
            select address from addresses where customer = :customer and pool = :pool"
        with { invoice: owner.invoice(), customer: owner.customer(), pool: chain.address_pool() };

    /// Returns `true` if the address is a destination of payouts or refunds on any chain.
    pub fn is_destination(db, address: &str) -> (found: bool) =
        "select exists ( \
            select 1 from payout_addresses where address = :address \
            union all select 1 from transfers where to_address = :address) as found";

    fn owner_columns(db, mode: Mode, pool: &str, address: &str)
        -> Option<(invoice: Option<i64>, customer: Option<i64>)> =
        "select invoice, customer from addresses where mode = :mode and pool = :pool and address = :address";

    fn insert_row(tx, mode: Mode, chain: Chain, address: &str, index: Option<WalletIndex>, owner: AddressOwner) =
        insert into addresses {
            mode, pool: chain.address_pool(), address, invoice: owner.invoice(), customer: owner.customer(),
            wallet: index.map(|index| index.wallet),
            wallet_index: index.map(|index| i64::try_from(index.index).unwrap_or(i64::MAX)),
            script: address::output_script(chain, address),
        };
}

/// Inserts an address with its owner. The index is `None` for an imported address.
pub fn insert(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
    index: Option<WalletIndex>,
    owner: AddressOwner,
) -> Result<(), StoreError> {
    insert_row(tx, mode, chain, address, index, owner)?;
    if mode.is_live() {
        tx.record_change(|changes| changes.addresses.push((chain, address.to_owned())));
    }
    Ok(())
}

/// Returns the owner of an address on this chain or on a chain that shares its address pool.
pub fn find_owner(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
) -> Result<Option<AddressOwner>, StoreError> {
    match owner_columns(db, mode, chain.address_pool(), address)? {
        None => Ok(None),
        Some((Some(invoice), None)) => Ok(Some(AddressOwner::Invoice(invoice))),
        Some((None, Some(customer))) => Ok(Some(AddressOwner::Customer(customer))),
        Some(_) => {
            Err(StoreError::Failed(format!("address {address} does not have exactly one owner")))
        }
    }
}
