//! A chain of block headers, each linked to its parent. On main networks, each header has the required proof of work.
//!
//! Invariant: all headers descend from a trusted block. On test networks, they descend from the first header that was
//! read.

use super::hex::{Hash256, double_sha256, format_hash};
use super::work::{PERIOD, PowRules};
use std::collections::VecDeque;

/// Largest number of headers in memory: more than a difficulty period, and more than the deepest reorg that can be
/// followed.
const HELD_MAX: usize = 6_100;

/// A block header of 80 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawHeader {
    bytes: [u8; 80],
    pub hash: Hash256,
}

impl RawHeader {
    /// Parses a header; `None` if it does not have 80 bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<RawHeader> {
        let bytes = <[u8; 80]>::try_from(bytes).ok()?;
        let hash = double_sha256(&bytes);
        Some(RawHeader { bytes, hash })
    }

    fn bytes_at<const N: usize>(&self, at: usize) -> [u8; N] {
        let part = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<N>);
        part.copied().unwrap_or([0; N])
    }

    pub(super) fn parent_hash(&self) -> Hash256 {
        self.bytes_at(4)
    }

    pub(super) fn merkle_root(&self) -> Hash256 {
        self.bytes_at(36)
    }

    pub(super) fn unix_time_s(&self) -> u32 {
        u32::from_le_bytes(self.bytes_at(68))
    }

    fn target_bits(&self) -> u32 {
        u32::from_le_bytes(self.bytes_at(72))
    }
}

/// Parses concatenated headers; `None` if the last header is incomplete.
pub(super) fn parse_all(bytes: &[u8]) -> Option<Vec<RawHeader>> {
    let (headers, rest) = bytes.as_chunks::<80>();
    if !rest.is_empty() {
        return None;
    }
    headers.iter().map(|header| RawHeader::parse(header)).collect()
}

pub(super) fn are_linked(headers: &[RawHeader]) -> bool {
    headers
        .iter()
        .zip(headers.iter().skip(1))
        .all(|(before, after)| after.parent_hash() == before.hash)
}

/// Reason why headers were rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeaderError {
    /// The first of the new headers is not a child of the newest header in memory.
    NotLinked,
    /// A header breaks a consensus rule.
    Invalid(String),
}

pub(super) struct HeaderChain {
    /// Proof-of-work rules; `None` on test networks.
    rules: Option<PowRules>,
    /// Height of the lowest header in memory.
    low: u32,
    held: VecDeque<RawHeader>,
}

impl HeaderChain {
    /// Starts a chain whose lowest header is at height `low`. On main networks, the last header is a trusted block,
    /// and `low` is at most the [`HeaderChain::first_needed_height`] of that block.
    pub(super) fn start_at(
        rules: Option<PowRules>,
        low: u32,
        headers: Vec<RawHeader>,
    ) -> Option<HeaderChain> {
        (!headers.is_empty() && are_linked(&headers)).then(|| HeaderChain {
            rules,
            low,
            held: VecDeque::from(headers),
        })
    }

    /// Returns the height of the lowest header needed to check the headers above `height`: the last header before the
    /// current difficulty period. The next difficulty may depend on this header.
    pub(super) fn first_needed_height(height: u32) -> u32 {
        let into = height.checked_rem(PERIOD).unwrap_or(0);
        height.saturating_sub(into).saturating_sub(1)
    }

    pub(super) fn lowest_height(&self) -> u32 {
        self.low
    }

    pub(super) fn tip_height(&self) -> u32 {
        let above = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.low.saturating_add(above.saturating_sub(1))
    }

    /// Returns the header at a height, if it is in memory.
    pub(super) fn header_at(&self, height: u32) -> Option<&RawHeader> {
        let place = usize::try_from(height.checked_sub(self.low)?).ok()?;
        self.held.get(place)
    }

    /// Appends headers after checking their links and their proof of work.
    pub(super) fn extend(&mut self, new: &[RawHeader]) -> Result<(), HeaderError> {
        for header in new {
            let Some(before) = self.held.back() else {
                return Err(HeaderError::NotLinked);
            };
            if header.parent_hash() != before.hash {
                return Err(HeaderError::NotLinked);
            }
            let height = self.tip_height().saturating_add(1);
            self.check_work(height, before, header)?;
            self.held.push_back(*header);
            if self.held.len() > HELD_MAX {
                self.held.pop_front();
                self.low = self.low.saturating_add(1);
            }
        }
        Ok(())
    }

    fn check_work(
        &self,
        height: u32,
        before: &RawHeader,
        header: &RawHeader,
    ) -> Result<(), HeaderError> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let broken = |what: &str| {
            let hash = format_hash(&header.hash);
            HeaderError::Invalid(format!("the header {hash} at height {height} {what}"))
        };
        let needed = if height.is_multiple_of(PERIOD) {
            // The first measurement begins at block 0, even if `behind` is larger than the height.
            let first = self.header_at(height.saturating_sub(rules.behind));
            first.and_then(|first| {
                rules.next_target_bits(
                    before.target_bits(),
                    first.unix_time_s(),
                    before.unix_time_s(),
                )
            })
        } else {
            Some(before.target_bits())
        };
        if needed != Some(header.target_bits()) {
            return Err(broken("has another difficulty than the blocks before it ask for"));
        }
        if !rules.meets_declared_target(&header.bytes, header.target_bits()) {
            return Err(broken("lacks its proof of work"));
        }
        Ok(())
    }

    pub(super) fn truncate_above(&mut self, height: u32) {
        let kept = height.checked_sub(self.low).map(|above| above.saturating_add(1));
        let kept = kept.and_then(|kept| usize::try_from(kept).ok());
        self.held.truncate(kept.unwrap_or(0).max(1));
    }
}

#[cfg(test)]
mod tests;
