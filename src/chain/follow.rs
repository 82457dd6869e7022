//! One step along a chain: what is asked of a node, and what its answers come to beside what the file knows.
//!
//! What lives here: following, reorganisations, the second look at what is final, rescans. What does not: the mempool
//! (`pool`), what each kind of node is asked, the file. What always holds: a step is bounded, and a block is taken only
//! where it follows the one before.

mod again;
mod claims;
mod conflicts;
mod dated;
mod late;
mod network;
mod pool;
mod sent;
#[cfg(test)]
mod tests;
mod watched;

pub use network::stranger;
pub use watched::{Addresses, Looking, Pools};

use super::{BlockRead, Head, Node, NodeError, Received, Watched};
use crate::domain::asset::Mode;
use crate::domain::chain::{Chain, Depth};
use crate::domain::following::{ChainStep, Forward, Known, Moves, Reached, VANISHED_MS_MAX};
use crate::domain::observation::{Block, Observation, Spent};
use crate::domain::time::{MINUTE_MS, Time};
use network::check_network;
use std::collections::{HashMap, HashSet};

/// How deep a chain without horizon is looked at, at its first step, for blocks to go back to.
const FIRST_KEPT_DEPTH: u32 = 256;
/// The newest block of an account chain may be this old, and the chain is at its head all the same.
const HEAD_AGE_MS_MAX: i64 = 2 * MINUTE_MS;

/// How a chain is followed.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// When the step begins.
    pub now: Time,
    /// The most blocks that one step reads.
    pub blocks_max: u32,
    /// May the network be one for tests?
    pub test_networks: bool,
    /// May this step be a part of a rescan, where one is under way? The mempool is not read in it.
    pub rescans: bool,
}

/// What came of asking.
#[derive(Clone, Debug)]
pub enum Came {
    /// A step to be taken.
    Step(Box<ChainStep>),
    /// The node does not have what has been read already: nothing to do but wait, for it or for another one.
    Lagging(Lag),
    /// The chain has been stopped for this reason, and nobody has asked for a rescan.
    Stopped(String),
}

/// A block that was read, and that the node does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The newest block of the node.
    pub head: Reached,
    /// The height of the block.
    pub lacks: u32,
}

impl Lag {
    /// Returns `true` if the node has blocks above: it is not behind, but has lost that one.
    pub fn is_lost(&self) -> bool {
        self.lacks <= self.head.block.height
    }
}

/// What a step asks, and what it knows.
struct Step<'a> {
    node: &'a mut dyn Node,
    known: &'a Known,
    watched: &'a dyn Watched,
    manner: Manner,
}

/// Asks a node for one step; its newest block is told as soon as it is known.
///
/// # Errors
/// [`NodeError`]: nothing is to be taken.
pub fn step(
    node: &mut dyn Node,
    known: &Known,
    watched: &dyn Watched,
    manner: Manner,
    hear: &mut dyn FnMut(&Reached),
) -> Result<Came, NodeError> {
    if let (Some(why), None) = (&known.stopped, &known.rescan) {
        return Ok(Came::Stopped(why.clone()));
    }
    node.begin_step(known);
    let network = node.network()?;
    check_network(known, &network, manner.test_networks)?;
    let head = node.head()?;
    hear(&reached(&head));
    let lagging = |lacks| {
        let head = reached(&head);
        Ok(Came::Lagging(Lag { head, lacks }))
    };
    let mut step = Step {
        node,
        known,
        watched,
        manner,
    };
    let (keep, moves) = match &known.cursor {
        None => step.start(&head)?,
        Some(cursor) if known.stopped.is_some() => step.read_again(cursor, &head)?,
        Some(cursor) => match step.stands(&cursor.block, &head)? {
            Stands::Lagging(lacks) => return lagging(lacks),
            Stands::Reorganised => match step.back()? {
                // One that stands still on a branch that was given up knows no more than one that lags.
                Moves::Stopped(_) if head.block.height < cursor.block.height => {
                    return lagging(cursor.block.height);
                }
                moves => (Vec::new(), moves),
            },
            Stands::Same => match (step.asked_besides(), &known.rescan) {
                (Some(moves), _) => (Vec::new(), moves),
                (None, Some(_)) if manner.rescans => step.read_again(cursor, &head)?,
                (None, Some(_) | None) => step.forward(cursor, &head)?,
            },
        },
    };
    Ok(Came::Step(Box::new(ChainStep {
        chain: known.chain,
        network,
        head: reached(&head),
        from: known.cursor.as_ref().map(|cursor| cursor.block.clone()),
        keep,
        moves,
    })))
}

