//! Prepares a copy for a server that continues from it after a restore.
//!
//! Invariant: the server pays nothing a second time and hands out no address a second time, as far as the copy and
//! the replaced file show.

use super::replaced::{LaterTransfer, ReplacedFile, ReplacedWallet};
use super::{BackupCopy, GAP, StoreError};
use crate::domain::asset::Chain;
use crate::domain::wallet::INDEX_END;
use crate::domain::{Mode, Progress, ProgressSink, Time};
use crate::store::open::open_unshared;
use crate::store::statement::statements;
use crate::store::{Reader, chain_nodes, file};
use rusqlite::Connection;

/// A next index that the operator has chosen for the live wallets of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextIndex {
    /// First chain of the wallets' pool, by which the pool is identified.
    pub chain: Chain,
    /// Lowest index to hand out next.
    pub index: u32,
}

/// A wallet whose next index a restore has moved.
#[derive(Clone, Debug)]
pub struct WalletIndexChange {
    /// Mode of the wallet's addresses.
    pub mode: Mode,
    /// Pool of the wallet's addresses.
    pub pool: String,
    /// Id of the wallet; `None` for a simulated one.
    pub id: Option<String>,
    /// Next index after the restore.
    pub next_index: i64,
    /// Next index that the wallet had in the copy; `None` if the copy does not have the wallet.
    pub copied: Option<i64>,
    /// Next index that the wallet had in the replaced file; `None` if the file does not have the wallet or cannot be
    /// read.
    pub replaced: Option<i64>,
}

/// The changes that were made to a copy before its restore.
#[derive(Debug, Default)]
pub struct CopyChanges {
    /// Wallets whose next index was moved.
    pub indexes: Vec<WalletIndexChange>,
    /// Number of pool addresses that are no longer handed out.
    pub retired: usize,
    /// Number of payouts and refunds that wait for a person.
    pub transfers: usize,
    /// Number of server orders and removals that wait for a person.
    pub servers: usize,
    /// Number of pending deliveries that were marked as failed.
    pub deliveries: usize,
    /// Number of waiting e-mails that were given up.
    pub mail: usize,
    /// Payouts and refunds whose state in the replaced file is later than in the copy.
    pub later: Vec<LaterTransfer>,
    /// Chains whose node was removed, because it was entered under another public url.
    pub nodes: Vec<Chain>,
    /// Warnings for the operator.
    pub warnings: Vec<String>,
}

statements! {
    fn copied_wallets(conn) -> Vec<(
        seq: i64, mode: Mode, pool: String, id: Option<String>, key: Option<Vec<u8>>, chain_code: Option<Vec<u8>>,
        next_index: i64, beyond: i64
    )> =
        "select seq, mode, pool, id, key, chain_code, next_index, max(next_index, ifnull(stopped_index + 1, 0), \
            ifnull((select max(wallet_index) + 1 from addresses where wallet = wallets.seq), 0)) as beyond \
            from wallets order by seq";

    fn move_wallet(conn, seq: i64, next: i64, least: i64, replaced: Option<&ReplacedWallet>) =
        "update wallets set next_index = :next, least_index = :least, stopped_at = ifnull(stopped_at, :stopped_at), \
            stopped_index = nullif(max(ifnull(stopped_index, -1), ifnull(:stopped_index, -1)), -1) where seq = :seq"
        with {
            seq, next, least, stopped_at: replaced.and_then(|wallet| wallet.stopped_at),
            stopped_index: replaced.and_then(|wallet| wallet.stopped_index),
        };

    fn insert_retired_wallet(conn, wallet: &ReplacedWallet, next: i64, least: i64, now: Time) =
        file "sql/wallets/insert_retired.sql"
        with {
            mode: wallet.mode, pool: wallet.pool, network: wallet.network, next, least, id: wallet.id,
            name: wallet.name, script: wallet.script, key: wallet.key, chain_code: wallet.chain_code,
            first: wallet.first_index, created_at: wallet.created_at, added_at: wallet.added_at, now,
            stopped_at: wallet.stopped_at, stopped_index: wallet.stopped_index,
        };

    fn retire_free_addresses(conn) -> usize = "update pool_addresses set state = 'retired' where state = 'free'";

    fn insert_retired_address(conn, pool: &str, address: &str, imported_at: i64) -> usize =
        "insert into pool_addresses (pool, address, state, imported_at) \
            values (:pool, :address, 'retired', :imported_at) on conflict (pool, address) do nothing";

    /// Stops every open payout and refund until a person decides, because it may have been sent since the copy was
    /// taken.
    fn stop_transfers(conn) -> usize =
        "update transfers set sending = 'restored', sending_reason = null, retry_since = null, \
            retry_at = null, released_at = null where status in ('requested', 'approved', 'processing')";

    /// Notes that what the held transfers got has to be computed again.
    fn mark_destinations_stale(conn) =
        "update destinations set is_stale = 1 \
            where seq in (select destination from transfers where sending = 'restored')";

    /// Marks orders and removals of servers as unknown, because they may have been carried out since the copy was
    /// taken.
    fn hold_servers(conn) -> usize =
        "update servers set status = iif(status = 'queued', 'provisioning', status), ordering = 'unknown' \
            where status in ('queued', 'provisioning') or (status = 'active' and deletion_requested_at is not null)";

    /// Marks every pending delivery as failed, because it may have arrived since the copy was taken. A person can
    /// send the delivery again.
    fn give_up_deliveries(conn) -> usize =
        "update deliveries set state = 'failed', next_attempt_at = null where state = 'pending'";

    /// Gives up every waiting e-mail, because it may have been sent since the copy was taken.
    fn give_up_mail(conn, now: Time) -> usize =
        "update mail_messages set state = 'failed', is_sending = 0, next_attempt_at = null, ended_at = :now, \
            problem = 'given up by a restore' where state = 'pending'";

    fn delete_alarms(conn) = "delete from mail_alarms";

    fn end_sessions(conn) = "delete from sessions";

    fn delete_setup_link(conn) = "update file set setup_hash = null, setup_expires_at = null";

    fn set_restore_count(conn, restored: i64) = "update file set restored = :restored";
}

