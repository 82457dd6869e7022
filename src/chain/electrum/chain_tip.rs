//! Fetches headers up to the newest one, from a block that is trusted on.

use super::headers::{Header, Headers, Refusal, is_linked};
use super::hex::hash_text;
use super::work::{PERIOD, Rules};
use super::{Electrum, NodeError};
use crate::domain::observation::Block;

/// The most headers that one call answers.
const CHUNK: u32 = 2016;
/// The most headers below those that are held that one question goes back.
const OLDER_MAX: u32 = 200 * CHUNK;
/// A long fetch says how far it is after so many headers.
const SAY_EVERY: u32 = 20 * CHUNK;
/// The most forks that are followed in one step.
const FORKS_MAX: u32 = 8;

impl Electrum {
    /// Brings the headers to the one that the server told of as its newest.
    pub(super) fn sync(&mut self) -> Result<(), NodeError> {
        let (height, newest) = match self.claimed {
            Some(claimed) => claimed,
            None => self.server(0)?.head()?,
        };
        self.claimed = Some((height, newest));
        let mut forks = 0_u32;
        loop {
            let headers = match self.headers.take() {
                Some(headers) => headers,
                None => self.begun(height)?,
            };
            let tip = headers.tip();
            let is_there = headers
                .at(height)
                .is_some_and(|held| held.hash == newest.hash);
            let headers = self.headers.insert(headers);
            if is_there {
                headers.cut(height);
                return Ok(());
            }
            if tip < height {
                let next = tip.saturating_add(1);
                let count = height.saturating_sub(tip).min(CHUNK);
                if self.extend(next, count)? {
                    self.say_how_far(next, count, height);
                    continue;
                }
            }
            forks = forks.saturating_add(1);
            if forks > FORKS_MAX {
                return Err(NodeError::Behind);
            }
            self.go_back(height)?;
        }
    }

    /// Takes the next headers; `false` where they are of another branch.
    fn extend(&mut self, from: u32, count: u32) -> Result<bool, NodeError> {
        let new = self.server(0)?.headers(from, count)?;
        if new.is_empty() {
            return Err(NodeError::Behind);
        }
        let headers = self.headers.as_mut().ok_or(NodeError::Behind)?;
        match headers.extend(&new) {
            Ok(()) => Ok(true),
            Err(Refusal::Elsewhere) => Ok(false),
            Err(Refusal::Broken(what)) => Err(self.lied(0, what)),
        }
    }

    fn say_how_far(&self, from: u32, count: u32, height: u32) {
        let to = from.saturating_add(count);
        let passed = |height: u32| height.checked_div(SAY_EVERY);
        if passed(from) != passed(to) && height.saturating_sub(to) > SAY_EVERY {
            log::info!("{}: checks headers: {to} of {height}", self.chain);
        }
    }

    /// Cuts the headers where the branch of the server leaves them.
    fn go_back(&mut self, height: u32) -> Result<(), NodeError> {
        let mut distance = 8_u32;
        loop {
            let headers = self.headers.as_ref().ok_or(NodeError::Behind)?;
            let top = headers.tip().min(height);
            let from = top.saturating_sub(distance).max(headers.low());
            let to = top.min(from.saturating_add(CHUNK).saturating_sub(1));
            let there = self.range(from, to)?;
            let headers = self.headers.as_mut().ok_or(NodeError::Behind)?;
            let same = (from..=to).zip(&there).filter(|(height, there)| {
                headers
                    .at(*height)
                    .is_some_and(|held| held.hash == there.hash)
            });
            if let Some((fork, _)) = same.last() {
                headers.cut(fork);
                return Ok(());
            }
            if from == headers.low() {
                // It forks below what is held: begin anew from what the file holds.
                self.headers = None;
                self.older.clear();
                return Ok(());
            }
            distance = distance.saturating_mul(16);
        }
    }

