//! The table `rates_known`: the newest rate that was ever known of each coin.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::money::{Bps, Currency};
use crate::domain::rate::Quoted;
use rusqlite::named_params;

rows! {
    fn read(rate, rate_source, rate_at, rate_evidence) -> Quoted {
        Ok(Quoted { rate, source: rate_source, at: rate_at, spread: Bps(0), evidence: rate_evidence })
    }
    OF_COIN = select "from rates_known where coin = :coin and currency = :currency";
}

commands! {
    PUT = "insert or replace into rates_known (coin, currency, rate, rate_source, rate_at, rate_evidence) \
        values (:coin, :currency, :rate, :rate_source, :rate_at, :rate_evidence)";
}

/// The newest that is known.
pub fn of_coin(
    db: &Reader<'_>,
    coin: &str,
    currency: Currency,
) -> Result<Option<Quoted>, StoreError> {
    let params = named_params! { ":coin": coin, ":currency": currency };
    OF_COIN.first(db, params)
}

/// This one is known now.
pub fn put(tx: &Tx<'_>, coin: &str, currency: Currency, quoted: &Quoted) -> Result<(), StoreError> {
    let params = named_params! {
        ":coin": coin, ":currency": currency, ":rate": quoted.rate, ":rate_source": quoted.source,
        ":rate_at": quoted.at, ":rate_evidence": quoted.evidence,
    };
    PUT.run(tx, params).map(drop)
}
