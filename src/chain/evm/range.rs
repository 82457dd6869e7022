//! Reads a range of blocks.
//!
//! Invariant: each response names the hash of its block. If a hash does not match, the range is read again later.

use super::answers::{EvmBlock, EvmHeader, EvmLog, EvmTransaction, Receipt};
use super::hex::Word;
use super::logs::{build_log_requests, encode_quantity, transfer_topics};
use super::received::TransferCandidate;
use super::{Evm, invalid_answer, is_unknown_block, to_block_and_time};
use crate::chain::transfers::{Transfer, TransferFilter};
use crate::chain::{BlockRead, NodeError, ReceivedOutput, WatchTargets};
use std::collections::BTreeMap;

/// Largest number of accounts in one log filter.
const NAMES_MAX: usize = 500;
/// Number of mismatching receipts of one transaction after which the transaction is skipped.
const RECEIPT_MISMATCHES_MAX: u32 = 10;
/// Largest number of blocks fetched with their transactions in one step.
const FULL_MAX: u32 = 8;

pub(super) struct FetchedBlock {
    pub header: EvmHeader,
    /// Transactions of the block; empty if only the header was fetched.
    pub transactions: Vec<EvmTransaction>,
}

/// Fetched blocks, by height.
pub(super) type FetchedBlocks = BTreeMap<u32, FetchedBlock>;
/// Transactions that may have payments, by height and id.
pub(super) type TransferCandidates = BTreeMap<(u32, Word), TransferCandidate>;

enum LogsOutcome {
    Answered(Vec<EvmLog>),
    /// The range has more logs than the node returns in one response.
    TooMany(NodeError),
}

impl Evm {
    /// Implements [`Node::blocks`](crate::chain::Node::blocks).
    pub(super) fn read_range(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let tokens = self.verify_identity()?;
        let names = watched.queried_accounts(NAMES_MAX);
        // Without accounts there are no payments to find, so logs are not requested.
        let is_empty = names.as_ref().is_some_and(Vec::is_empty);
        let filter = TransferFilter {
            chain: self.chain,
            native: self.native.filter(|_| !is_empty),
            tokens: if is_empty { &[] } else { &tokens },
            watched,
        };
        if from > to {
            return Ok(Vec::new());
        }
        let is_full = filter.native.is_some();
        loop {
            let most = if is_full { FULL_MAX.min(self.span) } else { self.span };
            let last = to.min(from.saturating_add(most.saturating_sub(1)));
            let mut blocks = self.fetch_blocks(from, last, is_full)?;
            let names = names.as_deref().filter(|_| self.filters_by_account);
            match self.fetch_logs(from, last, &blocks, &filter, names)? {
                LogsOutcome::Answered(logs) => {
                    return self.assemble_blocks(&mut blocks, logs, &filter);
                }
                LogsOutcome::TooMany(_) if last > from => {
                    self.span = last.abs_diff(from).saturating_add(1).div_euclid(2).max(1);
                }
                LogsOutcome::TooMany(_) if names.is_some() => self.filters_by_account = false,
                LogsOutcome::TooMany(error) => return Err(error),
            }
            // The next call may reach another node.
            self.verify_identity()?;
        }
    }

    /// Fetches the blocks of a range with their transactions if `is_full`. Otherwise, fetches only the headers of the
    /// first and the last block.
    fn fetch_blocks(
        &mut self,
        from: u32,
        last: u32,
        is_full: bool,
    ) -> Result<FetchedBlocks, NodeError> {
        let mut blocks = FetchedBlocks::new();
        if is_full {
            let heights = from..=last;
            let calls: Vec<_> = heights.map(|height| block_by_number_call(height, true)).collect();
            for (height, full) in (from..).zip(self.call_all_required::<Option<EvmBlock>>(&calls)?)
            {
                let full = full.ok_or(NodeError::Behind)?;
                let header = EvmHeader {
                    number: full.number,
                    hash: full.hash,
                    parent_hash: full.parent_hash,
                    timestamp: full.timestamp,
                };
                insert_block(&mut blocks, height, header, full.transactions)?;
            }
        } else {
            let ends = if from == last { &[from][..] } else { &[from, last] };
            self.fetch_headers(&mut blocks, ends)?;
        }
        Ok(blocks)
    }

