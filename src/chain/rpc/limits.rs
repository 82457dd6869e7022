//! How much a node may take: time, memory, connections.
//!
//! What does not live here: how often it is asked. What always holds: a call ends, whatever the node does.

use std::time::Duration;
use ureq::Agent;

const USER_AGENT: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));
/// Longer than the time between two polls of most chains, shorter than the 30 s after which bitcoin's nodes close.
const IDLE_MS_MAX: u64 = 20_000;
const ANSWER_HEADER_BYTES_MAX: usize = 16 * 1024;
/// Buffers of a connection.
pub(super) const BUFFER_BYTES: usize = 32 * 1024;

/// How far a node is trusted with time and memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A call, from the look-up of the name to the last byte read, takes no longer, in milliseconds.
    pub timeout_ms: u64,
    /// A connection is made within this time, in milliseconds.
    pub connect_timeout_ms: u64,
    /// The most bytes of an answer.
    pub answer_bytes_max: u64,
    /// The most calls in one request.
    pub batch_calls_max: usize,
    /// After so many failures, one after the other, the next url takes over.
    pub failures_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            timeout_ms: 60_000,
            connect_timeout_ms: 5_000,
            answer_bytes_max: 64 * 1024 * 1024,
            batch_calls_max: 100,
            failures_max: 3,
        }
    }
}

impl Limits {
    /// What makes connections within these limits.
    pub(super) fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_millis(self.timeout_ms)))
            .timeout_connect(Some(Duration::from_millis(self.connect_timeout_ms)))
            .proxy(None) // the default would be the environment's
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(USER_AGENT)
            .max_idle_connections(1)
            .max_idle_connections_per_host(1)
            .max_idle_age(Duration::from_millis(IDLE_MS_MAX))
            .max_response_header_size(ANSWER_HEADER_BYTES_MAX)
            .input_buffer_size(BUFFER_BYTES)
            .output_buffer_size(BUFFER_BYTES)
            .build();
        config.new_agent()
    }
}
