//! Following a chain: how far it has come, and what one step along it came to.
//!
//! What lives here: plain data that is worked out from what nodes say and from what the file knows. What does not: asking
//! nodes (`chain`), what money is for (`service`), and how deep it has to be (`confirmations`). What always holds: a step
//! names the block that it began behind, so that it is taken there and nowhere else.

mod sent;

use super::asset::Asset;
use super::chain::Chain;
use super::claim::Claim;
use super::money::coin::Units;
use super::observation::{Block, Observation, Spent};
use super::payment::PaymentState;
use super::time::{DAY_MS, Time};
pub use sent::{BalanceChange, Conflict, SentFound, SentOpen, SentRead, SentTransaction};

/// How long a transaction may be gone from the mempool until it is taken for dropped.
pub const VANISHED_MS_MAX: i64 = DAY_MS;
/// How long it is then asked for, should it come back: as long as nodes keep what pays little.
pub const COMES_BACK_MS_MAX: i64 = 14 * DAY_MS;

/// A block, and its own time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Which block.
    pub block: Block,
    /// The time in it.
    pub time: Time,
}

/// Something that was seen and can still change.
#[derive(Clone, Debug)]
pub struct Open {
    /// The transaction.
    pub txid: String,
    /// Counted inside the transaction.
    pub position: u32,
    /// Where it stands.
    pub state: PaymentState,
    /// The block that it is in, as far as is known.
    pub block: Option<Block>,
    /// Is it known to be in no block, and not in the mempool?
    pub has_vanished: bool,
    /// Where the money comes from.
    pub spends: Vec<Spent>,
}

/// A rescan that is under way.
#[derive(Clone, Debug)]
pub struct Rescan {
    /// The first block that it reads.
    pub from: u32,
    /// The next block that it reads.
    pub next: u32,
    /// The hash of the block before that, once it has read one.
    pub last_hash: Option<String>,
    /// What is known to be in the next blocks.
    pub known: Vec<Open>,
}

/// An address that a node is asked about by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Canonical text of the address.
    pub address: String,
    /// Time before which nobody had the address.
    pub since: Time,
    /// `false`: it is asked about in every step. `true`: this is its turn of the day.
    pub is_daily: bool,
}

/// What the file knows of a chain.
#[derive(Clone, Debug)]
pub struct Known {
    /// Which chain.
    pub chain: Chain,
    /// The network that its first node was of.
    pub network: Option<String>,
    /// Up to where it has been read; nothing before its first step.
    pub cursor: Option<Reached>,
    /// Up to where it will not be read again: the cursor where the chain has outputs, else up to where it was final.
    pub complete: Option<Block>,
    /// Blocks whose hashes are kept, the newest first.
    pub kept: Vec<Block>,
    /// What can still change.
    pub open: Vec<Open>,
    /// Why it is not followed any more.
    pub stopped: Option<String>,
    /// The rescan that is under way.
    pub rescan: Option<Rescan>,
    /// The claim whose turn it is, and how much is known to have come to its address in blocks that are final.
    pub claim: Option<(Claim, Units)>,
    /// The addresses of which it is time to look what they have, where no node tells what contracts send.
    pub walk: Option<Walk>,
    /// Transactions that pay payouts and refunds that are not settled, the least recently asked first.
    pub sent: Vec<SentOpen>,
    /// Approval time of a transfer for which the height of the chain at that time is unknown.
    pub undated: Option<Time>,
    /// Addresses to ask about in this step, for nodes that are asked by name. Empty for all others.
    pub named: Vec<Named>,
}

impl Known {
    /// A chain of which nothing is known.
    pub const fn nothing(chain: Chain) -> Known {
        Known {
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
        }
    }
}

/// A transaction that is gone, as another one spends what it spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The transaction.
    pub txid: String,
    /// The other one.
    pub by: String,
}

