//! Watches the destinations of payouts and refunds, and records what nodes report about their transactions.

use crate::domain::asset::Chain;
use crate::domain::{
    AssetKind, AttachedState, AttachedTransaction, BalanceChange, Depth, Mode, Observation,
    SentTransaction, SpendConflict, Time, TransactionAnswer, TransactionLookup, Transfer,
    UnsettledTransaction,
};
use crate::service::followed::rescans::order_rescan_unless_covered;
use crate::service::transfers::destination::{touch_destination, watched_destination};
use crate::service::{Error, Service, Step};
use crate::store::{
    Reader, StoreError, Tx, chain_cursors, destinations, sent_transactions, transfer_proposals,
    transfers,
};

/// Largest number of destinations whose transfers one step freezes.
const FROZEN_MAX: u32 = 100;
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
        of.sending_progress.watched_from = cursor.as_ref().map(|cursor| cursor.complete.height);
        of.sending_progress.approved_height = cursor.map(|cursor| cursor.reached.block.height);
        transfers::watch_destination(tx, chain, &of.to_address);
        Ok(())
    }
}

/// Records a node's report about an attached transaction. Returns the outputs in it that reach watched destinations.
pub(in crate::service) fn record_node_report<'r>(
    step: &Step<'_>,
    chain: Chain,
    read: &'r TransactionLookup,
) -> Result<Vec<&'r Observation>, Error> {
    let Step { tx, now, .. } = *step;
    sent_transactions::save_asked_at(tx, chain, &read.txid, now)?;
    let Some(mut known) = sent_transactions::by_txid(tx, Mode::Live, chain, &read.txid)? else {
        return Ok(Vec::new());
    };
    // Each answer ends the problem of the one before.
    known.problem = None;
    match &read.found {
        TransactionAnswer::Present(found) => {
            record_present_transaction(step, chain, known, found)?;
            let mut reached = Vec::new();
            for seen in &found.received {
                reached.extend(watched_destination(tx, now, seen)?.map(|_| seen));
            }
            return Ok(reached);
        }
        TransactionAnswer::Absent => set_absent(&mut known),
        TransactionAnswer::CannotTell => {
            if known.state == AttachedState::Mempool {
                set_absent(&mut known);
            }
            if !known.is_read_back {
                known.is_read_back = true;
                order_rescan_from_approval(step, chain, &read.txid)?;
            }
        }
        TransactionAnswer::Gone { by, block } => {
            set_absent(&mut known);
            known.gone_by = by.clone().or(Some("another transaction".to_owned()));
            known.gone_height = Some(block.height);
        }
        TransactionAnswer::ReplacedBy { by, block } => {
            set_absent(&mut known);
            known.gone_by = Some(by.clone());
            known.gone_height = Some(block.height);
        }
        TransactionAnswer::Unanswered(problem) => {
            known.problem =
                Some(format!("transaction {} cannot be looked up: its node {problem}", read.txid));
        }
    }
    sent_transactions::update(tx, &known)?;
    touch_destinations_of(step, chain, &read.txid)?;
    Ok(Vec::new())
}

fn touch_destinations_of(step: &Step<'_>, chain: Chain, txid: &str) -> Result<(), Error> {
    let all = destinations::of_transaction(step.tx, Mode::Live, chain, txid)?;
    all.into_iter().try_for_each(|seq| touch_destination(step, seq))
}

fn record_present_transaction(
    step: &Step<'_>,
    chain: Chain,
    mut known: AttachedTransaction,
    found: &SentTransaction,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
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
    touch_destinations_of(step, chain, &known.txid)
}

/// Records that another transaction spends an input of an attached transaction.
pub(in crate::service) fn record_conflicting_spend(
    step: &Step<'_>,
    chain: Chain,
    conflict: &SpendConflict,
) -> Result<(), Error> {
    let Step { tx, .. } = *step;
    let Some(mut known) = sent_transactions::by_txid(tx, Mode::Live, chain, &conflict.txid)? else {
        return Ok(());
    };
    if known.state == AttachedState::Mined {
        return Ok(());
    }
    set_absent(&mut known);
    known.gone_by = Some(conflict.by.clone());
    known.gone_height = conflict.block.as_ref().map(|block| block.height);
    sent_transactions::update(tx, &known)?;
    touch_destinations_of(step, chain, &conflict.txid)
}

/// Records the height from which a chain is read for transfers whose height was unknown. Returns `false` if there
/// are no such transfers.
///
/// A transfer that was approved before `unread` needs a review, because blocks from before that time are not read.
pub(in crate::service) fn record_watch_height(
    step: &Step<'_>,
    chain: Chain,
    unread: Time,
    height: u32,
) -> Result<bool, Error> {
    let Step { tx, .. } = *step;
    let undated = transfers::list_without_first_block(tx, chain)?;
    for transfer in &undated {
        let mut after = transfer.clone();
        after.sending_progress.watched_from = Some(height);
        let is_partly_unread = transfer.approved_at.is_some_and(|approved| approved < unread);
        after.sending_progress.has_unread_blocks = is_partly_unread;
        transfers::update(tx, &after, transfer.status)?;
        touch_destination(step, after.destination)?;
    }
    Ok(!undated.is_empty())
}

/// Removes all sent transactions from the blocks above this height, and settles their destinations.
pub(in crate::service) fn unconfirm_transfers_above(
    step: &Step<'_>,
    chain: Chain,
    height: u32,
) -> Result<(), Error> {
    let Step { tx, .. } = *step;
    let touched = destinations::with_outputs_above(tx, chain, height)?;
    let replaced = sent_transactions::touched_above(tx, chain, height)?;
    sent_transactions::roll_back_above(tx, chain, height)?;
    for seq in touched {
        touch_destination(step, seq)?;
    }
    replaced.iter().try_for_each(|txid| touch_destinations_of(step, chain, txid))
}

/// Removes a sent transaction from its block, because the block no longer contains the transaction.
pub(in crate::service) fn remove_transaction_from_block(
    step: &Step<'_>,
    chain: Chain,
    txid: &str,
) -> Result<(), Error> {
    sent_transactions::remove_from_block(step.tx, chain, txid)?;
    touch_destinations_of(step, chain, txid)
}

/// Settles the destinations with transfers that are not watched any more, so that these transfers are frozen.
pub(in crate::service) fn freeze_final_transfers(
    step: &Step<'_>,
    chain: Chain,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let last = final_height(tx, chain)?;
    let found = destinations::list_to_freeze(tx, chain, now, last, FROZEN_MAX)?;
    found.into_iter().try_for_each(|one| touch_destination(step, one.seq))
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
fn order_rescan_from_approval(step: &Step<'_>, chain: Chain, txid: &str) -> Result<(), Error> {
    let attached = transfers::list_with_attached_txid(step.tx, Mode::Live, chain, txid)?;
    let watched_from = attached.iter();
    let watched_from = watched_from.filter_map(|transfer| transfer.sending_progress.watched_from);
    let from = watched_from.min();
    from.map_or(Ok(()), |from| order_rescan_unless_covered(step, chain, from))
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
