//! How chains are seen: what nodes are asked, and what of their answers is believed.

mod claimed;
mod evm;
mod paid;
mod rpc;
mod utxo;
mod utxo_behind_liar;
mod watch;
