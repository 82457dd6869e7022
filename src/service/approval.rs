//! Approves transfers: determines the rate, the network fee and the sender of a transfer.
//!
//! The rules are in `domain::transfer::approval` and `domain::transfer::sender`.

use super::{Error, Service, Step};
use crate::domain::network_fee::{gas_coin, propose_fee};
use crate::domain::time::DAY_MS;
use crate::domain::transfer::terms::fixed_network_fee;
use crate::domain::{
    Approval, ApprovalProposal, Asset, Currency, FeeRates, FeeSource, FixedFee, Mode, ProposedFee,
    Rate, ReceivedCoins, Refusal, Sender, SenderConditions, SentBy, TermsSource, Time, Transfer,
    TransferAction, TransferStatus, TransferStep, TransferStepRequest, TransferTerms,
};
use crate::store::{Reader, accounts, network_fees, payments, transfers};

impl Service {
    /// Returns the current market rate and network fee, to which an approval of a transfer is compared.
    pub(super) fn approval_proposal(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<ApprovalProposal, Error> {
        let (mode, asset, currency) = (of.mode, of.asset, of.currency);
        let received = match of.invoice {
            Some((invoice, _)) => {
                ReceivedCoins::of_payments(&payments::of_invoice(db, invoice)?, asset)?
            }
            None => None,
        };
        let market = self.coin_market(db, mode, asset, currency, now)?;
        let is_guarded = !self.is_simulated(mode);
        let fee = if is_guarded {
            self.network_fee(db, now, asset, currency, market.fresh_rate())?
        } else {
            ProposedFee {
                amount: fixed_network_fee(asset),
                source: FeeSource::Default,
                estimated_at: None,
            }
        };
        Ok(ApprovalProposal { received, market, fee, is_guarded, now })
    }

    /// Returns the network fee of a real coin. `sent` is the fresh rate of the coin to send.
    fn network_fee(
        &self,
        db: &Reader<'_>,
        now: Time,
        asset: &Asset,
        currency: Currency,
        sent: Option<Rate>,
    ) -> Result<ProposedFee, Error> {
        let own_coin = match gas_coin(asset) {
            Some(coin) => self.fresh_rate(db, Mode::Live, coin, currency, now)?.ok(),
            None => None,
        };
        let rates =
            own_coin.zip(sent).map(|(own_coin, sent)| FeeRates { own_coin: own_coin.rate, sent });
        let estimate = self.live.fee_estimate(asset.chain);
        Ok(propose_fee(asset, estimate, rates, fixed_fee(db, asset)?, now))
    }

    /// Returns the conditions under which the signer may send an approved transfer, or one with the terms that an approval
    /// without its own would fix now.
    pub(super) fn sender_conditions(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<SenderConditions, Error> {
        self.conditions_for_terms(db, now, of, of.terms.zip(of.terms_source))
    }

    /// Returns the conditions under which the signer may send a transfer with these terms.
    pub(super) fn conditions_for_terms(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
        terms: Option<(TransferTerms, TermsSource)>,
    ) -> Result<SenderConditions, Error> {
        let chain = of.asset.chain;
        let fresh = self.coin_market(db, of.mode, of.asset, of.currency, now)?.fresh_rate();
        let worth = terms.zip(fresh).map(|((terms, _), fresh)| {
            let coins = terms.amount_crypto.plus(terms.network_fee)?;
            fresh.value(coins, of.asset.decimals)
        });
        Ok(SenderConditions {
            is_simulated: self.is_simulated(of.mode),
            has_signer: self.live.has_signer(),
            has_node: self.live.has_node(chain),
            is_accepted: terms.is_some_and(|(_, source)| source.is_accepted),
            chain,
            limit: accounts::by_seq(db, of.account)?.signer_max,
            given: transfers::sum_passed_to_signer(db, of, now.plus_ms(-DAY_MS))?,
            amount: of.amount,
            worth: worth.transpose()?,
            currency: of.currency,
        })
    }
}

/// Returns the step for an approval or a reassignment.
///
/// # Errors
///
/// `invalid_request` that names the field.
pub(super) fn approval_step(
    step: &Step<'_>,
    transfer: &Transfer,
    request: &TransferStepRequest,
) -> Result<TransferStep, Error> {
    let Step { service, tx, now } = *step;
    let asked = &request.approval;
    if request.action == TransferAction::Reassign {
        let sent_by = asked
            .sent_by
            .ok_or_else(|| Refusal::field("sentBy", "must be given: hand or signer"))?;
        let conditions = service.sender_conditions(tx, now, transfer)?;
        return Ok(TransferStep::Reassign(conditions.choose_sender(Some(sent_by))?));
    }
    let Transfer { mode, asset, to_address, .. } = transfer;
    service.external_destination(tx, *mode, asset.chain, to_address)?.map_err(|problem| {
        let kind = transfer.kind;
        let advice = format!("Reject this {kind} and request one to another address");
        Refusal::field("toAddress", format!("{problem}. {advice}"))
    })?;
    let fixed = asked.determine_terms(transfer, &service.approval_proposal(tx, now, transfer)?)?;
    let terms = Some((fixed.terms, fixed.source));
    let conditions = service.conditions_for_terms(tx, now, transfer, terms)?;
    let sender = conditions.choose_sender(asked.sent_by)?;
    Ok(TransferStep::Approve(Approval { fixed, sender }))
}

/// Returns the sender that a transfer gets when an operator releases the transfer: the requested sender, if any.
///
/// Without a requested sender, a transfer assigned to the signer gets the sender that a new approval would
/// choose. `None` leaves the sender unchanged.
///
/// # Errors
///
/// `invalid_request` if `sentBy` is set before approval, or if the requested signer must not send the transfer.
pub(super) fn sender_after_release(
    step: &Step<'_>,
    transfer: &Transfer,
    request: &TransferStepRequest,
) -> Result<Option<Sender>, Error> {
    let Step { service, tx, now } = *step;
    let asked = request.approval.sent_by;
    if transfer.status != TransferStatus::Approved {
        let problem = "is allowed only for the release of an approved transfer";
        return match asked {
            Some(_) => Err(Refusal::field("sentBy", problem).into()),
            None => Ok(None),
        };
    }
    if asked.is_none() && transfer.sent_by == Some(SentBy::Hand) {
        return Ok(None);
    }
    let conditions = service.sender_conditions(tx, now, transfer)?;
    Ok(Some(conditions.choose_sender(asked)?))
}

/// Returns the network fee of a coin whose chain has no node: the operator's setting, or the built-in default.
pub(crate) fn fixed_fee(db: &Reader<'_>, asset: &Asset) -> Result<FixedFee, Error> {
    Ok(match network_fees::of_asset(db, asset)? {
        Some(amount) => FixedFee { amount, source: FeeSource::Setting },
        None => FixedFee { amount: fixed_network_fee(asset), source: FeeSource::Default },
    })
}
