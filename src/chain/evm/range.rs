//! Reading a range of blocks: what is asked, and how the answers fit together.
//!
//! What does not live here: single blocks and who the node is (`evm`), what a receipt says (`received`). What always holds:
//! every answer about a block names that block's hash, and a range of which one does not is read again later.

use super::Evm;
use super::answers::{Full, Header, Log, Receipt, Trace, Transaction};
use super::hex::Word;
use super::logs::{filters, quantity, topics};
use super::received::Hint;
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
const DOUBTS_MAX: u32 = 10;
/// The most blocks that are fetched with their transactions in one step.
const FULL_MAX: u32 = 8;

/// A block as it was fetched.
struct Fetched {
    header: Header,
    /// None where it was fetched without them.
    transactions: Vec<Transaction>,
}

/// The blocks that were fetched, by height.
type Blocks = BTreeMap<u32, Fetched>;
/// What is to be looked at, by height and transaction.
type Hints = BTreeMap<(u32, Word), Hint>;

/// What came of asking for logs.
enum Asked {
    Answered(Vec<Log>),
    /// So much is not answered.
    TooMuch(NodeError),
}

impl Evm {
    /// [`Node::blocks`](crate::chain::Node::blocks).
    pub(super) fn read_range(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let tokens = self.identified()?;
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
            let names = names.as_deref().filter(|_| self.is_by_name);
            match self.logs((from, last), &blocks, &filter, names)? {
                Asked::Answered(logs) => return self.assemble(&mut blocks, logs, &filter),
                Asked::TooMuch(_) if last > from => {
                    self.span = last.abs_diff(from).saturating_add(1).div_euclid(2).max(1);
                }
                Asked::TooMuch(_) if names.is_some() => self.is_by_name = false,
                Asked::TooMuch(error) => return Err(error),
            }
            // It may be another that is asked now.
            self.identified()?;
        }
    }

    /// The first and the last block of a range, or all with their transactions.
    fn fetch(&mut self, from: u32, last: u32, is_full: bool) -> Result<Blocks, NodeError> {
        let mut blocks = Blocks::new();
        if is_full {
            let heights = from..=last;
            let calls: Vec<_> = heights.map(|height| by_number(height, true)).collect();
            for (height, full) in (from..).zip(self.ask_all::<Option<Full>>(&calls)?) {
                let full = full.ok_or(NodeError::Behind)?;
                let header = Header {
                    number: full.number,
                    hash: full.hash,
                    parent_hash: full.parent_hash,
                    timestamp: full.timestamp,
                };
                put(&mut blocks, height, header, full.transactions)?;
            }
        } else if from == last {
            self.fetch_headers(&mut blocks, &[from])?;
        } else {
            self.fetch_headers(&mut blocks, &[from, last])?;
        }
        Ok(blocks)
    }

    /// Fetches these blocks too, without their transactions.
    fn fetch_headers(&mut self, blocks: &mut Blocks, heights: &[u32]) -> Result<(), NodeError> {
        let calls: Vec<_> = heights
            .iter()
            .map(|height| by_number(*height, false))
            .collect();
        for (height, header) in heights.iter().zip(self.ask_all::<Option<Header>>(&calls)?) {
            let header = header.ok_or(NodeError::Behind)?;
            put(blocks, *height, header, Vec::new())?;
        }
        Ok(())
    }

    /// The logs of a range that may be money for us.
    fn logs(
        &mut self,
        (from, last): (u32, u32),
        blocks: &Blocks,
        filter: &TransferFilter<'_>,
        names: Option<&[[u8; 20]]>,
    ) -> Result<Asked, NodeError> {
        let contracts: Vec<_> = filter
            .tokens
            .iter()
            .map(|(contract, _)| *contract)
            .collect();
        if contracts.is_empty() {
            return Ok(Asked::Answered(Vec::new()));
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
        let outcomes = match self.rpc.batch::<Vec<Log>>(&calls) {
            Err(error @ NodeError::Limited(_)) => return Ok(Asked::TooMuch(error)),
            outcomes => outcomes?,
        };
        let mut logs = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(found) => logs.extend(found.into_iter().filter(|log| filter.matches_log(log))),
                Err(error) if is_unknown_block(&error) => return Err(NodeError::Behind),
                Err(error) => return Ok(Asked::TooMuch(self.refused("eth_getLogs", &error))),
            }
        }
        let is_asked = |log: &Log| {
            let height = log.block_number.place();
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
        Ok(Asked::Answered(logs))
    }

    /// What the blocks of a range come to.
    fn assemble(
        &mut self,
        blocks: &mut Blocks,
        logs: Vec<Log>,
        filter: &TransferFilter<'_>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let mut hints = own_transfers(blocks, filter);
        self.contracts(blocks, &mut hints, filter)?;
        for log in logs {
            let height = log.block_number.place().ok_or(NodeError::Behind)?;
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
        let received = self.receipts(blocks, &hints, filter)?;
        joined(blocks, received)
    }

    /// Adds what contracts sent to watched accounts in the blocks that were fetched with their transactions.
    fn contracts(
        &mut self,
        blocks: &Blocks,
        hints: &mut Hints,
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
                    self.untraced(u32::MAX, &text);
                    return Ok(());
                }
                Err(error) => {
                    let height = some.first().map_or(from, |(height, _)| height);
                    return self.trace_refused(*height, *last, error);
                }
                Ok(outcomes) => outcomes,
            };
            for ((height, block), outcome) in some.iter().zip(outcomes) {
                let sent = match outcome {
                    // Of one block, words may say anything.
                    Err(error) if is_no_method(&error) => {
                        self.untraced(u32::MAX, &error.message);
                        return Ok(());
                    }
                    Err(error) => Err(self.refused("trace_block", &error)),
                    Ok(None) => Err(NodeError::Behind),
                    Ok(Some(steps)) => block_transfers(block, &steps),
                };
                let sent = match sent {
                    Ok(sent) => sent,
                    Err(error) => return self.trace_refused(**height, *last, error),
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
    fn receipts(
        &mut self,
        blocks: &Blocks,
        hints: &Hints,
        filter: &TransferFilter<'_>,
    ) -> Result<BTreeMap<u32, Vec<Received>>, NodeError> {
        let method = "eth_getTransactionReceipt";
        let calls: Vec<_> = hints.keys().map(|(_, txid)| (method, [*txid])).collect();
        let receipts = self.ask_all::<Option<Receipt>>(&calls)?;
        let mut placed: BTreeMap<u32, Vec<(u32, Vec<Received>)>> = BTreeMap::new();
        for ((key, hint), receipt) in hints.iter().zip(receipts) {
            let canonical = blocks.get(&key.0).map(|block| block.header.hash);
            match judged(filter, *key, hint, canonical, receipt) {
                Ok(transaction) => placed.entry(key.0).or_default().push(transaction),
                Err(error) => self.doubt(key.1, error)?,
            }
        }
        self.doubts.clear();
        let in_order = placed.into_iter().map(|(height, mut transactions)| {
            transactions.sort_by_key(|(place, _)| *place);
            let received = transactions.into_iter().flat_map(|(_, received)| received);
            (height, received.collect())
        });
        Ok(in_order.collect())
    }

    /// A transaction's receipt does not fit: the range is read again, as the chain may have moved. One whose receipt never
    /// fits is left out at last: nobody is to stop a chain by one transaction.
    fn doubt(&mut self, txid: Word, error: NodeError) -> Result<(), NodeError> {
        let doubts = self.doubts.entry(txid).or_default();
        *doubts = doubts.saturating_add(1);
        if *doubts < DOUBTS_MAX {
            return Err(error);
        }
        let chain = self.chain;
        log::warn!("{chain}: {txid} is left out, as its receipt does not fit: {error:?}");
        Ok(())
    }
}

/// What contracts sent in a block.
fn block_transfers(block: &Fetched, steps: &[Trace]) -> Result<Vec<InternalTransfer>, NodeError> {
    // Each transaction has at least its own step.
    if steps.is_empty() && !block.transactions.is_empty() {
        return Err(NodeError::Behind);
    }
    internal_transfers(steps, block.header.hash)
}

/// The place of a transaction in its block, and what came in with it.
fn judged(
    filter: &TransferFilter<'_>,
    key: (u32, Word),
    hint: &Hint,
    canonical: Option<Word>,
    receipt: Option<Receipt>,
) -> Result<(u32, Vec<Received>), NodeError> {
    let receipt = receipt.filter(|_| hint.block == canonical);
    let receipt = receipt.ok_or(NodeError::Behind)?;
    let place = receipt.transaction_index.place();
    let place = place.ok_or_else(|| lied("a transaction is at no place of its block"))?;
    Ok((place, filter.receipt_payments(key, hint, &receipt)?))
}

/// The parameters of a call for a block.
fn by_number(height: u32, is_full: bool) -> (&'static str, (String, bool)) {
    ("eth_getBlockByNumber", (quantity(height), is_full))
}

/// Takes a block up, if it is the one of its height.
fn put(
    blocks: &mut Blocks,
    height: u32,
    header: Header,
    transactions: Vec<Transaction>,
) -> Result<(), NodeError> {
    if header.number.place() != Some(height) {
        return Err(lied("it answers a block of another height"));
    }
    blocks.insert(
        height,
        Fetched {
            header,
            transactions,
        },
    );
    Ok(())
}

/// The transactions that themselves carry something to a watched account.
fn own_transfers(blocks: &Blocks, filter: &TransferFilter<'_>) -> Hints {
    let mut hints = Hints::new();
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
fn joined(
    blocks: &Blocks,
    mut received: BTreeMap<u32, Vec<Received>>,
) -> Result<Vec<BlockRead>, NodeError> {
    let mut read: Vec<BlockRead> = Vec::with_capacity(blocks.len());
    for (height, Fetched { header, .. }) in blocks {
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
