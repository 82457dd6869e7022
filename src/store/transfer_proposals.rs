//! The table `transfer_proposals`: arrivals at destinations that a person may attach.

use super::observations::unreadable_spends;
use super::sent_transactions::spends_json;
use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::Block;
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::ProposedOutput;
use rusqlite::named_params;

rows! {
    fn read(
        p.txid, p.position, p.amount, p.spends: Option<String>, p.seen_at, p.block_height: Option<u32>,
        p.block_hash: Option<String>,
    ) -> (ProposedOutput, Option<String>) {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        Ok((ProposedOutput { txid, position, amount, spends: Vec::new(), seen_at, block }, spends))
    }
    OF_TRANSFER = select "from transfer_proposals p where p.transfer = :transfer and p.dismissed_at is null \
        order by p.seq desc limit :limit";
}

values! {
    /// Transfers, by `seq`, that have a proposal of this transaction.
    pub fn with_txid(db, mode: Mode, chain: Chain, txid: &str) -> Vec<(transfer: i64)> =
        "select distinct p.transfer from transfer_proposals p join transfers t on t.seq = p.transfer \
            where p.txid = :txid and t.mode = :mode and t.chain = :chain order by p.transfer";

    /// Returns `true` if a person has to decide on an arrival of exactly the amount before a signer sends the transfer.
    pub fn holds_signer(db, transfer: i64) -> (found: bool) =
        "select exists (select 1 from transfer_proposals p join transfers t on t.seq = p.transfer \
            where p.transfer = :transfer and p.dismissed_at is null and p.amount = t.amount_crypto \
            and p.seen_at >= t.approved_at - t.approved_at % 1000) as found";

    IS_DISMISSED(found: bool) = "select exists (select 1 from transfer_proposals \
        where transfer = :transfer and txid = :txid and position = :position and dismissed_at is not null) as found";
}

commands! {
    PUT = "insert into transfer_proposals (transfer, txid, position, amount, spends, seen_at, block_height, block_hash) \
        values (:transfer, :txid, :position, :amount, :spends, :seen_at, :block_height, :block_hash) \
        on conflict (transfer, txid, position) do update set amount = excluded.amount, \
        block_height = excluded.block_height, block_hash = excluded.block_hash, \
        seen_at = min(seen_at, excluded.seen_at)";

    KEEP_NEWEST = "delete from transfer_proposals where transfer = :transfer and seq not in \
        (select seq from transfer_proposals where transfer = :transfer order by seq desc limit :limit)";

    /// Dismisses the proposals of a transaction for a transfer; the count.
    pub fn dismiss(tx, transfer: i64, txid: &str, now: Time) -> usize =
        "update transfer_proposals set dismissed_at = ifnull(dismissed_at, :now) \
            where transfer = :transfer and txid = :txid";

    /// Removes all proposals of a transaction: it is attached, or gone.
    pub fn remove(tx, mode: Mode, chain: Chain, txid: &str) =
        "delete from transfer_proposals where txid = :txid \
            and transfer in (select seq from transfers where mode = :mode and chain = :chain)";

    /// Takes proposals out of the blocks above this height.
    pub fn take_out_above(tx, chain: Chain, height: u32) =
        "update transfer_proposals set block_height = null, block_hash = null where block_height > :height \
            and transfer in (select seq from transfers where mode = 'live' and chain = :chain)";
}

/// Most proposals that are kept of a transfer: the newest.
pub const PROPOSALS_MAX: u32 = 20;

/// Keeps an arrival for a transfer, with its newest block.
pub fn put(tx: &Tx<'_>, transfer: i64, arrival: &ProposedOutput) -> Result<(), StoreError> {
    let block = arrival.block.as_ref();
    let params = named_params! {
        ":transfer": transfer,
        ":txid": arrival.txid,
        ":position": arrival.position,
        ":amount": arrival.amount,
        ":spends": spends_json(&arrival.spends)?,
        ":seen_at": arrival.seen_at,
        ":block_height": block.map(|block| block.height),
        ":block_hash": block.map(|block| &block.hash),
    };
    PUT.run(tx, params)?;
    let params = named_params! { ":transfer": transfer, ":limit": PROPOSALS_MAX };
    KEEP_NEWEST.run(tx, params)
}

/// Proposals of a transfer that nobody dismissed, the newest first.
pub fn of_transfer(db: &Reader<'_>, transfer: i64) -> Result<Vec<ProposedOutput>, StoreError> {
    let params = named_params! { ":transfer": transfer, ":limit": PROPOSALS_MAX };
    let found = OF_TRANSFER.all(db, params)?.into_iter();
    let whole = |(mut arrival, spends): (ProposedOutput, Option<String>)| {
        if let Some(spends) = spends {
            arrival.spends = serde_json::from_str(&spends).map_err(unreadable_spends(&spends))?;
        }
        Ok(arrival)
    };
    found.map(whole).collect()
}

/// Returns `true` if a person dismissed an arrival for a transfer.
pub fn is_dismissed(
    db: &Reader<'_>,
    transfer: i64,
    (txid, position): (&str, u32),
) -> Result<bool, StoreError> {
    let params = named_params! { ":transfer": transfer, ":txid": txid, ":position": position };
    IS_DISMISSED.only(db, params)
}
