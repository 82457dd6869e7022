//! Chains: requests to nodes, and the responses that are accepted.

mod bitcoind;
mod claimed;
mod confirmations;
mod counter;
mod electrum;
mod evm;
mod first_rates;
mod killed;
mod lied_to;
mod logged;
mod paid;
mod paid_outputs;
mod rpc;
mod scenarios;
mod soak;
mod solana;
pub mod till;
mod tron;
mod utxo;
mod utxo_aside;
mod utxo_behind_liar;
pub mod watch;