    fn fetch_headers(
        &mut self,
        blocks: &mut FetchedBlocks,
        heights: &[u32],
    ) -> Result<(), NodeError> {
        let calls: Vec<_> =
            heights.iter().map(|height| block_by_number_call(*height, false)).collect();
        for (height, header) in
            heights.iter().zip(self.call_all_required::<Option<EvmHeader>>(&calls)?)
        {
            let header = header.ok_or(NodeError::Behind)?;
            insert_block(blocks, *height, header, Vec::new())?;
        }
        Ok(())
    }

    /// Fetches the logs of a range that may be payments.
    fn fetch_logs(
        &mut self,
        from: u32,
        last: u32,
        blocks: &FetchedBlocks,
        filter: &TransferFilter<'_>,
        names: Option<&[[u8; 20]]>,
    ) -> Result<LogsOutcome, NodeError> {
        let contracts: Vec<_> = filter.tokens.iter().map(|(contract, _)| *contract).collect();
        if contracts.is_empty() {
            return Ok(LogsOutcome::Answered(Vec::new()));
        }
        let hash = blocks.get(&last).map(|block| block.header.hash);
        let hash = hash.ok_or(NodeError::Behind)?;
        let topics: Vec<_> = match names {
            None => vec![transfer_topics(None)],
            Some(names) => {
                names.chunks(NAMES_MAX).map(|some| transfer_topics(Some(some))).collect()
            }
        };
        let each = topics.iter();
        let calls =
            each.flat_map(|topics| build_log_requests(from, last, hash, &contracts, topics));
        let calls: Vec<_> = calls.collect();
        let outcomes = match self.rpc.batch::<Vec<EvmLog>>(&calls) {
            Err(error @ NodeError::Limited(_)) => return Ok(LogsOutcome::TooMany(error)),
            outcomes => outcomes?,
        };
        let mut logs = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(found) => logs.extend(found.into_iter().filter(|log| filter.matches_log(log))),
                Err(error) if is_unknown_block(&error) => return Err(NodeError::Behind),
                Err(error) => {
                    return Ok(LogsOutcome::TooMany(self.unexpected_error("eth_getLogs", &error)));
                }
            }
        }
        let is_asked = |log: &EvmLog| {
            let height = log.block_number.to_u32();
            height.is_some_and(|height| (from..=last).contains(&height))
        };
        if !logs.iter().all(is_asked) {
            return Err(invalid_answer("it answers logs of other blocks than it was asked for"));
        }
        if logs.iter().any(|log| log.removed) {
            return Err(NodeError::Behind);
        }
        Ok(LogsOutcome::Answered(logs))
    }

    /// Combines blocks and logs into the payments of each block.
    fn assemble_blocks(
        &mut self,
        blocks: &mut FetchedBlocks,
        logs: Vec<EvmLog>,
        filter: &TransferFilter<'_>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let mut hints = native_transfer_candidates(blocks, filter);
        self.add_internal_transfers(blocks, &mut hints, filter)?;
        for log in logs {
            let height = log.block_number.to_u32().ok_or(NodeError::Behind)?;
            let hint = hints.entry((height, log.transaction_hash)).or_default();
            if hint.block.is_some_and(|block| block != log.block_hash) {
                return Err(NodeError::Behind);
            }
            hint.block = Some(log.block_hash);
            hint.logs.push(log);
        }
        let mut missing: Vec<u32> = hints.keys().map(|(height, _)| *height).collect();
        missing.dedup();
        missing.retain(|height| !blocks.contains_key(height));
        self.fetch_headers(blocks, &missing)?;
        let received = self.read_receipts(blocks, &hints, filter)?;
        combine_blocks_and_payments(blocks, received)
    }

    /// Returns the payments in each block, by height. Each payment is confirmed by a receipt.
    fn read_receipts(
        &mut self,
        blocks: &FetchedBlocks,
        hints: &TransferCandidates,
        filter: &TransferFilter<'_>,
    ) -> Result<BTreeMap<u32, Vec<ReceivedOutput>>, NodeError> {
        let method = "eth_getTransactionReceipt";
        let calls: Vec<_> = hints.keys().map(|(_, txid)| (method, [*txid])).collect();
        let receipts = self.call_all_required::<Option<Receipt>>(&calls)?;
        let mut placed: BTreeMap<u32, Vec<(u32, Vec<ReceivedOutput>)>> = BTreeMap::new();
        for ((&(height, txid), hint), receipt) in hints.iter().zip(receipts) {
            let canonical = blocks.get(&height).map(|block| block.header.hash);
            match indexed_payments(filter, height, txid, hint, canonical, receipt) {
                Ok(transaction) => placed.entry(height).or_default().push(transaction),
                Err(error) => self.count_receipt_mismatch(txid, error)?,
            }
        }
        self.receipt_mismatches.clear();
        let in_order = placed.into_iter().map(|(height, mut transactions)| {
            transactions.sort_by_key(|(place, _)| *place);
            let received = transactions.into_iter().flat_map(|(_, received)| received);
            (height, received.collect())
        });
        Ok(in_order.collect())
    }

    /// Counts a receipt that does not match, and returns the error, so that the caller reads the range again. After
    /// too many mismatches, returns `Ok`, and the transaction is skipped.
    fn count_receipt_mismatch(&mut self, txid: Word, error: NodeError) -> Result<(), NodeError> {
        let mismatches = self.receipt_mismatches.entry(txid).or_default();
        *mismatches = mismatches.saturating_add(1);
        if *mismatches < RECEIPT_MISMATCHES_MAX {
            return Err(error);
        }
        let chain = self.chain;
        log::warn!(
            "transaction ignored, receipt does not match: chain={chain} txid={txid} error={error:?}"
        );
        Ok(())
    }
}