impl BackupCopy {
    /// Changes the copy for a server that continues from it: the server pays nothing a second time and hands out no
    /// address a second time. Also reads the file that the copy will replace.
    ///
    /// # Errors
    /// [`StoreError`] if the copy cannot be written, or `next` has an index for a chain without a wallet.
    pub fn prepare_for_restore(
        &self,
        now: Time,
        next: &[NextIndex],
        public_url: Option<&str>,
        tell: &mut ProgressSink<'_>,
    ) -> Result<CopyChanges, StoreError> {
        let mut conn = open_unshared(&self.temporary)?;
        let mut replaced = ReplacedFile::read(&self.to, &conn, tell);
        let mut warnings = Vec::new();
        if let Some(why) = &replaced.unread {
            let warning = format!(
                "{} {why}: how many addresses were handed out and what was sent since the copy is not known. Indexes go on \
                 {GAP} behind the copy; where more were handed out, give --next-index CHAIN=N",
                self.to.display()
            );
            tell(Progress::Note(&warning));
            warnings.push(warning);
        }
        let held = prepare_in_transaction(&mut conn, &mut replaced, next, public_url, now);
        let mut held = held.map_err(|error| self.explain_disk_full(error))?;
        held.warnings = warnings;
        conn.close().map_err(|(_, error)| error)?;
        Ok(held)
    }
}

fn prepare_in_transaction(
    conn: &mut Connection,
    replaced: &mut ReplacedFile,
    next: &[NextIndex],
    public_url: Option<&str>,
    now: Time,
) -> Result<CopyChanges, StoreError> {
    let tx = conn.transaction()?;
    let indexes = move_next_indexes(&tx, &replaced.wallets, next, now)?;
    let held = CopyChanges {
        indexes,
        retired: retire_free_addresses(&tx)?.saturating_add(add_retired_addresses(&tx, replaced)?),
        transfers: hold_transfers(&tx)?,
        servers: hold_servers(&tx)?,
        deliveries: give_up_deliveries(&tx)?,
        mail: give_up_mail(&tx, now)?,
        later: std::mem::take(&mut replaced.transfers),
        nodes: remove_nodes_of_other_url(&tx, public_url, now)?,
        warnings: Vec::new(),
    };
    let here = file::restore_count(&Reader::new(&tx))?;
    let restored = here.max(replaced.restored).saturating_add(1);
    set_restore_count(&tx, restored)?;
    end_sessions(&tx)?;
    delete_alarms(&tx)?;
    delete_setup_link(&tx)?;
    tx.commit()?;
    Ok(held)
}

/// Holds every open payout and refund, and returns their number.
fn hold_transfers(conn: &Connection) -> Result<usize, StoreError> {
    let held = stop_transfers(conn)?;
    mark_destinations_stale(conn)?;
    Ok(held)
}

