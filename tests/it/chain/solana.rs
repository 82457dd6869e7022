//! Solana, with surfpool as its node: payments, rejected responses, and the number of requests.

mod cost;
mod fixtures;
mod lies;
mod seen;
mod shop;
