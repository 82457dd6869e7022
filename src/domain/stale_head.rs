//! Limits on the age of a chain's newest block. Above them, another URL is queried or a person is warned.

use super::chain::Chain;
use super::following::ChainPosition;
use super::time::{MINUTE_MS, SECOND_MS, duration_text};

/// Another URL is queried if a chain has no new block for this many usual block times.
const OTHERS_AFTER_BLOCKS: i64 = 3;
/// On proof-of-work chains, a warning appears if there is no new block for this many usual block times. The block
/// times of these chains vary much.
const WARNS_AFTER_BLOCKS_OF_WORK: i64 = 9;
/// On chains without proof of work, a warning appears if there is no new block for this many usual block times.
const WARNS_AFTER_BLOCKS: i64 = 3;
/// Minimum time for which a chain may be unread before its coins leave the offer, in milliseconds. On chains with fast
/// blocks, the next URL is asked within this time.
const UNREAD_MS_MIN: i64 = 5 * SECOND_MS;
/// A warning appears if no block becomes final for this many times the usual time until a block is final.
const WARNS_AFTER_FINAL_TIMES: i64 = 3;
/// Minimum time without a new final block before a warning, in milliseconds. Final blocks are read in steps of up to
/// some minutes.
const FINAL_STALL_MS_MIN: i64 = 10 * MINUTE_MS;
/// Largest difference between a block's time and the local clock that is ignored, in milliseconds.
const SKEW_MS_MAX: i64 = 2 * MINUTE_MS;

/// Returns `true` if the node's other URLs must be queried for their newest block.
pub fn should_query_other_urls(chain: Chain, unmoved_ms: i64) -> bool {
    unmoved_ms > usual_block_time_ms(chain, OTHERS_AFTER_BLOCKS)
}

/// Returns the longest time for which a chain may be unread while its coins are on offer, in milliseconds.
pub fn unread_ms_max(chain: Chain) -> i64 {
    usual_block_time_ms(chain, OTHERS_AFTER_BLOCKS).max(UNREAD_MS_MIN)
}

/// Returns the age of a chain's newest block in milliseconds, or 0 if the age may come from clock skew.
///
/// `span_ms` is the age by the time in the block's header.
pub fn age_without_skew_ms(span_ms: i64) -> i64 {
    if span_ms > SKEW_MS_MAX { span_ms } else { 0 }
}

/// Returns the warning that the newest block has not changed for `unmoved_ms`.
///
/// `None` if this duration is usual, and on test networks.
pub fn stale_head_warning(
    chain: Chain,
    network: &str,
    head: &ChainPosition,
    unmoved_ms: i64,
) -> Option<String> {
    let blocks = match chain.has_outputs() {
        true => WARNS_AFTER_BLOCKS_OF_WORK,
        false => WARNS_AFTER_BLOCKS,
    };
    let is_main = network == chain.row().networks.0;
    let is_long = is_main && unmoved_ms > usual_block_time_ms(chain, blocks);
    let (height, time) = (head.block.height, head.time);
    is_long.then(|| {
        format!(
            "no new block for {}: the newest of its node is {height}, of {time}",
            duration_text(unmoved_ms)
        )
    })
}

/// Returns the warning that new blocks came for `stalled_ms` and none of them became final. `None` if this duration is
/// usual.
pub fn stalled_finality_warning(chain: Chain, stalled_ms: i64) -> Option<String> {
    let [_, seconds] = chain.row().usual_seconds;
    let final_ms = i64::from(seconds).saturating_mul(SECOND_MS);
    let ms_max = final_ms.saturating_mul(WARNS_AFTER_FINAL_TIMES).max(FINAL_STALL_MS_MIN);
    (stalled_ms > ms_max).then(|| {
        format!(
            "its node has reported no new final block for {}: payments are seen, and those that wait for a final block are \
             not confirmed. See whether the node is in sync, or name a second url of another node with --node",
            duration_text(stalled_ms)
        )
    })
}

/// Remedy for the [`stale_head_warning`].
pub const REMEDY: &str =
    "see whether the node reaches its peers, or name a second url of another node with --node";

fn usual_block_time_ms(chain: Chain, blocks: i64) -> i64 {
    let [seconds, _] = chain.row().usual_seconds;
    let block_ms = i64::from(seconds).saturating_mul(SECOND_MS);
    block_ms.saturating_mul(blocks)
}

#[cfg(test)]
mod tests {
    use super::{
        Chain, ChainPosition, MINUTE_MS, SECOND_MS, age_without_skew_ms, should_query_other_urls,
        stale_head_warning,
    };
    use crate::domain::observation::Block;
    use crate::domain::time::Time;

    #[test]
    fn stale_head_limits_depend_on_chain() {
        let head = ChainPosition {
            block: Block { height: 7, hash: String::new() },
            time: Time(1_795_253_400_000),
        };
        for (chain, asks_after, warns_after) in [
            (Chain::Bitcoin, 30 * MINUTE_MS, 90 * MINUTE_MS),
            (Chain::Litecoin, 450 * SECOND_MS, 1350 * SECOND_MS),
            (Chain::Ethereum, 36 * SECOND_MS, 36 * SECOND_MS),
            (Chain::Base, 6 * SECOND_MS, 6 * SECOND_MS),
        ] {
            let (main, tests) = chain.row().networks;
            for (unmoved_ms, is_long) in [(0, false), (1, true)] {
                assert_eq!(
                    should_query_other_urls(chain, asks_after.saturating_add(unmoved_ms)),
                    is_long
                );
                let unmoved_ms = warns_after.saturating_add(unmoved_ms);
                assert_eq!(stale_head_warning(chain, main, &head, unmoved_ms).is_some(), is_long);
                for network in tests {
                    assert_eq!(stale_head_warning(chain, network, &head, unmoved_ms), None);
                }
            }
        }
        let said =
            stale_head_warning(Chain::Bitcoin, "main", &head, 95 * MINUTE_MS).unwrap_or_default();
        assert_eq!(
            said,
            "no new block for 1 h: the newest of its node is 7, of 2026-11-21T09:30:00.000Z"
        );
        assert_eq!(
            (age_without_skew_ms(MINUTE_MS), age_without_skew_ms(121 * SECOND_MS)),
            (0, 121 * SECOND_MS)
        );
    }
}
