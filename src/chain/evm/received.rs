//! What came in with a transaction, worked out from its receipt.
//!
//! What does not live here: where a hint that there is something came from. What always holds: nothing counts but by a
//! receipt of the block that is read, and a log's position is its place in that receipt.

use super::answers::{Log, Receipt};
use super::hex::{Account, Number, Word};
use super::logs::transfer;
use super::traces::Sent;
use crate::chain::rpc::lied;
use crate::chain::{NodeError, Received, Watched};
use crate::domain::address::of_account;
use crate::domain::asset::{Asset, Chain};
use crate::domain::money::coin::Units;
use crate::domain::observation::{CONTRACTS_FROM, Spent};

/// Why a transaction is looked at.
#[derive(Debug, Default)]
pub struct Hint {
    /// The hash of the block that it is said to be in.
    pub block: Option<Word>,
    /// What the transaction itself carries: from, to, how much.
    pub carried: Option<(Account, Account, Number)>,
    /// What contracts sent in it.
    pub sent: Vec<Sent>,
    /// What tokens it moved, as the search for logs told.
    pub logs: Vec<Log>,
}

/// What is looked for.
pub struct Sought<'a> {
    pub chain: Chain,
    /// The chain's own coin, where it is one of ours.
    pub native: Option<&'static Asset>,
    /// The contracts of the tokens that are ours.
    pub tokens: &'a [(Account, &'static Asset)],
    pub watched: &'a dyn Watched,
}

impl Sought<'_> {
    /// The coin of a contract.
    pub fn token(&self, contract: Account) -> Option<&'static Asset> {
        let mut tokens = self.tokens.iter();
        let token = tokens.find(|(address, _)| *address == contract);
        token.map(|(_, asset)| *asset)
    }

    /// May this log be money for us? Transfers of nothing are sent to everybody, for them to copy an address from.
    pub fn is_hit(&self, log: &Log) -> bool {
        let moved = transfer(log).filter(|_| self.token(log.address).is_some());
        let moved = moved.filter(|transfer| !transfer.amount.is_zero());
        moved.is_some_and(|transfer| self.watched.has_account(&transfer.to.0))
    }

    /// What came in with this transaction, by position.
    ///
    /// # Errors
    /// [`NodeError::Lied`] where the receipt does not fit itself or the hint; [`NodeError::Behind`] where it is of another
    /// block.
    pub fn received(
        &self,
        (height, txid): (u32, Word),
        hint: &Hint,
        receipt: &Receipt,
    ) -> Result<Vec<Received>, NodeError> {
        if hint.block != Some(receipt.block_hash) {
            return Err(NodeError::Behind);
        }
        let is_its =
            receipt.transaction_hash == txid && receipt.block_number.place() == Some(height);
        let has_logs = hint.logs.iter().all(|hint| {
            let mut logs = receipt.logs.iter();
            logs.any(|log| is_same(log, hint))
        });
        let is_done = match receipt.status {
            Number::Small(1) => true,
            Number::Small(0) if receipt.logs.is_empty() => false,
            _ => return Err(lied("a receipt tells of no status that there is")),
        };
        if !is_its || !has_logs || !is_in_order(receipt) {
            return Err(lied("a receipt does not fit its transaction"));
        }
        let mut received = Vec::new();
        if !is_done {
            return Ok(received);
        }
        if let (Some(asset), Some((from, to, amount))) = (self.native, hint.carried) {
            received.extend(self.one(asset, txid, 0, (from, to, amount)));
        }
        for (position, log) in (1..CONTRACTS_FROM).zip(&receipt.logs) {
            if let (Some(asset), Some(moved)) = (self.token(log.address), transfer(log)) {
                let moved = (moved.from, moved.to, moved.amount);
                received.extend(self.one(asset, txid, position, moved));
            }
        }
        for sent in &hint.sent {
            let position = CONTRACTS_FROM.saturating_add(sent.ordinal);
            let moved = (sent.from, sent.to, sent.amount);
            received.extend(
                self.native
                    .and_then(|asset| self.one(asset, txid, position, moved)),
            );
        }
        Ok(received)
    }

    fn one(
        &self,
        asset: &'static Asset,
        txid: Word,
        position: u32,
        moved: Moved,
    ) -> Option<Received> {
        let txid = txid.to_string();
        credited((self.chain, self.watched), asset, (&txid, position), moved)
    }
}

/// An amount that was moved: from, to, how much.
pub type Moved = (Account, Account, Number);

/// One amount that was moved to a watched account. None that is nothing, and none past 128 bits, of which no coin has
/// so many.
pub fn credited(
    (chain, watched): (Chain, &dyn Watched),
    asset: &'static Asset,
    (txid, position): (&str, u32),
    (from, to, amount): Moved,
) -> Option<Received> {
    if !watched.has_account(&to.0) || amount.is_zero() {
        return None;
    }
    let address = of_account(chain, &to.0)?;
    let Some(amount) = amount.small() else {
        let id = asset.id;
        log::warn!("{txid} tells of more {id} to {address} than 128 bits count: it is left out");
        return None;
    };
    // New coins and tokens have no sender.
    let from = of_account(chain, &from.0);
    Some(Received {
        asset,
        txid: txid.to_owned(),
        position,
        address,
        amount: Units(amount),
        first_seen: None,
        spends: from.into_iter().map(Spent::Address).collect(),
    })
}

/// Are these one log?
fn is_same(log: &Log, other: &Log) -> bool {
    (log.address, log.log_index, log.data) == (other.address, other.log_index, other.data)
        && log.topics == other.topics
}

/// Are the logs of a receipt its own, in their order?
fn is_in_order(receipt: &Receipt) -> bool {
    let is_its = |log: &Log| {
        log.transaction_hash == receipt.transaction_hash
            && log.block_hash == receipt.block_hash
            && !log.removed
    };
    let mut places = receipt.logs.iter().map(|log| log.log_index.place());
    places.all(|place| place.is_some())
        && receipt
            .logs
            .is_sorted_by(|one, next| one.log_index.place() < next.log_index.place())
        && receipt.logs.iter().all(is_its)
}
