//! Assesses the state of a transfer for people, from what it got at its destination.
//!
//! Invariant: this module decides nothing about money. It shows what [`super::destination`] decided.

use super::destination::checks::paying_replacement;
use super::destination::facts::{DestinationFacts, DestinationTransfer};
use super::destination::{TransferOutcome, sum_of_outputs};
use super::on_chain::{AttachedState, AttachedTransaction, OnChainState};
use super::sender::SentBy;
use super::{SendingState, SettledBy, TransferStatus};
use crate::domain::chain::ChainFamily;
use crate::domain::money::coin::Units;
use crate::domain::time::{DAY_MS, HOUR_MS, Time};

/// Time after which an attached transaction that was not seen needs a review, in milliseconds.
pub const UNSEEN_MS_MAX: i64 = 6 * HOUR_MS;
/// Time after which a transfer in `processing` without a transaction needs a review, in milliseconds.
pub const WITHOUT_TXID_MS_MAX: i64 = DAY_MS;
/// Time after which repeated retries of the signer need a review, in milliseconds.
pub const RETRY_MS_MAX: i64 = DAY_MS;

/// Reason why a transfer must not be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendingHold {
    /// A person has to decide about payments at the destination.
    Decision(String),
    /// The signer waits until the account is active, or maintenance has ended.
    Pause(String),
}

impl SendingHold {
    /// Returns the reason, for people.
    pub fn problem(&self) -> &str {
        match self {
            SendingHold::Decision(problem) | SendingHold::Pause(problem) => problem,
        }
    }
}

/// A transfer with what it got, and how far its chain is known.
#[derive(Clone, Copy, Debug)]
pub struct TransferSituation<'a> {
    /// The transfer with its acts.
    pub one: &'a DestinationTransfer,
    /// What the transfer got.
    pub outcome: &'a TransferOutcome,
    /// Facts about its destination.
    pub facts: &'a DestinationFacts,
    /// Problem of the newest open review.
    pub review: Option<&'a str>,
    /// Reason why the transfer must not be sent now.
    pub hold: Option<&'a SendingHold>,
    /// `true` if a node watches the transfer's chain, or a simulated chain has reported the transfer.
    pub is_watched: bool,
    /// Time up to which the chain has been read.
    pub scanned_to: Time,
    /// Time at which the transfer is assessed.
    pub now: Time,
}

/// State of a transfer for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferVerdict {
    /// State that responses show.
    pub state: OnChainState,
    /// Problem that a person has to solve, or a description of what the transfer waits for.
    pub problem: Option<String>,
    /// Sum of the outputs that count for the transfer. Zero while no node has the transaction.
    pub amount_seen: Units,
}

/// Returns the state of a transfer on its chain.
pub fn assess_transfer(of: &TransferSituation<'_>) -> TransferVerdict {
    let is_there = of
        .transaction()
        .is_some_and(|known| matches!(known.state, AttachedState::Mempool | AttachedState::Mined));
    let amount_seen = if is_there { of.outcome.amount_seen } else { Units::ZERO };
    let (state, problem) = on_chain_finding(of, amount_seen);
    TransferVerdict { state, problem, amount_seen }
}

impl<'a> TransferSituation<'a> {
    fn txid(&self) -> Option<&'a str> {
        self.outcome.transaction.as_ref().map(|(txid, _)| txid.as_str())
    }

    /// Returns what a node told of the transfer's transaction.
    fn transaction(&self) -> Option<&'a AttachedTransaction> {
        self.txid().and_then(|txid| self.facts.transaction(txid))
    }

    /// Returns an amount in whole coins, without the coin.
    fn format(&self, units: Units) -> String {
        self.one.transfer.asset.format_units(units)
    }

    /// Returns the amount to send.
    fn needed(&self) -> Units {
        self.one.needed().unwrap_or(Units::ZERO)
    }

    /// Returns the other transaction that pays exactly the amount and waits for a decision.
    fn exact_proposal(&self) -> Option<&'a str> {
        if !self.outcome.has_exact_proposal {
            return None;
        }
        let proposed = self.outcome.proposals.iter();
        let mut proposed = proposed.filter_map(|place| self.facts.outputs.get(*place));
        proposed.find(|output| self.one.is_exact(output)).map(|output| output.txid.as_str())
    }

    /// Returns the finding that a person has to decide before the transfer is sent, or why the signer waits.
    fn hold_finding(&self) -> Option<OnChainFinding> {
        let is_signers = self.one.transfer.sent_by == Some(SentBy::Signer);
        match self.hold? {
            SendingHold::Decision(problem) => Some(review_finding(problem.as_str())),
            SendingHold::Pause(problem) if is_signers => {
                Some((OnChainState::Waiting, Some(problem.clone())))
            }
            SendingHold::Pause(_) => None,
        }
    }
}

