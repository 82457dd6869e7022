//! Fee of a transaction, as the node estimates it.

use super::Utxo;
use super::values::units;
use crate::chain::NodeError;
use crate::chain::rpc::Failure;
use crate::domain::money::coin::Units;
use crate::domain::network_fee::{NodeFees, VIRTUAL_BYTES, WITHIN_BLOCKS};
use serde::Deserialize;
use serde_json::{Number, json};

/// Virtual bytes that a fee rate is for.
const RATE_BYTES: u128 = 1000;

#[derive(Deserialize)]
struct Estimate {
    /// Coins per 1 000 virtual bytes; left out, or negative, where the node has seen too few blocks.
    feerate: Option<Number>,
}

impl Utxo {
    /// Fee of a transaction of 250 virtual bytes; `None` where the node has no estimate.
    pub(super) fn estimate(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.identified()?;
        let answer = self.rpc.call("estimatesmartfee", &json!([WITHIN_BLOCKS]));
        let estimate: Estimate = match answer {
            Ok(estimate) => estimate,
            Err(Failure::Method(_)) => return Ok(None),
            Err(Failure::Node(error)) => return Err(error),
        };
        Ok(estimate.feerate.as_ref().and_then(of_rate))
    }
}

/// The fee at a rate, rounded up; `None` for a rate that is none.
pub(in crate::chain) fn of_rate(rate: &Number) -> Option<NodeFees> {
    let of_bytes = units(rate)?.0.checked_mul(VIRTUAL_BYTES)?;
    let fee = Units(of_bytes.div_ceil(RATE_BYTES));
    (fee > Units::ZERO).then_some(NodeFees {
        own_coin: fee,
        token: fee,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Units, of_rate};

    #[test]
    fn a_fee_follows_from_the_digits_of_the_rate() {
        for (rate, fee) in [
            ("0.00010000", Some(2_500)),
            ("0.00001001", Some(251)),
            ("1e-8", Some(1)),
            ("1", Some(25_000_000)),
            ("0", None),
            ("0.0", None),
            ("-1", None),
            ("0.000000001", None),
            ("1e60", None),
        ] {
            let found = of_rate(&serde_json::from_str(rate).unwrap());
            assert_eq!(found.map(|fees| fees.own_coin), fee.map(Units), "{rate}");
        }
    }
}
