//! Approval of a transfer: its rate and network fee, and the cases that need explicit acceptance.
//!
//! Invariant: for real money, a person must explicitly accept a rate far from the market, or a large fee.

use super::basis::{RateBasis, ReceivedCoins};
use super::sender::{Sender, SentBy};
use super::terms::TransferTerms;
use super::{Transfer, TransferKind};
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
pub const APPROVAL_FIELDS: [&str; 6] =
    ["basis", "rate", "networkFee", "acceptRate", "acceptFee", "sentBy"];

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

/// Facts with which a request for approval is compared: what came in, market rate, and network fee.
#[derive(Clone, Debug)]
pub struct ApprovalProposal {
    /// Coins that came in for the refunded invoice, in the coin of the refund; `None` if none came in this coin.
    pub received: Option<ReceivedCoins>,
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
    pub(super) basis: Option<RateBasis>,
    pub(super) rate: Option<String>,
    pub(super) network_fee: Option<String>,
    pub(super) accepts_rate: bool,
    pub(super) accepts_fee: bool,
    /// Sender of the transfer; `None` leaves the choice to the service.
    pub sent_by: Option<SentBy>,
}

/// Sources of the terms of an approved transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermsSource {
    /// Basis of the rate.
    pub basis: RateBasis,
    /// Source of the network fee.
    pub fee: FeeSource,
    /// `true` if a person explicitly accepted the rate or the fee. The signer never sends such a transfer.
    pub is_accepted: bool,
}

/// Terms and sender of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Terms that are final.
    pub fixed: FixedTerms,
    /// Sender of the transfer.
    pub sender: Sender,
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
        let basis = self.choose_basis(of, proposal)?;
        let rate = self.choose_rate(of, basis, proposal, &mut accepted_fields)?;
        let (network_fee, fee_source) = match &self.network_fee {
            Some(text) => (parse_network_fee(text, of.asset)?, FeeSource::Given),
            None => (proposal.fee.amount, proposal.fee.source),
        };
        let terms = TransferTerms::new(of.amount, of.asset, rate, network_fee)?;
        if let Some(received) = proposal.received.filter(|_| proposal.is_guarded)
            && gross_amount(rate, of)? > received.share(of.amount, of.asset)
        {
            if !self.accepts_rate {
                return Err(more_coins_refusal(of, &received, rate));
            }
            if accepted_fields.is_empty() {
                accepted_fields.push("rate");
            }
        }
        if proposal.is_guarded && is_large_fee(&terms, of)? {
            if !self.accepts_fee {
                return Err(large_fee_refusal(&terms, of));
            }
            accepted_fields.push("networkFee");
        }
        let source =
            TermsSource { basis, fee: fee_source, is_accepted: !accepted_fields.is_empty() };
        Ok(FixedTerms { terms, source, accepted_fields })
    }

    /// Returns the basis in the request, otherwise [`ApprovalProposal::basis`].
    fn choose_basis(
        &self,
        of: &Transfer,
        proposal: &ApprovalProposal,
    ) -> Result<RateBasis, Refusal> {
        let problem = match (self.basis, of.kind) {
            (Some(_), TransferKind::Payout) => "is allowed only for a refund".to_owned(),
            (Some(RateBasis::Received), TransferKind::Refund) if proposal.received.is_none() => {
                format!(
                    "must be market: no confirmed payment of this invoice is in {}",
                    of.asset.symbol
                )
            }
            (asked, _) => return Ok(asked.unwrap_or(proposal.basis())),
        };
        Err(Refusal::field("basis", problem))
    }

    /// Returns the rate in the request, otherwise the rate of the basis. Adds `rate` to `accepted_fields` if this rate
    /// needed acceptance.
    fn choose_rate(
        &self,
        of: &Transfer,
        basis: RateBasis,
        proposal: &ApprovalProposal,
        accepted_fields: &mut Vec<&'static str>,
    ) -> Result<Rate, Refusal> {
        let given = self.rate.as_deref().map(parse_rate).transpose()?;
        let received = proposal.received.filter(|_| basis == RateBasis::Received);
        if !proposal.is_guarded {
            let newest = proposal.market.newest_rate().map(|newest| newest.rate);
            let known = received.map(|received| received.rate).or(newest);
            let missing = || Refusal::field("rate", "must be given: fiat for one coin");
            return given.or(known).ok_or_else(missing);
        }
        match (given, proposal.rate_of(basis)) {
            (None, Some(rate)) => Ok(rate),
            (Some(given), Some(rate)) if !given.differs_from(rate, RATE_APART_MAX) => Ok(given),
            (Some(given), _) if self.accepts_rate => {
                accepted_fields.push("rate");
                Ok(given)
            }
            (Some(given), Some(rate)) => {
                Err(far_rate_refusal(of, given, rate, received.is_some(), proposal))
            }
            (_, None) => Err(no_market_rate_refusal(of, proposal)),
        }
    }
}

