//! The table `observations`, by the blocks of a chain.
//!
//! Invariant: all queries are of live mode, and leave out observations that gave their place to others.

use super::row::Spends;
use super::statement::{commands, rows, sql_limit, values};
use super::{Reader, StoreError};
use crate::domain::asset::{Asset, Chain};
use crate::domain::following::OpenObservation;
use crate::domain::money::Cents;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, ObservationKey};
use crate::domain::time::Time;

/// Maximum number of vanished observations that are looked for, in case they come back.
const COMES_BACK_MAX: u32 = 500;

rows! {
    fn read(
        txid, position, state, block_height: Option<u32>, block_hash: Option<String>, spends: Spends,
        has_vanished = "vanished_at is not null",
    ) -> OpenObservation {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        Ok(OpenObservation { txid, position, state, block, has_vanished, spends: spends.0 })
    }

    fn seen(db, chain: Chain) -> Vec<OpenObservation> =
        select "from observations where mode = 'live' and chain = :chain and state = 'seen'";

    fn vanished(db, chain: Chain, since: Time, limit: u32) -> Vec<OpenObservation> =
        select "from observations where mode = 'live' and chain = :chain and vanished_at >= :since \
            and state = 'dropped' and position < 2147483648 order by vanished_at desc limit :limit";

    /// Returns the observations in the blocks from one height to another.
    pub fn in_blocks(db, chain: Chain, from: u32, to: u32) -> Vec<OpenObservation> =
        select "from observations where mode = 'live' and chain = :chain and block_height between :from and :to";
}

/// The owner of unconfirmed payments. Their sum decides how many confirmations each of them needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payer {
    /// An invoice, by its `seq`.
    Invoice(i64),
    /// A customer, by its `seq`.
    Customer(i64),
}

/// An observation that waits to be confirmed.
pub struct UnconfirmedObservation {
    /// Order of insertion.
    pub seq: i64,
    /// Id of the transaction.
    pub txid: String,
    /// Position inside the transaction.
    pub position: u32,
    /// Height of the block.
    pub height: u32,
    /// Coin.
    pub asset: &'static Asset,
    /// Owner of the payment; `None` if it has no price.
    pub payer: Option<Payer>,
}

rows! {
    fn read_waiting(
        seq, txid, position, height, asset, invoice: Option<i64>, customer: Option<i64>,
    ) -> UnconfirmedObservation {
        let payer = invoice.map(Payer::Invoice).or(customer.map(Payer::Customer));
        Ok(UnconfirmedObservation { seq, txid, position, height, asset, payer })
    }

    /// Returns the next observations after this `seq` that are in a block up to this height and wait to be confirmed.
    pub fn waiting(db, chain: Chain, height: u32, after: i64, limit: usize) -> Vec<UnconfirmedObservation> =
        file "sql/observations_on_chain/waiting.sql"
        with { chain, height, after, limit: sql_limit(limit) };
}

