//! Reading a range of blocks: what is asked, and how the answers fit together.
//!
//! What does not live here: single blocks and who the node is (`evm`), what a receipt says (`received`). What always holds:
//! every answer about a block names that block's hash, and a range of which one does not is read again later.

use super::Evm;
use super::answers::{EvmBlock, EvmHeader, EvmLog, EvmTransaction, Receipt, Trace};
use super::hex::Word;
use super::logs::{filters, quantity, topics};
use super::received::TransferHint;
use super::traced::is_no_method;
use super::traces::{InternalTransfer, internal_transfers};
use super::{block_of_header, is_unknown_block, lied};
use crate::chain::transfers::{Transfer, TransferFilter};
use crate::chain::{BlockRead, NodeError, Received, Watched};
use std::collections::BTreeMap;

/// The most accounts that are asked for by name in one call.
const NAMES_MAX: usize = 500;
/// The most blocks whose traces are fetched in one request: those of one may have ten megabytes.
const TRACED_MAX: usize = 2;
/// So often a transaction's receipt is asked for again where it does not fit.
const RECEIPT_MISMATCHES_MAX: u32 = 10;
/// The most blocks that are fetched with their transactions in one step.
const FULL_MAX: u32 = 8;

/// A block as it was fetched.
struct FetchedBlock {
    header: EvmHeader,
    /// None where it was fetched without them.
    transactions: Vec<EvmTransaction>,
}

/// The blocks that were fetched, by height.
type FetchedBlocks = BTreeMap<u32, FetchedBlock>;
/// What is to be looked at, by height and transaction.
type TransferHints = BTreeMap<(u32, Word), TransferHint>;

/// What came of asking for logs.
enum LogsOutcome {
    Answered(Vec<EvmLog>),
    /// So much is not answered.
    TooMany(NodeError),
}

