//! Network fees from the estimate of the node.

use super::Utxo;
use super::values::parse_amount;
use crate::chain::NodeError;
use crate::chain::rpc::CallFailure;
use crate::domain::network_fee::{VIRTUAL_BYTES, WITHIN_BLOCKS};
use crate::domain::{NodeFees, Units};
use serde::Deserialize;
use serde_json::{Number, json};

/// Number of virtual bytes to which a fee rate applies.
const RATE_BYTES: u128 = 1000;

#[derive(Deserialize)]
struct FeeEstimate {
    /// Fee rate, in coins per 1 000 virtual bytes. Missing or negative if the node has seen too few blocks.
    feerate: Option<Number>,
}

impl Utxo {
    /// Returns the fee of a transaction of 250 virtual bytes; `None` if the node has no estimate.
    pub(super) fn estimate_fee(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.verify_network()?;
        let answer = self.rpc.call("estimatesmartfee", &json!([WITHIN_BLOCKS]));
        let estimate: FeeEstimate = match answer {
            Ok(estimate) => estimate,
            Err(CallFailure::Method(_)) => return Ok(None),
            Err(CallFailure::Node(error)) => return Err(error),
        };
        Ok(estimate.feerate.as_ref().and_then(fee_at_rate))
    }
}

/// Returns the fee at a rate, rounded up; `None` for an invalid rate.
pub(in crate::chain) fn fee_at_rate(rate: &Number) -> Option<NodeFees> {
    let of_bytes = parse_amount(rate)?.0.checked_mul(VIRTUAL_BYTES)?;
    let fee = Units(of_bytes.div_ceil(RATE_BYTES));
    (fee > Units::ZERO).then_some(NodeFees { own_coin: fee, token: fee })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Units, fee_at_rate};

    #[test]
    fn fee_is_computed_from_rate_digits() {
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
            let found = fee_at_rate(&serde_json::from_str(rate).unwrap());
            assert_eq!(found.map(|fees| fees.own_coin), fee.map(Units), "{rate}");
        }
    }
}
