//! The coins that a customer can choose: the shop's favorites first, one entry for each symbol.

use super::CheckoutView;
use crate::domain::{Asset, InvoiceCoin};
use crate::http::pages::checkout::phrases::{network_mark, network_name};
use crate::service::checkout::PayableCoin;
use crate::web::templates::{CoinEntry, CoinMark, CoinOption, CoinOptions};
use crate::web::words::fill;

impl<'a> CheckoutView<'a> {
    /// Returns the coins that the customer can choose, without `picked`, the coin that the customer chose before.
    pub(super) fn coin_options(&self, picked: Option<&InvoiceCoin>) -> CoinOptions<'a> {
        let favorites = &self.checkout.account.favorite_coins;
        let rank = |due: &PayableCoin| {
            let place = favorites.iter().position(|favorite| *favorite == due.asset);
            place.unwrap_or(favorites.len())
        };
        let others = self.checkout.coins.iter();
        let others = others.filter(|due| picked.is_none_or(|coin| coin.asset != due.asset));
        let mut others: Vec<_> = others.collect();
        others.sort_by_key(|due| rank(due));
        let mut entries: Vec<CoinEntry> = Vec::new();
        for due in others {
            let option = self.coin_option(due);
            match entries.iter_mut().find(|entry| entry.symbol == option.symbol) {
                Some(entry) => {
                    entry.networks = format!("{} · {}", entry.networks, option.network);
                    entry.due = entry.due.take().filter(|due| *due == option.due);
                    entry.options.push(option);
                }
                None => entries.push(CoinEntry {
                    symbol: option.symbol,
                    name: option.name,
                    mark: CoinMark { coin: symbol_mark(due.asset), network: None },
                    networks: option.network.clone(),
                    due: Some(option.due.clone()),
                    options: vec![option],
                }),
            }
        }
        CoinOptions { invoice_id: &self.invoice().id, hidden: self.hidden_fields(), entries }
    }

    fn coin_option(&self, due: &PayableCoin) -> CoinOption {
        let asset = due.asset;
        let network = network_name(asset.chain);
        CoinOption {
            id: asset.id,
            name: coin_name(asset),
            symbol: asset.symbol,
            mark: token_mark(asset),
            network_text: fill(self.words().network, &[("network", &network)]),
            network,
            is_for_tests: due.is_on_test_network,
            due: self.format_amount(asset, due.amount),
        }
    }
}

/// Returns the name of a coin without its network, which the page shows separately.
pub(super) fn coin_name(asset: &'static Asset) -> &'static str {
    asset.name.split(" on ").next().unwrap_or_default()
}

/// Returns the mark of a coin. The mark of a token has a badge of its network.
pub(super) fn token_mark(asset: &Asset) -> CoinMark {
    let network = asset.kind.has_contract().then(|| network_mark(asset.chain));
    CoinMark { coin: symbol_mark(asset), network }
}

fn symbol_mark(asset: &Asset) -> String {
    asset.symbol.to_ascii_lowercase()
}
