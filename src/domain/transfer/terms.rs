//! Amount that a transfer sends, in its coin: the fiat amount converted at the rate, less the network fee.
//!
//! Invariant: the amount sent is rounded down and is more than zero.

use crate::domain::asset::{Asset, AssetKind};
use crate::domain::money::Cents;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::refusal::Refusal;

/// Terms of a transfer, fixed at approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferTerms {
    /// Exchange rate, fiat per whole coin.
    pub rate: Rate,
    /// Network fee, taken out of the amount, in base units of the coin.
    pub network_fee: Units,
    /// Amount that the destination gets, after the fee, in base units of the coin.
    pub amount_crypto: Units,
}

impl TransferTerms {
    /// Computes the terms of sending `amount` in this coin: amount ÷ rate, less the network fee.
    ///
    /// The amount to send is rounded down to the decimal places of the coin, at most to 8.
    ///
    /// # Errors
    /// `invalid_request` for `networkFee` if nothing is left to send. `invalid_request` for `rate` if the amount in the
    /// coin overflows.
    pub fn new(
        amount: Cents,
        asset: &Asset,
        rate: Rate,
        network_fee: Units,
    ) -> Result<TransferTerms, Refusal> {
        let gross = rate
            .units_bought_by(amount, asset.decimals)
            .map_err(|overflow| Refusal::field("rate", format!("cannot be used: {overflow}")))?;
        let left = gross
            .minus(network_fee)
            .map(|left| left.rounded_down(asset.decimals))
            .filter(|left| *left > Units::ZERO);
        let amount_crypto = left.ok_or_else(|| {
            let (fee, gross) = (asset.format_units(network_fee), asset.format_units(gross));
            let (id, problem) = (asset.id, "leaves nothing of the amount");
            Refusal::field("networkFee", format!("{problem}: {fee} of {gross} {id}"))
        })?;
        Ok(TransferTerms { rate, network_fee, amount_crypto })
    }
}

/// Returns the built-in network fee of a coin, in its base units.
///
/// Simulated chains use this fee. Real chains use it if no node has estimated a fee and the operator has set none.
pub const fn fixed_network_fee(asset: &Asset) -> Units {
    let [native, token] = asset.chain.row().fixed_fees;
    match asset.kind {
        AssetKind::Native => native,
        AssetKind::Spl | AssetKind::Erc20 | AssetKind::Trc20 => token,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Asset, Cents, Rate, TransferTerms, Units};

    fn terms(cents: i64, asset: &str, rate: &str, fee: &str) -> Result<String, String> {
        let asset = Asset::find(asset).unwrap();
        let (rate, fee) =
            (rate.parse::<Rate>().unwrap(), Units::parse(fee, asset.decimals).unwrap());
        let terms = TransferTerms::new(Cents(cents), asset, rate, fee);
        terms
            .map(|terms| asset.format_units(terms.amount_crypto))
            .map_err(|refusal| refusal.message)
    }

    #[test]
    fn amount_sent_is_rounded_down_after_the_fee() {
        for (cents, asset, rate, fee, sent) in [
            (2_000, "SOL", "150", "0.000005", "0.13332833"),
            (15_000, "SOL", "150", "0", "1"),
            (2_000, "BTC", "60000", "0.00002", "0.00031333"),
            (1_000, "ETH", "3000", "0.0002", "0.00313333"),
            // The amount is 30 ÷ 3000 = 0.01 ETH. It is rounded to 8 places only after the fee of 10^-18 ETH is
            // subtracted.
            (3_000, "ETH", "3000", "0.000000000000000001", "0.00999999"),
            (1_000, "USDC-BASE", "0.92", "0.01", "10.859565"),
            (2_000, "DOGE", "0.2", "1", "99"),
        ] {
            assert_eq!(terms(cents, asset, rate, fee).as_deref(), Ok(sent), "{cents} {asset}");
        }
    }

    #[test]
    fn fee_that_leaves_nothing_is_refused() {
        for fee in ["0.25", "0.26", "1000000"] {
            let message = terms(2_000, "LTC", "80", fee).unwrap_err();
            assert!(message.starts_with("networkFee leaves nothing"), "{message}");
        }
        let rest = terms(2_000, "LTC", "80", "0.24999999");
        assert_eq!(rest.as_deref(), Ok("0.00000001"));
        let dust = terms(1, "SOL", "1844674407", "0");
        assert!(dust.is_err(), "less than the eighth place: {dust:?}");
    }

    #[test]
    fn overflowing_amount_is_refused() {
        let message = terms(i64::MAX, "ETH", "0.0000000001", "0").unwrap_err();
        assert!(message.starts_with("rate "), "{message}");
    }
}
