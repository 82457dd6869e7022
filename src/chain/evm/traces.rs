//! Money that contracts send, worked out from what `trace_block` tells.
//!
//! What does not live here: asking for it, and whether it is for us. What always holds: a transfer counts where the step
//! that made it and every step above that came to something, and its ordinal follows from its transaction alone.

use super::answers::{CallType, Trace, TraceKind};
use super::hex::Word;
use crate::chain::NodeError;
use crate::chain::transfers::Transfer;
use std::collections::BTreeMap;

/// A transfer that a contract made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalTransfer {
    /// The transaction in which it did.
    pub txid: Word,
    /// Its place among the transfers of contracts in that transaction.
    pub ordinal: u32,
    /// Its amount is above zero.
    pub transfer: Transfer,
}

/// How far a transaction's steps were followed.
#[derive(Default)]
struct Walk<'a> {
    last: Option<&'a [u32]>,
    /// The last step that came to nothing: nor did those below it.
    failed: Option<&'a [u32]>,
    transfers: u32,
}

/// The transfers of contracts in the block of this hash, in the order in which they were made.
///
/// # Errors
/// [`NodeError::Behind`] where the traces are of another block, [`NodeError::Lied`] where they are in no order.
pub fn internal_transfers(
    traces: &[Trace],
    block: Word,
) -> Result<Vec<InternalTransfer>, NodeError> {
    let mut walks: BTreeMap<Word, Walk<'_>> = BTreeMap::new();
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
        // Steps come before those that they make, which come before the next: as words in a dictionary do.
        let is_next = match walk.last {
            None => place.is_empty(),
            Some(last) => last < place,
        };
        if !is_next {
            let text = "the traces of a transaction are not in the order of its steps";
            return Err(NodeError::Lied(text.to_owned()));
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
            found.push(InternalTransfer {
                txid,
                ordinal: walk.transfers,
                transfer,
            });
            walk.transfers = walk.transfers.saturating_add(1);
        }
    }
    Ok(found)
}

/// What a step moved, from whom and to whom; none where it is of a kind that moves nothing. A call of the kind `callcode`
/// or `delegatecall` runs another's code where the money already is.
fn trace_transfer(trace: &Trace) -> Option<Transfer> {
    let action = &trace.action;
    let (from, to, amount) = match trace.kind {
        TraceKind::Call if action.call_type == Some(CallType::Call) => {
            (action.from?, action.to?, action.value?)
        }
        TraceKind::Create => (action.from?, trace.result.as_ref()?.address?, action.value?),
        // What a contract leaves to itself goes nowhere.
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
