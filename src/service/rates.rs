//! The only source of rates: current price of a coin, its source, and its time.
//!
//! Each use case decides how to proceed without a rate.
//!
//! Invariant: no other module reads the table of fixed rates, and the table never prices real money. Live mode uses
//! the rate on which public sources agree, or the rate in the operator's file.

mod keeping;
mod operator_view;

use super::{Error, Service};
use crate::domain::rate::{FRESH_MS_MAX, agreed_rate, rate_from_file};
use crate::domain::{Asset, CoinMarket, Currency, Mode, RateFigure, RateQuote, Time};
use crate::store::{FileKind, Reader, rate_figures, rates_known};

#[cfg(test)]
mod tests;

/// Error: no rate is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRate;

impl Service {
    /// Returns the current rate, as fiat per whole coin. [`NoRate`] if no rate is from the last three minutes.
    pub(super) fn fresh_rate(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<Result<RateQuote, NoRate>, Error> {
        if self.is_simulated(mode) {
            let fixed = self.fixed_rate(mode, asset, currency, now)?;
            return Ok(Some(fixed).filter(|fixed| fixed.is_fresh(now)).ok_or(NoRate));
        }
        let figures = rate_figures::of_coin(db, asset.symbol, currency)?;
        Ok(agreed_rate(&figures, now).map_err(|_| NoRate))
    }

    /// Returns the rate for money that has already arrived: the newest known rate of any age. [`NoRate`] if no rate
    /// was ever known.
    pub(super) fn newest_rate(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<Result<RateQuote, NoRate>, Error> {
        if self.is_simulated(mode) {
            return self.fixed_rate(mode, asset, currency, now).map(Ok);
        }
        let figures = rate_figures::of_coin(db, asset.symbol, currency)?;
        if let Ok(fresh) = agreed_rate(&figures, now) {
            return Ok(Ok(fresh));
        }
        Ok(last_known_rate(db, asset.symbol, currency, &figures)?.ok_or(NoRate))
    }

    /// Returns the prices of a coin at the rate sources, and the rates computed from these prices, for an operator.
    pub(super) fn coin_market(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<CoinMarket, Error> {
        if self.is_simulated(mode) {
            return Ok(CoinMarket::fixed(self.fixed_rate(mode, asset, currency, now)?));
        }
        coin_market(db, asset.symbol, currency, now)
    }

    /// Returns the fixed rate of a simulated coin.
    fn fixed_rate(
        &self,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<RateQuote, Error> {
        let is_stale = mode.is_live() && self.faults().rates_stale;
        // The age of a rate that is simulated as stale: one millisecond above the limit.
        let age_ms = if is_stale { FRESH_MS_MAX.saturating_add(1) } else { 0 };
        let at = now.plus_ms(age_ms.saturating_neg());
        Ok(RateQuote::fixed(asset.fixed_rate(currency)?, at))
    }

    /// Returns `true` if payments and transfers in this mode are simulated: in test mode, and in both modes of the
    /// sandbox.
    pub(super) fn is_simulated(&self, mode: Mode) -> bool {
        mode == Mode::Test || self.kind == FileKind::Sandbox
    }
}

/// Returns the prices of a coin at the rate sources in live mode, and the rates computed from these prices.
fn coin_market(
    db: &Reader<'_>,
    coin: &str,
    currency: Currency,
    now: Time,
) -> Result<CoinMarket, Error> {
    let figures = rate_figures::of_coin(db, coin, currency)?;
    let known = last_known_rate(db, coin, currency, &figures)?;
    Ok(CoinMarket::new(figures, known, now))
}

/// Returns the newest known rate of a coin if no source has a fresh price.
///
/// Uses the last rate from the operator's file while the file is configured, else the last rate on which public
/// sources agreed.
fn last_known_rate(
    db: &Reader<'_>,
    coin: &str,
    currency: Currency,
    figures: &[RateFigure],
) -> Result<Option<RateQuote>, Error> {
    match rate_from_file(figures) {
        Some(said) => Ok(Some(said)),
        None => Ok(rates_known::of_coin(db, coin, currency)?),
    }
}
