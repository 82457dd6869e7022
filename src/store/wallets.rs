//! The table `wallets`: what derives addresses, and the next index of each.
//!
//! What does not live here: the addresses themselves (`addresses`). What always holds: an index is taken once, and
//! is committed as taken before anybody is shown its address.

use super::chain_cursors::{self, Cursor};
use super::statement::{commands, rows, values};
use super::states::ValueKind;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::money::coin::Units;
use crate::domain::time::Time;
use crate::domain::wallet::{self, ExtendedKey, Wallet, WalletNetwork};
use rusqlite::named_params;
use rusqlite::types::FromSqlError;

/// One index of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The wallet, by its `seq`.
    pub wallet: i64,
    /// The index that was taken.
    pub index: u64,
}

/// A wallet of live mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletRow {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// What its owner calls it.
    pub name: Option<String>,
    /// Its key, and what its addresses look like.
    pub wallet: Wallet,
    /// The index that it began with.
    pub first_index: u32,
    /// The index that is handed out next.
    pub next_index: u32,
    /// It never goes back below this one: what is there may have been handed out after the copy that the file is.
    pub least_index: u32,
    /// When it was first added.
    pub created_at: Time,
    /// When it was last added: later than any other of its pool before it, whatever the clock showed.
    pub added_at: Time,
    /// When it was retired.
    pub retired_at: Option<Time>,
    /// When something came to an index that was not handed out yet: since then it hands out nothing.
    pub stopped_at: Option<Time>,
    /// The highest such index.
    pub stopped_index: Option<u32>,
}

/// A wallet to be stored.
pub struct NewWallet<'a> {
    /// The name outside the file.
    pub id: &'a str,
    /// What its owner calls it.
    pub name: Option<&'a str>,
    /// Its key, and what its addresses look like.
    pub wallet: &'a Wallet,
    /// The index that it began with, by what its owner says.
    pub first_index: u32,
    /// The index to hand out next.
    pub next_index: u32,
    /// The index that it never goes back below.
    pub least_index: u32,
}

/// An address of a wallet, and a coin that came to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Funded {
    /// The index in its wallet.
    pub index: u32,
    /// Its text.
    pub address: String,
    /// The coin and an amount that came, unless none did.
    pub came: Option<(&'static Asset, Units)>,
}

values! {
    SIMULATED(seq: i64, next_index: i64) = "select seq, next_index from wallets \
        where mode = :mode and pool = :pool and network = 'simulated'";

    /// The highest index that a wallet has handed out.
    pub fn highest(db, wallet: &WalletRow) -> (highest: Option<u32>) =
        "select max(wallet_index) as highest from addresses where wallet = :wallet" with { wallet: wallet.seq };

    HANDED_OUT(wallet_index: u32) =
        "select wallet_index from addresses where wallet = :wallet order by wallet_index";

    /// Which of its indexes something came to, in order.
    USED(wallet_index: u32) = file "sql/wallets/used.sql";
}

rows! {
    fn read(
        seq, id, name, pool: String, network, script, key, chain_code, first_index, next_index, least_index, created_at,
        added_at, retired_at, stopped_at, stopped_index,
    ) -> WalletRow {
        let chain = wallet::chain_named(&pool).map_err(|_| FromSqlError::Other("a pool that has no wallets".into()))?;
        let wallet = Wallet { chain, network, script, key: ExtendedKey { key, chain_code } };
        Ok(WalletRow {
            seq, id, name, wallet, first_index, next_index, least_index, created_at, added_at, retired_at, stopped_at,
            stopped_index,
        })
    }

    /// Every wallet of live mode, retired ones too: they stay watched.
    pub fn all(db) -> Vec<WalletRow> = select "from wallets where id is not null order by seq";

    /// The wallet with this id.
    pub fn by_id(db, id: &str) -> Option<WalletRow> = select "from wallets where id = :id";

    /// The wallet with this `seq`.
    pub fn by_seq(db, seq: i64) -> Option<WalletRow> = select "from wallets where seq = :seq and id is not null";

    /// The wallet that has this key and chain code.
    pub fn by_key(db, wallet: &Wallet) -> Option<WalletRow> =
        select "from wallets where mode = 'live' and pool = :pool and key = :key and chain_code = :chain_code"
        with { pool: wallet.chain.address_pool(), key: wallet.key.key, chain_code: wallet.key.chain_code };

    fn in_use(db, chain: Chain) -> Vec<WalletRow> =
        select "from wallets where mode = 'live' and pool = :pool and id is not null and retired_at is null \
            order by added_at desc, seq desc"
        with { pool: chain.address_pool() };
}

