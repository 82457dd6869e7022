//! Pools of imported addresses as they are answered.

use crate::domain::fields::{Schema, view};

view! {
    pub PoolView, object "pool" {
        /// The pool's name.
        pool: &'static str;
        /// Addresses still to be handed out.
        free: i64 [Schema::COUNT];
        /// Addresses that were handed out.
        assigned: i64 [Schema::COUNT];
        /// Addresses that are never handed out, because a restored copy cannot know whether they were.
        retired: i64 [Schema::COUNT];
    }
}

view! {
    /// The pools of imported addresses.
    pub PoolListView as "PoolList" {
        /// One for each chain whose addresses are imported.
        data: Vec<PoolView> = [{ "object": "pool", "pool": "solana", "free": 998, "assigned": 2, "retired": 0 }];
    }
}

view! {
    /// What an import came to.
    pub PoolImportView as "PoolImport", object "pool_import" {
        /// The pool's name.
        pool: &'static str = "solana";
        /// Addresses that are new in the pool.
        added: usize = 1;
        /// Addresses that the pool knew, or that came twice.
        duplicates: usize = 0;
        /// Addresses of the pool still to be handed out.
        free: i64 [Schema::COUNT] = 999;
    }
}
