//! Payments on the simulated chains: what is seen, replaced, dropped, confirmed; and whose it is.

mod assigning;
mod chain_durability;
mod effects;
mod first_payment;
mod lagging;
mod live_addresses;
mod next_index;
mod operator;
mod picked_index;
mod pools;
mod replacements;
mod restored;
mod simulated_chain;
mod transactions;
mod undoing;
mod unmatched;
mod unwatched;
mod wallets;
