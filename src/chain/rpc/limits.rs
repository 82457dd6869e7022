//! Limits of requests to a node: time, memory and connections.
//!
//! Invariant: every call ends within its time limit.

use super::metadata::NodeResolver;
use std::time::Duration;
use ureq::Agent;
use ureq::unversioned::transport::DefaultConnector;

const USER_AGENT: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));
/// Longest idle time of a connection, in milliseconds. Longer than the polling interval of most chains, but shorter
/// than the 30 s after which bitcoin nodes close a connection.
const IDLE_MS_MAX: u64 = 20_000;
const ANSWER_HEADER_BYTES_MAX: usize = 16 * 1024;
pub(super) const BUFFER_BYTES: usize = 32 * 1024;

/// Limits of requests to a node.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time limit of a call, from name lookup to the last byte, in milliseconds.
    pub timeout_ms: u64,
    /// Time limit of connecting, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Largest number of bytes in a response.
    pub answer_bytes_max: u64,
    /// Largest number of calls in one batch.
    pub batch_calls_max: usize,
    /// Number of consecutive failures after which the next url is used.
    pub failures_max: u32,
    /// `true` to refuse link-local addresses and metadata services, for nodes that were entered on the page.
    pub refuses_metadata: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            timeout_ms: 60_000,
            connect_timeout_ms: 5_000,
            answer_bytes_max: 64 * 1024 * 1024,
            batch_calls_max: 100,
            failures_max: 3,
            refuses_metadata: false,
        }
    }
}

impl Limits {
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
        if self.refuses_metadata {
            return Agent::with_parts(config, DefaultConnector::default(), NodeResolver::default());
        }
        config.new_agent()
    }
}
