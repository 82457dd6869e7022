//! The table `observations`, by where what was seen is on its chain.
//!
//! What does not live here: one observation by its place (`observations`). What always holds: all of this is of live mode,
//! and what gave its place to something else is not looked at any more.

use super::observations::unreadable_spends;
use super::statement::{commands, rows, sql_limit, values};
use super::{Reader, StoreError};
use crate::domain::asset::{Asset, Chain};
use crate::domain::following::Open;
use crate::domain::money::Cents;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, Place};
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use rusqlite::named_params;

/// The most of what is gone that is asked for, should it come back.
const COMES_BACK_MAX: u32 = 500;

rows! {
    fn read(
        txid, position, state, block_height: Option<u32>, block_hash: Option<String>, spends: Option<String>,
        has_vanished = "vanished_at is not null",
    ) -> (Open, Option<String>) {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        Ok((Open { txid, position, state, block, has_vanished, spends: Vec::new() }, spends))
    }
    SEEN = select "from observations where mode = 'live' and chain = :chain and state = 'seen'";
    GONE = select "from observations where mode = 'live' and chain = :chain and vanished_at >= :since \
        and state = 'dropped' and position < 2147483648 order by vanished_at desc limit :limit";
    IN_BLOCKS = select "from observations where mode = 'live' and chain = :chain and block_height between :from and :to";
}

/// Whose money is unconfirmed: all of it together says how deep each part of it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payer {
    /// An invoice's, by its `seq`.
    Invoice(i64),
    /// A customer's, by its `seq`.
    Customer(i64),
}

/// An observation that may be confirmed.
pub struct Waiting {
    /// Order of insertion.
    pub seq: i64,
    /// The transaction.
    pub txid: String,
    /// Counted inside the transaction.
    pub position: u32,
    /// The height of its block.
    pub height: u32,
    /// The coin.
    pub asset: &'static Asset,
    /// Whose it is; nothing where it has no price.
    pub payer: Option<Payer>,
}

rows! {
    fn read_waiting(
        seq, txid, position, height, asset, invoice: Option<i64>, customer: Option<i64>,
    ) -> Waiting {
        let payer = invoice.map(Payer::Invoice).or(customer.map(Payer::Customer));
        Ok(Waiting { seq, txid, position, height, asset, payer })
    }

    /// What is in a block up to this height, was taken in behind this one, and waits to be confirmed; the first of it.
    pub fn waiting(db, chain: Chain, height: u32, after: i64, limit: usize) -> Vec<Waiting> =
        file "sql/observations_on_chain/waiting.sql"
        with { chain, height, after, limit: sql_limit(limit) };
}

values! {
    /// What is confirmed in a block above this height.
    pub fn confirmed_above(db, chain: Chain, height: u32) -> Vec<(txid: String, position: u32, state: PaymentState)> =
        "select txid, position, state from observations \
            where mode = 'live' and chain = :chain and block_height > :height and state = 'confirmed'";

    /// What vanished before this moment and has not been dropped.
    pub fn given_up(db, chain: Chain, before: Time, limit: usize)
        -> Vec<(txid: String, position: u32, state: PaymentState)> =
        "select txid, position, state from observations \
            where mode = 'live' and chain = :chain and vanished_at < :before and state = 'seen' \
            and block_height is null limit :limit"
        with { chain, before, limit: sql_limit(limit) };

    FIRST_SEEN_IN(position: u32) = "select position from observations where mode = 'live' and chain = :chain and txid = :txid \
        and state = 'seen' and block_height is null and asset = :asset and address = :address and position < 2147483648 \
        order by position limit 1";

    /// What is in no block any more and is confirmed all the same, as that could not be taken back.
    pub fn unbooked(db, chain: Chain, limit: usize) -> Vec<(txid: String, position: u32, state: PaymentState)> =
        "select txid, position, state from observations \
            where mode = 'live' and chain = :chain and vanished_at is not null and state = 'confirmed' \
            and block_height is null limit :limit"
        with { chain, limit: sql_limit(limit) };

    /// What has come to an address in a coin, in blocks up to this height.
    pub fn came_to(db, asset: &Asset, address: &str, height: u32) -> Vec<(amount: Units)> =
        "select amount from observations where mode = 'live' and chain = :chain \
            and block_height <= :height and asset = :asset and address = :address and state <> 'dropped'"
        with { chain: asset.chain, asset: asset.id, address, height };

    /// Is anything seen and not confirmed?
    pub fn is_any_seen(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from observations \
            where mode = 'live' and chain = :chain and state = 'seen') as found";

    /// The larger of the price and of all that is unconfirmed.
    STAKE_OF_INVOICE(at_stake: Cents) = "select max(i.amount, (select coalesce(sum(p.value), 0) \
        from payments p join observations o on o.seq = p.observation where p.invoice = i.seq and o.state = 'seen')) \
        as at_stake from invoices i where i.seq = :invoice";

    STAKE_OF_CUSTOMER(at_stake: Cents) = "select coalesce(sum(d.gross), 0) as at_stake \
        from deposits d join observations o on o.seq = d.observation where d.customer = :customer and o.state = 'seen'";

    OPEN_ADDRESSES(address: String) = "select address from observations \
        where mode = 'live' and chain = :chain and state = 'seen' \
        union \
        select address from observations where mode = 'live' and chain = :chain and block_height > :height";

    /// How much is in blocks above this height.
    pub fn count_above(db, chain: Chain, height: u32) -> (count: i64) =
        "select count(*) as count from observations \
            where mode = 'live' and chain = :chain and block_height > :height";
}

