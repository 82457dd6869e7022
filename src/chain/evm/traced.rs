//! Does a node tell what contracts send, and of which blocks does it not?
//!
//! What does not live here: what a trace says (`traces`). What always holds: nobody stops a chain by one block whose traces
//! cannot be had.

use super::Evm;
use crate::chain::NodeError;
use crate::chain::rpc::{Failure, MethodError};
use serde::de::IgnoredAny;

/// After so many refusals of one block's traces for no reason that is known, so many blocks are read without theirs.
const TRACE_REFUSALS_MAX: u32 = 3;
const UNTRACED_BLOCKS: u32 = 256;

impl Evm {
    /// Asks for the traces of the newest block, to know whether there are any.
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
            Err(Failure::Method(error)) if has_no_traces(&error) => {
                self.stop_tracing(u32::MAX, &error.message);
            }
            // The login was good a moment ago: it is not good for this.
            Err(Failure::Node(NodeError::Wrong(text))) => self.stop_tracing(u32::MAX, &text),
            // It is asked again with the first block.
            Err(_) => {}
        }
    }

    /// Returns `true` if the node is known to tell of no traces at all.
    pub(super) fn lacks_traces(&self) -> bool {
        self.native.is_none() || (self.traces, self.untraced_below) == (Some(false), u32::MAX)
    }

    pub(super) fn forget_traces(&mut self) {
        (self.traces, self.untraced_below) = (None, 0);
        self.trace_refusals.clear();
    }

    /// From here on it does not tell what contracts send, up to this height.
    pub(super) fn stop_tracing(&mut self, below: u32, reason: &str) {
        if self.untraced_below != below {
            let chain = self.chain;
            log::warn!("{chain}: what contracts send is not seen: {reason}");
        }
        (self.traces, self.untraced_below) = (Some(false), below);
        self.trace_refusals.clear();
    }

    /// The traces of a block cannot be had: the range is read again, and without them where that goes on. Nobody is to stop a
    /// chain by one block.
    pub(super) fn count_trace_refusal(
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

/// Does the node have no such method? The codes are those of JSON-RPC and EIP-1474.
pub(super) fn is_no_method(error: &MethodError) -> bool {
    matches!(error.code, -32601 | -32004)
}

/// Does the node not tell of traces at all, or not us?
fn has_no_traces(error: &MethodError) -> bool {
    const WORDS: [&str; 8] = [
        "method",
        "unsupported",
        "not supported",
        "not available",
        "not allowed",
        "not enabled",
        "disabled",
        "upgrade",
    ];
    let text = error.message.to_ascii_lowercase();
    is_no_method(error) || WORDS.iter().any(|word| text.contains(word))
}
