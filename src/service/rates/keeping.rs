//! Keeping what sources tell, for the worker that asks them.
//!
//! What always holds: what a source tells takes the place of all that it told before, in the transaction in which the
//! newest rate known of each of its coins follows; and the operator's file leaves nothing behind.

use crate::domain::money::Currency;
use crate::domain::rate::{CoinFigure, FigureSource, RateSource, agreed_rate};
use crate::domain::time::Time;
use crate::service::{Error, Service};
use crate::store::{Tx, keys, rate_figures, rate_sources, rates_known};
use std::sync::Arc;

impl Service {
    /// Does anybody need rates of live mode? While an active account has a live key.
    pub fn needs_rates(&self, now: Time) -> Result<bool, Error> {
        self.read(|db| Ok(keys::any_live(db, now)?))
    }

    /// Forgets the sources that are not asked any more, and what they told. What public sources agreed on stays known.
    pub async fn ask_only(self: &Arc<Self>, sources: Vec<FigureSource>) -> Result<(), Error> {
        self.write(move |_, tx| {
            for state in rate_sources::all(tx)? {
                if !sources.contains(&state.source) {
                    rate_sources::forget(tx, state.source)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Keeps what a source has told when it was asked at this moment.
    pub async fn keep_told(
        self: &Arc<Self>,
        now: Time,
        source: FigureSource,
        asked_at: Time,
        told: Vec<CoinFigure>,
    ) -> Result<(), Error> {
        self.write(move |_, tx| {
            rate_sources::succeeded(tx, source, asked_at)?;
            rate_figures::replace(tx, source, &told)?;
            for one in &told {
                keep_known(tx, now, one.coin, one.currency)?;
            }
            Ok(())
        })
        .await
    }

    /// Notes that a source has told nothing when it was asked at this moment. What it told before ages.
    pub async fn keep_failure(
        self: &Arc<Self>,
        source: FigureSource,
        asked_at: Time,
        problem: String,
    ) -> Result<(), Error> {
        self.write(move |_, tx| Ok(rate_sources::failed(tx, source, asked_at, &problem)?))
            .await
    }
}

/// The rate that public sources agree on now, if they do, is the newest that is known. What the operator's file says is not
/// kept here: it is forgotten with the file.
fn keep_known(tx: &Tx<'_>, now: Time, coin: &str, currency: Currency) -> Result<(), Error> {
    let figures = rate_figures::of_coin(tx, coin, currency)?;
    if let Ok(quoted) = agreed_rate(&figures, now)
        && quoted.source == RateSource::Median
    {
        rates_known::put(tx, coin, currency, &quoted)?;
    }
    Ok(())
}
