//! Histories of accounts: which transactions name them, as far as that was asked.
//!
//! A history is asked for where an account has changed since the last look. An equal balance may hide a payment that was
//! sent on meanwhile, so it is also asked for at the first look, again after some hours, and where something is not final.

use super::accounts::{AccountState, NamedAccount};
use super::answers::{Commitment, SignatureAnswer};
use super::slots::{MARGIN, moment};
use super::{Solana, lied};
use crate::chain::NodeError;
use crate::domain::address::is_signature;
use crate::domain::time::{HOUR_MS, Time};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A transaction: its slot and its signature.
pub(super) type Entry = (u32, String);

/// Transactions in one answer, the most that nodes give.
const PAGE: usize = 1000;
/// More pages than a history can have between two looks.
const PAGES_MAX: usize = 1000;
/// Histories that are asked for in one step.
pub(super) const HISTORIES_MAX: usize = 300;
/// Time after which the history of an account is asked for though it has not changed.
const AGAIN_MS: i64 = 6 * HOUR_MS;
/// Slots below what is final from which on the history of an address begins that is asked about once a day: those of more
/// than two days.
const DAILY: u32 = 500_000;
/// How often the history of an account is asked for that has changed by no transaction.
const MISSES_MAX: u8 = 10;

/// What is known of an account's history.
#[derive(Debug)]
struct History {
    /// Slots from here on were asked for.
    low: u32,
    /// Up to here.
    listed_to: Option<u32>,
    /// Time of the newest block at that moment.
    listed_at: Time,
    /// State at the last look.
    state: Option<AccountState>,
    misses: u8,
}

/// Reason to ask for a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    No,
    /// It was not asked for so far down.
    New,
    /// The account has changed since the last look.
    Changed,
    /// Something in it is not final.
    Open,
    /// It was not asked for during some hours.
    Old,
}

impl Due {
    /// Returns `true` if an account that is not there and never was needs no question.
    fn may_be_left_out(self) -> bool {
        matches!(self, Due::New | Due::Old)
    }
}

impl History {
    fn new(low: u32, now: Time) -> History {
        History {
            low,
            listed_to: None,
            listed_at: now,
            state: None,
            misses: 0,
        }
    }

    fn due(&self, state: &AccountState, now: Time, look: &Look<'_>, account: &str) -> Due {
        if self.listed_to.is_none() || look.from.is_some_and(|from| from < self.low) {
            Due::New
        } else if self.state.as_ref().is_some_and(|before| before != state) {
            Due::Changed
        } else if look.open.contains(account) {
            Due::Open
        } else if now.since_ms(self.listed_at) >= AGAIN_MS {
            Due::Old
        } else {
            Due::No
        }
    }

    fn listed(&mut self, low: u32, to: u32, now: Time, state: &AccountState) {
        self.low = low;
        self.listed_to = self.listed_to.max(Some(to));
        self.listed_at = now;
        self.state = Some(state.clone());
        self.misses = 0;
    }

    /// Slot down to which it is asked for.
    fn next_low(&self, due: Due, low: u32) -> u32 {
        let before = self.listed_to.filter(|_| due != Due::New);
        before.map_or(low, |to| to.saturating_sub(MARGIN))
    }
}

/// Histories at one commitment.
#[derive(Debug, Default)]
pub(super) struct Histories {
    of: HashMap<String, History>,
    /// Transactions that did what they should, by slot and signature: their times, and the accounts that they name.
    pub found: BTreeMap<Entry, Named>,
    /// Accounts without a history, of those that are asked about in every step.
    pub pending: usize,
}

/// A transaction in the histories of accounts.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    pub time: Option<Time>,
    pub accounts: Vec<String>,
}

/// A look at accounts.
pub(super) struct Look<'a> {
    pub commitment: Commitment,
    /// Slot up to which the answers have to reach.
    pub to: u32,
    /// Slot down to which histories have to reach; `None` for where the chain was read for good.
    pub from: Option<u32>,
    /// Accounts whose histories are asked for in any case.
    pub open: &'a HashSet<String>,
}

/// Outcome of asking for a history.
struct Listed {
    /// `true`: there is a transaction in it.
    has_any: bool,
    /// `true`: one of them is new.
    has_news: bool,
}

impl Histories {
    /// Forgets what was told and is final, and that it was asked for.
    pub(super) fn forget(&mut self, complete: u32, is_told: impl Fn(&str, u32) -> bool) {
        let low = complete.saturating_sub(MARGIN);
        self.found
            .retain(|(slot, signature), _| *slot > low || !is_told(signature, *slot));
        for history in self.of.values_mut() {
            history.low = history.low.max(low);
        }
    }

    /// Forgets a transaction, and has the histories that named it asked for again.
    pub(super) fn doubt(&mut self, key: Entry) {
        let named = self.found.remove(&key).unwrap_or_default();
        for account in &named.accounts {
            if let Some(history) = self.of.get_mut(account) {
                history.listed_to = history.listed_to.min(Some(key.0.saturating_sub(1)));
                history.listed_at = Time(0);
            }
        }
    }

    /// Returns the transactions of these slots.
    pub(super) fn between(&self, from: u32, to: u32) -> Vec<Entry> {
        let low = (from, String::new());
        let found = self.found.range(low..).map(|(key, _)| key);
        found.take_while(|(slot, _)| *slot <= to).cloned().collect()
    }
}

