//! Usual time until a payment is confirmed, as a range that eight of ten payments keep.
//!
//! Miners find blocks as a Poisson process (Nakamoto, "Bitcoin: A Peer-to-Peer Electronic Cash System", section 11). So
//! the time of n blocks has a gamma distribution with the shape n, and the time since the last block does not matter.
//! The range is its 10 % and its 90 % quantile, by the Cornish-Fisher expansion (Abramowitz and Stegun, 26.2.49): n
//! blocks take `n ± z √n + (z² - 1) / 3` intervals, with z = 1.2816. From two blocks on, the result is within a sixth of
//! an interval of the exact quantiles (NIST, Engineering Statistics Handbook, 1.3.6.7.4).

use crate::domain::chain::Chain;

/// 90 % quantile of the normal distribution, in thousandths.
const Z_THOUSANDTHS: u64 = 1_282;

/// `(z² - 1) / 3`, in thousandths of an interval.
const SKEW_THOUSANDTHS: u64 = 214;

/// Usual time until a payment is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitRange {
    /// Time that nine of ten payments exceed, in minutes, rounded down.
    pub least_minutes: u32,
    /// Time within which nine of ten payments are confirmed, in minutes, rounded up; at least 1.
    pub most_minutes: u32,
}

impl WaitRange {
    /// Returns the time until `blocks` more blocks.
    ///
    /// Chains with accounts produce blocks at fixed times and skip few of them, for example 1 % of the slots of
    /// Ethereum. Their range allows a fourth more than the fixed time.
    pub(super) fn until_blocks(chain: Chain, blocks: u32) -> WaitRange {
        let [interval, _] = chain.row().usual_seconds.map(u64::from);
        let blocks = u64::from(blocks);
        if !chain.has_outputs() {
            let fixed = blocks.saturating_mul(interval);
            return WaitRange::from_seconds(fixed, fixed.saturating_add(fixed.div_ceil(4)));
        }
        let center = blocks.saturating_mul(1_000).saturating_add(SKEW_THOUSANDTHS);
        // √n in thousandths is the root of n in millionths.
        let root = blocks.saturating_mul(1_000_000).isqrt();
        let spread = root.saturating_mul(Z_THOUSANDTHS).div_ceil(1_000);
        let to_seconds = |thousandths: u64| thousandths.saturating_mul(interval).div_ceil(1_000);
        WaitRange::from_seconds(
            to_seconds(center.saturating_sub(spread)),
            to_seconds(center.saturating_add(spread)),
        )
    }

    /// Returns the time until a block with `count` confirmations is final.
    ///
    /// Finality comes at checkpoints, so that the time depends on the place of the block between two of them. On
    /// Ethereum it takes two to three epochs of 6.4 minutes (<https://ethereum.org/en/developers/docs/consensus-mechanisms/pos/>),
    /// which is 5/6 to 4/3 of the usual time. The time of the confirmations so far has passed already.
    pub(super) fn until_final(chain: Chain, count: u32) -> WaitRange {
        let [interval, usual] = chain.row().usual_seconds.map(u64::from);
        let passed = u64::from(count).saturating_mul(interval);
        let least = usual.saturating_mul(5).div_ceil(6).saturating_sub(passed);
        let most = usual.saturating_mul(4).div_ceil(3).saturating_sub(passed);
        WaitRange::from_seconds(least, most.max(interval))
    }

    /// Rounds a range of seconds outward: below ten minutes to minutes, below an hour to 5 minutes, then to 10 minutes.
    fn from_seconds(least: u64, most: u64) -> WaitRange {
        let unit = |minutes: u64| match minutes {
            0..=10 => 1,
            11..=60 => 5,
            _ => 10,
        };
        let down = least.checked_div(60).unwrap_or_default();
        let up = most.div_ceil(60);
        let down = down.saturating_sub(down.checked_rem(unit(down)).unwrap_or_default());
        let up = up.div_ceil(unit(up)).saturating_mul(unit(up)).max(1);
        let minutes = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        WaitRange { least_minutes: minutes(down), most_minutes: minutes(up) }
    }
}

#[cfg(test)]
mod tests {
    use super::WaitRange;
    use crate::domain::chain::Chain;

    fn minutes(range: WaitRange) -> (u32, u32) {
        (range.least_minutes, range.most_minutes)
    }

    #[test]
    fn range_of_mined_blocks_follows_their_distribution() {
        let blocks = |count| minutes(WaitRange::until_blocks(Chain::Bitcoin, count));
        // The exact quantiles for 1, 2, 3 and 6 blocks of 10 minutes are 1 to 23, 5 to 39, 11 to 53 and 31 to 93
        // minutes.
        assert_eq!([1, 2, 3, 6].map(blocks), [(0, 25), (4, 45), (9, 55), (30, 100)]);
        assert_eq!(minutes(WaitRange::until_blocks(Chain::Litecoin, 12)), (15, 45));
        assert_eq!(minutes(WaitRange::until_blocks(Chain::Bitcoin, u32::MAX)).1, u32::MAX);
    }

    #[test]
    fn range_of_fixed_intervals_is_narrow() {
        assert_eq!(minutes(WaitRange::until_blocks(Chain::Ethereum, 12)), (2, 3));
        assert_eq!(minutes(WaitRange::until_blocks(Chain::Polygon, 1)), (0, 1));
        assert_eq!(minutes(WaitRange::until_final(Chain::Ethereum, 0)), (10, 20));
        assert_eq!(minutes(WaitRange::until_final(Chain::Ethereum, 50)), (2, 10));
        // The block is older than usual for a final one.
        assert_eq!(minutes(WaitRange::until_final(Chain::Ethereum, 900)), (0, 1));
        assert_eq!(minutes(WaitRange::until_final(Chain::Solana, 1)), (0, 1));
    }
}
