//! Tron, through a node of ours that answers as java-tron does: what is seen, what is not believed, and what it costs.

mod cost;
mod earlier;
mod fixtures;
mod lies;
mod on_anvil;
mod recorded;
mod seen;
mod shop;
