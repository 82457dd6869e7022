//! The database file: schema, copies, locks, and durability.

pub mod audit;
mod audit_chains;
mod audit_edits;
mod audit_states;
mod copied_over;
mod copies;
mod damaged;
mod doctor;
mod durability;
mod failing_disk;
mod first_use;
mod growth;
mod history;
mod in_use;
mod keeping;
mod locked;
mod mounted;
mod older_sqlite;
mod private_files;
mod progress;
mod pruning;
pub mod refused_rows;
mod schema;
mod second_factors;
mod unreleased;
mod whose;
