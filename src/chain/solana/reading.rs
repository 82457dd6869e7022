//! Reads payments in ranges of slots: at the head, in finalized slots, and in slots of a rescan.

use super::Solana;
use super::accounts::{PolledAccount, PolledAccounts};
use super::answers::Commitment;
use super::credits::TransactionCredits;
use super::histories::{AccountHistories, ListedTransaction, PollScope, SlotSignature};
use super::slots::{SlotHeader, SlotState};
use super::transactions::ListedRead;
use crate::chain::{BlockRead, NodeError, ReceivedOutput, WatchTargets};
use crate::domain::Block;
use crate::domain::time::HOUR_MS;
use std::collections::{BTreeMap, HashSet};

/// Number of transactions after which a range ends. The last slot of the range is always read in full.
const TRANSACTIONS_MAX: usize = 100;
/// Largest number of transactions in one result of [`Node::late_payments`](crate::chain::Node::late_payments).
const LATE_MAX: usize = 50;
/// Milliseconds by which the block time of a payment may be before the assignment of its address. The clock of the
/// chain may differ from the clock of this machine.
const SINCE_MARGIN_MS: i64 = HOUR_MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RangePurpose {
    /// New slots at the head.
    Head,
    /// Slots that have become final.
    Final,
    /// Slots of a rescan that an operator requested.
    Rescan,
    /// Newest slots of a rescan, which are not final.
    RescanAtHead,
}

impl Solana {
    fn range_purpose(&mut self, from: u32, to: u32) -> RangePurpose {
        let is_final = to <= self.finalized_seen;
        let step = &mut self.step;
        let is_behind = |height: Option<u32>| height.is_none_or(|height| from > height);
        if step.is_stopped || !is_behind(step.complete) {
            return if is_final { RangePurpose::Rescan } else { RangePurpose::RescanAtHead };
        }
        if is_behind(step.cursor) && !step.has_read_head {
            step.has_read_head = true;
            return RangePurpose::Head;
        }
        if is_final { RangePurpose::Final } else { RangePurpose::RescanAtHead }
    }

    /// Implements [`Node::blocks`](crate::chain::Node::blocks): blocks with payments, and the last block.
    pub(super) fn read_range(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        if from > to {
            return Ok(Vec::new());
        }
        let accounts = self.polled_accounts(watched)?;
        let pass = self.range_purpose(from, to);
        if let Some(problem) = self.final_problem.as_ref().filter(|_| pass != RangePurpose::Head) {
            // Without a final slot, it is not known how these slots have to be read.
            return Err(problem.to_error());
        }
        let commitment = match pass {
            RangePurpose::Head | RangePurpose::RescanAtHead => Commitment::Confirmed,
            RangePurpose::Final | RangePurpose::Rescan => Commitment::Finalized,
        };
        let last = self.newest_block_between(from, to, commitment)?;
        let to = last.block.height;
        let entries = match pass {
            RangePurpose::Head | RangePurpose::RescanAtHead => {
                self.poll_at_head(&accounts)?;
                self.head.transactions_between(from, to)
            }
            RangePurpose::Final | RangePurpose::Rescan => {
                self.poll_at_final_level(&accounts, from, to, pass)?
            }
        };
        let (entries, end) = truncate_at_slot_end(entries);
        let to = end.unwrap_or(to);
        let (mut blocks, told) =
            self.read_payment_blocks(&entries, from, to, commitment, &accounts)?;
        let end = match end {
            Some(end) => self.required_header(end, commitment)?,
            None => last,
        };
        let read_to = blocks.last().map(|read| read.block.height);
        if read_to.is_none_or(|height| height < end.block.height) {
            blocks.push(to_block_read(end, Vec::new()));
        }
        if pass == RangePurpose::Head {
            self.pending_returned.extend(told);
        }
        Ok(blocks)
    }

    /// Polls the accounts that are not polled daily. Does nothing if this step has already polled them.
    fn poll_at_head(&mut self, accounts: &PolledAccounts) -> Result<(), NodeError> {
        if self.step.has_polled {
            return Ok(());
        }
        let every_step = accounts.filter_daily(false);
        let looked = self.poll_up_to_slot(Commitment::Confirmed, &every_step, self.head_slot);
        self.step.has_polled = looked.is_ok();
        looked
    }

    /// Polls accounts up to a slot, and reads histories from their default slots.
    fn poll_up_to_slot(
        &mut self,
        commitment: Commitment,
        accounts: &[PolledAccount],
        to: u32,
    ) -> Result<(), NodeError> {
        let mut histories = match commitment {
            Commitment::Confirmed => std::mem::take(&mut self.head),
            Commitment::Finalized => std::mem::take(&mut self.finals),
        };
        let look = PollScope { commitment, to, from: None, open: &HashSet::new() };
        let looked = self.poll_accounts(&mut histories, accounts, &look);
        match commitment {
            Commitment::Confirmed => self.head = histories,
            Commitment::Finalized => self.finals = histories,
        }
        looked
    }

