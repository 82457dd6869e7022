//! What the world outside says: the nodes of real chains, the steps along them, and what coins cost.
//!
//! What lives here: asking nodes, and working out from their answers what one step along a chain came to; asking the
//! sources of rates. What does not: the file, and what money is for: what was seen reaches both by the service's one way
//! in. What always holds: nothing that was answered is believed before it was checked, and a node's url, which may carry
//! a secret, is in no text that leaves this room.

pub mod rates;

pub mod cost;
pub mod electrum;
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

use crate::domain::asset::Asset;
use crate::domain::following::{ChainState, PolledAddress};
use crate::domain::money::coin::Units;
use crate::domain::network_fee::NodeFees;
use crate::domain::observation::{Block, InputSource};
use crate::domain::time::Time;

/// Why a node could not be asked, or not be believed. The texts are for the operator: they name no url and no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeError {
    /// No connection, no answer in time, half an answer, an error of the server: the same question later, or to the next
    /// url.
    Unreachable(String),
    /// Too much was asked for at once, or too often: less, and later.
    Limited(String),
    /// It does not have that block yet, as one behind a load balancer may not: the same question later.
    Behind,
    /// What it says does not fit what it said before, or what was asked: nothing of it is used.
    Lied(String),
    /// It is the node of another network, or refuses the login: a person has to look.
    Wrong(String),
}

impl std::fmt::Display for NodeError {
    /// A sentence about the node, without its subject.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NodeError::Unreachable(text) => write!(out, "cannot be asked: {text}"),
            NodeError::Limited(text) => write!(out, "limits what is asked: {text}"),
            NodeError::Behind => out.write_str("does not have that block yet"),
            NodeError::Lied(text) => write!(out, "is not believed: {text}"),
            NodeError::Wrong(text) => write!(out, "is the wrong one: {text}"),
        }
    }
}

/// The newest block that a node has, and what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Which block.
    pub block: Block,
    /// The block's own time.
    pub time: Time,
    /// Does the node have everything that there is? On utxo chains: it is not in its initial download, has all blocks whose
    /// headers it has, and has a peer. Elsewhere the one who asks compares `time` with the clock: this is true.
    pub is_complete: bool,
    /// The height of the newest block that is final, where the chain says so.
    pub finalized: Option<u32>,
}

/// What came to an address that is watched, in one place of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedOutput {
    /// The coin.
    pub asset: &'static Asset,
    /// The transaction, as this chain's ids are kept.
    pub txid: String,
    /// Counted inside the transaction; the same in whatever block it is.
    pub position: u32,
    /// Where to, in its canonical text.
    pub address: String,
    /// How much.
    pub amount: Units,
    /// When the node had it first, where the node tells that.
    pub first_seen: Option<Time>,
    /// Where the money comes from.
    pub spends: Vec<InputSource>,
}

/// What of one block concerns us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRead {
    /// Which block.
    pub block: Block,
    /// The hash of the block before it.
    pub parent: String,
    /// Height of the block before it: one less, but on chains that have gaps.
    pub parent_height: u32,
    /// The block's own time.
    pub time: Time,
    /// What came to watched addresses, by place in the block.
    pub received: Vec<ReceivedOutput>,
    /// Outputs that are watched and were spent in this block, each with the transaction that spends it.
    pub spent: Vec<(InputSource, String)>,
}

/// What of the mempool concerns us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MempoolRead {
    /// What came to watched addresses in transactions that the caller did not ask about.
    pub received: Vec<ReceivedOutput>,
    /// Outputs that are watched, and the transactions that spend them.
    pub spent: Vec<(InputSource, String)>,
    /// Which of the transactions that the caller asked about are there no more.
    pub vanished: Vec<String>,
    /// Is there more in it that was not looked at yet? The next question goes on with that.
    pub is_partial: bool,
}

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionOutcome {
    /// The block of the active chain that it is in.
    pub block: Block,
    /// The block's own time.
    pub time: Time,
    /// Did it do what it should? Else it moved nothing.
    pub is_done: bool,
}

/// What an account had in its chain's own coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountBalance {
    /// How much.
    pub amount: Units,
    /// Had it ever sent anything by then?
    pub has_sent: bool,
}

/// A transaction, looked up by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTransaction {
    /// Its block on the active chain, with the time of the block; `None` while it is in the mempool.
    pub block: Option<(Block, Time)>,
    /// Time at which it came into the node's mempool; `None` where it is not there, or the node does not tell.
    pub first_seen: Option<Time>,
    /// `false`: it reverted and moved nothing.
    pub is_done: bool,
    /// Its inputs, or its sender.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Payments to watched addresses.
    pub received: Vec<ReceivedOutput>,
    /// `false`: a contract may have sent native coin of which the node does not tell.
    pub is_traced: bool,
}

/// The result of looking a transaction up by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It is in the mempool or in a block of the active chain.
    Found(Box<FoundTransaction>),
    /// It is in neither.
    Absent,
    /// It is not in the mempool, and the node has no index of the transactions in blocks.
    NoIndex,
}

/// What is looked for.
pub trait Watched {
    /// May this be the script of an output of ours? True for all that are, and seldom for one that is not.
    fn has_script(&self, script: &[u8]) -> bool;
    /// May these be the 20 bytes of an address of ours? True for all that are, and seldom for one that is not.
    fn has_account(&self, account: &[u8; 20]) -> bool;
    /// Is this an output whose spending we want to know of: one that an unconfirmed payment spends, or one of our own?
    fn has_output(&self, txid: &str, position: u32) -> bool;
    /// The watched accounts to be asked for by name: those that somebody has, where they are at most this many, and of those
    /// that nobody has as many as fit besides, the likeliest first.
    fn accounts(&self, max: usize) -> Option<Vec<[u8; 20]>>;
    /// The same for what is read for good: with all that nobody has, where they can be named at all; so it may be more.
    fn all_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.accounts(max)
    }
    /// Returns the addresses that a node which is asked by name is asked about now.
    fn named(&self) -> &[PolledAddress] {
        &[]
    }
    /// Returns the outputs that [`Watched::has_output`] is true for.
    fn outputs(&self) -> Vec<(String, u32)> {
        Vec::new()
    }
}

