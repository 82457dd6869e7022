//! Solana, with surfpool as its node: payments, rejected responses, and the number of requests.

mod cost;
mod earlier;
mod fixtures;
mod lies;
mod seen;
mod shop;
