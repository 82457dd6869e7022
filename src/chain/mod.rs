//! Reads real chains through their nodes, and computes the steps that follow each chain. Also reads exchange rates.
//!
//! Invariant: every answer is checked before it is used. No text that leaves this module contains the URL of a node,
//! because the URL may contain a secret.

pub mod rates;

mod backoff;
pub mod cost;
pub mod electrum;
mod error;
pub mod evm;
pub mod filter;
pub mod follow;
mod kind;
#[cfg(test)]
pub(crate) mod memory;
pub mod rpc;
pub mod setting;
pub mod solana;
pub mod tokens;
mod transfers;
pub mod tron;
pub mod urls;
pub mod utxo;

pub use error::{FinalProblem, NodeError};

use crate::domain::{
    Asset, Block, ChainState, InputSource, NodeFees, PolledAddress, SetAside, Time, Units,
};

/// The newest block of a node, and the state of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The newest block.
    pub block: Block,
    /// Timestamp of the block.
    pub time: Time,
    /// `true` if the node is in sync. On UTXO chains, the initial download has ended, no block of a known header is
    /// missing, and there is a peer.
    ///
    /// Always `true` on other chains, where the caller compares `time` with the clock.
    pub is_complete: bool,
    /// Height of the newest final block, on chains whose nodes report a final block.
    pub finalized: Option<u32>,
}

/// A payment to a watched address, at one position of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedOutput {
    /// Coin of the payment.
    pub asset: &'static Asset,
    /// Transaction id, in the canonical form of the chain.
    pub txid: String,
    /// Position of the payment inside the transaction. The position does not change if another block includes the
    /// transaction.
    pub position: u32,
    /// Destination address, in the canonical form of the chain.
    pub address: String,
    /// Amount, in base units.
    pub amount: Units,
    /// Time at which the node first saw the transaction, if the node reports it.
    pub first_seen: Option<Time>,
    /// Inputs of the transaction on UTXO chains, or its sender on account chains.
    pub spends: Vec<InputSource>,
}

/// The part of a block that concerns watched addresses and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRead {
    /// The block that was read.
    pub block: Block,
    /// Hash of the parent block.
    pub parent: String,
    /// Height of the parent block: one less than the height of the block, except on chains with gaps.
    pub parent_height: u32,
    /// Timestamp of the block.
    pub time: Time,
    /// Payments to watched addresses, in the order of the block.
    pub received: Vec<ReceivedOutput>,
    /// Watched outputs that this block spends, each with the id of the spending transaction.
    pub spent: Vec<(InputSource, String)>,
}

/// The part of the mempool that concerns watched addresses and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MempoolRead {
    /// Payments to watched addresses, in transactions that the request did not list as unconfirmed.
    pub received: Vec<ReceivedOutput>,
    /// Watched outputs that mempool transactions spend, each with the id of the spending transaction.
    pub spent: Vec<(InputSource, String)>,
    /// Transactions that the request listed as unconfirmed and that are no longer in the mempool.
    pub vanished: Vec<String>,
    /// `true` if a part of the mempool is not yet read. The next request reads more.
    pub is_partial: bool,
}

/// The block of a mined transaction, and whether the transaction succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionOutcome {
    /// Block of the active chain that contains the transaction.
    pub block: Block,
    /// Timestamp of the block.
    pub time: Time,
    /// `false` if the transaction failed and transferred nothing.
    pub is_done: bool,
}

/// The balance of an account in the chain's native coin, at one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountBalance {
    /// Balance of the account, in base units.
    pub amount: Units,
    /// `true` if the account had sent a transaction in this block or earlier.
    pub has_sent: bool,
}

