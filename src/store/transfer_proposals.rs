//! The table `transfer_proposals`: payments to the destinations of transfers. A person may attach such a payment to
//! the transfer.

use super::row::{InputSources, InputSourcesRef};
use super::statement::{commands, rows, values};
use super::{StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::Block;
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::ProposedOutput;

/// Maximum number of proposals for a transfer. Older proposals are deleted.
pub const PROPOSALS_MAX: u32 = 20;

rows! {
    fn read(
        p.txid, p.position, p.amount, p.spends: InputSources, p.seen_at, p.block_height: Option<u32>,
        p.block_hash: Option<String>,
    ) -> ProposedOutput {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        Ok(ProposedOutput { txid, position, amount, spends: spends.0, seen_at, block })
    }

    /// Returns the proposals for a transfer, newest first, without dismissed ones.
    pub fn of_transfer(db, transfer: i64) -> Vec<ProposedOutput> =
        select "from transfer_proposals p where p.transfer = :transfer and p.dismissed_at is null \
            order by p.seq desc limit :limit"
        with { transfer, limit: PROPOSALS_MAX };
}

values! {
    /// Returns the `seq` of the transfers for which this transaction is proposed.
    pub fn transfers_with_txid(db, mode: Mode, chain: Chain, txid: &str) -> Vec<(transfer: i64)> =
        "select distinct p.transfer from transfer_proposals p join transfers t on t.seq = p.transfer \
            where p.txid = :txid and t.mode = :mode and t.chain = :chain order by p.transfer";

    /// Returns `true` if a payment of exactly the transfer's amount is proposed. The signer must not send the
    /// transfer before a person decides.
    pub fn has_exact_proposal(db, transfer: i64) -> (found: bool) =
        "select exists (select 1 from transfer_proposals p join transfers t on t.seq = p.transfer \
            where p.transfer = :transfer and p.dismissed_at is null and p.amount = t.amount_crypto \
            and p.seen_at >= t.approved_at - t.approved_at % 1000) as found";

    /// Returns `true` if a person has dismissed a proposed payment.
    pub fn is_dismissed(db, transfer: i64, txid: &str, position: u32) -> (found: bool) =
        "select exists (select 1 from transfer_proposals \
            where transfer = :transfer and txid = :txid and position = :position and dismissed_at is not null) as found";
}

commands! {
    fn put_row(tx, transfer: i64, output: &ProposedOutput) =
        "insert into transfer_proposals (transfer, txid, position, amount, spends, seen_at, block_height, block_hash) \
            values (:transfer, :txid, :position, :amount, :spends, :seen_at, :block_height, :block_hash) \
            on conflict (transfer, txid, position) do update set amount = excluded.amount, \
            block_height = excluded.block_height, block_hash = excluded.block_hash, \
            seen_at = min(seen_at, excluded.seen_at)"
        with {
            transfer, txid: output.txid, position: output.position, amount: output.amount,
            spends: InputSourcesRef(&output.spends), seen_at: output.seen_at,
            block_height: output.block.as_ref().map(|block| block.height),
            block_hash: output.block.as_ref().map(|block| &block.hash),
        };

    fn keep_newest(tx, transfer: i64, limit: u32) =
        "delete from transfer_proposals where transfer = :transfer and seq not in \
            (select seq from transfer_proposals where transfer = :transfer order by seq desc limit :limit)";

    /// Dismisses the proposals of a transaction for a transfer, and returns their number.
    pub fn dismiss(tx, transfer: i64, txid: &str, now: Time) -> usize =
        "update transfer_proposals set dismissed_at = ifnull(dismissed_at, :now) \
            where transfer = :transfer and txid = :txid";

    /// Deletes all proposals of a transaction, because it is attached to a transfer or has disappeared.
    pub fn remove(tx, mode: Mode, chain: Chain, txid: &str) =
        "delete from transfer_proposals where txid = :txid \
            and transfer in (select seq from transfers where mode = :mode and chain = :chain)";

    /// After a reorg, removes the proposed payments in blocks above this height from their blocks.
    pub fn remove_from_blocks_above(tx, chain: Chain, height: u32) =
        "update transfer_proposals set block_height = null, block_hash = null where block_height > :height \
            and transfer in (select seq from transfers where mode = 'live' and chain = :chain)";
}

/// Inserts or updates a proposed payment for a transfer. Keeps only the newest [`PROPOSALS_MAX`] proposals.
pub fn put(tx: &Tx<'_>, transfer: i64, output: &ProposedOutput) -> Result<(), StoreError> {
    put_row(tx, transfer, output)?;
    keep_newest(tx, transfer, PROPOSALS_MAX)
}