type OnChainFinding = (OnChainState, Option<String>);

fn review_finding(problem: impl Into<String>) -> OnChainFinding {
    (OnChainState::NeedsReview, Some(problem.into()))
}

fn on_chain_finding(of: &TransferSituation<'_>, amount_seen: Units) -> OnChainFinding {
    if let Some(problem) = of.review {
        return review_finding(problem);
    }
    match of.one.transfer.status {
        TransferStatus::Paid => settled_finding(of),
        TransferStatus::Failed | TransferStatus::Rejected | TransferStatus::Cancelled => {
            (state_or_unwatched(of, OnChainState::Settled), None)
        }
        TransferStatus::Requested | TransferStatus::Approved => {
            let waiting = (state_or_unwatched(of, OnChainState::Waiting), None);
            of.hold_finding().unwrap_or(waiting)
        }
        TransferStatus::Processing => processing_finding(of, amount_seen),
    }
}

fn state_or_unwatched(of: &TransferSituation<'_>, state: OnChainState) -> OnChainState {
    if of.is_watched { state } else { OnChainState::Unwatched }
}

fn settled_finding(of: &TransferSituation<'_>) -> OnChainFinding {
    let transfer = &of.one.transfer;
    match transfer.sending_progress.settled_by {
        Some(SettledBy::Unchecked) if transfer.mode.is_live() => {
            (OnChainState::Unwatched, Some("not checked on a chain".to_owned()))
        }
        Some(SettledBy::Person) => {
            (OnChainState::Settled, transfer.sending_progress.settled_reason.clone())
        }
        Some(SettledBy::Unchecked | SettledBy::Chain) | None => {
            (state_or_unwatched(of, OnChainState::Settled), None)
        }
    }
}

fn processing_finding(of: &TransferSituation<'_>, amount_seen: Units) -> OnChainFinding {
    if of.one.transfer.sending == Some(SendingState::Retry)
        && let Some(finding) = of.hold_finding()
    {
        return finding;
    }
    if let Some(finding) = signer_finding(of) {
        return finding;
    }
    if !of.is_watched {
        return (OnChainState::Unwatched, None);
    }
    let Some(txid) = of.txid() else {
        return of.hold_finding().unwrap_or_else(|| unsent_finding(of));
    };
    match of.transaction().map(|known| (known, known.state)) {
        Some((known, AttachedState::Mempool | AttachedState::Mined)) => {
            seen_finding(of, known, amount_seen)
        }
        Some((_, AttachedState::Unseen | AttachedState::Absent)) | None => unseen_finding(of, txid),
    }
}

/// Returns the finding for a transfer in `processing` without a transaction.
fn unsent_finding(of: &TransferSituation<'_>) -> OnChainFinding {
    let transfer = &of.one.transfer;
    match transfer.sending_progress.handed_over_at {
        Some(since) if of.scanned_to.since_ms(since) >= WITHOUT_TXID_MS_MAX => review_finding(
            "no transaction was entered or found for 24 hours. Enter the one that sent it, or mark it as failed",
        ),
        Some(_) | None => (OnChainState::Waiting, None),
    }
}

