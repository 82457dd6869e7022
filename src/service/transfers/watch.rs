//! Watches the destinations of payouts and refunds, and records what nodes report about their transactions.

use super::arrivals::{WATCHED_AFTER_END_MS, open_review};
use crate::domain::asset::{AssetKind, Chain, Mode};
use crate::domain::chain::{CHAINS, Depth};
use crate::domain::following::{
    BalanceChange, SentTransaction, SpendConflict, TransactionAnswer, TransactionLookup,
    UnsettledTransaction,
};
use crate::domain::time::Time;
use crate::domain::transfer::Transfer;
use crate::domain::transfer::on_chain::{AttachedState, AttachedTransaction, ReviewKind};
use crate::service::chains::order_rescan_unless_covered;
use crate::service::{Error, Service};
use crate::store::{
    Reader, StoreError, Tx, chain_cursors, sent_outputs, sent_transactions, transfer_proposals,
    transfers,
};

/// Largest number of transactions about which one step queries a node.
const QUERIED_TRANSACTIONS_MAX: u32 = 100;

impl Service {
    /// Watches the destination of a transfer, starting at the current height.
    pub(super) fn watch_destination(&self, tx: &Tx<'_>, of: &mut Transfer) -> Result<(), Error> {
        if !of.mode.is_live() {
            return Ok(());
        }
        let chain = of.asset.chain;
        let cursor = chain_cursors::of_chain(tx, chain)?;
        of.sending_progress.watched_from = cursor.map(|cursor| cursor.complete.height);
        transfers::watch_destination(tx, chain, &of.to_address);
        Ok(())
    }

    /// Records a node's report about an attached transaction.
    pub(in crate::service) fn record_node_report(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        read: &TransactionLookup,
    ) -> Result<(), Error> {
        sent_transactions::save_asked_at(tx, chain, &read.txid, now)?;
        let Some(mut known) = sent_transactions::by_txid(tx, Mode::Live, chain, &read.txid)? else {
            return Ok(());
        };
        match &read.found {
            TransactionAnswer::Present(found) => {
                return self.record_present_transaction(tx, now, chain, (known, found));
            }
            TransactionAnswer::Absent => set_absent(&mut known),
            TransactionAnswer::CannotTell => {
                if known.state == AttachedState::Mempool {
                    set_absent(&mut known);
                }
                if !known.is_read_back {
                    known.is_read_back = true;
                    order_rescan_from_approval(tx, now, chain, &read.txid)?;
                }
            }
            TransactionAnswer::Gone { by, block } => {
                set_absent(&mut known);
                known.gone_by = by.clone().or(Some("another transaction".to_owned()));
                known.gone_height = Some(block.height);
            }
            TransactionAnswer::ReplacedBy { by, block } => {
                self.follow_replacement(tx, now, chain, (&read.txid, by))?;
                set_absent(&mut known);
                known.gone_by = Some(by.clone());
                known.gone_height = Some(block.height);
            }
            TransactionAnswer::Unanswered(problem) => {
                known.problem = Some(format!("transaction {} {problem}", read.txid));
            }
        }
        sent_transactions::update(tx, &known)?;
        self.assign_outputs(tx, now, (Mode::Live, chain, &read.txid))
    }

    fn record_present_transaction(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        (mut known, found): (AttachedTransaction, &SentTransaction),
    ) -> Result<(), Error> {
        known.state = match found.block {
            Some(_) => AttachedState::Mined,
            None => AttachedState::Mempool,
        };
        known.block_height = found.block.as_ref().map(|block| block.height);
        known.is_reverted = !found.is_done && found.block.is_some();
        known.first_seen_at = known.first_seen_at.or(found.time).or(Some(now)).min(Some(now));
        known.last_seen_at = Some(now);
        if !found.spends.is_empty() {
            known.spends.clone_from(&found.spends);
        }
        known.nonce = found.nonce.or(known.nonce);
        (known.gone_by, known.gone_height) = (None, None);
        known.problem = missing_trace_problem(&known.txid, &found.balances);
        sent_transactions::update(tx, &known)?;
        for seen in &found.received {
            let all = transfers::list_to_address(tx, Mode::Live, chain, &seen.address)?;
            let txid = Some(&known.txid);
            if all.iter().any(|transfer| transfer.txid.as_ref() == txid) {
                self.record_observation(tx, now, seen, None)?;
            }
        }
        self.assign_outputs(tx, now, (Mode::Live, chain, &known.txid))
    }

    /// Records that another transaction spends an input of an attached transaction.
    pub(in crate::service) fn record_conflicting_spend(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        conflict: &SpendConflict,
    ) -> Result<(), Error> {
        self.follow_replacement(tx, now, chain, (&conflict.txid, &conflict.by))?;
        let Some(mut known) = sent_transactions::by_txid(tx, Mode::Live, chain, &conflict.txid)?
        else {
            return Ok(());
        };
        if known.state == AttachedState::Mined {
            return Ok(());
        }
        set_absent(&mut known);
        known.gone_by = Some(conflict.by.clone());
        known.gone_height = conflict.block.as_ref().map(|block| block.height);
        Ok(sent_transactions::update(tx, &known)?)
    }