/// Blocks that were read, and what the mempool had.
#[derive(Clone, Debug)]
pub struct Forward {
    /// The last block that was read, or the one begun behind.
    pub to: Reached,
    /// The last block that was read for good, where that moved.
    pub complete: Option<Block>,
    /// Why what is final was not read again, where the node tells of other blocks there than those that were read.
    pub disputed: Option<String>,
    /// What was seen, in the order of the blocks, what is in none at the end.
    pub found: Vec<Observation>,
    /// Transactions that had vanished, or been dropped, and are in the mempool.
    pub present: Vec<String>,
    /// Those that were seen and are not there.
    pub vanished: Vec<String>,
    /// Those that never can be again, as long as these blocks stay.
    pub gone: Vec<Gone>,
    /// What vanished before this moment is dropped.
    pub dropped_before: Option<Time>,
    /// What had been seen in these blocks and is not there: transactions and positions.
    pub missing: Vec<(String, u32)>,
    /// Up to when the chain has been looked at.
    pub scanned_to: Option<Time>,
    /// Answers of the node about transactions of [`Known::sent`], at most 20 and in their order. Empty before the head is
    /// reached.
    pub sent: Vec<SentRead>,
    /// Transactions of [`Known::sent`] whose inputs other transactions spend, in these blocks or in the mempool.
    pub conflicts: Vec<Conflict>,
}

/// Blocks that were read again.
#[derive(Clone, Debug)]
pub struct Rescanned {
    /// The next block that was to be read.
    pub from: u32,
    /// The last block that was read; none where the blocks are others than before, and all are read again.
    pub to: Option<Reached>,
    /// Was that the last one?
    pub is_last: bool,
    /// Is the chain stopped, and followed from here on where that was the last one?
    pub restarts: bool,
    /// What was seen.
    pub found: Vec<Observation>,
    /// What had been seen in these blocks and is not there.
    pub missing: Vec<(String, u32)>,
    /// Transactions of [`Known::sent`] whose inputs other transactions spend in these blocks.
    pub conflicts: Vec<Conflict>,
}

/// What a node said of a claim's transaction.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The claim, by its `seq`.
    pub claim: i64,
    /// The final block in which it did what it should; or why that is not borne out.
    pub found: Result<Reached, String>,
}

/// Addresses of which is looked what they have.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The coin.
    pub asset: &'static Asset,
    /// The addresses.
    pub accounts: Vec<String>,
    /// Behind which address they begin.
    pub from: String,
    /// Behind which address the next look begins.
    pub after: String,
}

/// What addresses have.
#[derive(Clone, Debug)]
pub struct Looked {
    /// Which addresses.
    pub walk: Walk,
    /// What each of them has; nothing where the node did not tell.
    pub held: Option<Vec<Units>>,
    /// Behind the block of this height.
    pub height: u32,
}

/// What a step came to.
#[derive(Clone, Debug)]
pub enum Moves {
    /// The first one: the chain is followed from here on.
    Started {
        /// The newest block.
        to: Reached,
        /// The newest block that is final, or else that one.
        complete: Block,
        /// Up to when the chain has been looked at.
        scanned_to: Time,
    },
    /// The blocks behind this one were given up.
    BackTo(Block),
    /// Blocks were given up beyond what is watched: a person has to look.
    Stopped(String),
    /// Forward.
    Forward(Box<Forward>),
    /// A part of a rescan.
    Rescanned(Box<Rescanned>),
    /// A claim was looked into.
    Claimed(Box<Claimed>),
    /// What addresses have was looked at.
    Looked(Box<Looked>),
    /// The height of the chain at the time of [`Known::undated`] was searched for.
    Dated {
        /// The time that was asked for.
        at: Time,
        /// The lowest block whose time is not before that, less a margin; the cursor's where all are before.
        height: u32,
        /// Time before which what happened may be in blocks that the node does not have; `None` where it has the block before.
        lacks_before: Option<Time>,
    },
}

/// One step along a chain.
#[derive(Clone, Debug)]
pub struct ChainStep {
    /// Which chain.
    pub chain: Chain,
    /// The network of the node.
    pub network: String,
    /// The newest block of the node.
    pub head: Reached,
    /// Behind which block it began; nothing: it is the first.
    pub from: Option<Block>,
    /// Blocks whose hashes are to be kept.
    pub keep: Vec<Block>,
    /// What it came to.
    pub moves: Moves,
}

impl ChainStep {
    /// How much of what was seen, or is gone, is to be written.
    pub fn items(&self) -> usize {
        match &self.moves {
            Moves::Forward(forward) => [
                forward.present.len(),
                forward.found.len(),
                forward.gone.len(),
            ]
            .iter()
            .fold(0, |sum: usize, more| sum.saturating_add(*more)),
            Moves::Rescanned(rescanned) => rescanned.found.len(),
            Moves::Started { .. }
            | Moves::BackTo(_)
            | Moves::Stopped(_)
            | Moves::Claimed(_)
            | Moves::Looked(_)
            | Moves::Dated { .. } => 0,
        }
    }
}
