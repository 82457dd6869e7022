//! A client of a Tron node, and the watched accounts.

pub use crate::chain::watch::{WatchedAccounts, collect_payments};
use crate::support::tron::{self, decode_address, encode_address};
use coffer::chain::rpc::{Endpoint, Limits, Rpc};
use coffer::chain::tokens::Tokens;
use coffer::chain::tron::Tron;
use coffer::chain::{Node, ReceivedOutput};
use coffer::domain::InputSource;

/// Account of the shop.
pub const ONE: [u8; 20] = [0xa1; 20];
pub const TWO: [u8; 20] = [0xa2; 20];
/// An account that does not belong to the shop.
pub const OTHER: [u8; 20] = [0xbb; 20];

pub fn shop_accounts() -> WatchedAccounts {
    WatchedAccounts(vec![ONE, TWO])
}

/// Returns a client of the node at this URL, which knows the token of the simulated node.
#[track_caller]
pub fn tron_client(url: &str) -> Tron {
    let limits = Limits { timeout_ms: 2_000, answer_bytes_max: 1 << 20, ..Limits::default() };
    let endpoints = Endpoint::parse_list(url).unwrap();
    let key = ("TRON-PRO-API-KEY".to_owned(), "secret-of-the-key".to_owned());
    let tokens = Tokens::from([("USDT-TRC20", encode_address(tron::TOKEN))]);
    Tron::new(Rpc::new(endpoints, vec![key], limits), tokens)
}

/// Reads the blocks from `from` to `to` as final blocks of a node, and returns their payments.
#[track_caller]
pub fn read_payments(node: &tron::Node, from: u32, to: u32) -> Vec<ReceivedOutput> {
    let mut client = tron_client(&node.url());
    client.head().unwrap();
    collect_payments(client.blocks(from, to, &shop_accounts()).unwrap())
}

/// Asset, transaction, position, account, amount and sender of a payment.
pub type PaymentSummary = (&'static str, String, u32, [u8; 20], u128, [u8; 20]);

#[track_caller]
pub fn payment_summary(received: &ReceivedOutput) -> PaymentSummary {
    let [InputSource::Address(from)] = received.spends.as_slice() else {
        unreachable!("{received:?}");
    };
    let to = decode_address(&received.address);
    assert_eq!(received.address, encode_address(to));
    (
        received.asset.id,
        received.txid.clone(),
        received.position,
        to,
        received.amount.0,
        decode_address(from),
    )
}

#[track_caller]
pub fn payment_summaries(received: &[ReceivedOutput]) -> Vec<PaymentSummary> {
    received.iter().map(payment_summary).collect()
}