/// Removes the nodes that were entered under another public url. Returns their chains. Without a public url, the next
/// server decides by its own.
fn remove_nodes_of_other_url(
    conn: &Connection,
    public_url: Option<&str>,
    now: Time,
) -> Result<Vec<Chain>, StoreError> {
    let Some(public_url) = public_url else {
        return Ok(Vec::new());
    };
    let found = chain_nodes::chains_of_other_url(conn, public_url)?;
    chain_nodes::remove_of_other_url(conn, public_url, now)?;
    Ok(found)
}

/// Moves the next index of every wallet above all indexes that the wallet handed out according to the copy or the
/// replaced file.
///
/// A wallet that only the replaced file has is added as retired. If the operator adds this wallet again, it continues
/// above these indexes.
fn move_next_indexes(
    conn: &Connection,
    replaced: &[ReplacedWallet],
    next: &[NextIndex],
    now: Time,
) -> Result<Vec<WalletIndexChange>, StoreError> {
    let mut moved = Vec::new();
    let mut in_copy = Vec::new();
    for (seq, mode, pool, id, key, chain_code, next_index, beyond) in copied_wallets(conn)? {
        let same = replaced.iter().position(|other| {
            (other.mode, &other.pool, &other.key, &other.chain_code)
                == (mode, &pool, &key, &chain_code)
        });
        in_copy.extend(same);
        let same = same.and_then(|at| replaced.get(at));
        let (least, next_index_now) = least_and_next_index(mode, &pool, beyond, same, next);
        move_wallet(conn, seq, next_index_now, least, same)?;
        moved.push(WalletIndexChange {
            mode,
            pool,
            id,
            next_index: next_index_now,
            copied: Some(next_index),
            replaced: same.map(|same| same.next_index),
        });
    }
    let lacking = (0..).zip(replaced).filter(|(at, _)| !in_copy.contains(at));
    for (_, wallet) in lacking {
        moved.push(add_retired_wallet(conn, wallet, next, now)?);
    }
    let has_wallet = |of: &NextIndex| {
        let mut moved = moved.iter();
        moved.any(|one| one.mode.is_live() && one.pool == of.chain.address_pool())
    };
    match next.iter().find(|of| !has_wallet(of)) {
        None => Ok(moved),
        Some(NextIndex { chain, index }) => Err(StoreError::Failed(format!(
            "--next-index {pool}={index}: the copy has no wallet of {pool}. Leave it out, and afterwards add the wallet with \
             `coffer wallet add {pool} --next {index}`",
            pool = chain.address_pool()
        ))),
    }
}

/// Returns two indexes of a wallet: the lowest index that it may ever hand out, and the index that it hands out next.
/// They are equal unless the operator has chosen a higher next index.
fn least_and_next_index(
    mode: Mode,
    pool: &str,
    beyond: i64,
    replaced: Option<&ReplacedWallet>,
    next: &[NextIndex],
) -> (i64, i64) {
    let known = beyond.max(replaced.map_or(0, |replaced| replaced.beyond));
    let gap = i64::try_from(GAP).unwrap_or(i64::MAX);
    let least = known.saturating_add(gap).min(i64::from(INDEX_END));
    let named = next
        .iter()
        .filter(|of| mode.is_live() && of.chain.address_pool() == pool)
        .map(|of| i64::from(of.index))
        .max();
    (least, least.max(named.unwrap_or_default()))
}

fn add_retired_wallet(
    conn: &Connection,
    wallet: &ReplacedWallet,
    next: &[NextIndex],
    now: Time,
) -> Result<WalletIndexChange, StoreError> {
    let (least, next_index) =
        least_and_next_index(wallet.mode, &wallet.pool, wallet.beyond, None, next);
    insert_retired_wallet(conn, wallet, next_index, least, now)?;
    Ok(WalletIndexChange {
        mode: wallet.mode,
        pool: wallet.pool.clone(),
        id: wallet.id.clone(),
        next_index,
        copied: None,
        replaced: Some(wallet.next_index),
    })
}

/// Adds imported addresses of the replaced file to the copy, as retired. Another import of these addresses then does
/// not make them free again.
fn add_retired_addresses(conn: &Connection, replaced: &ReplacedFile) -> Result<usize, StoreError> {
    let mut added: usize = 0;
    for (pool, address, imported_at) in &replaced.pool_addresses {
        added = added.saturating_add(insert_retired_address(conn, pool, address, *imported_at)?);
    }
    Ok(added)
}
