//! Fetches block headers from a trusted block up to the newest one.

use super::headers::{HeaderChain, HeaderError, RawHeader, are_linked};
use super::hex::format_hash;
use super::work::{PERIOD, PowRules};
use super::{Electrum, NodeError};
use crate::domain::Block;

/// Largest number of headers in one response.
const CHUNK: u32 = 2016;
/// Largest number of headers fetched to find one header that is below the headers in memory.
const OLDER_MAX: u32 = 200 * CHUNK;
/// Number of headers between two progress messages of a long fetch.
const SAY_EVERY: u32 = 20 * CHUNK;
/// Largest number of forks followed in one step.
const FORKS_MAX: u32 = 8;

impl Electrum {
    /// Fetches headers up to the newest one that the server reported.
    pub(super) fn sync_headers(&mut self) -> Result<(), NodeError> {
        let (height, newest) = match self.server_tip {
            Some(server_tip) => server_tip,
            None => self.server(0)?.fetch_tip()?,
        };
        self.server_tip = Some((height, newest));
        let mut forks = 0_u32;
        loop {
            let headers = match self.headers.take() {
                Some(headers) => headers,
                None => self.start_header_chain(height)?,
            };
            let tip = headers.tip_height();
            let is_there = headers.header_at(height).is_some_and(|held| held.hash == newest.hash);
            let headers = self.headers.insert(headers);
            if is_there {
                headers.truncate_above(height);
                return Ok(());
            }
            if tip < height {
                let next = tip.saturating_add(1);
                let count = height.saturating_sub(tip).min(CHUNK);
                if self.extend_headers(next, count)? {
                    self.log_progress(next, count, height);
                    continue;
                }
            }
            forks = forks.saturating_add(1);
            if forks > FORKS_MAX {
                return Err(NodeError::Behind);
            }
            self.rewind_headers(height)?;
        }
    }

    /// Appends the next headers; `false` if they are on another branch.
    fn extend_headers(&mut self, from: u32, count: u32) -> Result<bool, NodeError> {
        let new = self.server(0)?.fetch_headers(from, count)?;
        if new.is_empty() {
            return Err(NodeError::Behind);
        }
        let headers = self.headers.as_mut().ok_or(NodeError::Behind)?;
        match headers.extend(&new) {
            Ok(()) => Ok(true),
            Err(HeaderError::NotLinked) => Ok(false),
            Err(HeaderError::Invalid(what)) => Err(self.invalid_answer(0, what)),
        }
    }

    fn log_progress(&self, from: u32, count: u32, height: u32) {
        let to = from.saturating_add(count);
        let passed = |height: u32| height.checked_div(SAY_EVERY);
        if passed(from) != passed(to) && height.saturating_sub(to) > SAY_EVERY {
            log::info!("checking headers: chain={} height={to} newest={height}", self.chain);
        }
    }

    /// Removes the headers above the point at which the server's branch forks off.
    fn rewind_headers(&mut self, height: u32) -> Result<(), NodeError> {
        let mut distance = 8_u32;
        loop {
            let headers = self.headers.as_ref().ok_or(NodeError::Behind)?;
            let top = headers.tip_height().min(height);
            let from = top.saturating_sub(distance).max(headers.lowest_height());
            let to = top.min(from.saturating_add(CHUNK).saturating_sub(1));
            let there = self.fetch_range(from, to)?;
            let headers = self.headers.as_mut().ok_or(NodeError::Behind)?;
            let same = (from..=to).zip(&there).filter(|(height, there)| {
                headers.header_at(*height).is_some_and(|held| held.hash == there.hash)
            });
            if let Some((fork, _)) = same.last() {
                headers.truncate_above(fork);
                return Ok(());
            }
            if from == headers.lowest_height() {
                // The fork is below the headers in memory. Start again from the blocks in the database.
                self.headers = None;
                self.older.clear();
                return Ok(());
            }
            distance = distance.saturating_mul(16);
        }
    }