impl Solana {
    /// Looks at accounts, and asks for the histories of those that may have new transactions.
    pub(super) fn look(
        &mut self,
        histories: &mut Histories,
        accounts: &[NamedAccount],
        look: &Look<'_>,
    ) -> Result<(), NodeError> {
        let states = self.states(accounts, look.commitment, look.to)?;
        let looked: Vec<(&NamedAccount, AccountState)> = accounts.iter().zip(states).collect();
        histories.pending = 0;
        for of_address in looked.chunk_by(|(one, _), (other, _)| one.owner == other.owner) {
            self.look_at(histories, of_address, look)?;
        }
        Ok(())
    }

    /// [`Solana::look`] of the accounts of one address, its own first.
    fn look_at(
        &mut self,
        histories: &mut Histories,
        of_address: &[(&NamedAccount, AccountState)],
        look: &Look<'_>,
    ) -> Result<(), NodeError> {
        // An account of tokens is made and closed by transactions that name its owner.
        let mut own_has_any = None;
        for (account, state) in of_address {
            let (name, now) = (&account.account, self.head_time);
            let default = look
                .from
                .unwrap_or_else(|| self.default_low(account.is_daily));
            let known = histories.of.entry(name.clone());
            let history = known.or_insert_with(|| History::new(default, now));
            let due = history.due(state, now, look, name);
            if due == Due::No {
                history.state = Some(state.clone());
                continue;
            }
            let low = look.from.map_or(history.low, |from| from.min(history.low));
            if due.may_be_left_out() && state.is_none() && own_has_any == Some(false) {
                // There is no such account, and nobody made or closed one.
                history.listed(low, look.to, now, state);
                continue;
            }
            let next_low = history.next_low(due, low);
            let listed = match self.histories_left {
                0 => None,
                _ => self.list_in_turn(histories, name, next_low, look)?,
            };
            let Some(history) = histories.of.get_mut(name) else {
                continue;
            };
            let Some(listed) = listed else {
                histories.pending = histories
                    .pending
                    .saturating_add(usize::from(due == Due::New));
                continue;
            };
            if account.asset.is_none() {
                own_has_any = Some(listed.has_any);
            }
            if due == Due::Changed && !listed.has_news && history.misses < MISSES_MAX {
                // A node that has not come so far has told of none: it is asked again.
                history.misses = history.misses.saturating_add(1);
                continue;
            }
            history.listed(low, look.to, now, state);
        }
        Ok(())
    }

    /// Asks for a history; `None` where the node lets no more be asked for in this step.
    fn list_in_turn(
        &mut self,
        histories: &mut Histories,
        account: &str,
        low: u32,
        look: &Look<'_>,
    ) -> Result<Option<Listed>, NodeError> {
        match self.list(histories, account, low, look) {
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

    /// Slot from which on the history of an account begins.
    fn default_low(&self, is_daily: bool) -> u32 {
        let complete = self.step.complete.unwrap_or(0);
        complete.saturating_sub(if is_daily { DAILY } else { MARGIN })
    }

    /// Asks for the transactions that name an account, down to a slot, and notes them.
    fn list(
        &mut self,
        histories: &mut Histories,
        account: &str,
        low: u32,
        look: &Look<'_>,
    ) -> Result<Listed, NodeError> {
        let mut listed = Listed {
            has_any: false,
            has_news: false,
        };
        let mut before: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let mut config = json!({
                "limit": PAGE, "commitment": look.commitment, "minContextSlot": look.to,
            });
            if let (Some(before), Some(config)) = (&before, config.as_object_mut()) {
                config.insert("before".to_owned(), before.as_str().into());
            }
            let params = json!([account, config]);
            let page: Vec<SignatureAnswer> = self.ask("getSignaturesForAddress", &params)?;
            if page.len() > PAGE || page.iter().any(|one| !is_signature(&one.signature)) {
                return Err(lied("it answers with a history that is none"));
            }
            let lowest = page.iter().map(|one| one.slot).min();
            for one in page.iter().filter(|one| one.slot >= low) {
                listed.has_any = true;
                listed.has_news |= note(histories, account, one)?;
            }
            let is_last = page.len() < PAGE || lowest.is_none_or(|lowest| lowest < low);
            if is_last {
                return Ok(listed);
            }
            // Inside a slot the order may be another one next time: the lowest is asked for as a whole.
            let higher = page.iter().rev().find(|one| Some(one.slot) > lowest);
            let next = higher.or(page.last()).map(|one| one.signature.clone());
            if next == before {
                return Err(lied("it answers with the same part of a history again"));
            }
            before = next;
        }
        Err(lied("the history of an account does not end"))
    }
}

/// Notes a transaction of an account; `true` where it was not known. One that failed moved nothing.
fn note(
    histories: &mut Histories,
    account: &str,
    one: &SignatureAnswer,
) -> Result<bool, NodeError> {
    let newest = histories
        .of
        .get(account)
        .and_then(|history| history.listed_to);
    let is_later = newest.is_none_or(|newest| one.slot > newest);
    if one.err.is_some() {
        return Ok(is_later);
    }
    let time = one.block_time.map(moment).transpose()?;
    let key = (one.slot, one.signature.clone());
    let is_new = !histories.found.contains_key(&key);
    let named = histories.found.entry(key).or_default();
    named.time = time.or(named.time);
    if !named.accounts.iter().any(|known| known == account) {
        named.accounts.push(account.to_owned());
    }
    Ok(is_new || is_later)
}