/// How the cursor's block stands with the node.
enum Stands {
    Same,
    /// The node does not have the block of this height.
    Lagging(u32),
    Reorganised,
}

impl Step<'_> {
    fn chain(&self) -> Chain {
        self.known.chain
    }

    /// The first step: the chain is followed from its newest block on. Hashes of blocks before that are kept, ever fewer, for
    /// the case that it is given up.
    fn start(&mut self, head: &Head) -> Result<(Vec<Block>, Moves), NodeError> {
        let deepest = match (self.chain().row().horizon, head.finalized) {
            (Depth::Blocks(blocks), _) => head.block.height.saturating_sub(blocks),
            (Depth::Final, Some(finalized)) => finalized.min(head.block.height),
            (Depth::Final, None) => head.block.height.saturating_sub(FIRST_KEPT_DEPTH),
        };
        let mut keep = vec![head.block.clone()];
        // At a height in between there may be no block.
        let has_gaps = self.chain().row().has_gaps;
        let mut distance = if has_gaps { u32::MAX } else { 1 };
        let mut height = head.block.height;
        while height > deepest {
            height = height.saturating_sub(distance).max(deepest);
            distance = distance.saturating_mul(2);
            let hash = self.node.hash_at(height)?.ok_or(NodeError::Behind)?;
            keep.push(Block { height, hash });
        }
        let complete = match keep.last() {
            Some(deepest) if !self.chain().has_outputs() => deepest.clone(),
            Some(_) | None => head.block.clone(),
        };
        let moves = Moves::Started {
            to: reached(head),
            complete,
            scanned_to: self.scanned_at(head),
        };
        Ok((keep, moves))
    }

    /// Only another hash at a height that is held is a reorganisation.
    fn stands(&mut self, cursor: &Block, head: &Head) -> Result<Stands, NodeError> {
        let held = if head.block.height >= cursor.height {
            Some(cursor)
        } else {
            let kept = &self.known.kept;
            kept.iter().find(|block| block.height <= head.block.height)
        };
        let Some(held) = held else {
            return Ok(Stands::Lagging(cursor.height));
        };
        Ok(match self.node.hash_at(held.height)? {
            None => Stands::Lagging(held.height),
            Some(hash) if hash != held.hash => Stands::Reorganised,
            Some(_) if held == cursor => Stands::Same,
            Some(_) => Stands::Lagging(cursor.height),
        })
    }

    /// The newest block that is held and still there; where there is none, the chain stops.
    fn back(&mut self) -> Result<Moves, NodeError> {
        let mut lowest = None;
        for held in &self.known.kept {
            lowest = self.node.hash_at(held.height)?;
            if lowest.as_ref() == Some(&held.hash) {
                return Ok(Moves::BackTo(held.clone()));
            }
        }
        let (Some(_), Some(held)) = (lowest, self.known.kept.last()) else {
            return Err(NodeError::Behind);
        };
        let (chain, height) = (self.chain(), held.height);
        Ok(Moves::Stopped(format!(
            "{chain} was reorganised deeper than it is watched: its block {height} is not the one that was read"
        )))
    }

    /// Reads the next blocks, then what is in none, then again what has become final.
    fn forward(&mut self, cursor: &Reached, head: &Head) -> Result<(Vec<Block>, Moves), NodeError> {
        let most = cursor.block.height.saturating_add(self.manner.blocks_max);
        let to = head.block.height.min(most);
        let mut blocks = self.blocks(&cursor.block, to, self.watched)?;
        let to = blocks.last().map_or_else(|| cursor.clone(), last);
        let is_at_head = to.block.height >= head.block.height;
        if is_at_head && to.block != head.block {
            return Err(NodeError::Behind);
        }
        let mut keep = self.kept_of(&blocks);
        blocks.splice(0..0, self.late(&to.block, &mut keep)?);
        let mut forward = Forward {
            to,
            complete: None,
            disputed: None,
            found: self.in_blocks(&blocks),
            present: Vec::new(),
            vanished: Vec::new(),
            gone: Vec::new(),
            dropped_before: None,
            missing: Vec::new(),
            scanned_to: None,
            sent: Vec::new(),
            conflicts: Vec::new(),
        };
        if self.chain().has_outputs() {
            forward.complete = Some(forward.to.block.clone());
            self.unconfirmed(head, &blocks, is_at_head, &mut forward)?;
        } else {
            forward.scanned_to = Some(if is_at_head {
                self.scanned_at(head)
            } else {
                forward.to.time.min(self.manner.now)
            });
            keep.extend(self.final_again(head, &keep, &mut forward)?);
        }
        if is_at_head && head.is_complete {
            forward.sent = self.look_up_sent(head, &keep, &forward.to.block);
        }
        Ok((keep, Moves::Forward(Box::new(forward))))
    }

    /// The blocks behind one, up to a height, as far as they were read; none where there are none. The first is the child of
    /// that one, but on a chain with gaps; only chains with accounts leave out some in between.
    fn blocks(
        &mut self,
        behind: &Block,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let from = behind.height.saturating_add(1);
        if from > to {
            return Ok(Vec::new());
        }
        let blocks = self.node.blocks(from, to, watched)?;
        let mut before = behind;
        for read in &blocks {
            let (height, after) = (read.block.height, before.height);
            let is_next = height == after.saturating_add(1);
            let is_left_out = before != behind && !self.chain().has_outputs();
            let may_be_later = is_left_out || self.chain().row().has_gaps;
            if height > to || height <= after || !(is_next || may_be_later) {
                let what = format!("it gave block {height} after block {after}");
                return Err(NodeError::Lied(what));
            }
            if read.parent_height == after && read.parent != before.hash {
                // It was reorganised meanwhile, or another node answered.
                return Err(NodeError::Behind);
            }
            before = &read.block;
        }
        match blocks.last() {
            Some(_) => Ok(blocks),
            None => Err(NodeError::Behind),
        }
    }

    /// The blocks whose hashes are kept: all where there are few, else those with money, and the last.
    fn kept_of(&self, blocks: &[BlockRead]) -> Vec<Block> {
        let of_all = self.chain().has_outputs();
        let last = blocks.last().map(|read| &read.block);
        let kept = blocks
            .iter()
            .filter(|read| of_all || !read.received.is_empty() || Some(&read.block) == last);
        kept.map(|read| read.block.clone()).collect()
    }

    /// What was seen in blocks, in their order; in a transaction's own block, what it spends comes before it.
    fn in_blocks(&self, blocks: &[BlockRead]) -> Vec<Observation> {
        let mut found = Vec::new();
        for read in blocks {
            for received in parents_first(&read.received) {
                let sighted = received
                    .first_seen
                    .map_or(read.time, |at| at.min(read.time));
                found.push(self.observation(received, sighted, Some(read.block.clone())));
            }
        }
        found
    }

    fn observation(&self, of: &Received, seen_at: Time, block: Option<Block>) -> Observation {
        Observation {
            mode: Mode::Live,
            asset: of.asset,
            txid: of.txid.clone(),
            position: of.position,
            address: of.address.clone(),
            amount: of.amount,
            seen_at: seen_at.min(self.manner.now),
            block,
            spends: of.spends.clone(),
        }
    }

    /// Up to when a chain has been looked at whose newest block was read.
    fn scanned_at(&self, head: &Head) -> Time {
        let is_young = self.manner.now.since_ms(head.time) <= HEAD_AGE_MS_MAX;
        if head.is_complete && (self.chain().has_outputs() || is_young) {
            self.manner.now
        } else {
            head.time.min(self.manner.now)
        }
    }

    /// What vanished before this is dropped, on chains with outputs.
    fn given_up_before(&self) -> Time {
        self.manner.now.plus_ms(VANISHED_MS_MAX.saturating_neg())
    }
}

