//! Rates for the operator: each coin's rate with its age and sources, or the reason why there is none.
//!
//! Invariant: rates are computed the same way as in live mode.

use super::coin_market;
use crate::domain::asset::{ASSETS, coin_symbols};
use crate::domain::rate::rate_from_file;
use crate::domain::{CoinMarket, Currency, Mode, NoRateReason, Time};
use crate::render;
use crate::service::{Error, Json, Service};
use crate::store::{FileKind, Reader, coins_off, keys, rate_sources};

struct CoinRateState {
    coin: &'static str,
    currency: Currency,
    /// Prices of the coin at the sources, and the rates computed from these prices.
    market: CoinMarket,
}

impl CoinRateState {
    fn has_file_rate(&self) -> bool {
        rate_from_file(&self.market.figures).is_some()
    }
}

fn coins_in_currencies() -> impl Iterator<Item = (&'static str, Currency)> {
    coin_symbols().flat_map(|coin| Currency::ALL.iter().map(move |currency| (coin, *currency)))
}

fn all_coin_rates(db: &Reader<'_>, now: Time) -> Result<Vec<CoinRateState>, Error> {
    let each = coins_in_currencies();
    each.map(|(coin, currency)| {
        let market = coin_market(db, coin, currency, now)?;
        Ok(CoinRateState { coin, currency, market })
    })
    .collect()
}

impl Service {
    /// Returns the rates of every coin in every currency, and all sources. In a sandbox the rates are fixed, and no source
    /// is asked.
    pub fn rates(&self, now: Time) -> Result<Json, Error> {
        let (needed, coins, sources) = self.read_snapshot(|db| {
            if self.kind == FileKind::Sandbox {
                return Ok((false, self.simulated_coin_rates(db, now)?, Vec::new()));
            }
            let needed = keys::takes_live_payments(db, now)?;
            Ok((needed, all_coin_rates(db, now)?, rate_sources::all(db)?))
        })?;
        let coins = coins.iter().map(|state| render::rates::CoinRates {
            coin: state.coin,
            currency: state.currency,
            now: state.market.now.as_ref(),
            newest: state.market.known.as_ref(),
            figures: &state.market.figures,
        });
        let coins: Vec<_> = coins.collect();
        Ok(render::rates::rates(now, needed, &coins, &sources)?)
    }

    /// Returns the fixed rates of live mode in a sandbox. A fault of the sandbox may make them stale.
    fn simulated_coin_rates(
        &self,
        db: &Reader<'_>,
        now: Time,
    ) -> Result<Vec<CoinRateState>, Error> {
        let each = coins_in_currencies().filter_map(|(coin, currency)| {
            let asset = ASSETS.iter().find(|asset| asset.symbol == coin)?;
            Some((asset, currency))
        });
        each.map(|(asset, currency)| {
            let mut market = self.coin_market(db, Mode::Live, asset, currency, now)?;
            if !market.known.as_ref().is_some_and(|known| known.is_fresh(now)) {
                market.now = Err(NoRateReason::Simulated);
            }
            Ok(CoinRateState { coin: asset.symbol, currency, market })
        })
        .collect()
    }

    /// Returns each coin and currency without a current rate, with the reason. Omits coins that are switched off, and
    /// coins that the operator's file leaves out.
    pub fn coins_without_rate(
        &self,
        now: Time,
    ) -> Result<Vec<(&'static str, Currency, NoRateReason)>, Error> {
        let (states, off) =
            self.read_snapshot(|db| Ok((all_coin_rates(db, now)?, coins_off::all(db)?)))?;
        let is_by_file = states.iter().any(CoinRateState::has_file_rate);
        let is_needed = |state: &CoinRateState| {
            !coins_off::is_off_everywhere(&off, state.coin)
                && (!is_by_file || state.has_file_rate())
        };
        let states = states.into_iter().filter(is_needed);
        let without = states.filter_map(|state| {
            let none = state.market.now.err()?;
            Some((state.coin, state.currency, none))
        });
        Ok(without.collect())
    }

    /// Returns the number of rates that live mode needs and lacks.
    pub fn missing_rate_count(&self, now: Time) -> Result<usize, Error> {
        if self.kind == FileKind::Sandbox || !self.needs_rates(now)? {
            return Ok(0);
        }
        Ok(self.coins_without_rate(now)?.len())
    }

    /// Returns the state of live mode's rates in one line.
    pub fn rates_summary(&self, now: Time) -> Result<String, Error> {
        if self.kind == FileKind::Sandbox {
            return Ok("fixed".to_owned());
        }
        if !self.needs_rates(now)? {
            return Ok("not asked for: no active account has a live key or payment link".to_owned());
        }
        let without = self.coins_without_rate(now)?;
        let Some((coin, currency, why)) = without.first() else {
            return Ok("ok".to_owned());
        };
        Ok(format!("{} missing; {coin} in {currency}: {why}", without.len()))
    }
}
