//! The one source of rates: how much a coin costs now, who says so, and since when.
//!
//! What does not live here: what is priced, and what happens where there is no rate: each use case says that in one
//! place. What always holds: nobody else asks the fixed table, and no real money is ever priced by it: live mode has
//! what public sources agree on, or what the operator's own file says.

mod keeping;
mod shown;

use super::{Error, Service};
use crate::domain::asset::{Asset, Mode};
use crate::domain::money::Currency;
use crate::domain::rate::{FRESH_MS_MAX, Figure, Market, RateQuote, agreed_rate, file_rate};
use crate::domain::time::Time;
use crate::store::{Kind, Reader, rate_figures, rates_known};

#[cfg(test)]
mod tests;

/// There is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRate;

impl Service {
    /// The rate to price something new at: fiat per whole coin, at most three minutes old; or that there is none so young.
    pub(super) fn rate(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<Result<RateQuote, NoRate>, Error> {
        if self.is_simulated(mode) {
            let fixed = self.fixed_rate(mode, asset, currency, now)?;
            return Ok(Some(fixed)
                .filter(|fixed| fixed.is_fresh(now))
                .ok_or(NoRate));
        }
        let figures = rate_figures::of_coin(db, asset.symbol, currency)?;
        Ok(agreed_rate(&figures, now).map_err(|_| NoRate))
    }

    /// The rate to price money at that has come already: the newest known, however old it is; or that none was ever known.
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
        Ok(last_known(db, asset.symbol, currency, &figures)?.ok_or(NoRate))
    }

    /// The market of a coin, as an operator is told it.
    pub(super) fn market(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<Market, Error> {
        if self.is_simulated(mode) {
            return Ok(Market::fixed(self.fixed_rate(mode, asset, currency, now)?));
        }
        market(db, asset.symbol, currency, now)
    }

    /// The rate of what is simulated.
    fn fixed_rate(
        &self,
        mode: Mode,
        asset: &Asset,
        currency: Currency,
        now: Time,
    ) -> Result<RateQuote, Error> {
        let is_stale = mode.is_live() && self.faults().rates_stale;
        // One that is pretended to be stale was fresh until just now.
        let age_ms = if is_stale {
            FRESH_MS_MAX.saturating_add(1)
        } else {
            0
        };
        let at = now.plus_ms(age_ms.saturating_neg());
        Ok(RateQuote::fixed(asset.fixed_rate(currency)?, at))
    }

    /// Is nothing real paid or sent in this mode? So it is in test mode, and in the sandbox in both.
    pub(super) fn is_simulated(&self, mode: Mode) -> bool {
        mode == Mode::Test || self.kind == Kind::Sandbox
    }
}

/// The market of a coin in live mode.
fn market(db: &Reader<'_>, coin: &str, currency: Currency, now: Time) -> Result<Market, Error> {
    let figures = rate_figures::of_coin(db, coin, currency)?;
    let known = last_known(db, coin, currency, &figures)?;
    Ok(Market::new(figures, known, now))
}

/// The newest rate known of a coin with these figures where none is fresh: what the operator's file said last, as long as it
/// is configured, else what public sources agreed on last.
fn last_known(
    db: &Reader<'_>,
    coin: &str,
    currency: Currency,
    figures: &[Figure],
) -> Result<Option<RateQuote>, Error> {
    match file_rate(figures) {
        Some(said) => Ok(Some(said)),
        None => Ok(rates_known::of_coin(db, coin, currency)?),
    }
}
