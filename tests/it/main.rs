//! Everything proved from outside: the real server on a free port, a clock that is moved by hand, real receivers.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod coin_of_invoice;
mod first_payment;
mod model;
mod schema;
mod support;
mod too_large;
