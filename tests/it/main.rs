//! Everything proved from outside: the real server on a free port, a clock that is moved by hand, real receivers.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod clock;
mod environment;
mod first_payment;
mod inbox;
mod isolation;
mod payments;
mod probes;
mod retries;
mod sandbox_account;
mod schema;
mod simulated_chain;
mod statuses;
mod support;
mod webhooks;
