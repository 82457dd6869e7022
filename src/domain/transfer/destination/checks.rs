//! Decides which acts of a person the facts allow.

use super::assess_destination;
use super::facts::{DestinationFacts, DestinationOutput, DestinationTransfer, Presence};
use super::sharing::sum;
use crate::domain::time::Time;
use crate::domain::transfer::TxidSource;
use crate::domain::transfer::act::{TransferAct, TransferActKind};
use crate::domain::transfer::on_chain::AttachedState;

/// Reason why a transaction cannot be entered for a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryProblem {
    /// All known outputs of the transaction to the destination count for other transfers.
    Taken,
    /// The transaction was in a block before the transfer was requested.
    BeforeRequest,
}

/// Returns why a person cannot enter a transaction for a transfer; `None` if the facts allow it. A transaction that no
/// node has told of can be entered.
pub fn entry_problem(
    facts: &DestinationFacts,
    seq: i64,
    txid: &str,
    now: Time,
) -> Option<EntryProblem> {
    let mut entered = facts.clone();
    let one = entered.transfers.iter_mut().find(|one| one.seq() == seq)?;
    let asset = one.transfer.asset;
    one.acts.push(TransferAct {
        kind: TransferActKind::Entered,
        txid: txid.to_owned(),
        source: TxidSource::Person,
        at: now,
    });
    let one = one.clone();
    let shares = assess_destination(&entered).shares;
    let known =
        entered.outputs.iter().zip(shares).filter(|(output, _)| {
            output.txid == txid && output.asset == asset && output.may_count()
        });
    let (mut is_known, mut is_given, mut is_before) = (false, false, false);
    for (output, share) in known {
        is_known = true;
        if share == Some(seq) {
            is_given = true;
            is_before |= one.is_before_request(output);
        }
    }
    match (is_known, is_given, is_before) {
        (true, false, _) => Some(EntryProblem::Taken),
        (true, true, true) => Some(EntryProblem::BeforeRequest),
        (false, ..) | (true, true, false) => None,
    }
}

/// Returns `true` if the transaction of a transfer can never be confirmed, and none that took its place pays at least
/// half of the amount. It reverted, or another transaction used its inputs or its nonce, in a block that is final.
pub fn is_proved_gone(facts: &DestinationFacts, one: &DestinationTransfer, txid: &str) -> bool {
    let Some(known) = facts.transaction(txid) else {
        return false;
    };
    let height = match known.is_reverted {
        true => known.block_height,
        false => known.gone_height.filter(|_| known.state != AttachedState::Mined),
    };
    height.is_some_and(|height| height <= facts.final_height)
        && paying_replacement(facts, one, txid).is_none()
}

/// Returns the transaction that took the place of this one and pays at least half of the amount of a transfer.
pub fn paying_replacement<'a>(
    facts: &'a DestinationFacts,
    one: &DestinationTransfer,
    txid: &'a str,
) -> Option<&'a str> {
    let half = one.needed()?.0.div_ceil(2);
    let pays = |by: &&str| {
        let outputs = facts.outputs.iter().filter(|output: &&DestinationOutput| {
            output.txid == **by
                && output.asset == one.transfer.asset
                && output.presence() > Presence::Dropped
                && output.settled.is_none_or(|seq| seq == one.seq())
        });
        sum(outputs).0 >= half
    };
    facts.replacements_of(txid).into_iter().find(pays)
}
