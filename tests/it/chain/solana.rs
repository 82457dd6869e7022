//! Solana, through surfpool: what is seen, what is not believed, and what it costs.

mod cost;
mod earlier;
mod fixtures;
mod lies;
mod seen;
mod shop;