/// A node of one chain. All times come in: what a node tells is as old as it says.
pub trait Node: Send {
    /// Which network it is of, by the name in the chain's row: told by its genesis block or its chain id.
    ///
    /// # Errors
    /// [`NodeError`].
    fn network(&mut self) -> Result<String, NodeError>;

    /// Its newest block.
    ///
    /// # Errors
    /// [`NodeError`].
    fn head(&mut self) -> Result<Head, NodeError>;

    /// The hash of its block at this height; none where it has no such block yet. At a height that never gets a block, any
    /// text that is no hash.
    ///
    /// # Errors
    /// [`NodeError`].
    fn hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError>;

    /// The blocks of this range, in their order; fewer, from the first on, where the node or a limit does not let it be
    /// more: the last one answered tells how far it was read.
    ///
    /// The first and the last one read and each with money in it are there. Chains of many small blocks leave out those in
    /// between that do not concern us, which would each cost a call: where two of the answer follow one another in height,
    /// the one is the parent of the other, and that was checked.
    ///
    /// # Errors
    /// [`NodeError`].
    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError>;

    /// Returns `true` if the node is asked about each address by name, as it does not read whole blocks.
    fn asks_by_name(&self) -> bool {
        false
    }

    /// Returns money in blocks up to this one that [`Node::blocks`] did not tell of, as the address was first asked about
    /// later. Each block has its hash on the active chain, its time and its money. Empty for nodes that read whole blocks.
    ///
    /// # Errors
    /// [`NodeError`].
    fn late(&mut self, _to: &Block, _watched: &dyn Watched) -> Result<Vec<BlockRead>, NodeError> {
        Ok(Vec::new())
    }

    /// Hears what the file knows of the chain, when a step begins.
    fn begin_step(&mut self, _known: &ChainState) {}

    /// Hears that the file has what it answered since the last call. What [`Node::late`] told before is not told again.
    fn taken(&mut self) {}

    /// What is new in its mempool, and which of these unconfirmed transactions are there no more. Nothing on chains that
    /// are not watched before a block.
    ///
    /// # Errors
    /// [`NodeError`].
    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn Watched,
    ) -> Result<MempoolRead, NodeError>;

    /// Is this transaction in a block of the active chain? Which, where it is.
    ///
    /// # Errors
    /// [`NodeError`].
    fn block_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError>;

    /// What became of a transaction, where it is in a block of the active chain. None also on chains where nothing is claimed.
    ///
    /// # Errors
    /// [`NodeError`].
    fn carried_out(&mut self, _txid: &str) -> Result<Option<TransactionOutcome>, NodeError> {
        Ok(None)
    }

    /// What these accounts had behind the block of this height, in their order. None where the node does not tell that of a
    /// block so old, and on chains without accounts.
    ///
    /// # Errors
    /// [`NodeError`].
    fn held(
        &mut self,
        _accounts: &[String],
        _height: u32,
    ) -> Result<Option<Vec<AccountBalance>>, NodeError> {
        Ok(None)
    }

    /// Looks a transaction up by its id, in the mempool and on the active chain. Transfers of native coin by contracts are
    /// asked for only where something may have been sent so to one of `native_to`.
    ///
    /// # Errors
    /// [`NodeError`]; [`NodeError::Behind`] where the chain moved meanwhile.
    fn transaction(
        &mut self,
        _txid: &str,
        _native_to: &[String],
        _watched: &dyn Watched,
    ) -> Result<Lookup, NodeError> {
        Ok(Lookup::NoIndex)
    }

    /// Returns the block of this height if its state shows that the sender used this nonce, for another transaction than
    /// this one. `None` also where the node does not keep the state of that block.
    ///
    /// # Errors
    /// [`NodeError`]; [`NodeError::Behind`] where the transaction itself is in a block.
    fn nonce_taken(
        &mut self,
        _txid: &str,
        _sender: &str,
        _nonce: u64,
        _height: u32,
    ) -> Result<Option<Block>, NodeError> {
        Ok(None)
    }

    /// Returns the time of the block at this height; `None` where the node does not have the whole block, as one that is
    /// pruned.
    ///
    /// # Errors
    /// [`NodeError`].
    fn time_at(&mut self, _height: u32) -> Result<Option<Time>, NodeError> {
        Ok(None)
    }

    /// Fees of the chain. `None` where the node has no estimate, and on chains that are not asked for one.
    ///
    /// # Errors
    /// [`NodeError`].
    fn fees(&mut self) -> Result<Option<NodeFees>, NodeError> {
        Ok(None)
    }

    /// Returns `true` if the node tells of what is new without being asked, so that [`Node::has_news`] is worth asking.
    fn tells_news(&self) -> bool {
        false
    }

    /// Returns `true` if the node has told of something new since the last step. It never waits.
    fn has_news(&mut self) -> bool {
        false
    }

    /// Returns what the operator should know of the node, each as a short text. Complete after [`Node::head`].
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many requests have been made to it so far; each of a batch counts, as those who sell them count.
    fn requests(&self) -> u64 {
        0
    }

    /// Does it tell of money that contracts send? None while that is not known, and on chains where there is no such
    /// money.
    fn has_traces(&self) -> Option<bool> {
        None
    }
}
