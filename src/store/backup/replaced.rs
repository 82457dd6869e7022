//! Reads the file that a restore replaces, as far as possible. It may contain addresses and transfers that are newer
//! than the copy.

use crate::domain::{
    Asset, Cents, Currency, Mode, ProgressSink, TransferKind, TransferStatus, Units,
};
use crate::store::source::SourceFile;
use crate::store::statement::statements;
use crate::store::{Reader, StoreError, file};
use rusqlite::Connection;
use std::path::Path;

/// A payout or refund whose state in the replaced file is later than in the copy.
#[derive(Clone, Debug)]
pub struct LaterTransfer {
    /// Id of the transfer, the same in both files.
    pub id: String,
    /// Whether this is a payout or a refund.
    pub kind: TransferKind,
    /// Mode of the transfer.
    pub mode: Mode,
    /// Status in the replaced file.
    pub status: TransferStatus,
    /// Status in the copy; `None` if the copy does not have the transfer.
    pub copied: Option<TransferStatus>,
    /// Amount that the transfer took from the account's balance.
    pub amount: Cents,
    /// Currency of this amount.
    pub currency: Currency,
    /// Coin that is sent.
    pub asset: &'static Asset,
    /// Amount in the coin; `None` before the approval.
    pub amount_crypto: Option<Units>,
    /// Destination address.
    pub to_address: String,
    /// Id of the transaction in the replaced file.
    pub txid: Option<String>,
}

/// A row of the table `wallets` of the replaced file.
pub(super) struct ReplacedWallet {
    pub(super) mode: Mode,
    pub(super) pool: String,
    pub(super) network: String,
    pub(super) script: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) key: Option<Vec<u8>>,
    pub(super) chain_code: Option<Vec<u8>>,
    pub(super) first_index: Option<i64>,
    pub(super) created_at: Option<i64>,
    pub(super) added_at: Option<i64>,
    pub(super) stopped_at: Option<i64>,
    pub(super) stopped_index: Option<i64>,
    pub(super) next_index: i64,
    /// Lowest index above all indexes that were handed out or received a payment.
    pub(super) beyond: i64,
}

statements! {
    row read_wallet(
        mode, pool, network, script, id, name, key, chain_code, first_index, created_at, added_at, stopped_at,
        stopped_index, next_index,
        beyond = "max(next_index, ifnull(stopped_index + 1, 0), \
            ifnull((select max(wallet_index) + 1 from addresses where wallet = wallets.seq), 0))",
    ) -> ReplacedWallet {
        Ok(ReplacedWallet {
            mode, pool, network, script, id, name, key, chain_code, first_index, created_at, added_at, stopped_at,
            stopped_index, next_index, beyond,
        })
    }

    fn wallets(conn) -> Vec<ReplacedWallet> = select "from wallets order by seq";

    row read_transfer(
        id, kind, mode, status, amount, currency, asset, amount_crypto, to_address, txid,
    ) -> LaterTransfer {
        Ok(LaterTransfer {
            id, kind, mode, status, copied: None, amount, currency, asset, amount_crypto, to_address, txid,
        })
    }

    fn transfers() -> Query<LaterTransfer> = select "from transfers order by seq";

    fn pool_addresses(conn) -> Vec<(pool: String, address: String, imported_at: i64)> =
        "select pool, address, imported_at from pool_addresses order by seq";

    fn status_and_txid(conn, id: &str) -> Option<(status: TransferStatus, txid: Option<String>)> =
        "select status, txid from transfers where id = :id";
}

/// The contents of the replaced file that a restore uses.
#[derive(Default)]
pub(super) struct ReplacedFile {
    /// Reason why the file was not read completely; `None` after a complete read.
    pub(super) unread: Option<String>,
    /// Number of times that a server has continued from a restored copy.
    pub(super) restored: i64,
    pub(super) wallets: Vec<ReplacedWallet>,
    /// Pool, address and time of import, in milliseconds, of every imported address.
    pub(super) pool_addresses: Vec<(String, String, i64)>,
    pub(super) transfers: Vec<LaterTransfer>,
}

impl ReplacedFile {
    pub(super) fn read(
        path: &Path,
        copy: &Connection,
        tell: &mut ProgressSink<'_>,
    ) -> ReplacedFile {
        let mut replaced = ReplacedFile::default();
        if !path.exists() {
            replaced.unread = Some("does not exist".to_owned());
        } else if let Err(error) = replaced.read_rows(path, copy, tell) {
            replaced.unread = Some(format!("cannot be read ({error})"));
        }
        replaced
    }

    /// Reads the most important rows first, because later reads of a damaged file may fail.
    fn read_rows(
        &mut self,
        path: &Path,
        copy: &Connection,
        tell: &mut ProgressSink<'_>,
    ) -> Result<(), StoreError> {
        let source = SourceFile::open(path, tell)?.into_upgraded(path, tell)?;
        let conn = &source.conn;
        self.wallets = wallets(conn)?;
        let reader = Reader::new(conn);
        self.restored = file::restore_count(&reader)?;
        self.pool_addresses = pool_addresses(conn)?;
        let is_later = |transfer: &LaterTransfer| {
            Ok(match status_and_txid(copy, &transfer.id)? {
                Some((status, txid)) => is_earlier(status, txid.as_deref(), transfer),
                None => true,
            })
        };
        self.transfers = transfers().first_matching(&reader, &[], usize::MAX, is_later)?;
        for transfer in &mut self.transfers {
            let copied = status_and_txid(copy, &transfer.id)?;
            transfer.copied = copied.map(|(status, _)| status);
        }
        Ok(())
    }
}

/// Returns `true` if a transfer of the copy has an earlier status than in the replaced file, or another transaction.
fn is_earlier(status: TransferStatus, txid: Option<&str>, replaced: &LaterTransfer) -> bool {
    let (copied, later) = (status_rank(status), status_rank(replaced.status));
    let is_changed =
        status != replaced.status || (replaced.txid.is_some() && txid != replaced.txid.as_deref());
    copied < later || (copied == later && is_changed)
}

/// Returns the rank of a status in the order of processing, from 0 to 3.
fn status_rank(status: TransferStatus) -> u8 {
    match status {
        TransferStatus::Requested => 0,
        TransferStatus::Approved => 1,
        TransferStatus::Processing => 2,
        TransferStatus::Paid
        | TransferStatus::Failed
        | TransferStatus::Rejected
        | TransferStatus::Cancelled => 3,
    }
}
