//! Tests of what transfers to one destination get.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod cases;
mod orders;
mod outcomes;
mod world;
