//! Balances and transaction counts of accounts.
//!
//! Invariant: the block is final, so that no reorg changes the answer.

use super::hex::Number;
use super::logs::encode_quantity;
use super::{Evm, invalid_answer};
use crate::chain::{AccountBalance, NodeError};
use crate::domain::Units;

impl Evm {
    /// Implements [`Node::balances_at`](crate::chain::Node::balances_at).
    pub(super) fn read_balances(
        &mut self,
        accounts: &[String],
        height: u32,
    ) -> Result<Option<Vec<AccountBalance>>, NodeError> {
        self.verify_identity()?;
        let methods = ["eth_getBalance", "eth_getTransactionCount"];
        let calls: Vec<_> = accounts
            .iter()
            .flat_map(|account| methods.map(|method| (method, (account, encode_quantity(height)))))
            .collect();
        let answers = self.rpc.batch::<Number>(&calls)?;
        let mut told = Vec::with_capacity(answers.len());
        for answer in answers {
            // Nodes keep the state of recent blocks only, and return an error for older blocks.
            let Ok(number) = answer else {
                return Ok(None);
            };
            told.push(number);
        }
        let mut held = Vec::with_capacity(accounts.len());
        for pair in told.chunks_exact(methods.len()) {
            let [amount, sent] = pair else { continue };
            let amount = amount.to_u128().map(Units);
            held.push(AccountBalance {
                amount: amount
                    .ok_or_else(|| invalid_answer("an account has more than there is"))?,
                has_sent: !sent.is_zero(),
            });
        }
        Ok(Some(held))
    }
}