/// A transaction, looked up by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTransaction {
    /// Block on the active chain, and the timestamp of that block. `None` while the transaction is in the mempool.
    pub block: Option<(Block, Time)>,
    /// Time at which the transaction entered the node's mempool. `None` if the transaction is not in the mempool, or
    /// the node does not report the time.
    pub first_seen: Option<Time>,
    /// `false` if the transaction reverted and transferred nothing.
    pub is_done: bool,
    /// Inputs of the transaction on UTXO chains, or its sender on account chains.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Payments to watched addresses.
    pub received: Vec<ReceivedOutput>,
    /// `false` if a contract may have sent native coins that the node does not report.
    pub is_traced: bool,
}

/// The result of a lookup of a transaction by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupResult {
    /// The transaction is in the mempool or in a block of the active chain.
    Found(Box<FoundTransaction>),
    /// The transaction is neither in the mempool nor in a block of the active chain.
    Absent,
    /// The transaction is not in the mempool, and the node has no index of mined transactions.
    NoIndex,
}

/// Addresses and outputs whose transactions a step searches for.
pub trait WatchTargets {
    /// Returns `true` if the script may belong to a watched address. False positives are rare, and there are no false
    /// negatives.
    fn has_script(&self, script: &[u8]) -> bool;
    /// Returns `true` if these 20 bytes may be a watched address. False positives are rare, and there are no false
    /// negatives.
    fn has_account(&self, account: &[u8; 20]) -> bool;
    /// Returns `true` if the node must report the spender of this output. Unconfirmed payments, payouts or refunds
    /// spend such an output.
    fn has_output(&self, txid: &str, position: u32) -> bool;
    /// Returns at most `max` accounts whose logs are requested: all assigned accounts, then the unassigned accounts
    /// that will be assigned next. `None` if more than `max` accounts are assigned.
    fn queried_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>>;
    /// Returns all assigned and all unassigned accounts. Their logs are requested for final blocks. May return more
    /// than `max` accounts; `None` if the list would be incomplete.
    fn accounts_with_unassigned(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.queried_accounts(max)
    }
    /// Returns `true` if new blocks are read. Blocks of account chains are read a second time once they are final.
    fn reads_new_blocks(&self) -> bool {
        false
    }
    /// Returns the addresses to poll in this step. Used by nodes that are queried by address.
    fn polled_addresses(&self) -> &[PolledAddress] {
        &[]
    }
    /// Returns the outputs for which [`WatchTargets::has_output`] is true.
    fn watched_outputs(&self) -> Vec<(String, u32)> {
        Vec::new()
    }
}

/// A node of one chain. Its methods never read the clock: all times come from the node's answers.
pub trait Node: Send {
    /// Returns the name of the node's network, as written in the table of chains (`Chain::row`). The genesis block or
    /// the chain id determines the network.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn network(&mut self) -> Result<String, NodeError>;

    /// Returns the newest block of the node.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn head(&mut self) -> Result<Head, NodeError>;

    /// Returns the hash of the block at this height, or `None` if the node does not have the block yet. At a height
    /// that never gets a block, returns a text that is not a hash, usually `NO_BLOCK`.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError>;

    /// Returns the blocks of this range in ascending order. If a limit shortens the range, the last returned block is
    /// the last block that was read.
    ///
    /// The result contains the first block, the last block and every block with a payment. On chains of many small
    /// blocks, the result omits the other blocks, because each would cost a request. Of two returned blocks with
    /// consecutive heights, the first is the parent of the second.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError>;

    /// Returns `true` if the node is queried by address. Such a node does not read whole blocks.
    fn is_queried_by_address(&self) -> bool {
        false
    }

