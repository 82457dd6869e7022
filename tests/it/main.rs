//! Everything proved from outside: the real server on a free port, a clock that is moved by hand, real receivers.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod document_limits;
mod durability;
mod first_payment;
mod golden;
mod probes;
mod process;
mod readme;
mod support;