    /// Polls accounts at the finalized level. Returns the transactions of a range that are in the histories or in the
    /// database.
    fn poll_at_final_level(
        &mut self,
        accounts: &PolledAccounts,
        from: u32,
        to: u32,
        pass: RangePurpose,
    ) -> Result<Vec<SlotSignature>, NodeError> {
        let known = self.step.known_transactions_between(from, to);
        let open = match pass {
            // The final histories must also contain the transactions that were seen at the head.
            RangePurpose::Final => self.head.transactions_between(from, to),
            RangePurpose::Head | RangePurpose::Rescan | RangePurpose::RescanAtHead => Vec::new(),
        };
        let named = open.iter().filter_map(|key| self.head.found.get(key));
        let named: HashSet<String> = named.flat_map(|one| one.accounts.iter().cloned()).collect();
        let mut of_pass = accounts.filter_daily(false);
        if pass == RangePurpose::Rescan {
            of_pass.extend(accounts.filter_daily(true));
        }
        let look = PollScope {
            commitment: Commitment::Finalized,
            to,
            from: (pass == RangePurpose::Rescan).then_some(from),
            open: &named,
        };
        let mut finals = std::mem::take(&mut self.finals);
        let looked = self.poll_accounts(&mut finals, &of_pass, &look);
        self.finals = finals;
        looked?;
        if self.finals.pending > 0 {
            // The next step reads the remaining histories.
            return Err(NodeError::Behind);
        }
        let mut entries = self.finals.transactions_between(from, to);
        entries.extend(known.into_iter().chain(open));
        if pass == RangePurpose::Rescan {
            entries.extend(self.aside.due_between(from, to));
        }
        entries.sort_unstable();
        entries.dedup();
        Ok(entries)
    }

    /// Implements [`Node::late_payments`](crate::chain::Node::late_payments).
    pub(super) fn read_late_payments(
        &mut self,
        to: &Block,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let accounts = self.polled_accounts(watched)?;
        self.poll_at_head(&accounts)?;
        let daily = accounts.filter_daily(true);
        // During a rescan, the rescan itself polls all accounts.
        if !daily.is_empty() && !self.step.has_rescan {
            let pending = self.head.pending;
            self.poll_up_to_slot(Commitment::Confirmed, &daily, self.head_slot)?;
            self.head.pending = pending;
        }
        if self.finals.pending > 0 && !self.step.has_rescan {
            let to = self.step.complete.unwrap_or(0);
            self.poll_up_to_slot(Commitment::Finalized, &accounts.filter_daily(false), to)?;
        }
        let mut entries = Vec::new();
        // The newest transactions are read first, because a customer may be waiting.
        for key in self.head.transactions_between(0, to.height).into_iter().rev() {
            if entries.len() >= LATE_MAX {
                break;
            }
            // Transactions that are set aside follow below.
            let is_aside = self.aside.has_transaction(&key.1) && !self.aside.is_forgotten(&key.1);
            if self.was_returned(key.0, &key.1) || is_aside {
                continue;
            }
            match may_pay_assigned_address(&self.head, &key, &accounts) {
                Some(true) => entries.push(key),
                Some(false) => self.pending_returned.push(key),
                None => {}
            }
        }
        let commitment = Commitment::Confirmed;
        let (mut blocks, told) =
            self.read_payment_blocks(&entries, 0, to.height, commitment, &accounts)?;
        self.pending_returned.extend(told);
        blocks.extend(self.read_set_aside(to.height, &accounts)?);
        Ok(blocks)
    }

    /// Asks again for transactions that are set aside. Those up to the last final slot count only once they are final,
    /// because these slots are not read again.
    fn read_set_aside(
        &mut self,
        to: u32,
        accounts: &PolledAccounts,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let complete = self.step.complete.unwrap_or(0);
        let mut blocks = Vec::new();
        for (range, commitment) in [
            ((0, complete.min(to)), Commitment::Finalized),
            ((complete.saturating_add(1), to), Commitment::Confirmed),
        ] {
            let entries = self.aside.due_between(range.0, range.1);
            let (read, told) = self.read_payment_blocks(&entries, 0, to, commitment, accounts)?;
            blocks.extend(read);
            for (slot, signature) in told {
                let key = (signature, commitment);
                let paid = self.carried.get(&key).map(TransactionCredits::credited_accounts);
                let Some(paid) = paid else {
                    // The cache was cleared in this step, so it is not known whom the transaction pays.
                    let reason = "was asked for too many transactions in one step".to_owned();
                    self.aside.add_transaction(slot, &key.0, reason);
                    continue;
                };
                if paid.is_empty() || paid.iter().any(|account| accounts.get(account).is_some()) {
                    self.pending_returned.push((slot, key.0));
                } else {
                    // The addresses that it pays are polled in a later step.
                    let named = ListedTransaction { time: None, accounts: paid };
                    self.head.found.entry((slot, key.0)).or_insert(named);
                }
            }
        }
        Ok(blocks)
    }

