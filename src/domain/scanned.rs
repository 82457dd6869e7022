//! Times up to which lagging chains have been scanned, and the effect of a lag on invoices.
//!
//! Invariant: only live invoices with a quote on a lagging chain wait for the chain, and no invoice waits longer than
//! [`HELD_MS_MAX`].

use super::asset::{Asset, Mode};
use super::chain::Chain;
use super::quote::Quote;
use super::time::{HOUR_MS, MINUTE_MS, Time};

/// Longest time that an invoice waits for a lagging chain after its deadline, in milliseconds.
pub const HELD_MS_MAX: i64 = 6 * HOUR_MS;
const SEPARATOR: &str = ",";
/// Largest lag of a chain at which its coins can still be selected, in milliseconds.
const OFFERED_MS_MAX: i64 = 15 * MINUTE_MS;

/// The lagging chains, each with the time up to which it has been scanned.
#[derive(Clone, Debug, Default)]
pub struct LaggingChains(Vec<(Chain, Time)>);

impl LaggingChains {
    /// Wraps the lagging chains of live mode. All other chains are up to date.
    pub fn new(lagging: Vec<(Chain, Time)>) -> LaggingChains {
        LaggingChains(lagging)
    }

    /// Returns `true` if no chain lags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the time up to which a live chain has been scanned; `None` if the chain is up to date.
    pub fn scanned_to(&self, chain: Chain) -> Option<Time> {
        let found = self.0.iter().find(|(lagging, _)| *lagging == chain);
        found.map(|(_, to)| *to)
    }

    /// Returns `true` if the lag of the coin's chain is small enough for the coin to be selected.
    pub fn is_on_offer(&self, mode: Mode, asset: &Asset, now: Time) -> bool {
        let to = self.scanned_to(asset.chain).filter(|_| mode.is_live());
        to.is_none_or(|to| now.since_ms(to) <= OFFERED_MS_MAX)
    }

    /// Returns the earliest time up to which the listed chains have been scanned; `None` if all are up to date.
    ///
    /// `waits_for` is the list that [`awaited_chains`] writes.
    pub fn earliest_scanned_to(&self, waits_for: &str) -> Option<Time> {
        let is_lagging = |(chain, _): &&(Chain, Time)| is_chain_awaited(waits_for, *chain);
        let lagging = self.0.iter().filter(is_lagging);
        lagging.map(|(_, to)| *to).min()
    }

    /// Returns the time for which the status of an invoice is computed.
    ///
    /// While a chain lags, this is the time up to which the chain has been scanned, so that timely payments still
    /// count as timely. The wait ends [`HELD_MS_MAX`] after the deadline.
    pub fn status_time(&self, waits_for: &str, deadline: Time, now: Time) -> Time {
        match self.earliest_scanned_to(waits_for) {
            Some(to) if now < deadline.plus_ms(HELD_MS_MAX) => now.min(to),
            Some(_) | None => now,
        }
    }

    /// Returns the time at which an invoice expires: its deadline, or the end of its wait for lagging chains.
    pub fn expires_at(&self, waits_for: &str, deadline: Time) -> Time {
        match self.earliest_scanned_to(waits_for) {
            Some(to) if to < deadline => deadline.plus_ms(HELD_MS_MAX),
            Some(_) | None => deadline,
        }
    }

    /// Returns the latest deadline at which an unpaid invoice is already expired, if it waits for the listed chains.
    pub fn latest_expired_deadline(&self, waits_for: &str, now: Time) -> Time {
        let given_up = now.plus_ms(HELD_MS_MAX.saturating_neg());
        self.earliest_scanned_to(waits_for).map_or(now, |to| now.min(to.max(given_up)))
    }
}

/// Returns `true` if the list from [`awaited_chains`] contains this chain.
pub fn is_chain_awaited(waits_for: &str, chain: Chain) -> bool {
    let mut waited = waits_for.split(SEPARATOR);
    waited.any(|waited| waited == chain.as_str())
}