    /// Returns payments up to block `to` that [`Node::blocks`] missed because their address was polled only after the
    /// block was read. Each returned block has its hash on the active chain, its time and its payments. Always empty
    /// for nodes that read whole blocks.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn late_payments(
        &mut self,
        _to: &Block,
        _watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        Ok(Vec::new())
    }

    /// Passes the stored state of the chain to the node at the start of a step.
    fn begin_step(&mut self, _known: &ChainState) {}

    /// Tells the node that the database has stored all payments that the node returned since the last call.
    /// [`Node::late_payments`] does not return these payments again.
    fn mark_answers_stored(&mut self) {}

    /// Returns new payments in the mempool, and those `unconfirmed` transactions that are no longer in the mempool.
    /// Always empty on chains without unconfirmed payments.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError>;

    /// Returns the block of the active chain that contains this transaction; `None` if no block contains the
    /// transaction.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError>;

    /// Returns the outcome of a transaction that is in a block of the active chain. Always `None` on chains on which
    /// payments cannot be claimed.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn transaction_outcome(
        &mut self,
        _txid: &str,
    ) -> Result<Option<TransactionOutcome>, NodeError> {
        Ok(None)
    }

    /// Returns the balances of these accounts after the block at this height, in the same order. `None` on UTXO
    /// chains, and if the node no longer has the state of that block.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn balances_at(
        &mut self,
        _accounts: &[String],
        _height: u32,
    ) -> Result<Option<Vec<AccountBalance>>, NodeError> {
        Ok(None)
    }

    /// Looks up a transaction by its id, in the mempool and on the active chain. Requests contract transfers only if
    /// one of the addresses in `native_to` may have received native coins.
    ///
    /// # Errors
    ///
    /// [`NodeError`]; [`NodeError::Behind`] if a reorg or a new block happened during the call.
    fn look_up_transaction(
        &mut self,
        _txid: &str,
        _native_to: &[String],
        _watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        Ok(LookupResult::NoIndex)
    }

    /// Returns the block at this height if its state proves that another transaction used the nonce of the sender.
    /// `None` if there is no proof, or the node no longer has the state of that block.
    ///
    /// # Errors
    ///
    /// [`NodeError`]; [`NodeError::Behind`] if the transaction itself is in a block.
    fn block_if_nonce_used(
        &mut self,
        _txid: &str,
        _sender: &str,
        _nonce: u64,
        _height: u32,
    ) -> Result<Option<Block>, NodeError> {
        Ok(None)
    }

    /// Returns the timestamp of the block at this height. `None` if the node does not have the whole block, for
    /// example after pruning.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn block_time_at(&mut self, _height: u32) -> Result<Option<Time>, NodeError> {
        Ok(None)
    }

    /// Returns the fee estimate of the chain. `None` if the node has no estimate, and on chains that need none.
    ///
    /// # Errors
    ///
    /// [`NodeError`].
    fn fee_estimate(&mut self) -> Result<Option<NodeFees>, NodeError> {
        Ok(None)
    }

    /// Returns `true` if the node sends notifications, which [`Node::has_notification`] detects.
    fn sends_notifications(&self) -> bool {
        false
    }

    /// Returns `true` if the node has sent a notification since the last step. Never blocks.
    fn has_notification(&mut self) -> bool {
        false
    }

    /// Returns short remarks about the node for the operator. The list is complete only after [`Node::head`].
    fn operator_remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns why the node gives no final blocks at present. Everything else is read, and they are asked for again.
    /// Kept up to date by [`Node::head`] and [`Node::blocks`].
    fn final_problem(&self) -> Option<&FinalProblem> {
        None
    }

    /// Returns the transactions and addresses that the node does not give. Everything else is read, and they are asked
    /// for again. The list is complete only after a step.
    fn set_aside(&self) -> Vec<SetAside> {
        Vec::new()
    }

    /// Returns `true` if the next step asks again for something that this step could not read.
    fn asks_again(&self) -> bool {
        !self.set_aside().is_empty()
    }

    /// Returns `true` if the last step read of a payment in a block above the node's newest one: its head stands still.
    fn lacks_named_block(&self) -> bool {
        false
    }

    /// Returns the number of requests so far. Each call of a batch counts as one, because providers charge by call.
    fn request_count(&self) -> u64 {
        0
    }

    /// Returns `true` if the node reports transfers by contracts. `None` while unknown, and on chains without them.
    fn has_traces(&self) -> Option<bool> {
        None
    }
}