    /// Returns `true` if an earlier step returned the transaction in this slot.
    fn was_returned(&self, slot: u32, signature: &str) -> bool {
        self.returned.get(signature) == Some(&slot)
            || self.pending_returned.iter().any(|(at, told)| *at == slot && told == signature)
    }

    /// Returns the blocks of a range, with the payments of these transactions. Also returns the slots of the
    /// transactions that were read. Sets aside the others.
    fn read_payment_blocks(
        &mut self,
        entries: &[SlotSignature],
        from: u32,
        to: u32,
        commitment: Commitment,
        accounts: &PolledAccounts,
    ) -> Result<(Vec<BlockRead>, Vec<SlotSignature>), NodeError> {
        let mut received: BTreeMap<u32, Vec<ReceivedOutput>> = BTreeMap::new();
        let (mut told, mut seen) = (Vec::new(), HashSet::new());
        for (slot, signature) in entries {
            if !seen.insert(signature) || self.aside.is_waiting(signature) {
                continue;
            }
            let listed = self.read_listed_transaction(*slot, signature, commitment, accounts)?;
            let (is, of_it) = match listed {
                ListedRead::Payments(is, of_it) => (is, of_it),
                ListedRead::SetAside(reason) => {
                    self.aside.add_transaction(*slot, signature, reason);
                    continue;
                }
                ListedRead::Gone => {
                    self.aside.remove_transaction(signature);
                    continue;
                }
            };
            if is != *slot {
                self.change_transaction_slot(*slot, signature, is);
            }
            if !(from..=to).contains(&is) {
                // The transaction is read with its own slot.
                continue;
            }
            if of_it.is_empty() {
                self.aside.remove_transaction(signature);
            } else {
                received.entry(is).or_default().extend(of_it);
            }
            told.push((is, signature.clone()));
        }
        let mut blocks = Vec::with_capacity(received.len());
        for (slot, received) in received {
            let header = self.slot_state(slot, commitment)?;
            let SlotState::Block(header) = header else {
                for one in &received {
                    let reason = format!("does not have its block {slot}");
                    self.aside.add_transaction(slot, &one.txid, reason);
                }
                told.retain(|(is, signature)| {
                    *is != slot || !received.iter().any(|one| one.txid == *signature)
                });
                continue;
            };
            for one in &received {
                self.aside.remove_transaction(&one.txid);
            }
            blocks.push(to_block_read(header, received));
        }
        Ok((blocks, told))
    }
}

/// Returns `Some(true)` if the transaction may be newer than the assignment of an address that it contains, otherwise
/// `Some(false)`. `None` if the transaction contains no watched address.
fn may_pay_assigned_address(
    histories: &AccountHistories,
    key: &SlotSignature,
    accounts: &PolledAccounts,
) -> Option<bool> {
    let named = histories.found.get(key)?;
    let of_accounts = named.accounts.iter().filter_map(|account| accounts.get(account));
    let since = of_accounts.map(|account| account.since).min()?;
    let earliest = since.plus_ms(SINCE_MARGIN_MS.saturating_neg());
    Some(named.time.is_none_or(|time| time >= earliest))
}

/// Shortens the list to about [`TRANSACTIONS_MAX`] transactions, at the end of a slot. Also returns the last
/// remaining slot if the list was shortened.
fn truncate_at_slot_end(mut entries: Vec<SlotSignature>) -> (Vec<SlotSignature>, Option<u32>) {
    let last = TRANSACTIONS_MAX.checked_sub(1).and_then(|at| entries.get(at));
    let Some(last) = last.map(|(slot, _)| *slot) else {
        return (entries, None);
    };
    let count = entries.len();
    entries.retain(|(slot, _)| *slot <= last);
    let end = (entries.len() < count).then_some(last);
    (entries, end)
}

fn to_block_read(header: SlotHeader, received: Vec<ReceivedOutput>) -> BlockRead {
    BlockRead {
        block: header.block,
        parent: header.parent,
        parent_height: header.parent_height,
        time: header.time,
        received,
        spent: Vec::new(),
    }
}
