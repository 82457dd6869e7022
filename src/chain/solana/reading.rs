//! Money in ranges of slots: at the head, in what has become final, and in what is read again.

use super::Solana;
use super::accounts::{Accounts, NamedAccount};
use super::answers::{Commitment, TransactionAnswer};
use super::credits::{Carried, Coins};
use super::histories::{Entry, Histories, Look};
use super::slots::Header;
use crate::chain::{BlockRead, NodeError, Received, Watched};
use crate::domain::address::is_signature;
use crate::domain::observation::Block;
use crate::domain::time::HOUR_MS;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};

/// Transactions that one range reads; those of its last slot are always read together.
const TRANSACTIONS_MAX: usize = 100;
/// Transactions of one answer that were not told of before.
const LATE_MAX: usize = 50;
/// Transactions that are kept.
const KEPT_MAX: usize = 2_000;
/// How much earlier than an address was given out a payment to it may be, by the clocks of a chain and of this machine.
const SINCE_MARGIN_MS: i64 = HOUR_MS;

/// Part of a step that a range is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Slots that were not read before.
    Head,
    /// Slots that have become final.
    Final,
    /// Slots that a person wants read again.
    Again,
    /// The last of these, which are not final.
    AgainAtHead,
}

impl Solana {
    fn pass(&mut self, from: u32, to: u32) -> Pass {
        let is_final = to <= self.finalized_seen;
        let step = &mut self.step;
        let is_behind = |height: Option<u32>| height.is_none_or(|height| from > height);
        if step.is_stopped || !is_behind(step.complete) {
            return if is_final {
                Pass::Again
            } else {
                Pass::AgainAtHead
            };
        }
        if is_behind(step.cursor) && !step.has_read_head {
            step.has_read_head = true;
            return Pass::Head;
        }
        if is_final {
            Pass::Final
        } else {
            Pass::AgainAtHead
        }
    }

    /// [`Node::blocks`](crate::chain::Node::blocks): those with money, and the last one.
    pub(super) fn read_range(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        if from > to {
            return Ok(Vec::new());
        }
        let accounts = self.accounts(watched)?;
        let pass = self.pass(from, to);
        let commitment = match pass {
            Pass::Head | Pass::AgainAtHead => Commitment::Confirmed,
            Pass::Final | Pass::Again => Commitment::Finalized,
        };
        let last = self.last_block((from, to), commitment)?;
        let range = (from, last.block.height);
        let entries = match pass {
            Pass::Head | Pass::AgainAtHead => {
                self.refresh_head(&accounts)?;
                self.head.between(range.0, range.1)
            }
            Pass::Final | Pass::Again => self.refresh_final(&accounts, range, pass)?,
        };
        let (entries, end) = cut(entries);
        let range = (from, end.unwrap_or(range.1));
        let (mut blocks, told) = self.read(&entries, range, commitment, &accounts)?;
        let end = match end {
            Some(end) => self.block(end, commitment)?,
            None => last,
        };
        let read_to = blocks.last().map(|read| read.block.height);
        if read_to.is_none_or(|height| height < end.block.height) {
            blocks.push(block_read(end, Vec::new()));
        }
        if pass == Pass::Head {
            self.telling.extend(told);
        }
        Ok(blocks)
    }

    /// Looks at the accounts that are asked about in every step, once in a step.
    fn refresh_head(&mut self, accounts: &Accounts) -> Result<(), NodeError> {
        if self.step.has_looked {
            return Ok(());
        }
        let every_step = accounts.filtered(false);
        let looked = self.look_to(Commitment::Confirmed, &every_step, self.head_slot);
        self.step.has_looked = looked.is_ok();
        looked
    }

    /// Looks at accounts, up to a slot, as far down as their histories are wanted.
    fn look_to(
        &mut self,
        commitment: Commitment,
        accounts: &[NamedAccount],
        to: u32,
    ) -> Result<(), NodeError> {
        let mut histories = match commitment {
            Commitment::Confirmed => std::mem::take(&mut self.head),
            Commitment::Finalized => std::mem::take(&mut self.finals),
        };
        let look = Look {
            commitment,
            to,
            from: None,
            open: &HashSet::new(),
        };
        let looked = self.look(&mut histories, accounts, &look);
        match commitment {
            Commitment::Confirmed => self.head = histories,
            Commitment::Finalized => self.finals = histories,
        }
        looked
    }

