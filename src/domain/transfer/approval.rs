//! Approval of a transfer: its rate and network fee, and the cases that need explicit acceptance.
//!
//! Invariant: for real money, a person must explicitly accept a rate far from the market, or a large fee.

use super::Transfer;
use super::sender::SentBy;
use super::terms::TransferTerms;
use crate::domain::asset::Asset;
use crate::domain::money::Bps;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::rate::CoinMarket;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;

/// Largest difference between a rate and the market that needs no explicit acceptance, in basis points.
const RATE_APART_MAX: Bps = Bps(200);
/// A fee above amount / `FEE_PART` needs explicit acceptance.
const FEE_PART: u128 = 4;

/// Names of the fields that belong to the action `approve`.
pub const APPROVAL_FIELDS: [&str; 5] = ["rate", "networkFee", "acceptRate", "acceptFee", "sentBy"];

text_enum! {
    /// Source of a transfer's network fee.
    pub enum FeeSource {
        /// The person who approved the transfer entered the fee.
        Given = "given",
        /// The node of the chain estimated the fee.
        Estimate = "estimate",
        /// The operator set the fee for the coin.
        Setting = "setting",
        /// The coin's built-in fee is used.
        Default = "default",
    }
}

/// Network fee for an approval whose request contains no fee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposedFee {
    /// Amount of the fee, in base units of the transfer's coin.
    pub amount: Units,
    /// Source of the fee, never [`FeeSource::Given`].
    pub source: FeeSource,
    /// Time of the node's estimate, for an estimated fee.
    pub estimated_at: Option<Time>,
}

/// Market rate and network fee with which a request for approval is compared.
#[derive(Clone, Debug)]
pub struct ApprovalProposal {
    /// Market of the coin in the transfer's currency.
    pub market: CoinMarket,
    /// Fee that is used if the request contains no fee.
    pub fee: ProposedFee,
    /// `true` if real money is sent, so that an unusual rate or fee must be accepted.
    pub is_guarded: bool,
    /// Time of the approval.
    pub now: Time,
}

/// Fields of a request for approval.
#[derive(Clone, Debug, Default)]
pub struct ApprovalRequest {
    pub(super) rate: Option<String>,
    pub(super) network_fee: Option<String>,
    pub(super) accepts_rate: bool,
    pub(super) accepts_fee: bool,
    /// Sender of the transfer; `None` leaves the choice to the service.
    pub sent_by: Option<SentBy>,
}

/// Terms and sender of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Rate, network fee, and amount in the coin.
    pub terms: TransferTerms,
    /// Source of the fee.
    pub fee_source: FeeSource,
    /// Sender of the transfer.
    pub sent_by: SentBy,
    /// Names of the fields that a person explicitly accepted: `rate`, `networkFee`.
    pub accepted_fields: Vec<&'static str>,
}

impl ApprovalRequest {
    /// Determines the final terms of a transfer.
    ///
    /// # Errors
    /// `invalid_request` for `rate` or `networkFee` that is malformed, missing, or not explicitly accepted.
    pub fn determine_terms(
        &self,
        of: &Transfer,
        proposal: &ApprovalProposal,
    ) -> Result<FixedTerms, Refusal> {
        let mut accepted_fields = Vec::new();
        let rate = self.choose_rate(of, proposal, &mut accepted_fields)?;
        let (network_fee, fee_source) = match &self.network_fee {
            Some(text) => (parse_network_fee(text, of.asset)?, FeeSource::Given),
            None => (proposal.fee.amount, proposal.fee.source),
        };
        let terms = TransferTerms::new(of.amount, of.asset, rate, network_fee)?;
        if proposal.is_guarded && is_large_fee(&terms, of)? {
            if !self.accepts_fee {
                return Err(large_fee_refusal(&terms, of));
            }
            accepted_fields.push("networkFee");
        }
        Ok(FixedTerms { terms, fee_source, accepted_fields })
    }

    /// Returns the rate in the request, otherwise the market rate. Adds `rate` to `accepted_fields` if this rate
    /// needed acceptance.
    fn choose_rate(
        &self,
        of: &Transfer,
        proposal: &ApprovalProposal,
        accepted_fields: &mut Vec<&'static str>,
    ) -> Result<Rate, Refusal> {
        let given = self.rate.as_deref().map(parse_rate).transpose()?;
        let market = &proposal.market;
        let fresh = market.fresh_rate();
        if !proposal.is_guarded {
            let newest = market.newest_rate().map(|newest| newest.rate);
            let missing = || Refusal::field("rate", "must be given: fiat for one coin");
            return given.or(newest).ok_or_else(missing);
        }
        match (given, fresh) {
            (None, Some(fresh)) => Ok(fresh),
            (Some(given), Some(fresh)) if !given.differs_from(fresh, RATE_APART_MAX) => Ok(given),
            (Some(given), _) if self.accepts_rate => {
                accepted_fields.push("rate");
                Ok(given)
            }
            (Some(given), Some(fresh)) => Err(far_rate_refusal(of, given, fresh, proposal)),
            (_, None) => Err(no_market_rate_refusal(of, proposal)),
        }
    }
}

