//! Stores the prices that rate sources report, for the worker that queries the sources.
//!
//! Invariant: the new prices of a source replace its earlier prices. The newest known rate of each coin is updated in
//! the same transaction. Rates from the operator's file are deleted with the file.

use crate::domain::rate::agreed_rate;
use crate::domain::{CoinFigure, Currency, FigureSource, RateSource, Time};
use crate::service::{Error, Service, Step};
use crate::store::{keys, rate_figures, rate_sources, rates_known};
use std::sync::Arc;

impl Service {
    /// Returns `true` if rates of live mode are needed: live invoices can be created.
    pub fn needs_rates(&self, now: Time) -> Result<bool, Error> {
        self.read(|db| Ok(keys::takes_live_payments(db, now)?))
    }

    /// Deletes sources that are no longer queried, with their prices. Rates on which public sources agreed stay
    /// known.
    pub async fn delete_sources_except(
        self: &Arc<Self>,
        sources: Vec<FigureSource>,
    ) -> Result<(), Error> {
        self.store
            .write(move |tx| {
                for state in rate_sources::all(tx)? {
                    if !sources.contains(&state.source) {
                        rate_sources::forget(tx, state.source)?;
                    }
                }
                Ok(())
            })
            .await
    }

    /// Stores the prices of a source that was queried at `asked_at`.
    pub async fn store_figures(
        self: &Arc<Self>,
        now: Time,
        source: FigureSource,
        asked_at: Time,
        told: Vec<CoinFigure>,
    ) -> Result<(), Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            rate_sources::record_success(tx, source, asked_at)?;
            rate_figures::replace_figures(tx, source, &told)?;
            for one in &told {
                store_known_rate(step, one.coin, one.currency)?;
            }
            Ok(())
        })
        .await
    }

    /// Stores a failure of a source that was queried at `asked_at`. The earlier prices of the source stay.
    pub async fn store_source_failure(
        self: &Arc<Self>,
        source: FigureSource,
        asked_at: Time,
        problem: String,
    ) -> Result<(), Error> {
        self.store
            .write(move |tx| Ok(rate_sources::record_failure(tx, source, asked_at, &problem)?))
            .await
    }
}

/// Stores the current rate as the newest known one, if public sources agree on it.
///
/// A rate from the operator's file is not stored here, because the rate must become unknown when the file is removed.
fn store_known_rate(step: &Step<'_>, coin: &str, currency: Currency) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let figures = rate_figures::of_coin(tx, coin, currency)?;
    if let Ok(quoted) = agreed_rate(&figures, now)
        && quoted.source == RateSource::Median
    {
        rates_known::put(tx, coin, currency, &quoted)?;
    }
    Ok(())
}