    /// Looks at accounts for what is final, and returns the transactions of a range: those of the histories, and those that
    /// are known.
    fn refresh_final(
        &mut self,
        accounts: &Accounts,
        (from, to): (u32, u32),
        pass: Pass,
    ) -> Result<Vec<Entry>, NodeError> {
        let known = self.step.known_between(from, to);
        let open = match pass {
            // What was seen at the head has to be in the histories by now.
            Pass::Final => self.head.between(from, to),
            Pass::Head | Pass::Again | Pass::AgainAtHead => Vec::new(),
        };
        let named = open.iter().filter_map(|key| self.head.found.get(key));
        let named: HashSet<String> = named.flat_map(|one| one.accounts.iter().cloned()).collect();
        let mut of_pass = accounts.filtered(false);
        if pass == Pass::Again {
            of_pass.extend(accounts.filtered(true));
        }
        let look = Look {
            commitment: Commitment::Finalized,
            to,
            from: (pass == Pass::Again).then_some(from),
            open: &named,
        };
        let mut finals = std::mem::take(&mut self.finals);
        let looked = self.look(&mut finals, &of_pass, &look);
        self.finals = finals;
        looked?;
        if self.finals.pending > 0 {
            // It goes on with the next attempt.
            return Err(NodeError::Behind);
        }
        let mut entries = self.finals.between(from, to);
        entries.extend(known.into_iter().chain(open));
        entries.sort_unstable();
        entries.dedup();
        Ok(entries)
    }

    /// [`Node::late`](crate::chain::Node::late).
    pub(super) fn read_late(
        &mut self,
        to: &Block,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let accounts = self.accounts(watched)?;
        self.refresh_head(&accounts)?;
        let daily = accounts.filtered(true);
        // While blocks are read again, all are asked about there.
        if !daily.is_empty() && !self.step.has_rescan {
            let pending = self.head.pending;
            self.look_to(Commitment::Confirmed, &daily, self.head_slot)?;
            self.head.pending = pending;
        }
        if self.finals.pending > 0 && !self.step.has_rescan {
            let to = self.step.complete.unwrap_or(0);
            self.look_to(Commitment::Finalized, &accounts.filtered(false), to)?;
        }
        let mut entries = Vec::new();
        // The newest first: somebody may wait for it.
        for key in self.head.between(0, to.height).into_iter().rev() {
            if entries.len() >= LATE_MAX {
                break;
            }
            if self.is_told(&key) {
                continue;
            }
            match is_since(&self.head, &key, &accounts) {
                Some(true) => entries.push(key),
                Some(false) => self.telling.push(key),
                None => {}
            }
        }
        let range = (0, to.height);
        let (blocks, told) = self.read(&entries, range, Commitment::Confirmed, &accounts)?;
        self.telling.extend(told);
        Ok(blocks)
    }

    /// Returns `true` if a transaction was told of in this slot.
    fn is_told(&self, (slot, signature): &Entry) -> bool {
        self.told.get(signature) == Some(slot)
            || self
                .telling
                .iter()
                .any(|(at, told)| at == slot && told == signature)
    }

    /// Returns the blocks in a range that have payments by these transactions, and where the transactions are.
    fn read(
        &mut self,
        entries: &[Entry],
        (from, to): (u32, u32),
        commitment: Commitment,
        accounts: &Accounts,
    ) -> Result<(Vec<BlockRead>, Vec<Entry>), NodeError> {
        let mut received: BTreeMap<u32, Vec<Received>> = BTreeMap::new();
        let (mut told, mut seen) = (Vec::new(), HashSet::new());
        for (slot, signature) in entries {
            if !seen.insert(signature) {
                continue;
            }
            let mut carried = self.carried(signature, commitment)?;
            if carried
                .as_ref()
                .is_some_and(|carried| carried.slot != *slot)
            {
                self.carried.remove(&(signature.clone(), commitment));
                carried = self.carried(signature, commitment)?;
            }
            let Some(carried) = carried else {
                self.is_gone(*slot, signature, commitment)?;
                continue;
            };
            let is = carried.slot;
            if is != *slot {
                self.moved(*slot, signature, is);
            }
            if (from..=to).contains(&is) {
                let of_it = carried.received(signature, accounts)?;
                received.entry(is).or_default().extend(of_it);
                told.push((is, signature.clone()));
            }
        }
        received.retain(|_, received| !received.is_empty());
        let mut blocks = Vec::with_capacity(received.len());
        for (slot, received) in received {
            blocks.push(block_read(self.block(slot, commitment)?, received));
        }
        Ok((blocks, told))
    }

