//! The state of a followed chain, and the outcome of one step along the chain.
//!
//! Invariant: a step is stored only if the block from which it continues is still the cursor.

mod sent;

use super::asset::Asset;
use super::chain::Chain;
use super::claim::Claim;
use super::money::coin::Units;
use super::observation::{Block, InputSource, Observation};
use super::payment::PaymentState;
use super::set_aside::SetAside;
use super::time::{DAY_MS, Time};
pub use sent::{
    BalanceChange, SentTransaction, SpendConflict, TransactionAnswer, TransactionLookup,
    UnsettledTransaction,
};

/// Time after which a transaction that left the mempool counts as dropped, in milliseconds.
pub const VANISHED_MS_MAX: i64 = DAY_MS;
/// Time during which a dropped transaction may come back, in milliseconds. After this time, nodes have discarded it.
pub const COMES_BACK_MS_MAX: i64 = 14 * DAY_MS;

/// A block and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    /// The block.
    pub block: Block,
    /// Time in the header of the block.
    pub time: Time,
}

/// A stored observation whose state can still change.
#[derive(Clone, Debug)]
pub struct OpenObservation {
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
    /// Address that received the money.
    pub address: String,
    /// State of the observation on the chain.
    pub state: PaymentState,
    /// The last known block of the transaction.
    pub block: Option<Block>,
    /// `true` if the transaction is neither in a block nor in the mempool.
    pub has_vanished: bool,
    /// Sources of the transaction's money.
    pub spends: Vec<InputSource>,
}

/// A rescan in progress.
#[derive(Clone, Debug)]
pub struct Rescan {
    /// Height of the first block of the rescan.
    pub from: u32,
    /// Height of the next block to read.
    pub next: u32,
    /// Hash of the block before `next`; `None` before the first block was read.
    pub last_hash: Option<String>,
    /// Stored observations in the blocks that the rescan reads next.
    pub known: Vec<OpenObservation>,
}

/// An address whose transactions are queried from the node by address, not by block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledAddress {
    /// Canonical text of the address.
    pub address: String,
    /// Earliest possible time of a payment to the address: before this time, nobody knew the address.
    pub since: Time,
    /// `true` if the address is polled once a day and is due now; `false` if it is polled in every step.
    pub is_daily: bool,
}

/// The stored state of a chain, from which the next step is computed.
#[derive(Clone, Debug)]
pub struct ChainState {
    /// The chain that is followed.
    pub chain: Chain,
    /// Network of the first connected node, by the name that nodes use.
    pub network: Option<String>,
    /// The newest block that was read; `None` before the first step.
    pub cursor: Option<ChainPosition>,
    /// The newest block that is never read again: the cursor on chains with outputs, otherwise the last final block.
    pub complete: Option<Block>,
    /// Recent blocks whose hashes are stored, newest first. A reorg is detected by these hashes.
    pub kept: Vec<Block>,
    /// Observations whose state can still change.
    pub open: Vec<OpenObservation>,
    /// Reason why the chain is stopped; `None` while it is followed.
    pub stopped: Option<String>,
    /// The rescan in progress.
    pub rescan: Option<Rescan>,
    /// The next claim to check, with the sum of the known payments to the claim's address in final blocks.
    pub claim: Option<(Claim, Units)>,
    /// Addresses whose balances are due for a check. `None` for nodes that report transfers by contracts.
    pub walk: Option<BalanceBatch>,
    /// Transactions of payouts and refunds that are not settled, the least recently checked first.
    pub sent: Vec<UnsettledTransaction>,
    /// Approval time of a transfer, if the height of the chain at that time is unknown. The next step searches for
    /// the height.
    pub undated: Option<Time>,
    /// Addresses to poll in this step, for nodes that are queried by address. Empty for other nodes.
    pub named: Vec<PolledAddress>,
    /// Transactions and addresses that the node did not give at the last step.
    pub set_aside: Vec<SetAside>,
}

impl ChainState {
    /// Returns the state of a chain that was never followed.
    pub const fn initial(chain: Chain) -> ChainState {
        ChainState {
            chain,
            network: None,
            cursor: None,
            complete: None,
            kept: Vec::new(),
            open: Vec::new(),
            stopped: None,
            rescan: None,
            claim: None,
            walk: None,
            sent: Vec::new(),
            undated: None,
            named: Vec::new(),
            set_aside: Vec::new(),
        }
    }
}

/// A transaction that is invalid because another transaction spends the same inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedTransaction {
    /// Id of the invalid transaction.
    pub txid: String,
    /// Id of the transaction that replaced the invalid transaction.
    pub by: String,
}

/// New blocks, and the state of the mempool.
#[derive(Clone, Debug)]
pub struct ForwardStep {
    /// The last block that was read; the cursor if there was no new block.
    pub to: ChainPosition,
    /// The new value of [`ChainState::complete`]; `None` if it did not change.
    pub complete: Option<Block>,
    /// Message that the node does not give its final blocks, or that they differ from the blocks that were read before;
    /// `None` if it gave them and no difference was found.
    pub disputed: Option<String>,
    /// Message that the node does not have its final blocks yet. Another node behind its load balancer may have them, so
    /// this is a problem only if it lasts.
    pub final_lag: Option<String>,
    /// Observations in the order of their blocks. Observations in the mempool are last.
    pub found: Vec<Observation>,
    /// Ids of transactions that came back to the mempool after they had vanished or were dropped.
    pub present: Vec<String>,
    /// Ids of transactions that were in the mempool and are no longer there.
    pub vanished: Vec<String>,
    /// Transactions that cannot be confirmed while the blocks of this step stay on the chain.
    pub gone: Vec<ReplacedTransaction>,
    /// A transaction that vanished from the mempool before this time counts as dropped.
    pub dropped_before: Option<Time>,
    /// Transaction id and position of each stored observation that is no longer in the blocks of this step.
    pub missing: Vec<(String, u32)>,
    /// Time up to which the chain has been read.
    pub scanned_to: Option<Time>,
    /// Answers of the node about the first transactions of [`ChainState::sent`], at most 20. Empty until the step
    /// reaches the node's newest block.
    pub sent: Vec<TransactionLookup>,
    /// Transactions of [`ChainState::sent`] that conflict with a transaction in the blocks of this step or in the
    /// mempool.
    pub conflicts: Vec<SpendConflict>,
    /// Transactions and addresses that the node did not give, although it gave everything else.
    pub set_aside: Vec<SetAside>,
}

