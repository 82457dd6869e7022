//! Metrics in the format of Prometheus, and the token for reading them.
//!
//! Invariant: labels come only from routes and chains, so callers cannot make the page grow.

use crate::domain::apikey;
use crate::domain::signature::is_equal_constant_time;
use crate::render::chains::ChainView;
use crate::service::certificate::CertificateFigures;
use crate::service::mail::MailCounts;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of classes of HTTP statuses: 1xx to 5xx.
const CLASSES: usize = 5;

const TOKEN_CHARS_MAX: usize = 200;

/// Hash of the token that `/metrics` requires.
#[derive(Clone, PartialEq, Eq)]
pub struct MetricsToken([u8; 32]);

impl fmt::Debug for MetricsToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MetricsToken(…)")
    }
}

impl FromStr for MetricsToken {
    type Err = String;

    /// Parses a token. The error message does not contain the token.
    fn from_str(text: &str) -> Result<MetricsToken, String> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain && (1..=TOKEN_CHARS_MAX).contains(&text.len()) {
            Ok(MetricsToken(apikey::hash_key(text)))
        } else {
            Err(format!("must have 1 to {TOKEN_CHARS_MAX} printable ASCII characters and no space"))
        }
    }
}

impl MetricsToken {
    /// Returns `true` if this is the token. The comparison takes constant time.
    pub(super) fn matches(&self, presented: &str) -> bool {
        is_equal_constant_time(&self.0, &apikey::hash_key(presented))
    }
}

pub(super) struct Gauges {
    pub(super) writes_waiting: usize,
    pub(super) writes_refused: bool,
    /// `true` if another program holds the lock of the database.
    pub(super) is_locked: bool,
    pub(super) is_damaged: bool,
    /// Size of the write-ahead log, in bytes.
    pub(super) log_bytes: u64,
    /// Number of pairs of coin and currency without a fresh rate.
    pub(super) rates_missing: usize,
    pub(super) chains: Vec<ChainView>,
    pub(super) certificate: Option<CertificateFigures>,
    /// Numbers of e-mails that wait and that were given up. `None` without a mail server.
    pub(super) mail: Option<MailCounts>,
}

/// Counters of answers, for each operation and class of status.
pub(super) struct Metrics {
    counts: Vec<(&'static str, [AtomicU64; CLASSES])>,
    unrouted: AtomicU64,
}

impl Metrics {
    pub(super) fn new(operations: impl Iterator<Item = &'static str>) -> Metrics {
        Metrics {
            counts: operations.map(|name| (name, Default::default())).collect(),
            unrouted: AtomicU64::new(0),
        }
    }

    /// Counts an answer of the operation with this index. `None` stands for a path without an operation.
    pub(super) fn count_answer(&self, operation: Option<usize>, status: u16) {
        let class = usize::from(status / 100).saturating_sub(1);
        let counter = operation
            .and_then(|number| self.counts.get(number))
            .and_then(|(_, classes)| classes.get(class));
        counter.unwrap_or(&self.unrouted).fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the metrics page in the Prometheus text format 0.0.4.
    pub(super) fn render_page(&self, gauges: &Gauges) -> String {
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
        page.push_str(&format!("coffer_writes_waiting {}\n", gauges.writes_waiting));
        page.push_str("# HELP coffer_writes_refused 1 while no write is taken in, because the disk is full or has failed, the database is locked, or the file is damaged.\n# TYPE coffer_writes_refused gauge\n");
        page.push_str(&format!("coffer_writes_refused {}\n", u8::from(gauges.writes_refused)));
        add_file_gauges(&mut page, gauges);
        page.push_str("# HELP coffer_rates_missing Coins without a fresh rate in live mode, once for each currency; 0 where none is needed.\n# TYPE coffer_rates_missing gauge\n");
        page.push_str(&format!("coffer_rates_missing {}\n", gauges.rates_missing));
        add_chain_metrics(&mut page, &gauges.chains);
        if let Some(figures) = gauges.certificate {
            add_certificate_gauges(&mut page, figures);
        }
        if let Some(counts) = gauges.mail {
            add_mail_gauges(&mut page, counts);
        }
        page
    }
}

fn add_file_gauges(page: &mut String, gauges: &Gauges) {
    page.push_str("# HELP coffer_database_locked 1 while another program holds the database locked.\n# TYPE coffer_database_locked gauge\n");
    page.push_str(&format!("coffer_database_locked {}\n", u8::from(gauges.is_locked)));
    page.push_str("# HELP coffer_file_damaged 1 once the database file was found to be damaged: go back to a backup.\n# TYPE coffer_file_damaged gauge\n");
    page.push_str(&format!("coffer_file_damaged {}\n", u8::from(gauges.is_damaged)));
    page.push_str(
        "# HELP coffer_wal_bytes Size of the write-ahead log.\n# TYPE coffer_wal_bytes gauge\n",
    );
    page.push_str(&format!("coffer_wal_bytes {}\n", gauges.log_bytes));
}

fn add_certificate_gauges(page: &mut String, figures: CertificateFigures) {
    page.push_str("# HELP coffer_certificate_end_seconds When the certificate of --acme ends, in Unix seconds; 0 without one.\n# TYPE coffer_certificate_end_seconds gauge\n");
    page.push_str(&format!("coffer_certificate_end_seconds {}\n", figures.not_after_s));
    page.push_str("# HELP coffer_certificate_warning 1 while there is no certificate, its renewal has failed for a day, or a sixth of its lifetime is left.\n# TYPE coffer_certificate_warning gauge\n");
    page.push_str(&format!("coffer_certificate_warning {}\n", u8::from(figures.is_warned)));
}

fn add_mail_gauges(page: &mut String, counts: MailCounts) {
    page.push_str(
        "# HELP coffer_mail_waiting E-mails that wait to be sent.\n# TYPE coffer_mail_waiting gauge\n",
    );
    page.push_str(&format!("coffer_mail_waiting {}\n", counts.waiting));
    page.push_str("# HELP coffer_mail_failed E-mails that were given up and are still stored.\n# TYPE coffer_mail_failed gauge\n");
    page.push_str(&format!("coffer_mail_failed {}\n", counts.failed));
}

fn add_chain_metrics(page: &mut String, chains: &[ChainView]) {
    type ChainNumber = fn(&ChainView) -> Option<i64>;
    let all: [(&str, &str, &str, ChainNumber); 6] = [
        (
            "coffer_chain_requests_total",
            "counter",
            "Requests to the nodes of a chain; each of a batch counts.",
            |of| i64::try_from(of.requests).ok(),
        ),
        ("coffer_chain_height", "gauge", "The last block that was read of a chain.", |of| {
            of.height.map(i64::from)
        }),
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
        ("coffer_chain_keeps_up", "gauge", "1 while the coins of a chain can be on offer.", |of| {
            Some(i64::from(of.keeps_up))
        }),
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
