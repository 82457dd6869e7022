//! Solana, with surfpool as its node: payments, rejected responses, and the number of requests.

mod aside;
mod cost;
mod fixtures;
mod forgotten;
mod lies;
mod seen;
mod shop;
