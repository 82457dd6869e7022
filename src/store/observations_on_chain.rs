//! Queries of the table `observations` for the followers of chains, by block.
//!
//! Invariant: every query reads live mode only, and leaves out observations whose position another output has taken.

use super::row::InputSources;
use super::statement::{sql_limit, statements};
use super::{Reader, StoreError};
use crate::domain::asset::Chain;
use crate::domain::{Asset, Block, Cents, ObservationKey, OpenObservation, Time, Units};

/// Maximum number of vanished observations that a follower searches for.
const COMES_BACK_MAX: u32 = 500;

statements! {
    row read(
        txid, position, address, state, block_height: Option<u32>, block_hash: Option<String>, spends: InputSources,
        has_vanished = "vanished_at is not null",
    ) -> OpenObservation {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        Ok(OpenObservation { txid, position, address, state, block, has_vanished, spends: spends.0 })
    }

    fn all_unconfirmed(db, chain: Chain) -> Vec<OpenObservation> =
        select "from observations where mode = 'live' and chain = :chain and state = 'seen'";

    fn vanished_since(db, chain: Chain, since: Time, limit: u32) -> Vec<OpenObservation> =
        select "from observations where mode = 'live' and chain = :chain and vanished_at >= :since \
            and state = 'dropped' and position < 2147483648 order by vanished_at desc limit :limit";

    /// Returns the observations in the blocks from height `from` to height `to`.
    pub fn in_blocks(db, chain: Chain, from: u32, to: u32) -> Vec<OpenObservation> =
        select "from observations where mode = 'live' and chain = :chain and block_height between :from and :to";
}

/// The invoice or customer that owns unconfirmed payments. The sum of these payments decides how many confirmations
/// each of them needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payer {
    /// An invoice, by its `seq`.
    Invoice(i64),
    /// A customer, by its `seq`.
    Customer(i64),
}

/// An observation that is in a block and waits for confirmations.
pub struct UnconfirmedObservation {
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// Id of the transaction.
    pub txid: String,
    /// Position of the output in its transaction.
    pub position: u32,
    /// Height of the block that contains the output.
    pub height: u32,
    /// Coin of the output.
    pub asset: &'static Asset,
    /// Invoice or customer of the payment; `None` if the payment belongs to neither.
    pub payer: Option<Payer>,
}