    /// Begins with a block that is trusted: one of the file's, else the checkpoint of the main network.
    fn begun(&mut self, newest: u32) -> Result<Headers, NodeError> {
        let network = self.identified()?;
        let Some(rules) = Rules::of(self.chain, network) else {
            let low = newest.saturating_sub(PERIOD.saturating_sub(1));
            let headers = self.range(low, newest)?;
            let begun = Headers::begin(None, low, headers);
            return begun.ok_or_else(|| self.lied(0, "its headers do not link".to_owned()));
        };
        let (height, hash) = rules.checkpoint;
        let checkpoint = Block {
            height,
            hash: hash.to_owned(),
        };
        let kept = std::mem::take(&mut self.kept);
        let mut found = Ok(None);
        // Of a long list ever fewer: it may have been reorganised.
        let mut places = (0..kept.len()).filter(|place| place.saturating_add(1).is_power_of_two());
        while let (Ok(None), Some(place)) = (&found, places.next()) {
            if let Some(block) = kept.get(place) {
                found = self.begun_at(rules, block, newest);
            }
        }
        self.kept = kept;
        match found? {
            Some(headers) => return Ok(headers),
            None => log::info!("{}: checks headers from {height} on", self.chain),
        }
        match self.begun_at(rules, &checkpoint, newest)? {
            Some(headers) => Ok(headers),
            None => Err(self.lied(
                0,
                format!("it does not have block {height}, which is known to be on the chain"),
            )),
        }
    }

    /// Begins with a trusted block; `None` where the server does not have it at its height.
    fn begun_at(
        &mut self,
        rules: Rules,
        block: &Block,
        newest: u32,
    ) -> Result<Option<Headers>, NodeError> {
        if block.height > newest {
            return Ok(None);
        }
        let there = self.server(0)?.headers(block.height, 1)?;
        if there.first().map(|header| hash_text(&header.hash)).as_ref() != Some(&block.hash) {
            return Ok(None);
        }
        let low = Headers::first_needed(block.height);
        let headers = self.range(low, block.height)?;
        let is_that = headers.last().map(|header| header.hash) == there.first().map(|one| one.hash);
        match Headers::begin(Some(rules), low, headers) {
            Some(headers) if is_that => Ok(Some(headers)),
            _ => Err(self.lied(0, "its headers do not link".to_owned())),
        }
    }

    /// Fetches all headers of a range, unchecked.
    fn range(&mut self, from: u32, to: u32) -> Result<Vec<Header>, NodeError> {
        let mut headers: Vec<Header> = Vec::new();
        let mut next = from;
        while next <= to {
            let count = to.saturating_sub(next).saturating_add(1).min(CHUNK);
            let more = self.server(0)?.headers(next, count)?;
            if more.is_empty() {
                return Err(NodeError::Behind);
            }
            next = next.saturating_add(u32::try_from(more.len()).unwrap_or(u32::MAX));
            headers.extend(more);
        }
        Ok(headers)
    }

    /// Returns the header at a height; `None` above the newest one, and too far below those that are held.
    pub(super) fn header_at(&mut self, height: u32) -> Result<Option<Header>, NodeError> {
        if self.headers.is_none() {
            self.sync()?;
        }
        let headers = self.headers.as_ref().ok_or(NodeError::Behind)?;
        if height >= headers.low() {
            return Ok(headers.at(height).copied());
        }
        let low = headers.low();
        let lowest = headers.at(low).copied().ok_or(NodeError::Behind)?;
        if low.saturating_sub(height) > OLDER_MAX {
            return Ok(None);
        }
        let above = self.older.range(height..).next();
        let above = above.map(|(height, header)| (*height, *header));
        let (mut top, mut header) = above.unwrap_or((low, lowest));
        while top > height {
            let from = top.saturating_sub(CHUNK).max(height);
            let below = self.range(from, top.saturating_sub(1))?;
            let is_parent = below.last().map(|last| last.hash) == Some(header.parent());
            let Some(first) = below.first().filter(|_| is_parent && is_linked(&below)) else {
                return Err(self.lied(0, format!("its headers below {top} do not link")));
            };
            (top, header) = (from, *first);
            self.older.insert(from, header);
        }
        Ok(Some(header))
    }
}