    /// Notes that a transaction is in another slot than its account's history said.
    fn moved(&mut self, from: u32, signature: &str, to: u32) {
        for histories in [&mut self.head, &mut self.finals] {
            if let Some(named) = histories.found.remove(&(from, signature.to_owned())) {
                histories.found.insert((to, signature.to_owned()), named);
            }
        }
    }

    /// Forgets a transaction that is in no block, or is no more.
    fn is_gone(
        &mut self,
        slot: u32,
        signature: &str,
        commitment: Commitment,
    ) -> Result<(), NodeError> {
        let is_final = commitment == Commitment::Finalized;
        if is_final && self.carried(signature, Commitment::Confirmed)?.is_some() {
            return Err(NodeError::Behind);
        }
        for histories in [&mut self.head, &mut self.finals] {
            histories.doubt((slot, signature.to_owned()));
        }
        if is_final {
            return Ok(());
        }
        let text = format!("it tells of {signature} and does not have it");
        Err(NodeError::Unreachable(text))
    }

    /// Returns a transaction in a block of the chain, with what came of it; `None` where it is in none.
    pub(super) fn carried(
        &mut self,
        signature: &str,
        commitment: Commitment,
    ) -> Result<Option<Carried>, NodeError> {
        if !is_signature(signature) {
            return Ok(None);
        }
        let key = (signature.to_owned(), commitment);
        if let Some(kept) = self.carried.get(&key) {
            return Ok(Some(kept.clone()));
        }
        let params = json!([signature, {
            "commitment": commitment, "encoding": "json", "maxSupportedTransactionVersion": 0,
        }]);
        let answer: Option<TransactionAnswer> = self.ask("getTransaction", &params)?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        let mints = self.identified()?.mints;
        let coins = Coins {
            native: self.native,
            mints: &mints,
        };
        let carried = Carried::of(&answer, signature, &coins)?;
        if self.carried.len() >= KEPT_MAX {
            self.carried.clear();
        }
        self.carried.insert(key, carried.clone());
        Ok(Some(carried))
    }
}

/// Returns `true` if somebody may have had an address that a transaction names when it came; `None` where none of them is
/// asked about now.
fn is_since(histories: &Histories, key: &Entry, accounts: &Accounts) -> Option<bool> {
    let named = histories.found.get(key)?;
    let of_accounts = named
        .accounts
        .iter()
        .filter_map(|account| accounts.of(account));
    let since = of_accounts.map(|account| account.since).min()?;
    let earliest = since.plus_ms(SINCE_MARGIN_MS.saturating_neg());
    Some(named.time.is_none_or(|time| time >= earliest))
}

/// Leaves out the slots behind so many transactions; the slot that is the last one then.
fn cut(mut entries: Vec<Entry>) -> (Vec<Entry>, Option<u32>) {
    let last = TRANSACTIONS_MAX
        .checked_sub(1)
        .and_then(|at| entries.get(at));
    let Some(last) = last.map(|(slot, _)| *slot) else {
        return (entries, None);
    };
    let count = entries.len();
    entries.retain(|(slot, _)| *slot <= last);
    let end = (entries.len() < count).then_some(last);
    (entries, end)
}

fn block_read(header: Header, received: Vec<Received>) -> BlockRead {
    BlockRead {
        block: header.block,
        parent: header.parent,
        parent_height: header.parent_height,
        time: header.time,
        received,
        spent: Vec::new(),
    }
}
