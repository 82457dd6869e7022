//! The table `rate_figures`: what each source said last that a coin costs.

use super::statement::{commands, rows};
use super::{StoreError, Tx};
use crate::domain::money::Currency;
use crate::domain::rate::{CoinFigure, Figure, FigureSource};
use rusqlite::named_params;

rows! {
    fn read(source, rate, via, at) -> Figure {
        Ok(Figure { source, rate, via, at })
    }

    /// What is said of a coin in a currency.
    pub fn of_coin(db, coin: &str, currency: Currency) -> Vec<Figure> =
        select "from rate_figures where coin = :coin and currency = :currency order by source";
}

commands! {
    FORGET = "delete from rate_figures where source = :source";
    INSERT = "insert into rate_figures (coin, currency, source, rate, via, at) \
        values (:coin, :currency, :source, :rate, :via, :at)";
}

/// A source says this, and nothing that it said before.
pub fn replace(tx: &Tx<'_>, source: FigureSource, told: &[CoinFigure]) -> Result<(), StoreError> {
    FORGET.run(tx, named_params! { ":source": source })?;
    for CoinFigure {
        coin,
        currency,
        figure,
    } in told
    {
        let params = named_params! {
            ":coin": coin, ":currency": currency, ":source": source, ":rate": figure.rate, ":via": figure.via,
            ":at": figure.at,
        };
        INSERT.run(tx, params)?;
    }
    Ok(())
}
