//! Network fees: the gas price of the node times the gas of a transfer.

use super::Evm;
use super::hex::Number;
use crate::chain::NodeError;
use crate::chain::rpc::CallFailure;
use crate::domain::network_fee::{GAS, TOKEN_GAS};
use crate::domain::{NodeFees, Units};

impl Evm {
    /// Returns the fees of transfers; `None` if the gas price is zero or the fee overflows.
    pub(super) fn gas_fees(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.verify_identity()?;
        match self.rpc.call::<Number>("eth_gasPrice", &[(); 0]) {
            Ok(price) => Ok(fees_at_gas_price(price)),
            Err(CallFailure::Method(_)) => Ok(None),
            Err(CallFailure::Node(error)) => Err(error),
        }
    }
}

fn fees_at_gas_price(price: Number) -> Option<NodeFees> {
    let price = price.to_u128().filter(|price| *price > 0)?;
    let of_gas = |gas: u128| price.checked_mul(gas).map(Units);
    Some(NodeFees { own_coin: of_gas(GAS)?, token: of_gas(TOKEN_GAS)? })
}

#[cfg(test)]
mod tests {
    use super::{NodeFees, Number, Units, fees_at_gas_price};

    #[test]
    fn fee_is_gas_price_times_gas() {
        let gwei = fees_at_gas_price(Number::Small(1_000_000_000));
        let fees =
            NodeFees { own_coin: Units(21_000_000_000_000), token: Units(65_000_000_000_000) };
        assert_eq!(gwei, Some(fees));
        for none in [Number::Small(0), Number::Small(u128::MAX), Number::Large] {
            assert_eq!(fees_at_gas_price(none), None);
        }
    }
}