    /// Records the height from which a chain is read for transfers whose height was unknown. Returns `false` if there
    /// are no such transfers.
    ///
    /// Opens a review of each transfer that was approved before `unread`, because blocks from before that time are
    /// not read.
    pub(in crate::service) fn record_watch_height(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        (unread, height): (Time, u32),
    ) -> Result<bool, Error> {
        let undated = transfers::list_without_first_block(tx, chain)?;
        for transfer in &undated {
            let mut after = transfer.clone();
            after.sending_progress.watched_from = Some(height);
            transfers::update(tx, &after, transfer.status)?;
            if transfer.approved_at.is_some_and(|approved| approved < unread) {
                let problem = format!(
                    "it was approved before block {height}, the first one that is read for it: 30 days back, or as far as the \
                     node has blocks. What was sent before that is unknown. Look at its destination"
                );
                open_review(tx, now, &after, (ReviewKind::BeyondReach, &problem))?;
            }
        }
        Ok(!undated.is_empty())
    }

    /// Removes all sent transactions and proposals from the blocks above this height.
    pub(in crate::service) fn unconfirm_transfers_above(
        &self,
        tx: &Tx<'_>,
        chain: Chain,
        height: u32,
    ) -> Result<(), Error> {
        sent_transactions::roll_back_above(tx, chain, height)?;
        Ok(transfer_proposals::remove_from_blocks_above(tx, chain, height)?)
    }
}

/// Marks a transaction that was seen before as absent, which means in no block and not in the mempool.
fn set_absent(known: &mut AttachedTransaction) {
    if known.state != AttachedState::Unseen {
        (known.state, known.block_height) = (AttachedState::Absent, None);
    }
}

/// Returns the problem of a node without traces, which cannot tell whether a contract paid the destination.
fn missing_trace_problem(txid: &str, balances: &[BalanceChange]) -> Option<String> {
    let change = balances.first()?;
    let BalanceChange { address, before, after } = change;
    Some(format!(
        "whether transaction {txid} pays {address} cannot be told by this node, as a contract may have sent it: its balance \
         was {} base units before that block and {} after it",
        before.0, after.0
    ))
}

/// Orders a rescan from the height at the time of the approval, for a transaction that a node cannot look up by ID.
fn order_rescan_from_approval(
    tx: &Tx<'_>,
    now: Time,
    chain: Chain,
    txid: &str,
) -> Result<(), Error> {
    let attached = transfers::list_with_attached_txid(tx, Mode::Live, chain, txid)?;
    let watched_from = attached.iter();
    let watched_from = watched_from.filter_map(|transfer| transfer.sending_progress.watched_from);
    let from = watched_from.min();
    from.map_or(Ok(()), |from| order_rescan_unless_covered(tx, now, chain, from))
}

/// Returns the transactions that the next step looks up by ID at a node.
pub(in crate::service) fn transactions_to_query(
    db: &Reader<'_>,
    chain: Chain,
) -> Result<Vec<UnsettledTransaction>, Error> {
    let mut open = Vec::new();
    for known in sent_transactions::transactions_to_query(db, chain, QUERIED_TRANSACTIONS_MAX)? {
        let attached = transfers::list_with_attached_txid(db, Mode::Live, chain, &known.txid)?;
        let mut native_to = Vec::new();
        let mut candidates = Vec::new();
        if !chain.has_outputs() {
            for transfer in &attached {
                if transfer.asset.kind == AssetKind::Native {
                    native_to.push(transfer.to_address.clone());
                }
                let proposed = transfer_proposals::of_transfer(db, transfer.seq)?;
                candidates.extend(proposed.into_iter().map(|proposed| proposed.txid));
            }
            candidates.dedup();
        }
        open.push(UnsettledTransaction {
            txid: known.txid,
            spends: known.spends,
            nonce: known.nonce,
            native_to,
            candidates,
        });
    }
    Ok(open)
}

/// Returns the time of the oldest approval among live transfers whose first watched height is unknown.
pub(in crate::service) fn oldest_approval_without_height(
    db: &Reader<'_>,
    chain: Chain,
) -> Result<Option<Time>, Error> {
    let undated = transfers::list_without_first_block(db, chain)?;
    let approved = undated.iter().filter_map(|transfer| transfer.approved_at);
    Ok(approved.min())
}

/// Returns the height of a chain's newest block that is final or too deep for a reorg, or 0 if the chain was never
/// read.
pub(super) fn final_height(db: &Reader<'_>, chain: Chain) -> Result<u32, StoreError> {
    let cursor = chain_cursors::of_chain(db, chain)?;
    Ok(cursor.map_or(0, |cursor| match chain.row().horizon {
        Depth::Blocks(blocks) => cursor.reached.block.height.saturating_sub(blocks),
        Depth::Final => cursor.complete.height,
    }))
}

/// Calls `each` with every watched destination on the chains that share a pool.
pub(in crate::service) fn for_each_watched_destination(
    db: &Reader<'_>,
    chain: Chain,
    each: &mut impl FnMut(String),
) -> Result<(), StoreError> {
    for row in CHAINS.iter().filter(|row| row.pool == chain.row().pool) {
        let last = final_height(db, row.chain)?;
        transfers::each_destination(db, row.chain, WATCHED_AFTER_END_MS, last, &mut *each)?;
    }
    Ok(())
}

/// Removes a sent transaction from its block, because the block no longer contains the transaction.
pub(in crate::service) fn remove_transaction_from_block(
    tx: &Tx<'_>,
    chain: Chain,
    txid: &str,
) -> Result<(), Error> {
    if !sent_outputs::of_transaction(tx, Mode::Live, chain, txid)?.is_empty() {
        sent_transactions::remove_from_block(tx, chain, txid)?;
    }
    Ok(())
}
