//! The table `rate_figures`: the latest price of each coin from each source.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::{CoinFigure, Currency, FigureSource, RateFigure};

statements! {
    row read(source, rate, via, at) -> RateFigure {
        Ok(RateFigure { source, rate, via, at })
    }

    /// Returns the latest prices of a coin in a currency, one from each source.
    pub fn of_coin(db, coin: &str, currency: Currency) -> Vec<RateFigure> =
        select "from rate_figures where coin = :coin and currency = :currency order by source";

    fn remove_of_source(tx, source: FigureSource) = "delete from rate_figures where source = :source";

    fn insert(tx, source: FigureSource, told: &CoinFigure) = insert into rate_figures {
        coin: told.coin, currency: told.currency, source, rate: told.figure.rate, via: told.figure.via,
        at: told.figure.at,
    };
}

/// Replaces all prices of a source.
pub fn replace_figures(
    tx: &Tx<'_>,
    source: FigureSource,
    prices: &[CoinFigure],
) -> Result<(), StoreError> {
    remove_of_source(tx, source)?;
    prices.iter().try_for_each(|told| insert(tx, source, told))
}