impl Evm {
    /// [`Node::blocks`](crate::chain::Node::blocks).
    pub(super) fn read_range(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let tokens = self.verify_identity()?;
        let names = watched.accounts(NAMES_MAX);
        // Where nobody is watched, nothing is to be found.
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
            let most = if is_full {
                FULL_MAX.min(self.span)
            } else {
                self.span
            };
            let last = to.min(from.saturating_add(most.saturating_sub(1)));
            let mut blocks = self.fetch(from, last, is_full)?;
            let names = names.as_deref().filter(|_| self.filters_by_account);
            match self.fetch_logs((from, last), &blocks, &filter, names)? {
                LogsOutcome::Answered(logs) => return self.assemble(&mut blocks, logs, &filter),
                LogsOutcome::TooMany(_) if last > from => {
                    self.span = last.abs_diff(from).saturating_add(1).div_euclid(2).max(1);
                }
                LogsOutcome::TooMany(_) if names.is_some() => self.filters_by_account = false,
                LogsOutcome::TooMany(error) => return Err(error),
            }
            // It may be another that is asked now.
            self.verify_identity()?;
        }
    }

    /// The first and the last block of a range, or all with their transactions.
    fn fetch(&mut self, from: u32, last: u32, is_full: bool) -> Result<FetchedBlocks, NodeError> {
        let mut blocks = FetchedBlocks::new();
        if is_full {
            let heights = from..=last;
            let calls: Vec<_> = heights.map(|height| by_number(height, true)).collect();
            for (height, full) in (from..).zip(self.ask_all::<Option<EvmBlock>>(&calls)?) {
                let full = full.ok_or(NodeError::Behind)?;
                let header = EvmHeader {
                    number: full.number,
                    hash: full.hash,
                    parent_hash: full.parent_hash,
                    timestamp: full.timestamp,
                };
                insert_block(&mut blocks, height, header, full.transactions)?;
            }
        } else if from == last {
            self.fetch_headers(&mut blocks, &[from])?;
        } else {
            self.fetch_headers(&mut blocks, &[from, last])?;
        }
        Ok(blocks)
    }

    /// Fetches these blocks too, without their transactions.
    fn fetch_headers(
        &mut self,
        blocks: &mut FetchedBlocks,
        heights: &[u32],
    ) -> Result<(), NodeError> {
        let calls: Vec<_> = heights
            .iter()
            .map(|height| by_number(*height, false))
            .collect();
        for (height, header) in heights
            .iter()
            .zip(self.ask_all::<Option<EvmHeader>>(&calls)?)
        {
            let header = header.ok_or(NodeError::Behind)?;
            insert_block(blocks, *height, header, Vec::new())?;
        }
        Ok(())
    }

    /// The logs of a range that may be money for us.
    fn fetch_logs(
        &mut self,
        (from, last): (u32, u32),
        blocks: &FetchedBlocks,
        filter: &TransferFilter<'_>,
        names: Option<&[[u8; 20]]>,
    ) -> Result<LogsOutcome, NodeError> {
        let contracts: Vec<_> = filter
            .tokens
            .iter()
            .map(|(contract, _)| *contract)
            .collect();
        if contracts.is_empty() {
            return Ok(LogsOutcome::Answered(Vec::new()));
        }
        let hash = blocks.get(&last).map(|block| block.header.hash);
        let hash = hash.ok_or(NodeError::Behind)?;
        let topics: Vec<_> = match names {
            None => vec![topics(None)],
            Some(names) => names
                .chunks(NAMES_MAX)
                .map(|some| topics(Some(some)))
                .collect(),
        };
        let each = topics.iter();
        let calls = each.flat_map(|topics| filters((from, last), hash, &contracts, topics));
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
                Err(error) => return Ok(LogsOutcome::TooMany(self.refusal("eth_getLogs", &error))),
            }
        }
        let is_asked = |log: &EvmLog| {
            let height = log.block_number.to_u32();
            height.is_some_and(|height| (from..=last).contains(&height))
        };
        if !logs.iter().all(is_asked) {
            return Err(lied(
                "it answers logs of other blocks than it was asked for",
            ));
        }
        if logs.iter().any(|log| log.removed) {
            return Err(NodeError::Behind);
        }
        Ok(LogsOutcome::Answered(logs))
    }

    /// What the blocks of a range come to.
    fn assemble(
        &mut self,
        blocks: &mut FetchedBlocks,
        logs: Vec<EvmLog>,
        filter: &TransferFilter<'_>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let mut hints = own_transfers(blocks, filter);
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
        link_blocks(blocks, received)
    }

    /// Adds what contracts sent to watched accounts in the blocks that were fetched with their transactions.
    fn add_internal_transfers(
        &mut self,
        blocks: &FetchedBlocks,
        hints: &mut TransferHints,
        filter: &TransferFilter<'_>,
    ) -> Result<(), NodeError> {
        let (Some(from), Some(last)) = (blocks.keys().next(), blocks.keys().last()) else {
            return Ok(());
        };
        if filter.native.is_none() || *from < self.untraced_below {
            return Ok(());
        }
        let all: Vec<_> = blocks.iter().collect();
        for some in all.chunks(TRACED_MAX) {
            let heights = some.iter().map(|(height, _)| quantity(**height));
            let calls: Vec<_> = heights.map(|height| ("trace_block", [height])).collect();
            let outcomes = match self.rpc.batch::<Option<Vec<Trace>>>(&calls) {
                // The login was good a moment ago: it is not good for this.
                Err(NodeError::Wrong(text)) => {
                    self.stop_tracing(u32::MAX, &text);
                    return Ok(());
                }
                Err(error) => {
                    let height = some.first().map_or(from, |(height, _)| height);
                    return self.count_trace_refusal(*height, *last, error);
                }
                Ok(outcomes) => outcomes,
            };
            for ((height, block), outcome) in some.iter().zip(outcomes) {
                let sent = match outcome {
                    // Of one block, words may say anything.
                    Err(error) if is_no_method(&error) => {
                        self.stop_tracing(u32::MAX, &error.message);
                        return Ok(());
                    }
                    Err(error) => Err(self.refusal("trace_block", &error)),
                    Ok(None) => Err(NodeError::Behind),
                    Ok(Some(steps)) => block_transfers(block, &steps),
                };
                let sent = match sent {
                    Ok(sent) => sent,
                    Err(error) => return self.count_trace_refusal(**height, *last, error),
                };
                self.trace_refusals.remove(*height);
                let is_watched =
                    |sent: &InternalTransfer| filter.watched.has_account(&sent.transfer.to.0);
                for sent in sent.into_iter().filter(is_watched) {
                    let hint = hints.entry((**height, sent.txid)).or_default();
                    hint.block = Some(block.header.hash);
                    hint.internal_transfers.push(sent);
                }
            }
        }
        self.traces = Some(true);
        Ok(())
    }

    /// What came in, by height, each transaction judged by its receipt.
    fn read_receipts(
        &mut self,
        blocks: &FetchedBlocks,
        hints: &TransferHints,
        filter: &TransferFilter<'_>,
    ) -> Result<BTreeMap<u32, Vec<Received>>, NodeError> {
        let method = "eth_getTransactionReceipt";
        let calls: Vec<_> = hints.keys().map(|(_, txid)| (method, [*txid])).collect();
        let receipts = self.ask_all::<Option<Receipt>>(&calls)?;
        let mut placed: BTreeMap<u32, Vec<(u32, Vec<Received>)>> = BTreeMap::new();
        for ((key, hint), receipt) in hints.iter().zip(receipts) {
            let canonical = blocks.get(&key.0).map(|block| block.header.hash);
            match placed_payments(filter, *key, hint, canonical, receipt) {
                Ok(transaction) => placed.entry(key.0).or_default().push(transaction),
                Err(error) => self.count_mismatch(key.1, error)?,
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

    /// A transaction's receipt does not fit: the range is read again, as the chain may have moved. One whose receipt never
    /// fits is left out at last: nobody is to stop a chain by one transaction.
    fn count_mismatch(&mut self, txid: Word, error: NodeError) -> Result<(), NodeError> {
        let receipt_mismatches = self.receipt_mismatches.entry(txid).or_default();
        *receipt_mismatches = receipt_mismatches.saturating_add(1);
        if *receipt_mismatches < RECEIPT_MISMATCHES_MAX {
            return Err(error);
        }
        let chain = self.chain;
        log::warn!("{chain}: {txid} is left out, as its receipt does not fit: {error:?}");
        Ok(())
    }
}

/// What contracts sent in a block.
fn block_transfers(
    block: &FetchedBlock,
    steps: &[Trace],
) -> Result<Vec<InternalTransfer>, NodeError> {
    // Each transaction has at least its own step.
    if steps.is_empty() && !block.transactions.is_empty() {
        return Err(NodeError::Behind);
    }
    internal_transfers(steps, block.header.hash)
}

/// The place of a transaction in its block, and what came in with it.
fn placed_payments(
    filter: &TransferFilter<'_>,
    key: (u32, Word),
    hint: &TransferHint,
    canonical: Option<Word>,
    receipt: Option<Receipt>,
) -> Result<(u32, Vec<Received>), NodeError> {
    let receipt = receipt.filter(|_| hint.block == canonical);
    let receipt = receipt.ok_or(NodeError::Behind)?;
    let place = receipt.transaction_index.to_u32();
    let place = place.ok_or_else(|| lied("a transaction is at no place of its block"))?;
    Ok((place, filter.receipt_payments(key, hint, &receipt)?))
}

/// The parameters of a call for a block.
fn by_number(height: u32, is_full: bool) -> (&'static str, (String, bool)) {
    ("eth_getBlockByNumber", (quantity(height), is_full))
}

/// Takes a block up, if it is the one of its height.
fn insert_block(
    blocks: &mut FetchedBlocks,
    height: u32,
    header: EvmHeader,
    transactions: Vec<EvmTransaction>,
) -> Result<(), NodeError> {
    if header.number.to_u32() != Some(height) {
        return Err(lied("it answers a block of another height"));
    }
    blocks.insert(
        height,
        FetchedBlock {
            header,
            transactions,
        },
    );
    Ok(())
}

/// The transactions that themselves carry something to a watched account.
fn own_transfers(blocks: &FetchedBlocks, filter: &TransferFilter<'_>) -> TransferHints {
    let mut hints = TransferHints::new();
    for (height, block) in blocks {
        for transaction in &block.transactions {
            let to = transaction
                .to
                .filter(|to| filter.watched.has_account(&to.0));
            if let Some(to) = to.filter(|_| !transaction.value.is_zero()) {
                let hint = hints.entry((*height, transaction.hash)).or_default();
                hint.block = Some(block.header.hash);
                hint.own_transfer = Some(Transfer {
                    from: transaction.from,
                    to,
                    amount: transaction.value,
                });
            }
        }
    }
    hints
}

/// The blocks with what came in, checked to follow one another where they should.
fn link_blocks(
    blocks: &FetchedBlocks,
    mut received: BTreeMap<u32, Vec<Received>>,
) -> Result<Vec<BlockRead>, NodeError> {
    let mut read: Vec<BlockRead> = Vec::with_capacity(blocks.len());
    for (height, FetchedBlock { header, .. }) in blocks {
        let (block, time) = block_of_header(header)?;
        let parent = header.parent_hash.to_string();
        let before = read.last().map(|read| &read.block);
        let before = before.filter(|before| before.height.checked_add(1) == Some(*height));
        // The chain moved between two answers.
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
