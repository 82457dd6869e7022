//! Size of the benchmark: the full one, or a quick one of less than a minute.

use std::time::Duration;

/// Numbers of concurrent connections.
pub const CONNECTIONS: [usize; 4] = [1, 16, 64, 256];

/// Size of a benchmark.
pub struct Plan {
    /// Whether this is the quick benchmark.
    pub is_quick: bool,
    /// Number of rounds.
    pub rounds: usize,
    /// Warm-up time before a measurement.
    pub warm_up: Duration,
    /// Duration of a measurement.
    pub window: Duration,
    /// Starts of each kind of server.
    pub starts: usize,
    /// Number of invoices after which memory is read.
    pub memory_invoices: usize,
    /// Invoices in the small and in the large file.
    pub sizes: [usize; 2],
    /// Checkout pages that listen at the same time.
    pub pages: usize,
    /// Rounds of the comparison of the two files.
    pub size_rounds: usize,
}

impl Plan {
    /// Returns the plan that takes minutes.
    pub fn full() -> Plan {
        Plan {
            is_quick: false,
            rounds: 7,
            warm_up: Duration::from_millis(200),
            window: Duration::from_millis(800),
            starts: 20,
            memory_invoices: 100_000,
            sizes: [10_000, 1_000_000],
            pages: 5_000,
            size_rounds: 7,
        }
    }

    /// Returns the plan that takes less than a minute.
    pub fn quick() -> Plan {
        Plan {
            is_quick: true,
            rounds: 3,
            warm_up: Duration::from_millis(40),
            window: Duration::from_millis(160),
            starts: 20,
            memory_invoices: 10_000,
            sizes: [10_000, 100_000],
            pages: 500,
            size_rounds: 5,
        }
    }
}
