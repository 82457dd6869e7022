//! JSON of the pools of imported addresses.

use crate::domain::fields::{Schema, view};

view! {
    pub PoolView, object "pool" {
        /// Name of the pool.
        pool: &'static str;
        /// Addresses that are still free.
        free: i64 [Schema::COUNT];
        /// Addresses that are assigned.
        assigned: i64 [Schema::COUNT];
        /// Addresses that are never assigned, because a restored copy cannot know whether they were.
        retired: i64 [Schema::COUNT];
    }
}

view! {
    /// The pools of imported addresses.
    pub PoolListView as "PoolList" {
        /// One item for each chain with imported addresses.
        data: Vec<PoolView> = [{ "object": "pool", "pool": "solana", "free": 998, "assigned": 2, "retired": 0 }];
    }
}

view! {
    /// Result of an import.
    pub PoolImportView as "PoolImport", object "pool_import" {
        /// Name of the pool.
        pool: &'static str = "solana";
        /// Number of addresses that are new in the pool.
        added: usize = 1;
        /// Number of addresses that were known, or that came twice.
        duplicates: usize = 0;
        /// Number of free addresses in the pool.
        free: i64 [Schema::COUNT] = 999;
    }
}
