//! Parameters of `eth_getLogs` for token transfers.
//!
//! Invariant: a batch that reads logs also requests the logs of the last block by its hash. A node without this block
//! then returns an error and not an incomplete list.

use super::answers::EvmLog;
use super::hex::{Account, FixedBytes, Word};
use crate::chain::transfers::Transfer;
use serde::Serialize;

/// Hash of `Transfer(address,address,uint256)`: the first topic of a transfer log.
pub const TRANSFER: Word = FixedBytes([
    0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa,
    0x95, 0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
]);

/// Filter object of `eth_getLogs`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogFilter<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    from_block: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_block: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_hash: Option<Word>,
    address: &'a [Account],
    topics: &'a [Option<Vec<Word>>],
}

/// Returns topics that match transfers to the accounts in `names`. If `names` is `None`, the topics match transfers
/// to any account.
pub fn transfer_topics(names: Option<&[[u8; 20]]>) -> Vec<Option<Vec<Word>>> {
    let mut topics = vec![Some(vec![TRANSFER])];
    if let Some(names) = names {
        let words = names.iter().map(|name| FixedBytes(*name).to_word());
        topics.extend([None, Some(words.collect())]);
    }
    topics
}

/// Returns the calls that read the logs of a range. `hash` is the hash of the last block.
pub fn build_log_requests<'a>(
    from: u32,
    last: u32,
    hash: Word,
    contracts: &'a [Account],
    topics: &'a [Option<Vec<Word>>],
) -> Vec<(&'static str, [LogFilter<'a>; 1])> {
    let filter = |from_block, to_block, block_hash| LogFilter {
        from_block,
        to_block,
        block_hash,
        address: contracts,
        topics,
    };
    let before = last.checked_sub(1).filter(|before| from <= *before);
    let range = before
        .map(|before| filter(Some(encode_quantity(from)), Some(encode_quantity(before)), None));
    let end = filter(None, None, Some(hash));
    let filters = range.into_iter().chain([end]);
    filters.map(|filter| ("eth_getLogs", [filter])).collect()
}

pub fn encode_quantity(height: u32) -> String {
    format!("{height:#x}")
}

/// Parses a token transfer from a log; `None` if the log has another form. NFT transfers have the token id as a topic
/// and no data.
pub fn parse_token_transfer(log: &EvmLog) -> Option<Transfer> {
    let [TRANSFER, from, to] = log.topics.as_slice() else {
        return None;
    };
    Some(Transfer {
        from: from.to_account()?,
        to: to.to_account()?,
        amount: log.data.first.filter(|_| log.data.length == 32)?,
    })
}