    /// Starts from a trusted block: one from the database, or the checkpoint of the main network.
    fn start_header_chain(&mut self, newest: u32) -> Result<HeaderChain, NodeError> {
        let network = self.verify_network()?;
        let Some(rules) = PowRules::for_network(self.chain, network) else {
            let low = newest.saturating_sub(PERIOD.saturating_sub(1));
            let headers = self.fetch_range(low, newest)?;
            let start = HeaderChain::start_at(None, low, headers);
            return start
                .ok_or_else(|| self.invalid_answer(0, "its headers do not link".to_owned()));
        };
        let (height, hash) = rules.checkpoint;
        let checkpoint = Block { height, hash: hash.to_owned() };
        let kept = std::mem::take(&mut self.kept);
        let mut found = Ok(None);
        // A deep reorg may have removed the newest stored blocks, so older blocks are tried at growing distances.
        let mut places = (0..kept.len()).filter(|place| place.saturating_add(1).is_power_of_two());
        while let (Ok(None), Some(place)) = (&found, places.next()) {
            if let Some(block) = kept.get(place) {
                found = self.start_header_chain_at(rules, block, newest);
            }
        }
        self.kept = kept;
        match found? {
            Some(headers) => return Ok(headers),
            None => log::info!("checking headers: chain={} from={height}", self.chain),
        }
        match self.start_header_chain_at(rules, &checkpoint, newest)? {
            Some(headers) => Ok(headers),
            None => Err(self.invalid_answer(
                0,
                format!("it does not have block {height}, which is known to be on the chain"),
            )),
        }
    }

    /// Starts from a trusted block; `None` if the server has another block at its height.
    fn start_header_chain_at(
        &mut self,
        rules: PowRules,
        block: &Block,
        newest: u32,
    ) -> Result<Option<HeaderChain>, NodeError> {
        if block.height > newest {
            return Ok(None);
        }
        let there = self.server(0)?.fetch_headers(block.height, 1)?;
        if there.first().map(|header| format_hash(&header.hash)).as_ref() != Some(&block.hash) {
            return Ok(None);
        }
        let low = HeaderChain::first_needed_height(block.height);
        let headers = self.fetch_range(low, block.height)?;
        let is_that = headers.last().map(|header| header.hash) == there.first().map(|one| one.hash);
        match HeaderChain::start_at(Some(rules), low, headers) {
            Some(headers) if is_that => Ok(Some(headers)),
            _ => Err(self.invalid_answer(0, "its headers do not link".to_owned())),
        }
    }

    /// Fetches all headers of a range, without checking them.
    fn fetch_range(&mut self, from: u32, to: u32) -> Result<Vec<RawHeader>, NodeError> {
        let mut headers: Vec<RawHeader> = Vec::new();
        let mut next = from;
        while next <= to {
            let count = to.saturating_sub(next).saturating_add(1).min(CHUNK);
            let more = self.server(0)?.fetch_headers(next, count)?;
            if more.is_empty() {
                return Err(NodeError::Behind);
            }
            next = next.saturating_add(u32::try_from(more.len()).unwrap_or(u32::MAX));
            headers.extend(more);
        }
        Ok(headers)
    }

    /// Returns the header at a height; `None` if the height is above the newest header, or too far below the headers
    /// in memory.
    pub(super) fn header_at(&mut self, height: u32) -> Result<Option<RawHeader>, NodeError> {
        if self.headers.is_none() {
            self.sync_headers()?;
        }
        let headers = self.headers.as_ref().ok_or(NodeError::Behind)?;
        if height >= headers.lowest_height() {
            return Ok(headers.header_at(height).copied());
        }
        let low = headers.lowest_height();
        let lowest = headers.header_at(low).copied().ok_or(NodeError::Behind)?;
        if low.saturating_sub(height) > OLDER_MAX {
            return Ok(None);
        }
        let above = self.older.range(height..).next();
        let above = above.map(|(height, header)| (*height, *header));
        let (mut top, mut header) = above.unwrap_or((low, lowest));
        while top > height {
            let from = top.saturating_sub(CHUNK).max(height);
            let below = self.fetch_range(from, top.saturating_sub(1))?;
            let is_parent = below.last().map(|last| last.hash) == Some(header.parent_hash());
            let Some(first) = below.first().filter(|_| is_parent && are_linked(&below)) else {
                return Err(self.invalid_answer(0, format!("its headers below {top} do not link")));
            };
            (top, header) = (from, *first);
            self.older.insert(from, header);
        }
        Ok(Some(header))
    }
}