/// Returns the finding that follows from the state of the signer; `None` once a transaction is attached.
fn signer_finding(of: &TransferSituation<'_>) -> Option<OnChainFinding> {
    let transfer = &of.one.transfer;
    let progress = &transfer.sending_progress;
    let reason = progress.sending_reason.as_deref().unwrap_or("no reason");
    let sending = transfer.sending?;
    let is_running = sending == SendingState::Running;
    let is_found = of.txid().is_some() && !transfer.is_on_hold() && !is_running;
    if is_found {
        return None;
    }
    Some(match sending {
        SendingState::Running => (state_or_unwatched(of, OnChainState::Waiting), None),
        SendingState::Unknown => review_finding(format!(
            "nobody knows whether the signer sent it: {reason}. Look at its destination, then enter the transaction or \
             mark it as failed"
        )),
        SendingState::Declined => review_finding(format!("the signer sent nothing: {reason}")),
        SendingState::Retry => {
            let since = progress.retry.map_or(of.now, |(since, _)| since);
            let problem = format!("the signer tries again every 10 minutes: {reason}");
            if of.now.since_ms(since) >= RETRY_MS_MAX {
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

fn unseen_finding(of: &TransferSituation<'_>, txid: &str) -> OnChainFinding {
    let known = of.transaction();
    if let Some(by) = known.and_then(|known| known.gone_by.as_deref()) {
        let pays = match paying_replacement(of.facts, of.one, txid) {
            Some(by) => {
                let outputs = of.facts.outputs.iter().filter(|output| output.txid == by);
                let paid = of.format(sum_of_outputs(outputs));
                format!(" and pays {paid} of {}", of.format(of.needed()))
            }
            None => String::new(),
        };
        return review_finding(format!(
            "transaction {txid} cannot be confirmed any more: {by} took its place{pays}"
        ));
    }
    if let Some(exact) = of.exact_proposal() {
        return review_finding(format!(
            "transaction {txid} was not seen, and {exact} pays exactly the amount: enter it, or dismiss it"
        ));
    }
    let entered_at = of.one.entry().map(|entry| entry.at);
    let since = known.and_then(|known| known.last_seen_at).max(entered_at);
    let is_late = since.is_some_and(|since| of.scanned_to.since_ms(since) >= UNSEEN_MS_MAX);
    if !is_late {
        return (OnChainState::Waiting, known.and_then(|known| known.problem.clone()));
    }
    let is_evm = of.one.transfer.asset.chain.row().customer_family == Some(ChainFamily::Evm);
    let what = match known.map(|known| known.state) {
        Some(AttachedState::Absent) => "was in the mempool and is gone",
        Some(AttachedState::Unseen | AttachedState::Mempool | AttachedState::Mined) | None
            if is_evm =>
        {
            "was not seen for 6 hours. It may be the hash of a Safe or of a user operation: then enter the transaction that \
             carried it out"
        }
        Some(AttachedState::Unseen | AttachedState::Mempool | AttachedState::Mined) | None => {
            "was not seen for 6 hours"
        }
    };
    review_finding(format!("transaction {txid} {what}"))
}

fn seen_finding(
    of: &TransferSituation<'_>,
    transaction: &AttachedTransaction,
    amount_seen: Units,
) -> OnChainFinding {
    let txid = &transaction.txid;
    if transaction.is_reverted {
        return review_finding(format!("transaction {txid} reverted and moved nothing"));
    }
    if of.outcome.is_before_request {
        let (kind, height) = (of.one.transfer.kind, transaction.block_height.unwrap_or(0));
        return review_finding(format!(
            "transaction {txid} was in block {height} before this {kind} was requested, so it cannot have sent it. Enter the \
             one that did, or mark it as paid with a reason"
        ));
    }
    let needed = of.needed();
    let is_in_mempool = transaction.state == AttachedState::Mempool;
    // On chains with nonces, a node reports the payments of a transaction only once the transaction is in a block.
    let is_untold = is_in_mempool && transaction.nonce.is_some();
    if amount_seen >= needed || is_untold {
        let since = transaction.first_seen_at.unwrap_or(of.scanned_to);
        let age = is_in_mempool.then(|| format!("in the mempool since {since}"));
        return (OnChainState::Seen, age);
    }
    if let Some(problem) = &transaction.problem {
        return review_finding(problem.clone());
    }
    let asset = of.one.transfer.asset;
    if amount_seen > Units::ZERO {
        let (paid, needed) = (of.format(amount_seen), of.format(needed));
        return review_finding(format!("transaction {txid} pays {paid} of {needed} {}", asset.id));
    }
    let to_it = || of.facts.outputs.iter().filter(|output| output.txid == *txid);
    let other_coin = to_it().find(|output| output.asset != asset);
    let other = match (other_coin, to_it().next()) {
        (Some(output), _) => format!("pays {}, not {}", output.asset.id, asset.id),
        (None, Some(_)) => "pays this destination for other transfers only".to_owned(),
        (None, None) => "pays another address".to_owned(),
    };
    let exact = of
        .exact_proposal()
        .map(|exact| format!(", and {exact} pays exactly the amount: enter it, or dismiss it"));
    review_finding(format!("transaction {txid} {other}{}", exact.unwrap_or_default()))
}

#[cfg(test)]
pub(super) mod tests;