/// Final terms of a transfer whose sender is not decided yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTerms {
    /// Rate, network fee, and amount in the coin.
    pub terms: TransferTerms,
    /// Sources of the rate and the fee.
    pub source: TermsSource,
    /// Names of the fields that a person explicitly accepted: `rate`, `networkFee`.
    pub accepted_fields: Vec<&'static str>,
}

impl ApprovalProposal {
    /// Returns the basis of an approval without its own: what came in, if it came in the coin of the refund.
    pub fn basis(&self) -> RateBasis {
        self.received.map_or(RateBasis::Market, |_| RateBasis::Received)
    }

    /// Returns the terms that an approval without its own would fix; `None` without a rate, or if nothing would be left.
    pub fn default_terms(&self, of: &Transfer) -> Option<(TransferTerms, TermsSource)> {
        let basis = self.basis();
        let rate = self.rate_of(basis)?;
        let terms = TransferTerms::new(of.amount, of.asset, rate, self.fee.amount).ok()?;
        Some((terms, TermsSource { basis, fee: self.fee.source, is_accepted: false }))
    }

    /// Returns the rate of a basis; `None` for the market without a fresh rate.
    pub fn rate_of(&self, basis: RateBasis) -> Option<Rate> {
        match basis {
            RateBasis::Received => self.received.map(|received| received.rate),
            RateBasis::Market => self.market.fresh_rate(),
        }
    }
}

/// Returns the refusal for a refund that sends more coins than its share of what came in.
fn more_coins_refusal(of: &Transfer, received: &ReceivedCoins, rate: Rate) -> Refusal {
    let (asset, currency) = (of.asset, of.currency);
    let coins = |units: Units| asset.format_units(units.rounded_down(asset.decimals));
    let bought = rate.units_bought_by(of.amount, asset.decimals);
    let problem = format!(
        "{rate} sends {} {symbol} for {} {currency}. {} {symbol} came in for {} {currency}, at {}: the share is {} {symbol}. \
         Leave rate out with basis \"received\", or send acceptRate: true",
        bought.map_or_else(|_| "too much to count".to_owned(), coins),
        of.amount,
        coins(received.amount),
        received.value,
        received.rate,
        coins(received.share(of.amount, asset)),
        symbol = asset.symbol,
    );
    Refusal::field("rate", problem)
}

/// Returns the amount of a transfer in its coin, before the network fee.
fn gross_amount(rate: Rate, of: &Transfer) -> Result<Units, Refusal> {
    let gross = rate.units_bought_by(of.amount, of.asset.decimals);
    gross.map_err(|overflow| Refusal::field("rate", format!("cannot be used: {overflow}")))
}

/// Returns `true` if the fee is more than a quarter of the amount.
fn is_large_fee(terms: &TransferTerms, of: &Transfer) -> Result<bool, Refusal> {
    let gross = gross_amount(terms.rate, of)?;
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

/// Returns the refusal for a rate that is far from the rate of the basis. `is_received` is `true` if that is the rate of
/// what came in.
fn far_rate_refusal(
    of: &Transfer,
    given: Rate,
    expected: Rate,
    is_received: bool,
    proposal: &ApprovalProposal,
) -> Refusal {
    let (symbol, currency, amount) = (of.asset.symbol, of.currency, of.amount);
    let buys = |rate: Rate| {
        let units = rate.units_bought_by(amount, of.asset.decimals);
        let units = units.map(|units| units.rounded_down(of.asset.decimals));
        units.map_or_else(|_| "too much to count".to_owned(), |units| of.asset.format_units(units))
    };
    let apart = given.percent_above(expected).map_or_else(
        || "far from".to_owned(),
        |percent| {
            let side = if percent.is_sign_negative() { "below" } else { "above" };
            format!("{} % {side}", percent.abs().normalize())
        },
    );
    let (name, rate) = if is_received {
        ("rate of what came in".to_owned(), expected.to_string())
    } else {
        let market = proposal.market.newest_rate_text(proposal.now);
        let market = market.map_or_else(|| expected.to_string(), |text| text.to_string());
        let name = format!("market rate of {symbol} in {currency}");
        (name, market)
    };
    let problem = format!(
        "{given} is {apart} the {name}, {rate}: {amount} {currency} would buy {} {symbol}, not {}. Send a rate within 2 % of \
         it, or acceptRate: true",
        buys(given),
        buys(expected)
    );
    Refusal::field("rate", problem)
}

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