values! {
    /// Returns the places of observations that are confirmed in a block above this height.
    pub fn confirmed_above(db, chain: Chain, height: u32) -> Vec<(txid: String, position: u32)> =
        "select txid, position from observations \
            where mode = 'live' and chain = :chain and block_height > :height and state = 'confirmed'";

    /// Returns the places of observations that vanished before this time and are not dropped.
    pub fn given_up(db, chain: Chain, before: Time, limit: usize)
        -> Vec<(txid: String, position: u32)> =
        "select txid, position from observations \
            where mode = 'live' and chain = :chain and vanished_at < :before and state = 'seen' \
            and block_height is null limit :limit"
        with { chain, before, limit: sql_limit(limit) };

    /// Returns the first output of a transaction to an address in a coin that is seen and in no block.
    pub fn first_seen_in(db, txid: &str, asset: &Asset, address: &str) -> Option<(position: u32)> =
        "select position from observations where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and block_height is null and asset = :asset and address = :address \
            and position < 2147483648 order by position limit 1"
        with { chain: asset.chain, txid, asset: asset.id, address };

    /// Returns the places of observations that are in no block any more, but are confirmed, as their
    /// confirmation could not be reversed.
    pub fn unbooked(db, chain: Chain, limit: usize) -> Vec<(txid: String, position: u32)> =
        "select txid, position from observations \
            where mode = 'live' and chain = :chain and vanished_at is not null and state = 'confirmed' \
            and block_height is null limit :limit"
        with { chain, limit: sql_limit(limit) };

    /// Returns the amounts that an address received in a coin, in blocks up to this height.
    pub fn amounts_received(db, asset: &Asset, address: &str, height: u32) -> Vec<(amount: Units)> =
        "select amount from observations where mode = 'live' and chain = :chain \
            and block_height <= :height and asset = :asset and address = :address and state <> 'dropped'"
        with { chain: asset.chain, asset: asset.id, address, height };

    /// Returns `true` if an observation is seen and not confirmed.
    pub fn is_any_seen(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from observations \
            where mode = 'live' and chain = :chain and state = 'seen') as found";

    fn stake_of_invoice(db, invoice: i64) -> (at_stake: Cents) =
        "select max(i.amount, (select coalesce(sum(p.value), 0) \
            from payments p join observations o on o.seq = p.observation where p.invoice = i.seq and o.state = 'seen')) \
            as at_stake from invoices i where i.seq = :invoice";

    fn stake_of_customer(db, customer: i64) -> (at_stake: Cents) =
        "select coalesce(sum(d.gross), 0) as at_stake \
            from deposits d join observations o on o.seq = d.observation where d.customer = :customer and o.state = 'seen'";

    /// Passes each address to `each` that has an unconfirmed observation, or one in a block above this height.
    pub fn each_open_address(db, chain: Chain, height: u32) -> each (address: String) =
        "select address from observations \
            where mode = 'live' and chain = :chain and state = 'seen' \
            union \
            select address from observations where mode = 'live' and chain = :chain and block_height > :height";

    /// Returns the number of observations in blocks above this height.
    pub fn count_above(db, chain: Chain, height: u32) -> (count: i64) =
        "select count(*) as count from observations \
            where mode = 'live' and chain = :chain and block_height > :height";
}

commands! {
    /// Removes all observations from the blocks above this height, after a reorg.
    pub fn take_out_above(tx, chain: Chain, height: u32, now: Time) =
        "update observations set block_height = null, block_hash = null, \
            vanished_at = ifnull(vanished_at, :now) \
            where mode = 'live' and chain = :chain and block_height > :height";

    /// Removes the observation at a place from its block.
    pub fn take_out(tx, place: &ObservationKey, now: Time) =
        "update observations set block_height = null, block_hash = null, vanished_at = ifnull(vanished_at, :now) \
            where mode = 'live' and chain = :chain and txid = :txid and position = :position \
            and block_height is not null"
        with { chain: place.chain, txid: place.txid, position: place.position, now };

    /// Notes that a transaction is neither in a block nor in the mempool, unless that was known.
    pub fn vanish(tx, chain: Chain, txid: &str, now: Time) =
        "update observations set vanished_at = :now where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and block_height is null and vanished_at is null";

    /// Notes that a transaction is in the mempool again.
    pub fn appear(tx, chain: Chain, txid: &str) =
        "update observations set vanished_at = null where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and vanished_at is not null";
}

/// Returns unconfirmed observations, and those that vanished since a time.
pub fn open(
    db: &Reader<'_>,
    chain: Chain,
    since: Time,
) -> Result<Vec<OpenObservation>, StoreError> {
    let mut open = seen(db, chain)?;
    open.extend(vanished(db, chain, since, COMES_BACK_MAX)?);
    Ok(open)
}

/// Returns the amount at stake: of a customer the sum of all unconfirmed payments, of an invoice that sum or its price,
/// whichever is larger.
pub fn at_stake(db: &Reader<'_>, payer: Payer) -> Result<Cents, StoreError> {
    match payer {
        Payer::Invoice(invoice) => stake_of_invoice(db, invoice),
        Payer::Customer(customer) => stake_of_customer(db, customer),
    }
}
