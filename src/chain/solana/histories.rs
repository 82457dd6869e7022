//! Histories of accounts: the transactions that contain each account.
//!
//! A history is read when its account has changed since the last poll. An unchanged balance may hide a payment that
//! was forwarded. Therefore a history is also read at the first poll, every few hours, and while one of its
//! transactions is not final.

use super::accounts::{AccountState, PolledAccount};
use super::answers::{Commitment, SignatureInfo};
use super::slots::{MARGIN, unix_time};
use super::{Solana, invalid_answer};
use crate::chain::NodeError;
use crate::domain::Time;
use crate::domain::address::is_solana_txid;
use crate::domain::time::HOUR_MS;
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) type SlotSignature = (u32, String);

/// Number of transactions in one page, the most that nodes return.
const PAGE: usize = 1000;
/// Largest number of pages in one read of a history. Between two polls, no history grows by more pages.
const PAGES_MAX: usize = 1000;
/// Largest number of histories read in one step.
pub(super) const HISTORIES_MAX: usize = 300;
/// Time after which a history is read again even if its account did not change, in milliseconds.
const AGAIN_MS: i64 = 6 * HOUR_MS;
/// Depth to which the history of an account that is polled daily is read, in slots below the final slot. These slots
/// cover more than two days.
const DAILY: u32 = 500_000;
/// Number of reads in a row after which the empty history of an account that changed is reported.
const EMPTY_MISSES: u8 = 3;
/// Largest expected distance of a transaction above the newest slot, in slots. A step may take minutes.
const FUTURE_MAX: u32 = 5_000;
/// Largest number of extra reads of a history. A history is read again if its account changed, but the read found no
/// new transaction.
const MISSES_MAX: u8 = 10;

/// Progress of reading one account's history.
#[derive(Debug)]
struct AccountHistory {
    /// Lowest slot down to which the history was read.
    low: u32,
    /// Highest slot up to which the history was read; `None` before the first read.
    listed_to: Option<u32>,
    /// Time of the newest block at the last read.
    listed_at: Time,
    /// State of the account at the last poll.
    state: Option<AccountState>,
    /// `true` if the account changed, and its history was not read since. The account may have changed back.
    has_changed: bool,
    misses: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadReason {
    No,
    /// The history was not yet read down to the required slot.
    New,
    /// The account changed since the last poll.
    Changed,
    /// A transaction in the history is not final.
    Open,
    /// The history was last read some hours ago.
    Old,
}

impl ReadReason {
    /// Returns `true` if an account that does not exist may be skipped.
    fn may_skip_missing_account(self) -> bool {
        matches!(self, ReadReason::New | ReadReason::Old)
    }
}

impl AccountHistory {
    fn new(low: u32, now: Time) -> AccountHistory {
        AccountHistory {
            low,
            listed_to: None,
            listed_at: now,
            state: None,
            has_changed: false,
            misses: 0,
        }
    }

    fn read_reason(
        &self,
        state: &AccountState,
        now: Time,
        look: &PollScope<'_>,
        account: &str,
    ) -> ReadReason {
        if self.listed_to.is_none() || look.from.is_some_and(|from| from < self.low) {
            ReadReason::New
        } else if self.has_changed || self.state.as_ref().is_some_and(|before| before != state) {
            ReadReason::Changed
        } else if look.open.contains(account) {
            ReadReason::Open
        } else if now.since_ms(self.listed_at) >= AGAIN_MS {
            ReadReason::Old
        } else {
            ReadReason::No
        }
    }

    fn record_read(&mut self, low: u32, to: u32, now: Time, state: &AccountState) {
        self.low = low;
        self.listed_to = self.listed_to.max(Some(to));
        self.listed_at = now;
        self.state = Some(state.clone());
        self.has_changed = false;
        self.misses = 0;
    }

    /// Returns the slot down to which the history must be read now.
    fn next_lowest_slot(&self, due: ReadReason, low: u32) -> u32 {
        let before = self.listed_to.filter(|_| due != ReadReason::New);
        before.map_or(low, |to| to.saturating_sub(MARGIN))
    }
}

/// Histories of all accounts at one commitment level.
#[derive(Debug, Default)]
pub(super) struct AccountHistories {
    of: HashMap<String, AccountHistory>,
    /// Successful transactions by slot and signature, with their times and accounts.
    pub found: BTreeMap<SlotSignature, ListedTransaction>,
    /// Number of frequently polled accounts whose history was not read yet.
    pub pending: usize,
}

/// Time and accounts of a transaction that histories contain.
#[derive(Clone, Debug, Default)]
pub(super) struct ListedTransaction {
    pub time: Option<Time>,
    pub accounts: Vec<String>,
}

pub(super) struct PollScope<'a> {
    pub commitment: Commitment,
    /// Slot that the node must have reached when it answers.
    pub to: u32,
    /// Slot down to which histories are read. `None` for the default slot of each account.
    pub from: Option<u32>,
    /// Accounts whose histories are read even if the accounts did not change.
    pub open: &'a HashSet<String>,
}