rows! {
    /// The coins that came to each address of a wallet; a row without coin for one to which none did.
    fn read_funded(wallet_index, address, asset: Option<&'static Asset>, amount: Option<Units>) -> Funded {
        Ok(Funded { index: wallet_index, address, came: asset.zip(amount) })
    }
    FUNDED = file "sql/wallets/funded.sql";
}

commands! {
    INSERT_SIMULATED = "insert into wallets (mode, pool, network, next_index) values (:mode, :pool, 'simulated', 1)";

    TAKE = "update wallets set next_index = next_index + 1 where seq = :seq";

    INSERT = file "sql/wallets/insert.sql";

    RESUME = "update wallets set retired_at = null, network = :network, script = :script, name = ifnull(:name, name), \
        added_at = max(:now, (select max(added_at) + 1 from wallets w where w.pool = wallets.pool)), \
        first_index = min(first_index, :next), next_index = :next, least_index = :least, stopped_at = null, \
        stopped_index = null where seq = :seq";

    /// Stops a wallet: something came to an index that it had not handed out.
    pub fn stop(tx, seq: i64, index: u32, now: Time) =
        "update wallets set stopped_at = ifnull(stopped_at, :now), \
            stopped_index = max(ifnull(stopped_index, 0), :index) where seq = :seq";

    KEEP_ABOVE = "update wallets set least_index = :index + 1 where seq = :seq and least_index <= :index";

    RETIRE = "update wallets set retired_at = :now where seq = :seq";
}

/// Takes the next index of the simulated wallet that hands out this chain's addresses.
pub fn take_simulated(tx: &Tx<'_>, mode: Mode, chain: Chain) -> Result<Taken, StoreError> {
    let params = named_params! { ":mode": mode, ":pool": chain.address_pool() };
    // Neither an upsert nor `returning`: SQLite would keep what each of them changes, to take it back.
    let Some((wallet, index)) = SIMULATED.first(tx, params)? else {
        let wallet = INSERT_SIMULATED.insert(tx, params)?;
        return Ok(Taken { wallet, index: 0 });
    };
    TAKE.run(tx, named_params! { ":seq": wallet })?;
    let index = u64::try_from(index)
        .map_err(|_| StoreError::Failed(format!("wallet {wallet} has no index {index}")))?;
    Ok(Taken { wallet, index })
}

/// Takes the next index of a wallet that was read in this transaction; none where it is retired or stopped, and where none
/// is left.
pub fn take(tx: &Tx<'_>, row: &WalletRow) -> Result<Option<Taken>, StoreError> {
    let hands_out = row.retired_at.is_none() && row.stopped_at.is_none();
    if !hands_out || row.next_index >= wallet::INDEX_END {
        return Ok(None);
    }
    TAKE.run(tx, named_params! { ":seq": row.seq })?;
    let (wallet, index) = (row.seq, u64::from(row.next_index));
    Ok(Some(Taken { wallet, index }))
}

/// The wallet that hands out the live addresses of a chain: of those of the network that its pool is followed on the one
/// that was added last. Where it never was, that is the main network: coins of others are worth nothing. None takes the
/// place of one that is stopped: an older copy may not know that an older wallet was retired.
pub fn handing_out(db: &Reader<'_>, chain: Chain) -> Result<Option<WalletRow>, StoreError> {
    Ok(in_turn(db, chain)?.filter(|row| row.stopped_at.is_none()))
}

/// The wallet that would hand out the live addresses of a chain, and is stopped.
pub fn stopped(db: &Reader<'_>, chain: Chain) -> Result<Option<WalletRow>, StoreError> {
    Ok(in_turn(db, chain)?.filter(|row| row.stopped_at.is_some()))
}