/// What was received, but nothing before what it spends.
fn parents_first(received: &[Received]) -> Vec<&Received> {
    let mut of: HashMap<&str, Vec<&Received>> = HashMap::new();
    for one in received {
        of.entry(&one.txid).or_default().push(one);
    }
    let (mut ordered, mut placed) = (Vec::with_capacity(received.len()), HashSet::new());
    // Without recursion: a chain of transactions may be as long as whoever sends it likes.
    for one in received {
        let mut waiting = vec![(one.txid.as_str(), false)];
        while let Some((txid, parents_are_placed)) = waiting.pop() {
            if parents_are_placed {
                ordered.extend(of.remove(txid).into_iter().flatten());
                continue;
            }
            if !placed.insert(txid) {
                continue;
            }
            waiting.push((txid, true));
            let spends = of.get(txid).into_iter().flatten();
            for spent in spends.flat_map(|one| &one.spends) {
                if let Spent::Output(parent, _) = spent
                    && of.contains_key(parent.as_str())
                {
                    waiting.push((parent, false));
                }
            }
        }
    }
    ordered
}

fn reached(head: &Head) -> Reached {
    Reached {
        block: head.block.clone(),
        time: head.time,
    }
}

fn last(read: &BlockRead) -> Reached {
    Reached {
        block: read.block.clone(),
        time: read.time,
    }
}
