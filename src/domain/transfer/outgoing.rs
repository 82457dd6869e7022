//! Assesses the state of a transfer from its transaction on the chain.
//!
//! Invariant: this module never makes a transfer `failed`. It makes a transfer `paid` only if confirmed outputs reach
//! the amount.

use super::on_chain::{
    AttachedState, AttachedTransaction, OnChainState, SentOutput, TransferReview,
};
use super::{SendingState, SettledBy, Transfer, TransferStatus};
use crate::domain::chain::ChainFamily;
use crate::domain::money::coin::Units;
use crate::domain::payment::PaymentState;
use crate::domain::time::{DAY_MS, HOUR_MS, Time};

/// Time after which an attached transaction that was not seen needs a review, in milliseconds.
pub const UNSEEN_MS_MAX: i64 = 6 * HOUR_MS;
/// Time after which a transfer in `processing` without a transaction needs a review, in milliseconds.
pub const WITHOUT_TXID_MS_MAX: i64 = DAY_MS;
/// Time after which repeated retries of the signer need a review, in milliseconds.
pub const RETRY_MS_MAX: i64 = DAY_MS;
/// An excess of more than amount / `TOO_MUCH_PART` needs a review.
const TOO_MUCH_PART: u128 = 100;

/// Facts about a transfer and its chain, from which the state of the transfer is determined.
#[derive(Clone, Debug)]
pub struct TransferFacts<'a> {
    /// `true` if a node watches the transfer's chain, or a simulated chain has reported the transfer.
    pub is_watched: bool,
    /// Transaction that is attached to the transfer.
    pub transaction: Option<&'a AttachedTransaction>,
    /// Outputs of the attached transaction to watched destinations.
    pub outputs: &'a [SentOutput],
    /// Open reviews of the transfer.
    pub reviews: &'a [TransferReview],
    /// Time up to which the chain has been read.
    pub scanned_to: Time,
    /// Time at which the transfer is assessed.
    pub now: Time,
}

/// Result of assessing a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferVerdict {
    /// State that responses show.
    pub state: OnChainState,
    /// Problem that a person has to solve, or a description of what the transfer waits for.
    pub problem: Option<String>,
    /// Sum of the outputs that count for the transfer, without dropped outputs. Zero while no node has the
    /// transaction.
    pub amount_seen: Units,
    /// `true` if the confirmed outputs reach the amount.
    pub is_covered: bool,
    /// `true` if the confirmed outputs are over 1 % more than the amount.
    pub is_overpaid: bool,
}

/// Returns the state of a transfer on its chain, and whether it is paid in full or overpaid.
pub fn assess_transfer(of: &Transfer, facts: &TransferFacts<'_>) -> TransferVerdict {
    let counted = || {
        let counts = |output: &&SentOutput| output.transfer == Some(of.seq);
        facts.outputs.iter().filter(counts)
    };
    let sum = |state: fn(PaymentState) -> bool| {
        let units = counted().filter(|output| state(output.state));
        let mut amounts = units.map(|output| output.amount);
        let sum = amounts.try_fold(Units::ZERO, Units::plus);
        sum.unwrap_or(Units(u128::MAX))
    };
    let is_there = |known: &AttachedTransaction| {
        matches!(known.state, AttachedState::Mempool | AttachedState::Mined)
    };
    let amount_seen = if facts.transaction.is_some_and(is_there) {
        sum(|state| state != PaymentState::Dropped)
    } else {
        Units::ZERO
    };
    let confirmed = sum(PaymentState::is_confirmed);
    let amount = of.terms.map(|terms| terms.amount_crypto);
    let is_covered = amount.is_some_and(|amount| confirmed >= amount);
    let is_overpaid = amount.is_some_and(|amount| {
        let more = confirmed.minus(amount).unwrap_or(Units::ZERO);
        more.0 > amount.0 / TOO_MUCH_PART
    });
    let (state, problem) = on_chain_finding(of, facts, amount_seen);
    TransferVerdict { state, problem, amount_seen, is_covered, is_overpaid }
}

type OnChainFinding = (OnChainState, Option<String>);

fn review_finding(problem: impl Into<String>) -> OnChainFinding {
    (OnChainState::NeedsReview, Some(problem.into()))
}

fn on_chain_finding(
    of: &Transfer,
    facts: &TransferFacts<'_>,
    amount_seen: Units,
) -> OnChainFinding {
    if let Some(open) = facts.reviews.first() {
        return review_finding(open.problem.clone());
    }
    match of.status {
        TransferStatus::Paid => settled_finding(of, facts),
        TransferStatus::Failed | TransferStatus::Rejected | TransferStatus::Cancelled => {
            (state_or_unwatched(facts, OnChainState::Settled), None)
        }
        TransferStatus::Requested | TransferStatus::Approved => {
            (state_or_unwatched(facts, OnChainState::Waiting), None)
        }
        TransferStatus::Processing => processing_finding(of, facts, amount_seen),
    }
}

fn state_or_unwatched(facts: &TransferFacts<'_>, state: OnChainState) -> OnChainState {
    if facts.is_watched { state } else { OnChainState::Unwatched }
}

fn settled_finding(of: &Transfer, facts: &TransferFacts<'_>) -> OnChainFinding {
    match of.sending_progress.settled_by {
        Some(SettledBy::Unchecked) if of.mode.is_live() => {
            (OnChainState::Unwatched, Some("not checked on a chain".to_owned()))
        }
        Some(SettledBy::Person) => {
            (OnChainState::Settled, of.sending_progress.settled_reason.clone())
        }
        Some(SettledBy::Unchecked | SettledBy::Chain) | None => {
            (state_or_unwatched(facts, OnChainState::Settled), None)
        }
    }
}

