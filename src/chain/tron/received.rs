//! Payments to watched accounts by a transaction of Tron.
//!
//! Invariant: a log's position is its place in its own transaction, that of native coin its place among what contracts sent.

use super::answers::{Act, Info, Internal, Log, Transaction};
use super::hex::{account_of, number_of};
use crate::chain::evm::TRANSFER;
use crate::chain::evm::hex::{Account, Number, Word};
use crate::chain::evm::received::{Moved, credited};
use crate::chain::{NodeError, Received, Watched};
use crate::domain::asset::{Asset, Chain};
use crate::domain::observation::CONTRACTS_FROM;

/// Notes of the steps that move native coin: `call`, `create` and `suicide`. Those of staking have amounts, too.
const MOVING: [&str; 3] = ["63616c6c", "637265617465", "73756963696465"];

/// Coins and accounts that are looked for.
pub struct Sought<'a> {
    /// The chain's own coin.
    pub native: Option<&'static Asset>,
    /// Contracts of the listed tokens.
    pub tokens: &'a [(Account, &'static Asset)],
    pub watched: &'a dyn Watched,
}

impl Sought<'_> {
    /// Returns `true` if the transaction's own words say that it pays a watched account in a listed token.
    pub fn is_hit(&self, transaction: &Transaction) -> bool {
        let Act::Call { transfers } = &transaction.act else {
            return false;
        };
        transfers.is_some_and(|(contract, to)| {
            self.token(contract).is_some() && self.watched.has_account(&to.0)
        })
    }

    /// Payments to watched accounts by a transaction, by position.
    ///
    /// # Errors
    /// [`NodeError::Lied`] where there are some, and its block and its receipt disagree on whether it did what it should.
    pub fn agreed(
        &self,
        transaction: &Transaction,
        info: Option<&Info>,
    ) -> Result<Vec<Received>, NodeError> {
        let by_receipt = info
            .filter(|_| transaction.is_contract())
            .map(Info::is_done);
        if !transaction.is_done && by_receipt != Some(true) {
            return Ok(Vec::new());
        }
        let received = self.received(transaction, info);
        let agrees = transaction.is_done && by_receipt != Some(false);
        if agrees || received.is_empty() {
            return Ok(received);
        }
        let text = "a block and its receipts disagree on whether a transaction succeeded";
        Err(NodeError::Lied(text.to_owned()))
    }

    /// Payments to watched accounts by a transaction that did what it should, by position. What contracts did in it is left
    /// out where `info` is not there.
    fn received(&self, transaction: &Transaction, info: Option<&Info>) -> Vec<Received> {
        let mut found = Vec::new();
        let mut add = |asset, position, moved| {
            let txid = transaction.id.to_string();
            let one = credited((Chain::Tron, self.watched), asset, (&txid, position), moved);
            found.extend(one);
        };
        if let (Act::Transfer { to, amount }, Some(from), Some(native)) =
            (&transaction.act, transaction.sender, self.native)
        {
            let amount = Number::Small(u128::from(*amount));
            add(native, 0, (from, *to, amount));
        }
        let logs = info.map_or(&[][..], |info| info.log.as_slice());
        for (position, log) in (1..CONTRACTS_FROM).zip(logs) {
            if let Some((asset, moved)) = self.token_moved(log) {
                add(asset, position, moved);
            }
        }
        let internal = info.map_or(&[][..], |info| info.internal.as_slice());
        let internal = internal.iter().filter_map(native_moved);
        for (position, moved) in (CONTRACTS_FROM..).zip(internal) {
            if let (Some(native), Some(moved)) = (self.native, moved) {
                add(native, position, moved);
            }
        }
        found
    }

    fn token(&self, contract: Account) -> Option<&'static Asset> {
        let mut tokens = self.tokens.iter();
        let token = tokens.find(|(address, _)| *address == contract);
        token.map(|(_, asset)| *asset)
    }

    /// The transfer of a listed token that a log tells of.
    fn token_moved(&self, log: &Log) -> Option<(&'static Asset, Moved)> {
        let asset = self.token(log.address?.0)?;
        let [event, from, to] = log.topics.as_slice() else {
            return None;
        };
        let event: Option<Word> = Word::parse_digits(event.as_bytes());
        let from = account_of(from.as_bytes())?;
        let to = account_of(to.as_bytes())?;
        let amount = number_of(&log.data)?;
        (event == Some(TRANSFER)).then_some((asset, (from, to, amount)))
    }
}

/// Native coin that a step moved: more than nothing, and not taken back. Within it `None` where it was not between accounts.
fn native_moved(step: &Internal) -> Option<Option<Moved>> {
    if step.rejected || !MOVING.contains(&step.note.as_str()) {
        return None;
    }
    let mut values = step.values.iter();
    let value = values.find(|value| value.token_id.is_none())?;
    let amount = u128::try_from(value.call_value).ok();
    let amount = amount.filter(|amount| *amount > 0)?;
    let accounts = step.caller_address.zip(step.to);
    Some(accounts.map(|(from, to)| (from.0, to.0, Number::Small(amount))))
}
