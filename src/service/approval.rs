//! Approving transfers: what an approval is measured against, and who sends what was approved.
//!
//! The rules are in `domain::transfer::approval` and `domain::transfer::sender`; this looks up the market, the fee and the
//! limit for them.

use super::transfers::note;
use super::{Error, Service};
use crate::domain::asset::{Asset, Mode};
use crate::domain::money::Currency;
use crate::domain::money::coin::Rate;
use crate::domain::network_fee::{FeeRates, FixedFee, gas_coin, propose};
use crate::domain::refusal::Refusal;
use crate::domain::time::{DAY_MS, Time};
use crate::domain::transfer::approval::{FeeSource, Proposal, ProposedFee};
use crate::domain::transfer::request::MoveRequest;
use crate::domain::transfer::sender::{SenderConditions, SentBy};
use crate::domain::transfer::step::{TransferAction, TransferStep};
use crate::domain::transfer::terms::fixed_network_fee;
use crate::domain::transfer::{Transfer, TransferStatus};
use crate::store::{Reader, Tx, accounts, network_fees, transfers};
use serde_json::json;
use std::sync::Arc;

/// Actor of the audit log for what a server fills in after an upgrade.
const UPGRADE: &str = "upgrade";

impl Service {
    /// The step of an approval or of a reassignment.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub(super) fn decided(
        &self,
        tx: &Tx<'_>,
        now: Time,
        transfer: &Transfer,
        request: &MoveRequest,
    ) -> Result<TransferStep, Error> {
        let (asked, conditions) = (
            &request.approval,
            self.sender_conditions(tx, now, transfer)?,
        );
        if request.action == TransferAction::Reassign {
            let sent_by = asked
                .sent_by
                .ok_or_else(|| Refusal::field("sentBy", "must be given: hand or signer"))?;
            return Ok(TransferStep::Reassign(conditions.decide(Some(sent_by))?));
        }
        let Transfer {
            mode,
            asset,
            to_address,
            ..
        } = transfer;
        self.outside_destination(tx, *mode, asset.chain, to_address)?
            .map_err(|problem| Refusal::field("toAddress", problem))?;
        let fixed = asked.fix_terms(transfer, &self.proposal(tx, now, transfer)?)?;
        let sent_by = conditions.decide(asked.sent_by)?;
        Ok(TransferStep::Approve(fixed.into_approval(sent_by)))
    }

    /// Sender of a released transfer: the one asked for. Without one, a transfer of the signer gets the sender that an approval
    /// would choose now.
    ///
    /// # Errors
    /// `invalid_request` for `sentBy` before approval, and where the signer is asked for and may not send it.
    pub(super) fn released_to(
        &self,
        tx: &Tx<'_>,
        now: Time,
        transfer: &Transfer,
        request: &MoveRequest,
    ) -> Result<Option<SentBy>, Error> {
        let asked = request.approval.sent_by;
        if transfer.status != TransferStatus::Approved {
            let problem = "goes with the release of an approved one only";
            return match asked {
                Some(_) => Err(Refusal::field("sentBy", problem).into()),
                None => Ok(None),
            };
        }
        if asked.is_none() && transfer.sent_by == Some(SentBy::Hand) {
            return Ok(None);
        }
        let conditions = self.sender_conditions(tx, now, transfer)?;
        Ok(Some(conditions.decide(asked)?))
    }

    /// Market and fee that an approval of a transfer is measured against now.
    pub(super) fn proposal(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<Proposal, Error> {
        let (mode, asset, currency) = (of.mode, of.asset, of.currency);
        let market = self.market(db, mode, asset, currency, now)?;
        let is_guarded = !self.is_simulated(mode);
        let fee = if is_guarded {
            self.network_fee(db, now, (asset, currency), market.fresh())?
        } else {
            ProposedFee {
                amount: fixed_network_fee(asset),
                source: FeeSource::Default,
                estimated_at: None,
            }
        };
        Ok(Proposal {
            market,
            fee,
            is_guarded,
            now,
        })
    }

    /// Network fee of a real coin; its fresh rate in the currency is `sent`.
    fn network_fee(
        &self,
        db: &Reader<'_>,
        now: Time,
        (asset, currency): (&Asset, Currency),
        sent: Option<Rate>,
    ) -> Result<ProposedFee, Error> {
        let own_coin = match gas_coin(asset) {
            Some(coin) => self.rate(db, Mode::Live, coin, currency, now)?.ok(),
            None => None,
        };
        let rates = own_coin.zip(sent).map(|(own_coin, sent)| FeeRates {
            own_coin: own_coin.rate,
            sent,
        });
        let estimate = self.live.fee_estimate(asset.chain);
        Ok(propose(asset, estimate, rates, fixed_fee(db, asset)?, now))
    }

    /// Conditions under which the signer may send a transfer.
    pub(super) fn sender_conditions(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<SenderConditions, Error> {
        let chain = of.asset.chain;
        Ok(SenderConditions {
            is_simulated: self.is_simulated(of.mode),
            has_signer: self.live.has_signer(),
            has_node: self.live.has_node(chain),
            chain,
            limit: accounts::by_seq(db, of.account)?.signer_max,
            given: transfers::given_to_signer(db, of, now.plus_ms(-DAY_MS))?,
            amount: of.amount,
            currency: of.currency,
        })
    }

    /// Decides who sends what was approved before that was kept; the count. To be called when a server starts, before any
    /// command is.
    pub async fn fill_senders(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        self.write(move |service, tx| {
            let found = transfers::without_sender(tx)?;
            for transfer in &found {
                let sent_by = service.sender_conditions(tx, now, transfer)?.decide(None)?;
                let filled = Transfer {
                    sent_by: Some(sent_by),
                    signer_at: (sent_by == SentBy::Signer).then_some(now),
                    ..transfer.clone()
                };
                transfers::update(tx, &filled, transfer.status)?;
                let detail = json!({ "sentBy": sent_by });
                let verb = TransferAction::Reassign.as_str();
                note(tx, now, UPGRADE, verb, &filled, &detail)?;
            }
            Ok(found.len())
        })
        .await
    }
}

/// The fee of a coin without a node: what the operator has set, else the built-in one.
pub(crate) fn fixed_fee(db: &Reader<'_>, asset: &Asset) -> Result<FixedFee, Error> {
    Ok(match network_fees::of_asset(db, asset)? {
        Some(amount) => FixedFee {
            amount,
            source: FeeSource::Setting,
        },
        None => FixedFee {
            amount: fixed_network_fee(asset),
            source: FeeSource::Default,
        },
    })
}
