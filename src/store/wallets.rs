//! The table `wallets`: keys from which addresses are derived, each with its next index.
//!
//! Invariant: an index is handed out only once. The row of an address is committed before anybody sees the address.

use super::chain_cursors::{self, ChainCursor};
use super::statement::statements;
use super::states::ValueKind;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::{Asset, ExtendedKey, Mode, Time, Units, Wallet, WalletNetwork, wallet};
use rusqlite::types::FromSqlError;

/// A derivation index of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalletIndex {
    /// Wallet, by its `seq`.
    pub wallet: i64,
    /// Derivation index in the wallet.
    pub index: u64,
}

/// A wallet of live mode, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletRow {
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// Id of the wallet.
    pub id: String,
    /// Name that the operator gave to the wallet.
    pub name: Option<String>,
    /// Public key, network and address type.
    pub wallet: Wallet,
    /// First index that the wallet handed out or may hand out.
    pub first_index: u32,
    /// Next index to hand out.
    pub next_index: u32,
    /// Lowest index that the wallet may ever hand out. Lower indexes may have been handed out after a backup was
    /// taken.
    pub least_index: u32,
    /// Time at which the wallet was first added.
    pub created_at: Time,
    /// Time at which the wallet was last added. This time is later than the `added_at` of every earlier wallet of the
    /// pool, even if the clock was set back.
    pub added_at: Time,
    /// Time at which the wallet was retired; `None` if the wallet was not retired.
    pub retired_at: Option<Time>,
    /// Time at which the wallet was stopped, because an index received a payment before it was handed out. A stopped
    /// wallet hands out no index. `None` if the wallet is not stopped.
    pub stopped_at: Option<Time>,
    /// Highest index that received a payment before it was handed out.
    pub stopped_index: Option<u32>,
}

/// A wallet to be stored.
pub struct NewWallet<'a> {
    /// Id of the wallet.
    pub id: &'a str,
    /// Name that the operator gives to the wallet.
    pub name: Option<&'a str>,
    /// Public key, network and address type.
    pub wallet: &'a Wallet,
    /// First index that was handed out, according to the operator.
    pub first_index: u32,
    /// Next index to hand out.
    pub next_index: u32,
    /// Lowest index that the wallet may ever hand out.
    pub least_index: u32,
}

/// An address of a wallet, with a coin that it received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FundedAddress {
    /// Derivation index in the wallet.
    pub index: u32,
    /// Text of the address.
    pub address: String,
    /// Received coin and amount; `None` if the address received nothing.
    pub received: Option<(&'static Asset, Units)>,
}

