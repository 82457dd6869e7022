//! Tracks whether the node supports traces, and for which blocks traces are unavailable.
//!
//! Invariant: a block whose traces are unavailable does not stop the chain.

use super::Evm;
use super::answers::Trace;
use super::logs::encode_quantity;
use super::range::{FetchedBlock, FetchedBlocks, TransferCandidates};
use super::traces::{InternalTransfer, internal_transfers};
use crate::chain::NodeError;
use crate::chain::rpc::{CallFailure, MethodError};
use crate::chain::transfers::TransferFilter;
use serde::de::IgnoredAny;

/// Number of failed trace requests of one block after which the next `UNTRACED_BLOCKS` blocks are read without
/// traces.
const TRACE_REFUSALS_MAX: u32 = 3;
const UNTRACED_BLOCKS: u32 = 256;

/// Largest number of blocks in one trace request. The traces of one block can have 10 MB.
const TRACED_MAX: usize = 2;

impl Evm {
    /// Adds to `hints` the transfers that contracts made to watched accounts. Requests traces only for blocks fetched
    /// with their transactions.
    pub(super) fn add_internal_transfers(
        &mut self,
        blocks: &FetchedBlocks,
        hints: &mut TransferCandidates,
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
            let heights = some.iter().map(|(height, _)| encode_quantity(**height));
            let calls: Vec<_> = heights.map(|height| ("trace_block", [height])).collect();
            let outcomes = match self.rpc.batch::<Option<Vec<Trace>>>(&calls) {
                // The node has just accepted the credentials for other methods, so the node refuses only this method.
                Err(NodeError::Wrong(text)) => {
                    self.stop_tracing(u32::MAX, &text);
                    return Ok(());
                }
                Err(error) => {
                    let height = some.first().map_or(from, |(height, _)| height);
                    return self.count_trace_failure(*height, *last, error);
                }
                Ok(outcomes) => outcomes,
            };
            for ((height, block), outcome) in some.iter().zip(outcomes) {
                let sent = match outcome {
                    // An error message about one block does not prove that the node lacks traces for all blocks. Only
                    // the error code for an unknown method proves this.
                    Err(error) if is_unknown_method(&error) => {
                        self.stop_tracing(u32::MAX, &error.message);
                        return Ok(());
                    }
                    Err(error) => Err(self.unexpected_error("trace_block", &error)),
                    Ok(None) => Err(NodeError::Behind),
                    Ok(Some(steps)) => contract_transfers_in_block(block, &steps),
                };
                let sent = match sent {
                    Ok(sent) => sent,
                    Err(error) => return self.count_trace_failure(**height, *last, error),
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

    /// Requests the traces of the newest block, to learn whether the node supports them.
    pub(super) fn probe_traces(&mut self) {
        if self.native.is_none() {
            return;
        }
        match self.rpc.call::<IgnoredAny>("trace_block", &["latest"]) {
            Ok(_) => {
                self.traces = Some(true);
                if self.untraced_below == u32::MAX {
                    self.untraced_below = 0;
                }
            }
            Err(CallFailure::Method(error)) if is_trace_refusal(&error) => {
                self.stop_tracing(u32::MAX, &error.message);
            }
            // The node has just accepted the credentials for other methods, so the node refuses only this method.
            Err(CallFailure::Node(NodeError::Wrong(text))) => self.stop_tracing(u32::MAX, &text),
            // It stays unknown whether the node supports traces. The result of the first trace request for a block
            // will decide.
            Err(_) => {}
        }
    }

    /// Returns `true` if the node is known to have no traces of any block.
    pub(super) fn lacks_traces(&self) -> bool {
        self.native.is_none() || (self.traces, self.untraced_below) == (Some(false), u32::MAX)
    }

    pub(super) fn forget_trace_support(&mut self) {
        (self.traces, self.untraced_below) = (None, 0);
        self.trace_refusals.clear();
    }

    /// Stops requesting traces for blocks below this height.
    fn stop_tracing(&mut self, below: u32, reason: &str) {
        if self.untraced_below != below {
            let chain = self.chain;
            log::warn!("payments from contracts not seen: chain={chain} reason={reason}");
        }
        (self.traces, self.untraced_below) = (Some(false), below);
        self.trace_refusals.clear();
    }

    /// Counts a failed trace request, and returns the error, so that the caller reads the range again. After too many
    /// failures, returns `Ok`, and blocks are read without traces.
    fn count_trace_failure(
        &mut self,
        height: u32,
        last: u32,
        error: NodeError,
    ) -> Result<(), NodeError> {
        let refusals = self.trace_refusals.entry(height).or_default();
        *refusals = refusals.saturating_add(1);
        if *refusals < TRACE_REFUSALS_MAX {
            return Err(error);
        }
        self.stop_tracing(last.saturating_add(UNTRACED_BLOCKS), &error.to_string());
        Ok(())
    }
}

fn contract_transfers_in_block(
    block: &FetchedBlock,
    steps: &[Trace],
) -> Result<Vec<InternalTransfer>, NodeError> {
    // Each transaction has at least one call frame, so an empty list means that the traces are missing.
    if steps.is_empty() && !block.transactions.is_empty() {
        return Err(NodeError::Behind);
    }
    internal_transfers(steps, block.header.hash)
}

/// Returns `true` if the node does not have the method. The codes are those of JSON-RPC and EIP-1474.
fn is_unknown_method(error: &MethodError) -> bool {
    matches!(error.code, -32601 | -32004)
}

/// Returns `true` if the node does not offer traces, or refuses traces for these credentials.
///
/// The texts are those of geth, Erigon, Nethermind, Optimism's gateway, Ankr and Alchemy. Any other error may pass.
fn is_trace_refusal(error: &MethodError) -> bool {
    const TEXTS: [&str; 5] = [
        "the method trace_block does not exist/is not available",
        "the method 'trace_block' is not supported.",
        "method not found",
        "method disabled",
        "rpc method is not whitelisted",
    ];
    const BEGINNINGS: [&str; 4] = [
        "the method 'trace_block' is found but the namespace 'trace' is disabled for ",
        "the method 'trace_block' is found in namespace 'trace' for ",
        "trace_block is not available on the ",
        "unsupported method: trace_block",
    ];
    let text = error.message.to_ascii_lowercase();
    is_unknown_method(error)
        || TEXTS.contains(&text.as_str())
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::is_trace_refusal;
    use crate::chain::rpc::MethodError;

    fn is_refusal(code: i64, message: &str) -> bool {
        is_trace_refusal(&MethodError { code, message: message.to_owned() })
    }

    #[test]
    fn known_texts_of_nodes_mean_that_they_offer_no_traces() {
        for (code, message) in [
            // anvil, reth and Besu
            (-32601, "Method not found"),
            // geth and Erigon, also behind gateways that change the code
            (-32601, "the method trace_block does not exist/is not available"),
            (-32000, "the method trace_block does not exist/is not available"),
            // Nethermind
            (-32601, "The method 'trace_block' is not supported."),
            (
                -32600,
                "The method 'trace_block' is found but the namespace 'Trace' is disabled for http://127.0.0.1:8545/. \
                 Consider adding the namespace 'Trace' to JsonRpc.AdditionalRpcUrls for an additional URL, or to",
            ),
            (
                -32600,
                "The method 'trace_block' is found in namespace 'Trace' for http://127.0.0.1:8545/' but is disabled \
                 for Http.",
            ),
            // EIP-1474, QuickNode
            (-32004, "Method not supported"),
            // Optimism's gateway
            (-32001, "rpc method is not whitelisted"),
            // Alchemy
            (
                -32600,
                "trace_block is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access.",
            ),
            (-32600, "Unsupported method: trace_block on BASE_MAINNET"),
            // Ankr
            (-32075, "Method disabled"),
        ] {
            assert!(is_refusal(code, message), "{code} {message}");
        }
    }

    #[test]
    fn other_errors_do_not_mean_that_the_node_offers_no_traces() {
        for (code, message) in [
            (-32603, "method handler crashed"),
            (-32000, "method handler crashed"),
            (-32000, "the method trace_block timed out"),
            (-32000, "the method eth_call does not exist/is not available"),
            (
                -32000,
                "the method handler of trace_block crashed: the method trace_block does not exist/is not available",
            ),
            (-32000, "historical state is not available"),
            (-32000, "state histories haven't been fully indexed yet"),
            (-32000, "missing trie node"),
            (-32000, "header not found"),
            (-32002, "trace_block is not available, upgrade in progress"),
            (-32600, "eth_getLogs is not available on the Free tier - upgrade to Pay As You Go"),
            (-32602, "the transaction type is not supported"),
            (-32602, "unsupported block tag"),
            (-32009, "trace requests limited"),
            (-32612, "custom traces are blocked. contact sales at quicknode.com to enable"),
            (-32005, "limit exceeded"),
        ] {
            assert!(!is_refusal(code, message), "{code} {message}");
        }
    }
}