/// Blocks that a rescan read again.
#[derive(Clone, Debug)]
pub struct RescanStep {
    /// Value of [`Rescan::next`] before this step.
    pub from: u32,
    /// The last block that was read; `None` if a reorg changed the chain, so that the rescan starts again.
    pub to: Option<ChainPosition>,
    /// `true` if the rescan is complete.
    pub is_last: bool,
    /// `true` if the chain was stopped. It is then followed again from the last block of the rescan.
    pub restarts: bool,
    /// Observations in the blocks that this step read.
    pub found: Vec<Observation>,
    /// Transaction id and position of each stored observation that is no longer in the blocks of this step.
    pub missing: Vec<(String, u32)>,
    /// Transactions of [`ChainState::sent`] that conflict with a transaction in the blocks of this step.
    pub conflicts: Vec<SpendConflict>,
    /// Transactions and addresses that the node does not give.
    pub set_aside: Vec<SetAside>,
}

/// The answer of a node about the transaction of a claim.
#[derive(Clone, Debug)]
pub struct ClaimCheck {
    /// `seq` of the claim.
    pub claim: i64,
    /// The final block in which the transaction succeeded, or the reason why the claim is not confirmed.
    pub found: Result<ChainPosition, String>,
}

/// Addresses whose balances are checked together.
#[derive(Clone, Debug)]
pub struct BalanceBatch {
    /// The coin.
    pub asset: &'static Asset,
    /// The addresses.
    pub accounts: Vec<String>,
    /// Address after which this batch starts, in the order of addresses.
    pub from: String,
    /// Address after which the next batch starts, in the order of addresses.
    pub after: String,
}

/// Balances of addresses at one height.
#[derive(Clone, Debug)]
pub struct BalanceCheck {
    /// The addresses that were checked.
    pub walk: BalanceBatch,
    /// Balance of each address in `walk`, in the same order; `None` if the node did not report the balances.
    pub held: Option<Vec<Units>>,
    /// Height of the block at which the balances were read.
    pub height: u32,
}

/// The outcome of one step along a chain.
#[derive(Clone, Debug)]
pub enum ChainStepOutcome {
    /// The first step. The chain is followed from its newest block on.
    Started {
        /// The newest block.
        to: ChainPosition,
        /// The newest final block; the newest block if the node reports no final block.
        complete: Block,
        /// Time up to which the chain has been read.
        scanned_to: Time,
    },
    /// A reorg: the chain is followed again from this block, and the blocks above it are rolled back.
    RolledBackTo(Block),
    /// A reorg deeper than the stored blocks, with the reason. An operator has to act.
    Stopped(String),
    /// New blocks were read.
    Forward(Box<ForwardStep>),
    /// Some blocks of a rescan were read again.
    Rescanned(Box<RescanStep>),
    /// The transaction of a claim was checked.
    ClaimChecked(Box<ClaimCheck>),
    /// Balances of addresses were checked.
    BalancesChecked(Box<BalanceCheck>),
    /// The height of the chain at [`ChainState::undated`] was found.
    HeightFound {
        /// Point in time whose block was searched for.
        at: Time,
        /// Height of the first block whose time is not before `at` minus a margin. The cursor's height if all blocks
        /// are earlier.
        height: u32,
        /// Time from which the node has all blocks, if it lacks the block before `height`; `None` if it has that
        /// block.
        lacks_before: Option<Time>,
    },
}

/// One step along a chain.
#[derive(Clone, Debug)]
pub struct ChainStep {
    /// The chain that is followed.
    pub chain: Chain,
    /// Network of the node.
    pub network: String,
    /// The newest block of the node.
    pub head: ChainPosition,
    /// The block that the step continues from; `None` for the first step.
    pub from: Option<Block>,
    /// Blocks whose hashes have to be stored.
    pub keep: Vec<Block>,
    /// Outcome of the step.
    pub outcome: ChainStepOutcome,
}

impl ChainStep {
    /// Returns the number of items to store: observations, and transactions that came back or were replaced.
    pub fn item_count(&self) -> usize {
        match &self.outcome {
            ChainStepOutcome::Forward(forward) => {
                [forward.present.len(), forward.found.len(), forward.gone.len()]
                    .iter()
                    .fold(0, |sum: usize, more| sum.saturating_add(*more))
            }
            ChainStepOutcome::Rescanned(rescanned) => rescanned.found.len(),
            ChainStepOutcome::Started { .. }
            | ChainStepOutcome::RolledBackTo(_)
            | ChainStepOutcome::Stopped(_)
            | ChainStepOutcome::ClaimChecked(_)
            | ChainStepOutcome::BalancesChecked(_)
            | ChainStepOutcome::HeightFound { .. } => 0,
        }
    }
}
