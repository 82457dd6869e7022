//! Reads ranges of blocks, and the receipts of their transactions.
//!
//! Invariant: a final block is read only with the receipts of all its successful contract calls.

use super::answers::{
    BlockRangeResponse, FullBlockResponse, TransactionInfo, TransactionInfos, TronTransaction,
};
use super::hex::TronId;
use super::{NodeApi, SPAN_MAX, Tron, TronHeader, invalid_answer, parse_header};
use crate::chain::transfers::TransferFilter;
use crate::chain::{BlockRead, NodeError, ReceivedOutput, WatchTargets};
use crate::domain::asset::Chain;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) struct TronBlock {
    pub header: TronHeader,
    pub transactions: Vec<TronTransaction>,
}

pub(super) type InfosById = BTreeMap<TronId, TransactionInfo>;

impl Tron {
    /// Implements [`Node::blocks`](crate::chain::Node::blocks). After a rate limit, the next range has half the
    /// length.
    pub(super) fn read_range(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let tokens = self.verify_identity()?.tokens;
        if from > to {
            return Ok(Vec::new());
        }
        let last = to.min(from.saturating_add(self.span.saturating_sub(1)));
        let filter =
            TransferFilter { chain: Chain::Tron, native: self.native, tokens: &tokens, watched };
        let read = self.read_blocks(from, last, &filter);
        let is_limited = match &read {
            Err(error) => matches!(error, NodeError::Limited(_)),
            Ok(read) => read.last().is_none_or(|read| read.block.height < last),
        };
        self.span = if is_limited {
            let length = last.abs_diff(from).saturating_add(1);
            length.div_euclid(2).max(1)
        } else {
            self.span.saturating_add(1).min(SPAN_MAX)
        };
        read
    }

    /// Reads blocks until the end of the range, or until a limit stops the read.
    fn read_blocks(
        &mut self,
        from: u32,
        last: u32,
        filter: &TransferFilter<'_>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        // A node that lags may name a lower final block than one that was read.
        let complete = self.finality.complete();
        let is_final = self.finalized.is_none_or(|finalized| last <= finalized.max(complete));
        // New blocks are read a second time once they are final.
        if !is_final || filter.watched.reads_new_blocks() {
            return self.read_blocks_from(NodeApi::Head, from, last, filter);
        }
        if let Some(error) = self.finality.unavailable() {
            return Err(error);
        }
        let read = self.read_blocks_from(NodeApi::Final, from, last, filter);
        self.record_final_read(read)
    }

    fn read_blocks_from(
        &mut self,
        side: NodeApi,
        from: u32,
        last: u32,
        filter: &TransferFilter<'_>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let mut read = Vec::new();
        for block in self.fetch_blocks(side, from, last)? {
            match self.block_payments(side, &block, filter) {
                Ok(received) => read.push(to_block_read(block, received)),
                Err(NodeError::Limited(_)) if !read.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// Fetches the blocks of a range, or only as many of the first blocks as one request can return.
    pub(super) fn fetch_blocks(
        &mut self,
        side: NodeApi,
        from: u32,
        last: u32,
    ) -> Result<Vec<TronBlock>, NodeError> {
        let body = json!({ "startNum": from, "endNum": last.saturating_add(1) });
        let answer: BlockRangeResponse = self.post(side, "getblockbylimitnext", &body)?;
        let mut blocks: Vec<TronBlock> = Vec::with_capacity(answer.block.len());
        let mut next = from;
        for block in answer.block {
            let full = parse_block(block)?.ok_or(NodeError::Behind)?;
            if full.header.block.height != next || next > last {
                return Err(invalid_answer(
                    "it answers blocks of other heights than it was asked for",
                ));
            }
            let before = blocks.last().map(|before| &before.header.block.hash);
            // A reorg happened within the range.
            if before.is_some_and(|before| *before != full.header.parent) {
                return Err(NodeError::Behind);
            }
            next = next.saturating_add(1);
            blocks.push(full);
        }
        if blocks.is_empty() {
            return Err(NodeError::Behind);
        }
        Ok(blocks)
    }

    fn block_payments(
        &mut self,
        side: NodeApi,
        block: &TronBlock,
        filter: &TransferFilter<'_>,
    ) -> Result<Vec<ReceivedOutput>, NodeError> {
        let done = block.transactions.iter().filter(|one| one.is_done);
        let mut contracts = done.filter(|one| one.runs_contract());
        let is_asked = match side {
            NodeApi::Final => contracts.next().is_some() && has_watched_accounts(filter.watched),
            NodeApi::Head => contracts.any(|one| filter.has_watched_transfer_call(one)),
        };
        let infos = if is_asked { self.fetch_infos(side, block)? } else { InfosById::new() };
        let mut received = Vec::new();
        for one in &block.transactions {
            received.extend(filter.payments_if_consistent(one, infos.get(&one.id))?);
        }
        Ok(received)
    }

    fn fetch_infos(&mut self, side: NodeApi, block: &TronBlock) -> Result<InfosById, NodeError> {
        let height = block.header.block.height;
        let body = json!({ "num": height });
        let answer: TransactionInfos = self.post(side, "gettransactioninfobyblocknum", &body)?;
        let mut infos = InfosById::new();
        for info in answer.list {
            let id =
                info.id.ok_or_else(|| invalid_answer("it tells of a transaction without an id"))?;
            if info.block_number != height {
                return Err(invalid_answer("it tells of transactions of another block"));
            }
            infos.insert(id, info);
        }
        let is_of_block = |id: &TronId| block.transactions.iter().any(|one| one.id == *id);
        if !infos.keys().all(is_of_block) {
            // A reorg replaced the block at this height.
            return Err(NodeError::Behind);
        }
        let done = block.transactions.iter().filter(|one| one.is_done);
        for transaction in done.filter(|one| one.runs_contract()) {
            let info = infos.get(&transaction.id);
            self.update_has_internal(info.ok_or_else(|| missing_info_error(side, height))?);
        }
        Ok(infos)
    }

    /// Sets `has_internal` from the receipt of a successful contract call: whether the node returns internal
    /// transactions.
    pub(super) fn update_has_internal(&mut self, info: &TransactionInfo) {
        if info.internal.is_empty() {
            self.has_internal.get_or_insert(false);
        } else {
            self.has_internal = Some(true);
        }
    }
}

fn has_watched_accounts(watched: &dyn WatchTargets) -> bool {
    !watched.queried_accounts(1).is_some_and(|accounts| accounts.is_empty())
}

/// Returns the error for a missing receipt: [`NodeError::Behind`] at the head, because a node behind a load balancer
/// may lag. For a final block, returns [`NodeError::Unreachable`].
fn missing_info_error(side: NodeApi, height: u32) -> NodeError {
    match side {
        NodeApi::Head => NodeError::Behind,
        NodeApi::Final => NodeError::Unreachable(format!(
            "it does not tell what came of the transactions of block {height}"
        )),
    }
}

/// Parses a block with its transactions; `None` if the node has no such block.
pub(super) fn parse_block(answer: FullBlockResponse) -> Result<Option<TronBlock>, NodeError> {
    let header = parse_header(&answer)?;
    Ok(header.map(|header| TronBlock { header, transactions: answer.transactions }))
}

fn to_block_read(block: TronBlock, received: Vec<ReceivedOutput>) -> BlockRead {
    BlockRead {
        parent_height: block.header.block.height.saturating_sub(1),
        block: block.header.block,
        parent: block.header.parent,
        time: block.header.time,
        received,
        spent: Vec::new(),
    }
}