struct HistoryOutcome {
    /// `true` if the history contains a transaction.
    has_any: bool,
    has_new_transaction: bool,
    /// `true` if the node lists no transaction at all.
    is_empty: bool,
}

impl AccountHistories {
    /// Forgets returned transactions that are at least [`MARGIN`] slots below `complete`. Raises the lowest slot of
    /// each history to this depth.
    pub(super) fn forget_returned_transactions(
        &mut self,
        complete: u32,
        is_returned: impl Fn(&str, u32) -> bool,
    ) {
        let low = complete.saturating_sub(MARGIN);
        self.found.retain(|(slot, signature), _| *slot > low || !is_returned(signature, *slot));
        for history in self.of.values_mut() {
            history.low = history.low.max(low);
        }
    }

    /// Removes a transaction. The histories that contain it are read again at the next poll.
    pub(super) fn invalidate_transaction(&mut self, key: SlotSignature) {
        let named = self.found.remove(&key).unwrap_or_default();
        for account in &named.accounts {
            if let Some(history) = self.of.get_mut(account) {
                history.listed_to = history.listed_to.min(Some(key.0.saturating_sub(1)));
                history.listed_at = Time(0);
            }
        }
    }

    pub(super) fn transactions_between(&self, from: u32, to: u32) -> Vec<SlotSignature> {
        let low = (from, String::new());
        let found = self.found.range(low..).map(|(key, _)| key);
        found.take_while(|(slot, _)| *slot <= to).cloned().collect()
    }
}

impl Solana {
    /// Polls accounts, and reads the histories that may have new transactions.
    pub(super) fn poll_accounts(
        &mut self,
        histories: &mut AccountHistories,
        accounts: &[PolledAccount],
        look: &PollScope<'_>,
    ) -> Result<(), NodeError> {
        let states = self.fetch_states(accounts, look.commitment, look.to)?;
        let looked: Vec<(&PolledAccount, AccountState)> = accounts.iter().zip(states).collect();
        histories.pending = 0;
        for of_address in looked.chunk_by(|(one, _), (other, _)| one.owner == other.owner) {
            self.poll_address(histories, of_address, look)?;
        }
        Ok(())
    }

    /// Polls the accounts of one address, beginning with its own account.
    fn poll_address(
        &mut self,
        histories: &mut AccountHistories,
        of_address: &[(&PolledAccount, AccountState)],
        look: &PollScope<'_>,
    ) -> Result<(), NodeError> {
        // Whether the address's own account has a transaction; `None` if its history was not read. Every transaction
        // that creates or closes a token account also contains the own account.
        let mut own_has_any = None;
        for (account, state) in of_address {
            let (name, now) = (&account.account, self.head_time);
            let default = look.from.unwrap_or_else(|| self.default_lowest_slot(account.is_daily));
            let known = histories.of.entry(name.clone());
            let history = known.or_insert_with(|| AccountHistory::new(default, now));
            let due = history.read_reason(state, now, look, name);
            if due == ReadReason::No {
                history.state = Some(state.clone());
                continue;
            }
            history.has_changed |= due == ReadReason::Changed;
            let low = look.from.map_or(history.low, |from| from.min(history.low));
            if due.may_skip_missing_account() && state.is_none() && own_has_any == Some(false) {
                // The account does not exist. Its owner has no transaction, so no transaction can have closed the
                // account, and its history is empty.
                history.record_read(low, look.to, now, state);
                continue;
            }
            let next_low = history.next_lowest_slot(due, low);
            let listed = match self.histories_left {
                0 => None,
                _ => self.read_history_within_limit(histories, name, next_low, look)?,
            };
            let Some(history) = histories.of.get_mut(name) else {
                continue;
            };
            let Some(listed) = listed else {
                histories.pending =
                    histories.pending.saturating_add(usize::from(due == ReadReason::New));
                continue;
            };
            if account.asset.is_none() {
                own_has_any = Some(listed.has_any);
            }
            // Nodes without old blocks list nothing of an old account, so only the first empty lists are doubted.
            let is_first = due == ReadReason::New && history.misses < EMPTY_MISSES;
            if is_first && listed.is_empty && state.is_some() {
                history.misses = history.misses.saturating_add(1);
                histories.pending = histories.pending.saturating_add(1);
                continue;
            }
            // An account changes only by a transaction.
            let was_aside = self.aside.has_address(name);
            let hides = listed.is_empty && (due == ReadReason::Changed || was_aside);
            let is_aside = hides && (was_aside || history.misses >= EMPTY_MISSES);
            self.aside.mark_address(name, is_aside);
            let is_miss = due == ReadReason::Changed && !listed.has_new_transaction;
            if hides || is_miss && history.misses < MISSES_MAX {
                // The node may lag and not have the transaction yet, so the history is read again.
                history.misses = history.misses.saturating_add(1);
                continue;
            }
            history.record_read(low, look.to, now, state);
        }
        Ok(())
    }