/// Returns the list of chains whose lag delays the expiry of an invoice, sorted and without duplicates.
///
/// These are the live chains on which the invoice can be paid in time. Two kinds of quotes do not count: those made
/// after the deadline, and those at an address that does not belong to the invoice.
pub fn awaited_chains(mode: Mode, quotes: &[Quote], deadline: Time) -> String {
    if !mode.is_live() {
        return String::new();
    }
    let asked_for = |quote: &&Quote| !quote.given && quote.created_at < deadline;
    let mut chains: Vec<&str> =
        quotes.iter().filter(asked_for).map(|quote| quote.asset.chain.as_str()).collect();
    chains.sort_unstable();
    chains.dedup();
    chains.join(SEPARATOR)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Chain, HELD_MS_MAX, LaggingChains, Mode, OFFERED_MS_MAX, Quote, Time, awaited_chains,
    };
    use crate::domain::asset::Asset;
    use crate::domain::money::coin::Units;
    use crate::domain::rate::RateQuote;

    fn quotes(assets: &[&str]) -> Vec<Quote> {
        let quote = |asset: &&str| Quote {
            given: false,
            seq: 1,
            asset: Asset::find(asset).unwrap(),
            quoted: RateQuote::fixed("1".parse().unwrap(), Time(0)),
            amount_expected: Units(1),
            address: String::new(),
            created_at: Time(0),
        };
        assets.iter().map(quote).collect()
    }

    #[test]
    fn invoice_waits_for_the_most_lagging_chain_up_to_a_limit() {
        let scanned = LaggingChains::new(vec![(Chain::Bitcoin, Time(50)), (Chain::Tron, Time(70))]);
        let now_for = |mode, assets: &[&str], now| {
            let chains = awaited_chains(mode, &quotes(assets), Time(60));
            scanned.status_time(&chains, Time(60), Time(now))
        };
        for (mode, assets, now, judged_at) in [
            (Mode::Live, &["BTC"][..], 40, 40),
            (Mode::Live, &["BTC"], 80, 50),
            (Mode::Live, &["TRX", "BTC", "ETH"], 80, 50),
            (Mode::Live, &["TRX", "ETH"], 80, 70),
            (Mode::Live, &["ETH"], 80, 80),
            (Mode::Live, &[], 80, 80),
            (Mode::Test, &["BTC"], 80, 80),
            (Mode::Live, &["BTC"], 59 + HELD_MS_MAX, 50),
            (Mode::Live, &["BTC"], 60 + HELD_MS_MAX, 60 + HELD_MS_MAX),
        ] {
            assert_eq!(now_for(mode, assets, now), Time(judged_at), "{mode} {assets:?} {now}");
        }
        for (mode, assets, due_at) in [
            (Mode::Live, &["BTC"][..], 60 + HELD_MS_MAX),
            (Mode::Live, &["TRX"], 60),
            (Mode::Live, &["ETH"], 60),
            (Mode::Test, &["BTC"], 60),
        ] {
            let chains = awaited_chains(mode, &quotes(assets), Time(60));
            assert_eq!(scanned.expires_at(&chains, Time(60)), Time(due_at));
            for now in [0, 49, 50, 59, 60, 61, due_at - 1, due_at, due_at + 1] {
                let is_due = Time(60) <= scanned.latest_expired_deadline(&chains, Time(now));
                assert_eq!(is_due, now >= due_at, "{chains} at {now}");
            }
        }
    }

    #[test]
    fn invoice_waits_for_the_chains_of_its_timely_quotes() {
        let mut all = quotes(&["TRX", "BTC", "USDT-TRC20", "ETH"]);
        let chains = |quotes: &[Quote]| awaited_chains(Mode::Live, quotes, Time(60));
        assert_eq!(chains(&all), "bitcoin,ethereum,tron");
        assert_eq!(awaited_chains(Mode::Test, &all, Time(60)), "");
        for quote in &mut all {
            quote.given = quote.asset.chain == Chain::Bitcoin;
            if quote.asset.chain == Chain::Ethereum {
                quote.created_at = Time(60);
            }
        }
        assert_eq!(chains(&all), "tron");
        // The name of a chain must not contain the separator.
        assert!(Chain::TEXTS.iter().all(|name| !name.contains(',')));
    }

    #[test]
    fn coin_of_a_long_lagging_chain_is_not_offered() {
        let scanned = LaggingChains::new(vec![(Chain::Bitcoin, Time(50))]);
        let [bitcoin, tron] = ["BTC", "TRX"].map(|id| Asset::find(id).unwrap());
        let late = Time(51 + OFFERED_MS_MAX);
        assert!(scanned.is_on_offer(Mode::Live, bitcoin, late.plus_ms(-1)));
        assert!(!scanned.is_on_offer(Mode::Live, bitcoin, late));
        assert!(scanned.is_on_offer(Mode::Test, bitcoin, late));
        assert!(scanned.is_on_offer(Mode::Live, tron, late));
    }
}
