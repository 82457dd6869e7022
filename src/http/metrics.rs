//! Counters for Prometheus.
//!
//! What always holds: labels come from the routes alone, so nothing a caller sends can make the page grow.

use super::routes::{Route, routes};
use std::sync::atomic::{AtomicU64, Ordering};

/// Classes of statuses, 1xx to 5xx.
const CLASSES: usize = 5;

/// How often each route answered with each class of status.
pub(super) struct Metrics {
    counts: Vec<(&'static Route, [AtomicU64; CLASSES])>,
    unrouted: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let counts = routes(true)
            .map(|route| (route, Default::default()))
            .collect();
        Metrics {
            counts,
            unrouted: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts an answer of the route with this number.
    pub(super) fn count(&self, route: Option<usize>, status: u16) {
        let class = usize::from(status / 100).saturating_sub(1);
        let counter = route
            .and_then(|number| self.counts.get(number))
            .and_then(|(_, classes)| classes.get(class));
        counter
            .unwrap_or(&self.unrouted)
            .fetch_add(1, Ordering::Relaxed);
    }

    /// The page, in Prometheus' text format 0.0.4.
    pub(super) fn page(&self, writes_waiting: usize, writes_refused: bool) -> String {
        let mut page = String::from(
            "# HELP coffer_requests_total Answers by operation and class of status.\n# TYPE coffer_requests_total counter\n",
        );
        for (route, classes) in &self.counts {
            for (class, counter) in (1_u8..).zip(classes) {
                let count = counter.load(Ordering::Relaxed);
                if count > 0 {
                    let operation = route.operation;
                    page.push_str(&format!("coffer_requests_total{{operation=\"{operation}\",status=\"{class}xx\"}} {count}\n"));
                }
            }
        }
        let unrouted = self.unrouted.load(Ordering::Relaxed);
        page.push_str(&format!(
            "coffer_requests_total{{operation=\"none\",status=\"4xx\"}} {unrouted}\n"
        ));
        page.push_str("# HELP coffer_writes_waiting Writes in the queue of the one writer.\n# TYPE coffer_writes_waiting gauge\n");
        page.push_str(&format!("coffer_writes_waiting {writes_waiting}\n"));
        page.push_str("# HELP coffer_writes_refused 1 while no write is taken in, because the disk is full or has failed.\n# TYPE coffer_writes_refused gauge\n");
        page.push_str(&format!(
            "coffer_writes_refused {}\n",
            u8::from(writes_refused)
        ));
        page
    }
}