/// Returns the index of a transaction in its block, and its payments.
fn indexed_payments(
    filter: &TransferFilter<'_>,
    height: u32,
    txid: Word,
    hint: &TransferCandidate,
    canonical: Option<Word>,
    receipt: Option<Receipt>,
) -> Result<(u32, Vec<ReceivedOutput>), NodeError> {
    let receipt = receipt.filter(|_| hint.block == canonical);
    let receipt = receipt.ok_or(NodeError::Behind)?;
    let place = receipt.transaction_index.to_u32();
    let place = place.ok_or_else(|| invalid_answer("a transaction is at no place of its block"))?;
    Ok((place, filter.receipt_payments(height, txid, hint, &receipt)?))
}

fn block_by_number_call(height: u32, is_full: bool) -> (&'static str, (String, bool)) {
    ("eth_getBlockByNumber", (encode_quantity(height), is_full))
}

/// Inserts a block after a check of its height.
fn insert_block(
    blocks: &mut FetchedBlocks,
    height: u32,
    header: EvmHeader,
    transactions: Vec<EvmTransaction>,
) -> Result<(), NodeError> {
    if header.number.to_u32() != Some(height) {
        return Err(invalid_answer("it answers a block of another height"));
    }
    blocks.insert(height, FetchedBlock { header, transactions });
    Ok(())
}

/// Returns the transactions that send native coins to a watched account.
fn native_transfer_candidates(
    blocks: &FetchedBlocks,
    filter: &TransferFilter<'_>,
) -> TransferCandidates {
    let mut hints = TransferCandidates::new();
    for (height, block) in blocks {
        for transaction in &block.transactions {
            let to = transaction.to.filter(|to| filter.watched.has_account(&to.0));
            if let Some(to) = to.filter(|_| !transaction.value.is_zero()) {
                let hint = hints.entry((*height, transaction.hash)).or_default();
                hint.block = Some(block.header.hash);
                hint.own_transfer =
                    Some(Transfer { from: transaction.from, to, amount: transaction.value });
            }
        }
    }
    hints
}

/// Combines blocks and payments. Blocks of adjacent heights must be parent and child.
fn combine_blocks_and_payments(
    blocks: &FetchedBlocks,
    mut received: BTreeMap<u32, Vec<ReceivedOutput>>,
) -> Result<Vec<BlockRead>, NodeError> {
    let mut read: Vec<BlockRead> = Vec::with_capacity(blocks.len());
    for (height, FetchedBlock { header, .. }) in blocks {
        let (block, time) = to_block_and_time(header)?;
        let parent = header.parent_hash.to_string();
        let before = read.last().map(|read| &read.block);
        let before = before.filter(|before| before.height.checked_add(1) == Some(*height));
        // A reorg happened between the responses for two blocks.
        if before.is_some_and(|before| before.hash != parent) {
            return Err(NodeError::Behind);
        }
        read.push(BlockRead {
            parent_height: height.saturating_sub(1),
            block,
            parent,
            time,
            received: received.remove(height).unwrap_or_default(),
            spent: Vec::new(),
        });
    }
    Ok(read)
}