    /// Reads a history. Returns `None` if the node's rate limit ends the reads of this step.
    fn read_history_within_limit(
        &mut self,
        histories: &mut AccountHistories,
        account: &str,
        low: u32,
        look: &PollScope<'_>,
    ) -> Result<Option<HistoryOutcome>, NodeError> {
        match self.read_history(histories, account, low, look) {
            Err(NodeError::Limited(_)) if self.histories_left < HISTORIES_MAX => {
                self.histories_left = 0;
                Ok(None)
            }
            listed => {
                self.histories_left = self.histories_left.saturating_sub(1);
                listed.map(Some)
            }
        }
    }

    /// Returns the slot down to which the history of a new account is read.
    fn default_lowest_slot(&self, is_daily: bool) -> u32 {
        let complete = self.step.complete.unwrap_or(0);
        complete.saturating_sub(if is_daily { DAILY } else { MARGIN })
    }

    /// Reads the transactions of an account down to a slot, and stores them.
    fn read_history(
        &mut self,
        histories: &mut AccountHistories,
        account: &str,
        low: u32,
        look: &PollScope<'_>,
    ) -> Result<HistoryOutcome, NodeError> {
        let mut listed =
            HistoryOutcome { has_any: false, has_new_transaction: false, is_empty: true };
        let mut before: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let mut config = json!({
                "limit": PAGE, "commitment": look.commitment, "minContextSlot": look.to,
            });
            if let (Some(before), Some(config)) = (&before, config.as_object_mut()) {
                config.insert("before".to_owned(), before.as_str().into());
            }
            let params = json!([account, config]);
            let page: Vec<SignatureInfo> =
                self.call_required("getSignaturesForAddress", &params)?;
            let highest = self.head_slot.max(look.to).saturating_add(FUTURE_MAX);
            let is_entry =
                |one: &SignatureInfo| is_solana_txid(&one.signature) && one.slot <= highest;
            if page.len() > PAGE || !page.iter().all(is_entry) {
                return Err(invalid_answer("it answers with a history that is none"));
            }
            listed.is_empty &= page.is_empty();
            let lowest = page.iter().map(|one| one.slot).min();
            for one in page.iter().filter(|one| one.slot >= low) {
                listed.has_any = true;
                listed.has_new_transaction |= record_transaction(histories, account, one)?;
            }
            let is_last = page.len() < PAGE || lowest.is_none_or(|lowest| lowest < low);
            if is_last {
                return Ok(listed);
            }
            // The order inside a slot may differ in the next response, so the lowest slot is read again in full.
            let higher = page.iter().rev().find(|one| Some(one.slot) > lowest);
            let next = higher.or(page.last()).map(|one| one.signature.clone());
            if next == before {
                return Err(invalid_answer("it answers with the same part of a history again"));
            }
            before = next;
        }
        Err(invalid_answer("the history of an account does not end"))
    }
}

/// Stores a transaction of an account. Returns `true` if the transaction is new. A failed transaction transferred
/// nothing and is not stored.
fn record_transaction(
    histories: &mut AccountHistories,
    account: &str,
    one: &SignatureInfo,
) -> Result<bool, NodeError> {
    let newest = histories.of.get(account).and_then(|history| history.listed_to);
    let is_later = newest.is_none_or(|newest| one.slot > newest);
    if one.err.is_some() {
        return Ok(is_later);
    }
    let time = one.block_time.map(unix_time).transpose()?;
    let key = (one.slot, one.signature.clone());
    let is_new = !histories.found.contains_key(&key);
    let named = histories.found.entry(key).or_default();
    named.time = time.or(named.time);
    if !named.accounts.iter().any(|known| known == account) {
        named.accounts.push(account.to_owned());
    }
    Ok(is_new || is_later)
}