commands! {
    /// Takes everything out of the blocks above this height.
    pub fn take_out_above(tx, chain: Chain, height: u32, now: Time) =
        "update observations set block_height = null, block_hash = null, \
            vanished_at = ifnull(vanished_at, :now) \
            where mode = 'live' and chain = :chain and block_height > :height";

    /// Takes what is at a place out of its block.
    pub fn take_out(tx, place: &Place, now: Time) =
        "update observations set block_height = null, block_hash = null, vanished_at = ifnull(vanished_at, :now) \
            where mode = 'live' and chain = :chain and txid = :txid and position = :position and block_height is not \
            null"
        with { chain: place.chain, txid: place.txid, position: place.position, now };

    /// Notes that a transaction is in no block and not in the mempool, unless that was known.
    pub fn vanish(tx, chain: Chain, txid: &str, now: Time) =
        "update observations set vanished_at = :now where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and block_height is null and vanished_at is null";

    /// Notes that a transaction is there again.
    pub fn appear(tx, chain: Chain, txid: &str) =
        "update observations set vanished_at = null where mode = 'live' and chain = :chain and txid = :txid \
            and state = 'seen' and vanished_at is not null";
}

/// Rows with what they spend.
fn whole(rows: Vec<(Open, Option<String>)>) -> Result<Vec<Open>, StoreError> {
    let whole = |(mut open, spends): (Open, Option<String>)| {
        if let Some(spends) = spends {
            open.spends = serde_json::from_str(&spends).map_err(unreadable_spends(&spends))?;
        }
        Ok(open)
    };
    rows.into_iter().map(whole).collect()
}

/// What was seen and is not confirmed, and what is gone since that moment.
pub fn open(db: &Reader<'_>, chain: Chain, since: Time) -> Result<Vec<Open>, StoreError> {
    let mut rows = SEEN.all(db, named_params! { ":chain": chain })?;
    let params = named_params! { ":chain": chain, ":since": since, ":limit": COMES_BACK_MAX };
    rows.extend(GONE.all(db, params)?);
    whole(rows)
}

/// What is in the blocks from one height to another.
pub fn in_blocks(
    db: &Reader<'_>,
    chain: Chain,
    (from, to): (u32, u32),
) -> Result<Vec<Open>, StoreError> {
    let params = named_params! { ":chain": chain, ":from": from, ":to": to };
    whole(IN_BLOCKS.all(db, params)?)
}

/// What is at stake: of an invoice the larger of its price and of all that is unconfirmed, of a customer the latter.
pub fn at_stake(db: &Reader<'_>, payer: Payer) -> Result<Cents, StoreError> {
    match payer {
        Payer::Invoice(invoice) => STAKE_OF_INVOICE.only(db, named_params! { ":invoice": invoice }),
        Payer::Customer(customer) => {
            STAKE_OF_CUSTOMER.only(db, named_params! { ":customer": customer })
        }
    }
}

/// The first output of a transaction to an address in a coin that is seen and in no block.
pub fn first_seen_in(
    db: &Reader<'_>,
    txid: &str,
    (asset, address): (&Asset, &str),
) -> Result<Option<u32>, StoreError> {
    let params = named_params! {
        ":chain": asset.chain, ":txid": txid, ":asset": asset.id, ":address": address,
    };
    FIRST_SEEN_IN.first(db, params)
}

/// Each address at which something was seen and is not confirmed, or is in a block above this height.
pub fn each_open_address(
    db: &Reader<'_>,
    chain: Chain,
    height: u32,
    each: impl FnMut(String),
) -> Result<(), StoreError> {
    let params = named_params! { ":chain": chain, ":height": height };
    OPEN_ADDRESSES.each(db, params, each)
}
