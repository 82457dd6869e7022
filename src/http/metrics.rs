//! Counters for Prometheus, and the token for reading them.
//!
//! Invariant: labels come from the routes alone, so no caller can make the page grow.

use crate::domain::apikey;
use crate::domain::render::chains::ChainView;
use crate::domain::signature::is_equal_constant_time;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Classes of statuses, 1xx to 5xx.
const CLASSES: usize = 5;

const TOKEN_CHARS_MAX: usize = 200;

/// Token of `/metrics`, as a hash.
#[derive(Clone, PartialEq, Eq)]
pub struct MetricsToken([u8; 32]);

impl fmt::Debug for MetricsToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MetricsToken(…)")
    }
}

impl FromStr for MetricsToken {
    type Err = String;

    /// The error does not contain the text.
    fn from_str(text: &str) -> Result<MetricsToken, String> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain && (1..=TOKEN_CHARS_MAX).contains(&text.len()) {
            Ok(MetricsToken(apikey::hash(text)))
        } else {
            Err(format!(
                "must have 1 to {TOKEN_CHARS_MAX} printable ASCII characters and no space"
            ))
        }
    }
}

impl MetricsToken {
    /// Compares with a presented text in constant time.
    pub(super) fn is(&self, presented: &str) -> bool {
        is_equal_constant_time(&self.0, &apikey::hash(presented))
    }
}

/// Present values, besides the counters.
pub(super) struct Gauges {
    /// Writes in the writer's queue.
    pub(super) writes_waiting: usize,
    /// Whether new writes are refused.
    pub(super) writes_refused: bool,
    /// Whether another program holds the database locked.
    pub(super) is_locked: bool,
    /// Size of the write-ahead log, in bytes.
    pub(super) log_bytes: u64,
    /// Coins without a fresh rate, counted once for each currency.
    pub(super) rates_missing: usize,
    /// Chains with nodes.
    pub(super) chains: Vec<ChainView>,
}

/// Number of answers of each operation in each class of status.
pub(super) struct Metrics {
    counts: Vec<(&'static str, [AtomicU64; CLASSES])>,
    unrouted: AtomicU64,
}

impl Metrics {
    /// Creates counters for these operations, all zero.
    pub(super) fn new(operations: impl Iterator<Item = &'static str>) -> Metrics {
        Metrics {
            counts: operations.map(|name| (name, Default::default())).collect(),
            unrouted: AtomicU64::new(0),
        }
    }

    /// Counts an answer of the operation with this index.
    pub(super) fn count(&self, operation: Option<usize>, status: u16) {
        let class = usize::from(status / 100).saturating_sub(1);
        let counter = operation
            .and_then(|number| self.counts.get(number))
            .and_then(|(_, classes)| classes.get(class));
        counter
            .unwrap_or(&self.unrouted)
            .fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the page in Prometheus' text format 0.0.4.
    pub(super) fn page(&self, gauges: &Gauges) -> String {
        let mut page = String::from(
            "# HELP coffer_requests_total Answers by operation and class of status.\n# TYPE coffer_requests_total counter\n",
        );
        for (operation, classes) in &self.counts {
            for (class, counter) in (1_u8..).zip(classes) {
                let count = counter.load(Ordering::Relaxed);
                if count > 0 {
                    page.push_str(&format!("coffer_requests_total{{operation=\"{operation}\",status=\"{class}xx\"}} {count}\n"));
                }
            }
        }
        let unrouted = self.unrouted.load(Ordering::Relaxed);
        page.push_str(&format!(
            "coffer_requests_total{{operation=\"none\",status=\"4xx\"}} {unrouted}\n"
        ));
        page.push_str("# HELP coffer_writes_waiting Writes in the queue of the one writer.\n# TYPE coffer_writes_waiting gauge\n");
        page.push_str(&format!(
            "coffer_writes_waiting {}\n",
            gauges.writes_waiting
        ));
        page.push_str("# HELP coffer_writes_refused 1 while no write is taken in, because the disk is full or has failed, or the database is locked.\n# TYPE coffer_writes_refused gauge\n");
        page.push_str(&format!(
            "coffer_writes_refused {}\n",
            u8::from(gauges.writes_refused)
        ));
        of_file(&mut page, gauges);
        page.push_str("# HELP coffer_rates_missing Coins without a fresh rate in live mode, once for each currency; 0 where none is needed.\n# TYPE coffer_rates_missing gauge\n");
        page.push_str(&format!("coffer_rates_missing {}\n", gauges.rates_missing));
        of_chains(&mut page, &gauges.chains);
        page
    }
}

/// Adds the gauges of the file.
fn of_file(page: &mut String, gauges: &Gauges) {
    page.push_str("# HELP coffer_database_locked 1 while another program holds the database locked.\n# TYPE coffer_database_locked gauge\n");
    page.push_str(&format!(
        "coffer_database_locked {}\n",
        u8::from(gauges.is_locked)
    ));
    page.push_str(
        "# HELP coffer_wal_bytes Size of the write-ahead log.\n# TYPE coffer_wal_bytes gauge\n",
    );
    page.push_str(&format!("coffer_wal_bytes {}\n", gauges.log_bytes));
}

/// Adds the progress and the requests of each chain.
fn of_chains(page: &mut String, chains: &[ChainView]) {
    type Number = fn(&ChainView) -> Option<i64>;
    let all: [(&str, &str, &str, Number); 6] = [
        (
            "coffer_chain_requests_total",
            "counter",
            "Requests to the nodes of a chain; each of a batch counts.",
            |of| i64::try_from(of.requests).ok(),
        ),
        (
            "coffer_chain_height",
            "gauge",
            "The last block that was read of a chain.",
            |of| of.height.map(i64::from),
        ),
        (
            "coffer_chain_head_height",
            "gauge",
            "The newest block of a chain that its node has told of.",
            |of| of.head_height.map(i64::from),
        ),
        (
            "coffer_chain_lag_seconds",
            "gauge",
            "How long ago a chain has been looked at to its head.",
            |of| of.lag_seconds,
        ),
        (
            "coffer_chain_keeps_up",
            "gauge",
            "1 while the coins of a chain can be on offer.",
            |of| Some(i64::from(of.keeps_up)),
        ),
        (
            "coffer_chain_watched_addresses",
            "gauge",
            "Addresses that are looked for on a chain.",
            |of| i64::try_from(of.watched_addresses).ok(),
        ),
    ];
    for (name, kind, help, number) in all {
        page.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        for of in chains {
            if let Some(number) = number(of) {
                page.push_str(&format!("{name}{{chain=\"{}\"}} {number}\n", of.chain));
            }
        }
    }
}
