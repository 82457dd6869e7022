//! The headers of a chain: each links to the one before, and on main networks has the work that the rules ask for.
//!
//! Invariant: what is held links to a block that was trusted, or on test networks to the first header that was read.

use super::hex::{Hash, double_sha256, hash_text};
use super::work::{PERIOD, Rules};
use std::collections::VecDeque;

/// Headers that are held: more than the deepest reorganisation that is followed, and than a period.
const HELD_MAX: usize = 6_100;

/// A header of 80 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    bytes: [u8; 80],
    pub hash: Hash,
}

impl Header {
    /// Reads a header; `None` for other than 80 bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<Header> {
        let bytes = <[u8; 80]>::try_from(bytes).ok()?;
        let hash = double_sha256(&bytes);
        Some(Header { bytes, hash })
    }

    fn part<const N: usize>(&self, at: usize) -> [u8; N] {
        let part = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<N>);
        part.copied().unwrap_or([0; N])
    }

    /// Returns the hash of the header before.
    pub(super) fn parent(&self) -> Hash {
        self.part(4)
    }

    /// Returns the root of the Merkle tree of the transactions.
    pub(super) fn root(&self) -> Hash {
        self.part(36)
    }

    /// Returns the time of the block, in seconds.
    pub(super) fn time(&self) -> u32 {
        u32::from_le_bytes(self.part(68))
    }

    fn bits(&self) -> u32 {
        u32::from_le_bytes(self.part(72))
    }
}

/// Reads headers that stand one behind the other; `None` for a part of a header.
pub(super) fn parse_all(bytes: &[u8]) -> Option<Vec<Header>> {
    let (headers, rest) = bytes.as_chunks::<80>();
    if !rest.is_empty() {
        return None;
    }
    headers.iter().map(|header| Header::parse(header)).collect()
}

/// Returns `true` if each of these headers is the child of the one before it.
pub(super) fn is_linked(headers: &[Header]) -> bool {
    headers
        .iter()
        .zip(headers.iter().skip(1))
        .all(|(before, after)| after.parent() == before.hash)
}

/// Why headers were not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The first one is not the child of the newest one that is held.
    Elsewhere,
    /// One of them breaks a rule.
    Broken(String),
}

/// The newest headers of a chain.
pub(super) struct Headers {
    /// Rules of the work; `None` on test networks.
    rules: Option<Rules>,
    /// Height of the first one that is held.
    low: u32,
    held: VecDeque<Header>,
}

impl Headers {
    /// Begins with these headers, the first of which is at this height. Of main networks the last is a trusted block, and the
    /// first is [`Headers::first_needed`] by it or lower.
    pub(super) fn begin(rules: Option<Rules>, low: u32, headers: Vec<Header>) -> Option<Headers> {
        (!headers.is_empty() && is_linked(&headers)).then(|| Headers {
            rules,
            low,
            held: VecDeque::from(headers),
        })
    }

    /// Returns the height from which headers are needed to go on behind this one: the block before its period, by which the
    /// next change of difficulty may be counted.
    pub(super) fn first_needed(height: u32) -> u32 {
        let into = height.checked_rem(PERIOD).unwrap_or(0);
        height.saturating_sub(into).saturating_sub(1)
    }

    /// Returns the height of the first header that is held.
    pub(super) fn low(&self) -> u32 {
        self.low
    }

    /// Returns the height of the newest header.
    pub(super) fn tip(&self) -> u32 {
        let above = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.low.saturating_add(above.saturating_sub(1))
    }

    /// Returns a header that is held.
    pub(super) fn at(&self, height: u32) -> Option<&Header> {
        let place = usize::try_from(height.checked_sub(self.low)?).ok()?;
        self.held.get(place)
    }

    /// Takes the headers behind the newest one.
    pub(super) fn extend(&mut self, new: &[Header]) -> Result<(), Refusal> {
        for header in new {
            let Some(before) = self.held.back() else {
                return Err(Refusal::Elsewhere);
            };
            if header.parent() != before.hash {
                return Err(Refusal::Elsewhere);
            }
            let height = self.tip().saturating_add(1);
            self.check_work(height, before, header)?;
            self.held.push_back(*header);
            if self.held.len() > HELD_MAX {
                self.held.pop_front();
                self.low = self.low.saturating_add(1);
            }
        }
        Ok(())
    }

    fn check_work(&self, height: u32, before: &Header, header: &Header) -> Result<(), Refusal> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let broken = |what: &str| {
            let hash = hash_text(&header.hash);
            Refusal::Broken(format!("the header {hash} at height {height} {what}"))
        };
        let needed = if height.is_multiple_of(PERIOD) {
            // The first period of a chain has no block before it.
            let first = self.at(height.saturating_sub(rules.behind));
            first.and_then(|first| rules.next_bits(before.bits(), first.time(), before.time()))
        } else {
            Some(before.bits())
        };
        if needed != Some(header.bits()) {
            return Err(broken(
                "has another difficulty than the blocks before it ask for",
            ));
        }
        if !rules.has_work(&header.bytes, header.bits()) {
            return Err(broken("lacks its proof of work"));
        }
        Ok(())
    }

    /// Forgets the headers above a height that is held.
    pub(super) fn cut(&mut self, height: u32) {
        let kept = height
            .checked_sub(self.low)
            .map(|above| above.saturating_add(1));
        let kept = kept.and_then(|kept| usize::try_from(kept).ok());
        self.held.truncate(kept.unwrap_or(0).max(1));
    }
}

#[cfg(test)]
mod tests;
