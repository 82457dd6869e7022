//! How much is measured: all of it, or the same in less than a minute.

use std::time::Duration;

/// Connections at once.
pub const CONNECTIONS: [usize; 4] = [1, 16, 64, 256];

/// How much is measured.
pub struct Plan {
    /// Is it the short one?
    pub is_quick: bool,
    /// How often everything is measured.
    pub rounds: usize,
    /// How long each thing runs before it is measured.
    pub warm_up: Duration,
    /// How long it is measured.
    pub window: Duration,
    /// Starts of each kind of server.
    pub starts: usize,
    /// Invoices after which memory is read.
    pub memory_invoices: usize,
    /// Invoices in the small file and in the large one.
    pub sizes: [usize; 2],
    /// Checkout pages that listen at once.
    pub pages: usize,
    /// Rounds in which the two files are compared.
    pub size_rounds: usize,
}

impl Plan {
    /// Minutes.
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

    /// Less than a minute.
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
