//! Invoices: creation, reading, lists, prices and statuses.

mod cancel;
mod coin_of_invoice;
mod create;
mod deep_metadata;
pub mod idempotency;
mod list_limits;
mod lists;
mod statuses;
mod timeline;
mod too_large;
