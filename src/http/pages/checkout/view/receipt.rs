//! The receipt of a paid invoice.

use super::{CheckoutView, coins, explorer_link};
use crate::http::pages::checkout::phrases::network_name;
use crate::http::pages::format_moment;
use crate::web::templates::Receipt;
use crate::web::words::fill;

impl<'a> CheckoutView<'a> {
    /// Returns the receipt of the invoice, `None` unless the invoice is paid.
    pub(super) fn receipt(&self) -> Option<Receipt<'a>> {
        let (invoice, words) = (self.invoice(), self.words());
        let confirmed_at = invoice.confirmed_at.filter(|_| invoice.status.is_paid())?;
        let mut facts = vec![
            (words.date, format_moment(confirmed_at).text),
            (words.price, self.format_price()),
        ];
        if let Some(coin) = &invoice.coin {
            let network = network_name(coin.asset.chain);
            let network = fill(words.network, &[("network", &network)]);
            facts.push((words.coin, format!("{} · {network}", coins::coin_name(coin.asset))));
            facts.push((words.rate, self.format_rate(coin)));
            let received = invoice.amount_received;
            facts.extend(received.map(|sum| (words.received, self.format_amount(coin.asset, sum))));
        }
        let payments = self.checkout.confirmed.iter();
        Some(Receipt {
            seller: &self.checkout.account.name,
            address_lines: &self.checkout.account.address_lines,
            facts,
            transactions: payments
                .map(|(payment, on_chain)| (payment.txid.as_str(), explorer_link(on_chain)))
                .collect(),
        })
    }
}