/// The wallet that hands out the live addresses of a chain, unless it is stopped.
fn in_turn(db: &Reader<'_>, chain: Chain) -> Result<Option<WalletRow>, StoreError> {
    let mut followed = chain_cursors::all(db)?;
    followed.retain(|cursor| cursor.chain.address_pool() == chain.address_pool());
    let is_of = |network: WalletNetwork| {
        let agrees = |of: &Cursor| network.agrees_with(of.chain, &of.network);
        (followed.is_empty() && network.is_main()) || followed.iter().any(agrees)
    };
    let mut in_use = in_use(db, chain)?.into_iter();
    Ok(in_use.find(|row| is_of(row.wallet.network)))
}

/// The wallet of a followed chain that was added last, where none of them is of the network that the chain is followed on.
pub fn stranger(db: &Reader<'_>, cursor: &Cursor) -> Result<Option<WalletRow>, StoreError> {
    let in_use = in_use(db, cursor.chain)?;
    let agrees = |row: &WalletRow| {
        row.wallet
            .network
            .agrees_with(cursor.chain, &cursor.network)
    };
    let is_strange = !in_use.iter().any(agrees);
    Ok(in_use.into_iter().next().filter(|_| is_strange))
}

/// Adds a wallet.
pub fn insert(tx: &Tx<'_>, new: &NewWallet<'_>, now: Time) -> Result<(), StoreError> {
    let wallet = new.wallet;
    let params = named_params! {
        ":pool": wallet.chain.address_pool(), ":network": wallet.network, ":first": new.first_index,
        ":next": new.next_index, ":least": new.least_index, ":id": new.id, ":name": new.name, ":script": wallet.script,
        ":key": wallet.key.key, ":chain_code": wallet.key.chain_code, ":now": now,
    };
    tx.changes_value(ValueKind::Wallet, INSERT.insert(tx, params)?);
    Ok(())
}

/// Lets a wallet hand out again, from this index on, which is above all that was handed out, and that was paid.
pub fn resume(tx: &Tx<'_>, seq: i64, new: &NewWallet<'_>, now: Time) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": seq, ":network": new.wallet.network, ":script": new.wallet.script, ":next": new.next_index,
        ":least": new.least_index,
        ":name": new.name, ":now": now,
    };
    tx.changes_value(ValueKind::Wallet, seq);
    RESUME.run(tx, params)
}

/// Lets a wallet hand out nothing more.
pub fn retire(tx: &Tx<'_>, seq: i64, now: Time) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":now": now };
    tx.changes_value(ValueKind::Wallet, seq);
    RETIRE.run(tx, params)
}

/// A wallet never goes back to this index, which is below its next one.
pub fn keep_above(tx: &Tx<'_>, seq: i64, index: u32) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":index": index };
    tx.changes_value(ValueKind::Wallet, seq);
    KEEP_ABOVE.run(tx, params)
}

/// The indexes of a wallet that are in `addresses`, in order, each handed to `tell`.
pub fn each_handed_out(
    db: &Reader<'_>,
    wallet: &WalletRow,
    tell: impl FnMut(u32),
) -> Result<(), StoreError> {
    HANDED_OUT.each(db, named_params! { ":wallet": wallet.seq }, tell)
}

/// The indexes of a wallet to whose addresses something came, in order, each handed to `tell`.
pub fn each_used(
    db: &Reader<'_>,
    wallet: &WalletRow,
    tell: impl FnMut(u32),
) -> Result<(), StoreError> {
    let pool = wallet.wallet.chain.address_pool();
    USED.each(
        db,
        named_params! { ":wallet": wallet.seq, ":pool": pool },
        tell,
    )
}

/// What came to the next addresses of a wallet, from an index on, so many addresses of them.
pub fn funded(
    db: &Reader<'_>,
    wallet: &WalletRow,
    from: u32,
    limit: u32,
) -> Result<Vec<Funded>, StoreError> {
    let pool = wallet.wallet.chain.address_pool();
    let params =
        named_params! { ":wallet": wallet.seq, ":pool": pool, ":from": from, ":limit": limit };
    FUNDED.all(db, params)
}