statements! {
    row read_unconfirmed(
        seq, txid, position, height, asset, invoice: Option<i64>, customer: Option<i64>,
    ) -> UnconfirmedObservation {
        let payer = invoice.map(Payer::Invoice).or(customer.map(Payer::Customer));
        Ok(UnconfirmedObservation { seq, txid, position, height, asset, payer })
    }

    /// Returns the next unconfirmed observations in blocks up to this height, with a `seq` greater than `after`.
    pub fn unconfirmed_up_to(db, chain: Chain, height: u32, after: i64, limit: usize) -> Vec<UnconfirmedObservation> =
        file "sql/observations_on_chain/waiting.sql"
        with { chain, height, after, limit: sql_limit(limit) };

    /// Returns the transactions and positions of confirmed observations in blocks above this height.
    pub fn confirmed_above(db, chain: Chain, height: u32) -> Vec<(txid: String, position: u32)> =
        "select txid, position from observations \
            where mode = 'live' and chain = :chain and block_height > :height and state = 'confirmed'";

    /// Returns the transactions and positions of observations that vanished before the time `before` and are not
    /// dropped yet.
    pub fn vanished_before(db, chain: Chain, before: Time, limit: usize)
        -> Vec<(txid: String, position: u32)> =
        "select txid, position from observations \
            where mode = 'live' and chain = :chain and vanished_at < :before and state = 'seen' \
            and block_height is null limit :limit"
        with { chain, before, limit: sql_limit(limit) };

    /// Returns the position of a transaction's first output to an address in this coin. Leaves out outputs that are
    /// in a block.
    pub fn first_mempool_output(db, txid: &str, asset: &Asset, address: &str) -> Option<(position: u32)> =
        "select position from observations where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and block_height is null and asset = :asset and address = :address \
            and position < 2147483648 order by position limit 1"
        with { chain: asset.chain, txid, asset: asset.id, address };

    /// Returns the transactions and positions of observations that are still confirmed although a reorg removed their
    /// block. Their confirmation could not be reversed.
    pub fn confirmed_without_block(db, chain: Chain, limit: usize) -> Vec<(txid: String, position: u32)> =
        "select txid, position from observations \
            where mode = 'live' and chain = :chain and vanished_at is not null and state = 'confirmed' \
            and block_height is null limit :limit"
        with { chain, limit: sql_limit(limit) };

    /// Returns the amounts of a coin that an address received in blocks up to this height.
    pub fn amounts_received(db, asset: &Asset, address: &str, height: u32) -> Vec<(amount: Units)> =
        "select amount from observations where mode = 'live' and chain = :chain \
            and block_height <= :height and asset = :asset and address = :address and state <> 'dropped'"
        with { chain: asset.chain, asset: asset.id, address, height };

    /// Returns `true` if a chain has an observation that is neither confirmed nor dropped.
    pub fn is_any_unconfirmed(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from observations \
            where mode = 'live' and chain = :chain and state = 'seen') as found";

    /// A value counts as 100 billion at most, so that no sum overflows. Tiers are far below it.
    fn amount_at_stake_of_invoice(db, invoice: i64) -> (at_stake: Cents) =
        "select max(i.amount, (select coalesce(sum(min(p.value, 10000000000000)), 0) \
            from payments p join observations o on o.seq = p.observation where p.invoice = i.seq and o.state = 'seen')) \
            as at_stake from invoices i where i.seq = :invoice";

    fn amount_at_stake_of_customer(db, customer: i64) -> (at_stake: Cents) =
        "select coalesce(sum(min(d.gross, 10000000000000)), 0) as at_stake \
            from deposits d join observations o on o.seq = d.observation where d.customer = :customer and o.state = 'seen'";

    /// Passes to `each` every address with an unconfirmed observation, or with an observation in a block above this
    /// height.
    pub fn each_unsettled_address(db, chain: Chain, height: u32) -> each (address: String) =
        "select address from observations \
            where mode = 'live' and chain = :chain and state = 'seen' \
            union \
            select address from observations where mode = 'live' and chain = :chain and block_height > :height";

    /// Returns the number of observations in blocks above this height.
    pub fn count_in_blocks_above(db, chain: Chain, height: u32) -> (count: i64) =
        "select count(*) as count from observations \
            where mode = 'live' and chain = :chain and block_height > :height";

    /// After a reorg, removes the observations in blocks above this height from their blocks.
    pub fn remove_from_blocks_above(tx, chain: Chain, height: u32, now: Time) =
        "update observations set block_height = null, block_hash = null, \
            vanished_at = ifnull(vanished_at, :now) \
            where mode = 'live' and chain = :chain and block_height > :height";

    /// Records that an observation is in no block any more.
    pub fn remove_from_block(tx, place: &ObservationKey, now: Time) =
        "update observations set block_height = null, block_hash = null, vanished_at = ifnull(vanished_at, :now) \
            where mode = 'live' and chain = :chain and txid = :txid and position = :position \
            and block_height is not null"
        with { chain: place.chain, txid: place.txid, position: place.position, now };

    /// Records that a transaction is neither in a block nor in the mempool. If the transaction vanished before, the
    /// recorded time stays.
    pub fn mark_vanished(tx, chain: Chain, txid: &str, now: Time) =
        "update observations set vanished_at = :now where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and block_height is null and vanished_at is null";

    /// Records that a vanished transaction is in the mempool again.
    pub fn mark_reappeared(tx, chain: Chain, txid: &str) =
        "update observations set vanished_at = null where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and vanished_at is not null";
}

/// Returns the unconfirmed observations of a chain, and the newest observations that vanished at `since` or later.
pub fn list_open(
    db: &Reader<'_>,
    chain: Chain,
    since: Time,
) -> Result<Vec<OpenObservation>, StoreError> {
    let mut open = all_unconfirmed(db, chain)?;
    open.extend(vanished_since(db, chain, since, COMES_BACK_MAX)?);
    Ok(open)
}

/// Returns the amount that decides how many confirmations a payment needs. For a customer, it is the sum of all
/// unconfirmed payments. For an invoice, it is the sum of the unconfirmed payments or the price, whichever is larger.
pub fn amount_at_stake(db: &Reader<'_>, payer: Payer) -> Result<Cents, StoreError> {
    match payer {
        Payer::Invoice(invoice) => amount_at_stake_of_invoice(db, invoice),
        Payer::Customer(customer) => amount_at_stake_of_customer(db, customer),
    }
}
