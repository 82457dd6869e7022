//! Decides whether the signer has to wait with a transfer, and whether the hold of a restore may end.

use super::loading::{LoadedDestination, load_destination_of};
use crate::domain::rate::agreed_rate;
use crate::domain::transfer::destination::assess_destination;
use crate::domain::{
    AccountStatus, DestinationOutput, DestinationTransfer, Refusal, RefusalCode, SendingHold, Time,
    Transfer, TransferOutcome, TransferStatus,
};
use crate::service::{Error, Service};
use crate::store::{Reader, accounts, chain_cursors, file, rate_figures};

/// Returns why a transfer must not be sent now; `None` if nothing holds it.
pub(in crate::service) fn sending_hold(
    db: &Reader<'_>,
    now: Time,
    loaded: &LoadedDestination,
    one: &DestinationTransfer,
    got: &TransferOutcome,
) -> Result<Option<SendingHold>, Error> {
    let of = &one.transfer;
    if !of.status.is_open() || of.txid.is_some() {
        return Ok(None);
    }
    if loaded.destination.is_overfull {
        let problem = "so many payments came to this destination that not all are kept. Look at it on the chain, then enter \
             the transaction that sent it, or mark it as failed";
        return Ok(Some(SendingHold::Decision(problem.to_owned())));
    }
    let undecided = || got.proposals.iter().filter_map(|place| loaded.facts.outputs.get(*place));
    if got.has_exact_proposal
        && let Some(exact) = undecided().find(|output| one.is_exact(output))
    {
        let problem =
            format!("transaction {} pays exactly the amount: enter it, or dismiss it", exact.txid);
        return Ok(Some(SendingHold::Decision(problem)));
    }
    if of.released_at.is_some() && one.may_have_other_terms() {
        let mut may_be_it = Vec::new();
        for output in undecided() {
            if is_worth_the_amount(db, now, of, output)? {
                may_be_it.push(output.txid.as_str());
            }
        }
        if !may_be_it.is_empty() {
            let problem = format!(
                "it may have been sent after the copy was made, by transaction {}: enter the one that sent it, or dismiss all",
                may_be_it.join(" or ")
            );
            return Ok(Some(SendingHold::Decision(problem)));
        }
    }
    let account = accounts::by_seq(db, of.account)?.status;
    if account != AccountStatus::Active {
        return Ok(Some(SendingHold::Pause(format!(
            "the account is {account}: the signer sends nothing until it is active"
        ))));
    }
    if file::read_file_row(db)?.is_some_and(|file| file.maintenance) {
        let problem = "maintenance is on: the signer sends nothing until it ends";
        return Ok(Some(SendingHold::Pause(problem.to_owned())));
    }
    Ok(None)
}

/// Same as [`sending_hold`], for a transfer whose destination is not loaded.
pub(in crate::service) fn hold_of_transfer(
    db: &Reader<'_>,
    now: Time,
    of: &Transfer,
) -> Result<Option<SendingHold>, Error> {
    let loaded = load_destination_of(db, now, of)?;
    let outcome = assess_destination(&loaded.facts);
    let mut both = loaded.facts.transfers.iter().zip(&outcome.transfers);
    match both.find(|(one, _)| one.seq() == of.seq) {
        Some((one, got)) => sending_hold(db, now, &loaded, one, got),
        None => Ok(None),
    }
}

/// Returns `true` if an output is worth half to twice the amount of a transfer at the market rate. Without a fresh rate,
/// every output may be its payment.
fn is_worth_the_amount(
    db: &Reader<'_>,
    now: Time,
    of: &Transfer,
    output: &DestinationOutput,
) -> Result<bool, Error> {
    let figures = rate_figures::of_coin(db, of.asset.symbol, of.currency)?;
    let Ok(market) = agreed_rate(&figures, now) else {
        return Ok(true);
    };
    let worth = market.rate.value(output.amount, of.asset.decimals);
    let amount = of.amount.0;
    Ok(worth.is_ok_and(|worth| {
        worth.0.saturating_mul(2) >= amount && worth.0 <= amount.saturating_mul(2)
    }))
}

impl Service {
    /// Refuses to end the hold of a restore before the chain was read up to the head of its node.
    ///
    /// # Errors
    ///
    /// `invalid_transition` until the chain has been read. `invalid_request` for `unverified` if the chain has no node.
    pub(super) fn check_may_release(
        &self,
        db: &Reader<'_>,
        of: &Transfer,
        is_unverified: bool,
    ) -> Result<(), Error> {
        let chain = of.asset.chain;
        if self.is_simulated(of.mode) || of.status == TransferStatus::Processing {
            return Ok(());
        }
        if !self.live.has_node(chain) {
            let problem = format!(
                "must be true: {chain} has no node, so what was sent since the copy cannot be seen, see --node"
            );
            return match is_unverified {
                true => Ok(()),
                false => Err(Refusal::field("unverified", problem).into()),
            };
        }
        let head = self.live.head_height(chain);
        let cursor = chain_cursors::of_chain(db, chain)?;
        let read = cursor.map(|cursor| cursor.reached.block.height);
        if head.is_some_and(|head| read >= Some(head)) {
            return Ok(());
        }
        let head = head.map_or("unknown".to_owned(), |head| head.to_string());
        let read = read.map_or("none".to_owned(), |read| read.to_string());
        let message = format!(
            "{chain} has not been read up to the head of its node since the restore (block {read} of {head}): what was sent \
             since the copy may not be seen yet. Wait until it has caught up"
        );
        Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into())
    }
}
