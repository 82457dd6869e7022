//! Network fees: a node's estimate, and the proposed fee of a coin.

use super::asset::{Asset, AssetKind};
use super::money::coin::{Rate, Units};
use super::time::{MINUTE_MS, Time};
use super::transfer::approval::{FeeSource, ProposedFee};

/// Assumed virtual size of a transaction on chains with outputs, in bytes.
pub const VIRTUAL_BYTES: u128 = 250;
/// Number of blocks within which a transaction with the estimated fee should be confirmed.
pub const WITHIN_BLOCKS: u32 = 3;
/// Gas for a transfer of a chain's own coin.
pub const GAS: u128 = 21_000;
/// Gas for a transfer of a token.
pub const TOKEN_GAS: u128 = 65_000;
const AGE_MS_MAX: i64 = 30 * MINUTE_MS;

/// Fees that a node estimates, in base units of the chain's own coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeFees {
    /// Fee of a transfer of the chain's own coin.
    pub own_coin: Units,
    /// Fee of a transfer of a token.
    pub token: Units,
}

/// A node's fee estimate, and the time of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeeEstimate {
    /// Fees that the node estimated.
    pub fees: NodeFees,
    /// Time of the estimate.
    pub at: Time,
}

/// Fee that is used without an estimate: the operator's setting, otherwise the built-in fee.
#[derive(Clone, Copy, Debug)]
pub struct FixedFee {
    /// Amount of the fee, in base units of the coin that is sent.
    pub amount: Units,
    /// Source of the fee: [`FeeSource::Setting`] or [`FeeSource::Default`].
    pub source: FeeSource,
}

/// Fresh rates of a chain's own coin and of the coin that is sent, in one currency.
#[derive(Clone, Copy, Debug)]
pub struct FeeRates {
    /// Rate of the chain's own coin.
    pub own_coin: Rate,
    /// Rate of the coin that is sent.
    pub sent: Rate,
}

/// Returns the fee to propose for a coin: the node's estimate, otherwise the fixed fee.
///
/// `rates` convert the estimate to the coin that is sent. On chains that charge for data besides gas, the fixed fee
/// is added to the estimate.
pub fn propose_fee(
    asset: &Asset,
    estimate: Option<FeeEstimate>,
    rates: Option<FeeRates>,
    fixed: FixedFee,
    now: Time,
) -> ProposedFee {
    let young = estimate.filter(|estimate| now.since_ms(estimate.at) <= AGE_MS_MAX);
    let estimated = young.and_then(|estimate| {
        let amount = convert_estimate(asset, estimate.fees, rates, fixed)?;
        Some(ProposedFee { amount, source: FeeSource::Estimate, estimated_at: Some(estimate.at) })
    });
    estimated.unwrap_or(ProposedFee {
        amount: fixed.amount,
        source: fixed.source,
        estimated_at: None,
    })
}

/// Converts an estimate to the coin that is sent; `None` if the result is zero or cannot be computed.
fn convert_estimate(
    asset: &Asset,
    fees: NodeFees,
    rates: Option<FeeRates>,
    fixed: FixedFee,
) -> Option<Units> {
    let amount = match asset.kind {
        AssetKind::Native => fees.own_coin,
        AssetKind::Erc20 | AssetKind::Trc20 | AssetKind::Spl => {
            let (rates, gas_coin) = (rates?, gas_coin(asset)?);
            let FeeRates { own_coin, sent } = rates;
            own_coin.convert_units(fees.token, gas_coin.decimals, sent, asset.decimals).ok()?
        }
    };
    if amount == Units::ZERO {
        return None;
    }
    if asset.chain.row().charges_for_data {
        return amount.plus(fixed.amount).ok();
    }
    Some(amount)
}

/// Returns the coin that pays fees on the chain of this coin; `None` if no rate source has that coin.
pub fn gas_coin(asset: &Asset) -> Option<&'static Asset> {
    asset.chain.row().gas_coin.and_then(Asset::find)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        AGE_MS_MAX, Asset, FeeEstimate, FeeRates, FeeSource, FixedFee, NodeFees, Time, Units,
        propose_fee,
    };
    use crate::domain::asset::ASSETS;

    const AT: Time = Time(1_000);
    /// A gas price of one gwei, in wei.
    const GWEI: u128 = 1_000_000_000;

    fn proposed_fee_text(
        id: &str,
        fees: NodeFees,
        rates: Option<[&str; 2]>,
        age_ms: i64,
    ) -> String {
        let asset = Asset::find(id).unwrap();
        let fixed = FixedFee { amount: Units(10_000), source: FeeSource::Setting };
        let rates = rates.map(|[own_coin, sent]| FeeRates {
            own_coin: own_coin.parse().unwrap(),
            sent: sent.parse().unwrap(),
        });
        let estimate = Some(FeeEstimate { fees, at: AT });
        let fee = propose_fee(asset, estimate, rates, fixed, AT.plus_ms(age_ms));
        assert_eq!(fee.estimated_at.is_some(), fee.source == FeeSource::Estimate);
        format!("{} {}", asset.format_units(fee.amount), fee.source)
    }

    #[test]
    fn estimate_is_used_if_fresh_and_convertible() {
        let utxo = NodeFees { own_coin: Units(2_500), token: Units(0) };
        let evm = NodeFees { own_coin: Units(21_000 * GWEI), token: Units(65_000 * GWEI) };
        let rates = Some(["3000", "0.92"]);
        for (id, fees, rates, age_ms, expected) in [
            ("LTC", utxo, None, 0, "0.000025 estimate"),
            ("LTC", utxo, None, AGE_MS_MAX, "0.000025 estimate"),
            ("LTC", utxo, None, AGE_MS_MAX + 1, "0.0001 setting"),
            ("LTC", NodeFees { own_coin: Units(0), token: Units(0) }, None, 0, "0.0001 setting"),
            ("ETH", evm, None, 0, "0.000021 estimate"),
            ("USDC-ERC20", evm, rates, 0, "0.211957 estimate"),
            ("USDC-ERC20", evm, None, 0, "0.01 setting"),
            // The expected fee is the estimate of 0.211957 plus the fixed fee of 0.01, which covers the data cost on
            // layer 1.
            ("USDC-BASE", evm, rates, 0, "0.221957 estimate"),
            // No rate source has Polygon's own coin, so the fixed fee is proposed.
            ("USDC-POLYGON", evm, rates, 0, "0.01 setting"),
            (
                "USDC-ERC20",
                NodeFees { own_coin: Units(1), token: Units(u128::MAX) },
                Some(["18446744073709551615", "0.0000000001"]),
                0,
                "0.01 setting",
            ),
        ] {
            assert_eq!(proposed_fee_text(id, fees, rates, age_ms), expected, "{id}");
        }
    }

    #[test]
    fn every_gas_coin_is_a_native_coin() {
        for asset in &ASSETS {
            if let Some(id) = asset.chain.row().gas_coin {
                let coin = Asset::find(id).unwrap();
                assert_eq!(coin.kind, crate::domain::asset::AssetKind::Native, "{id}");
            }
        }
    }
}
