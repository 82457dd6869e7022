//! Which logs are asked for: those of the tokens' transfers.
//!
//! What does not live here: what a log is worth before its transaction's receipt was seen. What always holds: the last block
//! of a range is asked for by its hash, in the same request as the range, so a node that does not have it yet answers an
//! error in place of a list that is too short.

use super::answers::EvmLog;
use super::hex::{Account, Bytes, Word};
use crate::chain::transfers::Transfer;
use serde::Serialize;

/// The hash of `Transfer(address,address,uint256)`, which each such log begins with.
pub const TRANSFER: Word = Bytes([
    0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa,
    0x95, 0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
]);

/// What `eth_getLogs` is asked.
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

/// Which transfers are asked for: to any of these accounts, or to whomever where there are none.
pub fn topics(names: Option<&[[u8; 20]]>) -> Vec<Option<Vec<Word>>> {
    let mut topics = vec![Some(vec![TRANSFER])];
    if let Some(names) = names {
        let words = names.iter().map(|name| Bytes(*name).word());
        topics.extend([None, Some(words.collect())]);
    }
    topics
}

/// The parameters of the calls for a range whose last block has this hash.
pub fn filters<'a>(
    (from, last): (u32, u32),
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
    let range = before.map(|before| filter(Some(quantity(from)), Some(quantity(before)), None));
    let end = filter(None, None, Some(hash));
    let filters = range.into_iter().chain([end]);
    filters.map(|filter| ("eth_getLogs", [filter])).collect()
}

/// A height as parameters have it.
pub fn quantity(height: u32) -> String {
    format!("{height:#x}")
}

/// The transfer that a log tells of; none where it is of another shape. A token that is no coin has its number among the
/// topics, and no data.
pub fn token_transfer(log: &EvmLog) -> Option<Transfer> {
    let [TRANSFER, from, to] = log.topics.as_slice() else {
        return None;
    };
    Some(Transfer {
        from: from.account()?,
        to: to.account()?,
        amount: log.data.first.filter(|_| log.data.length == 32)?,
    })
}