/// Final terms of a transfer whose sender is not decided yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTerms {
    /// Rate, network fee, and amount in the coin.
    pub terms: TransferTerms,
    /// Source of the fee.
    pub fee_source: FeeSource,
    /// Names of the fields that a person explicitly accepted.
    pub accepted_fields: Vec<&'static str>,
}

impl FixedTerms {
    /// Adds the sender to the terms and returns the approval.
    pub fn into_approval(self, sent_by: SentBy) -> Approval {
        Approval {
            terms: self.terms,
            fee_source: self.fee_source,
            sent_by,
            accepted_fields: self.accepted_fields,
        }
    }
}

/// Returns `true` if the fee is more than a quarter of the amount.
fn is_large_fee(terms: &TransferTerms, of: &Transfer) -> Result<bool, Refusal> {
    let gross = terms.rate.units_bought_by(of.amount, of.asset.decimals);
    let gross =
        gross.map_err(|overflow| Refusal::field("rate", format!("cannot be used: {overflow}")))?;
    Ok(terms.network_fee.0.checked_mul(FEE_PART).is_none_or(|times| times > gross.0))
}

/// Returns the refusal for a fee that is more than a quarter of the amount.
fn large_fee_refusal(terms: &TransferTerms, of: &Transfer) -> Refusal {
    let (asset, currency) = (of.asset, of.currency);
    let fee = asset.format_units(terms.network_fee);
    let worth = terms.rate.value(terms.network_fee, asset.decimals);
    let worth = worth.map_or_else(|_| String::new(), |worth| format!(" ({worth} {currency})"));
    let problem = format!(
        "is more than a quarter of the amount: {fee} {}{worth} of {} {currency}. Send a smaller networkFee, or acceptFee: \
         true",
        asset.symbol, of.amount
    );
    Refusal::field("networkFee", problem)
}

/// Returns the refusal for a rate that is far from the market rate.
fn far_rate_refusal(
    of: &Transfer,
    given: Rate,
    fresh: Rate,
    proposal: &ApprovalProposal,
) -> Refusal {
    let (symbol, currency, amount) = (of.asset.symbol, of.currency, of.amount);
    let buys = |rate: Rate| {
        let units = rate.units_bought_by(amount, of.asset.decimals);
        let units = units.map(|units| units.rounded_down(of.asset.decimals));
        units.map_or_else(|_| "too much to count".to_owned(), |units| of.asset.format_units(units))
    };
    let apart = given.percent_above(fresh).map_or_else(
        || "far from".to_owned(),
        |percent| {
            let side = if percent.is_sign_negative() { "below" } else { "above" };
            format!("{} % {side}", percent.abs().normalize())
        },
    );
    let market = proposal.market.newest_rate_text(proposal.now);
    let market = market.map_or_else(|| fresh.to_string(), |text| text.to_string());
    let problem = format!(
        "{given} is {apart} the market rate of {symbol} in {currency}, {market}: {amount} {currency} would buy {} {symbol}, \
         not {}. Send a rate within 2 % of the market's, or acceptRate: true",
        buys(given),
        buys(fresh)
    );
    Refusal::field("rate", problem)
}

/// Returns the refusal for an approval without a fresh market rate.
fn no_market_rate_refusal(of: &Transfer, proposal: &ApprovalProposal) -> Refusal {
    let (symbol, currency) = (of.asset.symbol, of.currency);
    let why = match &proposal.market.now {
        Ok(_) => String::new(),
        Err(why) => format!(": {why}"),
    };
    let newest = match proposal.market.newest_rate_text(proposal.now) {
        Some(newest) => format!("; the newest known is {newest}"),
        None => String::new(),
    };
    let problem = format!(
        "must be given together with acceptRate: true, as there is no fresh market rate of {symbol} in {currency}{why}{newest}"
    );
    Refusal::field("rate", problem)
}

/// Reads a rate: a plain positive decimal with at most ten places.
fn parse_rate(text: &str) -> Result<Rate, Refusal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let places = usize::try_from(Rate::SCALE_MAX).unwrap_or(usize::MAX);
    let plain = digits(whole) && digits(fraction) && fraction.len() <= places;
    let rate = plain.then(|| text.parse().ok()).flatten();
    rate.ok_or_else(|| {
        let problem = format!("must be a positive decimal with at most {places} decimals");
        Refusal::field("rate", problem)
    })
}

/// Reads a network fee in whole coins. Zero is valid.
fn parse_network_fee(text: &str, asset: &Asset) -> Result<Units, Refusal> {
    Units::parse(text, asset.decimals).map_err(|problem| Refusal::field("networkFee", problem))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
