//! Finds transfers of native coins by contracts in the result of `trace_block`.
//!
//! Invariant: a transfer counts only if its call frame and all parent frames succeeded. The ordinal of a transfer
//! depends only on the transaction that contains the transfer.

use super::answers::{CallType, Trace, TraceKind};
use super::hex::Word;
use super::invalid_answer;
use crate::chain::NodeError;
use crate::chain::transfers::Transfer;
use std::collections::BTreeMap;

/// A transfer of native coins by a contract, inside a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalTransfer {
    pub txid: Word,
    /// Index of the transfer among the contract transfers of the transaction.
    pub ordinal: u32,
    /// Transfer with an amount above zero.
    pub transfer: Transfer,
}

#[derive(Default)]
struct CallTreePosition<'a> {
    last: Option<&'a [u32]>,
    /// Path of the last frame that failed. All frames below that frame failed as well.
    failed: Option<&'a [u32]>,
    transfers: u32,
}

/// Returns the contract transfers of a block, in order of execution.
///
/// # Errors
/// [`NodeError::Behind`] if the traces are of another block. [`NodeError::Lied`] if they are not in order.
pub fn internal_transfers(
    traces: &[Trace],
    block: Word,
) -> Result<Vec<InternalTransfer>, NodeError> {
    let mut walks: BTreeMap<Word, CallTreePosition<'_>> = BTreeMap::new();
    let mut found = Vec::new();
    for trace in traces {
        if trace.block_hash != Some(block) {
            return Err(NodeError::Behind);
        }
        let Some(txid) = trace.transaction_hash else {
            continue;
        };
        let walk = walks.entry(txid).or_default();
        let place = trace.trace_address.as_slice();
        // Frames are in lexicographic order of their paths: a parent, its children, then its next sibling.
        let is_next = match walk.last {
            None => place.is_empty(),
            Some(last) => last < place,
        };
        if !is_next {
            return Err(invalid_answer(
                "the traces of a transaction are not in the order of its steps",
            ));
        }
        walk.last = Some(place);
        if walk.failed.is_some_and(|failed| place.starts_with(failed)) {
            continue;
        }
        if trace.error.is_some() {
            walk.failed = Some(place);
            continue;
        }
        let transfer = trace_transfer(trace).filter(|_| !place.is_empty());
        if let Some(transfer) = transfer.filter(|transfer| !transfer.amount.is_zero()) {
            found.push(InternalTransfer { txid, ordinal: walk.transfers, transfer });
            walk.transfers = walk.transfers.saturating_add(1);
        }
    }
    Ok(found)
}

/// Returns the transfer of a call frame; `None` for a kind of frame that moves no coins. `callcode` and
/// `delegatecall` run foreign code in the calling account, so no coins move.
fn trace_transfer(trace: &Trace) -> Option<Transfer> {
    let action = &trace.action;
    let (from, to, amount) = match trace.kind {
        TraceKind::Call if action.call_type == Some(CallType::Call) => {
            (action.from?, action.to?, action.value?)
        }
        TraceKind::Create => (action.from?, trace.result.as_ref()?.address?, action.value?),
        // A destroyed contract that names itself as the recipient moves no coins.
        TraceKind::Suicide if action.address != action.refund_address => {
            (action.address?, action.refund_address?, action.balance?)
        }
        TraceKind::Call | TraceKind::Suicide | TraceKind::Other => return None,
    };
    Some(Transfer { from, to, amount })
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
