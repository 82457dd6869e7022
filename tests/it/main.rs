//! Everything proved from outside: the real server on a free port, a clock that is moved by hand, real receivers.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod account_desk;
mod apart;
mod audit;
mod audited_random;
mod books;
mod checkout_settings;
mod clock;
mod coin_of_invoice;
mod coins;
mod command_line;
mod create;
mod customers;
mod deep_metadata;
mod defaults;
mod deliveries;
mod deploy;
mod deposit_steps;
mod deposits;
mod document_limits;
mod durability;
mod endpoint_desk;
mod environment;
mod exports;
mod failing_disk;
mod failures;
mod faults;
mod fields;
mod first_payment;
mod first_use;
mod fixtures;
mod foreign;
mod golden;
mod idempotency;
mod inbox;
mod invoice_desk;
mod isolation;
mod keeping;
mod key_desk;
mod keys;
mod left_behind;
mod limits;
mod link_desk;
mod list_limits;
mod lists;
mod model;
mod old_files;
mod pages;
mod password_queue;
mod payment_links;
mod payments;
mod payouts;
mod pools;
mod probes;
mod process;
mod pruning;
mod public;
mod readme;
mod refunds;
mod refused_customers;
mod refused_rows;
mod reseller_tokens;
mod retries;
mod sandbox_account;
mod schema;
mod secrets;
mod sending;
mod serve;
mod servers;
mod service_settings;
mod setup_page;
mod sign_in;
mod signer;
mod simulated_chain;
mod statuses;
mod stuck_log;
mod summary;
mod support;
mod timeline;
mod told;
mod too_large;
mod transfer_desk;
mod transfer_durability;
mod transfer_events;
mod transfer_steps;
mod unmatched;
mod urls;
mod users;
mod webhooks;
mod who_may;