fn processing_finding(
    of: &Transfer,
    facts: &TransferFacts<'_>,
    amount_seen: Units,
) -> OnChainFinding {
    if let Some(stand) = signer_finding(of, facts) {
        return stand;
    }
    if !facts.is_watched {
        return (OnChainState::Unwatched, None);
    }
    let (Some(txid), Some(transaction)) = (&of.txid, facts.transaction) else {
        return match of.sending_progress.handed_over_at {
            Some(since) if facts.scanned_to.since_ms(since) >= WITHOUT_TXID_MS_MAX => {
                review_finding(
                    "no transaction was entered or found for 24 hours. Enter the one that sent it, or mark it as failed",
                )
            }
            Some(_) | None => (OnChainState::Waiting, None),
        };
    };
    match transaction.state {
        AttachedState::Unseen | AttachedState::Absent => {
            unseen_finding(of, facts, (txid, transaction))
        }
        AttachedState::Mempool | AttachedState::Mined => {
            seen_finding(of, facts, (transaction, amount_seen))
        }
    }
}

/// Returns the finding that follows from the state of the signer; `None` once a transaction is attached.
fn signer_finding(of: &Transfer, facts: &TransferFacts<'_>) -> Option<OnChainFinding> {
    let reason = of.sending_progress.sending_reason.as_deref().unwrap_or("no reason");
    let sending = of.sending?;
    let is_found = of.txid.is_some() && !of.is_on_hold() && sending != SendingState::Running;
    if is_found {
        return None;
    }
    Some(match sending {
        SendingState::Running => (state_or_unwatched(facts, OnChainState::Waiting), None),
        SendingState::Unknown => review_finding(format!(
            "nobody knows whether the signer sent it: {reason}. Look at its destination, then enter the transaction or \
             mark it as failed"
        )),
        SendingState::Declined => review_finding(format!("the signer sent nothing: {reason}")),
        SendingState::Retry => {
            let since = of.sending_progress.retry.map_or(facts.now, |(since, _)| since);
            let problem = format!("the signer tries again every 10 minutes: {reason}");
            if facts.now.since_ms(since) >= RETRY_MS_MAX {
                review_finding(problem)
            } else {
                (OnChainState::Waiting, Some(problem))
            }
        }
        SendingState::Restored => review_finding(
            "on hold since a restore: it may have been sent since the copy was made. Enter its transaction, or mark it as \
             failed",
        ),
    })
}

fn unseen_finding(
    of: &Transfer,
    facts: &TransferFacts<'_>,
    (txid, transaction): (&str, &AttachedTransaction),
) -> OnChainFinding {
    if let Some(by) = &transaction.gone_by {
        return review_finding(format!(
            "transaction {txid} cannot be confirmed any more: {by} took its place"
        ));
    }
    let since = transaction.last_seen_at.max(of.sending_progress.attached_at);
    let is_late = since.is_some_and(|since| facts.scanned_to.since_ms(since) >= UNSEEN_MS_MAX);
    if !is_late {
        return (OnChainState::Waiting, transaction.problem.clone());
    }
    let what = match transaction.state {
        AttachedState::Absent => "was in the mempool and is gone",
        AttachedState::Unseen | AttachedState::Mempool | AttachedState::Mined
            if of.asset.chain.row().customer_family == Some(ChainFamily::Evm) =>
        {
            "was not seen for 6 hours. It may be the hash of a Safe or of a user operation: then enter the transaction that \
             carried it out"
        }
        AttachedState::Unseen | AttachedState::Mempool | AttachedState::Mined => {
            "was not seen for 6 hours"
        }
    };
    review_finding(format!("transaction {txid} {what}"))
}

fn seen_finding(
    of: &Transfer,
    facts: &TransferFacts<'_>,
    (transaction, amount_seen): (&AttachedTransaction, Units),
) -> OnChainFinding {
    let txid = &transaction.txid;
    if transaction.is_reverted {
        return review_finding(format!("transaction {txid} reverted and moved nothing"));
    }
    let amount = of.terms.map_or(Units::ZERO, |terms| terms.amount_crypto);
    let is_in_mempool = transaction.state == AttachedState::Mempool;
    // On chains with nonces, a node reports the payments of a transaction only once the transaction is in a block.
    let is_untold = is_in_mempool && transaction.nonce.is_some();
    if amount_seen >= amount || is_untold {
        let since = transaction.first_seen_at.unwrap_or(facts.scanned_to);
        let age = is_in_mempool.then(|| format!("in the mempool since {since}"));
        return (OnChainState::Seen, age);
    }
    if let Some(problem) = &transaction.problem {
        return review_finding(problem.clone());
    }
    let asset = of.asset;
    if amount_seen > Units::ZERO {
        let (paid, amount) = (asset.format_units(amount_seen), asset.format_units(amount));
        return review_finding(format!("transaction {txid} pays {paid} of {amount} {}", asset.id));
    }
    let is_to = |output: &&SentOutput| output.address == of.to_address;
    let other = match facts.outputs.iter().find(is_to) {
        Some(output) if output.asset != asset => {
            format!("pays {}, not {}", output.asset.id, asset.id)
        }
        Some(_) => "pays this destination for other transfers only".to_owned(),
        None => "pays another address".to_owned(),
    };
    review_finding(format!("transaction {txid} {other}"))
}

#[cfg(test)]
pub(super) mod tests;