statements! {
    fn simulated_wallet(db, mode: Mode, pool: &str) -> Option<(seq: i64, next_index: i64)> =
        "select seq, next_index from wallets \
            where mode = :mode and pool = :pool and network = 'simulated'";

    /// Returns the highest index that a wallet has handed out.
    pub fn highest_index(db, wallet: &WalletRow) -> (highest: Option<u32>) =
        "select max(wallet_index) as highest from addresses where wallet = :wallet" with { wallet: wallet.seq };

    /// Passes every index that a wallet has handed out to `each`, in ascending order.
    pub fn each_handed_out_index(db, wallet: &WalletRow) -> each (wallet_index: u32) =
        "select wallet_index from addresses where wallet = :wallet order by wallet_index" with { wallet: wallet.seq };

    /// Passes every index whose address received a payment to `each`, in ascending order.
    pub fn each_paid_index(db, wallet: &WalletRow) -> each (wallet_index: u32) =
        file "sql/wallets/used.sql" with { wallet: wallet.seq, pool: wallet.wallet.chain.address_pool() };

    row read(
        seq, id, name, pool: String, network, script, key, chain_code, first_index, next_index, least_index, created_at,
        added_at, retired_at, stopped_at, stopped_index,
    ) -> WalletRow {
        let chain = wallet::find_wallet_chain(&pool).map_err(|_| FromSqlError::Other("a pool that has no wallets".into()))?;
        let wallet = Wallet { chain, network, script, key: ExtendedKey { key, chain_code } };
        Ok(WalletRow {
            seq, id, name, wallet, first_index, next_index, least_index, created_at, added_at, retired_at, stopped_at,
            stopped_index,
        })
    }

    /// Returns every wallet of live mode, even retired ones, whose addresses stay watched.
    pub fn all(db) -> Vec<WalletRow> = select "from wallets where id is not null order by seq";

    /// Returns the wallet with this id.
    pub fn by_id(db, id: &str) -> Option<WalletRow> = select "from wallets where id = :id";

    /// Returns the wallet with this `seq`.
    pub fn by_seq(db, seq: i64) -> Option<WalletRow> = select "from wallets where seq = :seq and id is not null";

    /// Returns the wallet with this key and chain code.
    pub fn by_key(db, wallet: &Wallet) -> Option<WalletRow> =
        select "from wallets where mode = 'live' and pool = :pool and key = :key and chain_code = :chain_code"
        with { pool: wallet.chain.address_pool(), key: wallet.key.key, chain_code: wallet.key.chain_code };

    fn wallets_in_use(db, chain: Chain) -> Vec<WalletRow> =
        select "from wallets where mode = 'live' and pool = :pool and id is not null and retired_at is null \
            order by added_at desc, seq desc"
        with { pool: chain.address_pool() };

    row read_funded(wallet_index, address, asset: Option<&'static Asset>, amount: Option<Units>) -> FundedAddress {
        Ok(FundedAddress { index: wallet_index, address, received: asset.zip(amount) })
    }

    /// Returns the amounts that addresses of a wallet received, by coin. Reads at most `limit` addresses, starting at
    /// the index `from`.
    pub fn funded_addresses(db, wallet: &WalletRow, from: u32, limit: u32) -> Vec<FundedAddress> =
        file "sql/wallets/funded.sql"
        with { wallet: wallet.seq, pool: wallet.wallet.chain.address_pool(), from, limit };

    fn insert_simulated(tx, mode: Mode, pool: &str) -> i64 =
        "insert into wallets (mode, pool, network, next_index) values (:mode, :pool, 'simulated', 1)";

    fn advance_index(tx, seq: i64) = "update wallets set next_index = next_index + 1 where seq = :seq";

    fn insert_row(tx, new: &NewWallet<'_>, now: Time) -> i64 =
        file "sql/wallets/insert.sql"
        with {
            pool: new.wallet.chain.address_pool(), network: new.wallet.network, first: new.first_index,
            next: new.next_index, least: new.least_index, id: new.id, name: new.name, script: new.wallet.script,
            key: new.wallet.key.key, chain_code: new.wallet.key.chain_code, now,
        };

    /// Makes a wallet hand out addresses again, above all indexes that were handed out or received a payment.
    pub fn resume(tx, seq: i64, new: &NewWallet<'_>, now: Time) =
        "update wallets set retired_at = null, network = :network, script = :script, name = ifnull(:name, name), \
            added_at = max(:now, (select max(added_at) + 1 from wallets w where w.pool = wallets.pool)), \
            first_index = min(first_index, :next), next_index = :next, least_index = :least, stopped_at = null, \
            stopped_index = null where seq = :seq"
        with {
            seq, network: new.wallet.network, script: new.wallet.script, next: new.next_index, least: new.least_index,
            name: new.name, now,
        }
        noting { tx.note_value_change(ValueKind::Wallet, seq); };

    /// Stops a wallet, because an index received a payment before it was handed out.
    pub fn stop(tx, seq: i64, index: u32, now: Time) =
        "update wallets set stopped_at = ifnull(stopped_at, :now), \
            stopped_index = max(ifnull(stopped_index, 0), :index) where seq = :seq";

    /// Prevents an index and all lower indexes from being handed out again.
    pub fn raise_least_index(tx, seq: i64, index: u32) =
        "update wallets set least_index = :index + 1 where seq = :seq and least_index <= :index"
        noting { tx.note_value_change(ValueKind::Wallet, seq); };

    /// Retires a wallet, so that it hands out no more addresses.
    pub fn retire(tx, seq: i64, now: Time) =
        "update wallets set retired_at = :now where seq = :seq"
        noting { tx.note_value_change(ValueKind::Wallet, seq); };
}

/// Hands out the next index of the simulated wallet of a chain.
pub fn take_simulated_index(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
) -> Result<WalletIndex, StoreError> {
    let pool = chain.address_pool();
    // An upsert or `returning` would be slower: SQLite copies the rows that they change, to be able to undo the
    // changes.
    let Some((wallet, index)) = simulated_wallet(tx, mode, pool)? else {
        let wallet = insert_simulated(tx, mode, pool)?;
        return Ok(WalletIndex { wallet, index: 0 });
    };
    advance_index(tx, wallet)?;
    let index = u64::try_from(index)
        .map_err(|_| StoreError::Failed(format!("wallet {wallet} has no index {index}")))?;
    Ok(WalletIndex { wallet, index })
}

/// Hands out the next index of a wallet that was read in this transaction. `None` if the wallet is retired, stopped,
/// or has no more indexes.
pub fn take_next_index(tx: &Tx<'_>, row: &WalletRow) -> Result<Option<WalletIndex>, StoreError> {
    let hands_out = row.retired_at.is_none() && row.stopped_at.is_none();
    if !hands_out || row.next_index >= wallet::INDEX_END {
        return Ok(None);
    }
    advance_index(tx, row.seq)?;
    let (wallet, index) = (row.seq, u64::from(row.next_index));
    Ok(Some(WalletIndex { wallet, index }))
}

/// Returns the wallet that hands out the live addresses of a chain; `None` if this wallet is stopped.
///
/// It is the wallet that was added last for the network on which the chain is followed. For a chain that was never
/// followed, it is the wallet that was added last for the main network.
///
/// An older wallet never replaces a stopped one, because a restored file may not know that the older wallet was
/// retired.
pub fn active_for_chain(db: &Reader<'_>, chain: Chain) -> Result<Option<WalletRow>, StoreError> {
    Ok(current_for_chain(db, chain)?.filter(|row| row.stopped_at.is_none()))
}

/// Returns the wallet that would hand out the live addresses of a chain, if that wallet is stopped.
pub fn stopped_for_chain(db: &Reader<'_>, chain: Chain) -> Result<Option<WalletRow>, StoreError> {
    Ok(current_for_chain(db, chain)?.filter(|row| row.stopped_at.is_some()))
}

/// Returns the wallet that hands out the live addresses of a chain, even if it is stopped.
fn current_for_chain(db: &Reader<'_>, chain: Chain) -> Result<Option<WalletRow>, StoreError> {
    let mut followed = chain_cursors::all(db)?;
    followed.retain(|cursor| cursor.chain.address_pool() == chain.address_pool());
    let is_of = |network: WalletNetwork| {
        let agrees = |of: &ChainCursor| network.includes_node_network(of.chain, &of.network);
        (followed.is_empty() && network.is_main()) || followed.iter().any(agrees)
    };
    let mut in_use = wallets_in_use(db, chain)?.into_iter();
    Ok(in_use.find(|row| is_of(row.wallet.network)))
}

/// Returns the wallet that was added last for a chain, if the chain has no wallet for the network on which it is
/// followed.
pub fn wallet_of_other_network(
    db: &Reader<'_>,
    cursor: &ChainCursor,
) -> Result<Option<WalletRow>, StoreError> {
    let in_use = wallets_in_use(db, cursor.chain)?;
    let agrees =
        |row: &WalletRow| row.wallet.network.includes_node_network(cursor.chain, &cursor.network);
    let is_strange = !in_use.iter().any(agrees);
    Ok(in_use.into_iter().next().filter(|_| is_strange))
}

/// Inserts a wallet.
pub fn insert(tx: &Tx<'_>, new: &NewWallet<'_>, now: Time) -> Result<(), StoreError> {
    let seq = insert_row(tx, new, now)?;
    tx.note_value_change(ValueKind::Wallet, seq);
    Ok(())
}
