//! Accounts that are asked about: of each address itself, and that of each listed token.

use super::Solana;
use super::answers::{AccountAnswer, Commitment, InContext};
use super::lied;
use crate::chain::{NodeError, Watched};
use crate::domain::address::token_account;
use crate::domain::asset::Asset;
use crate::domain::time::Time;
use serde_json::json;
use std::collections::HashMap;

/// Accounts in one request, the most that public nodes take.
pub(super) const AT_ONCE: usize = 100;
/// The fewest after limits.
const AT_ONCE_MIN: usize = 5;
/// Bytes of the data of an account: those of an account of tokens up to the amount.
const DATA_BYTES: usize = 72;

/// An account that is asked about.
#[derive(Clone, Debug)]
pub(super) struct NamedAccount {
    /// Its address in base58.
    pub account: String,
    /// The watched address: the account's own, or that of the owner of its tokens.
    pub owner: String,
    /// The token; `None` for the address itself.
    pub asset: Option<&'static Asset>,
    /// Time before which nobody had the address.
    pub since: Time,
    /// `true`: it is asked about once a day.
    pub is_daily: bool,
}

/// The accounts of one step. Those of one address follow one another, and begin with its own.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub list: Vec<NamedAccount>,
    by_account: HashMap<String, usize>,
}

impl Accounts {
    /// Returns the account of this address in base58.
    pub(super) fn of(&self, account: &str) -> Option<&NamedAccount> {
        self.list.get(*self.by_account.get(account)?)
    }

    /// Returns the same without those that are asked about once a day, or those alone.
    pub(super) fn filtered(&self, is_daily: bool) -> Vec<NamedAccount> {
        let of_kind = self.list.iter().filter(|one| one.is_daily == is_daily);
        of_kind.cloned().collect()
    }
}

/// State of an account: lamports, owner and the beginning of its data; `None` where there is no such account.
pub(super) type AccountState = Option<(u64, String, String)>;

impl Solana {
    /// Returns the accounts of the addresses that are watched now.
    pub(super) fn accounts(&mut self, watched: &dyn Watched) -> Result<Accounts, NodeError> {
        let mints = self.identified()?.mints;
        let mut before = std::mem::take(&mut self.derived);
        let mut accounts = Accounts::default();
        for named in watched.named() {
            let address = &named.address;
            let derived = before.remove(address);
            let derived: Vec<String> = derived.unwrap_or_else(|| {
                let of_mint = |(mint, _): &(String, _)| token_account(address, mint);
                mints.iter().filter_map(of_mint).collect()
            });
            let own = std::iter::once((address, None));
            let of_tokens = derived
                .iter()
                .zip(mints.iter().map(|(_, asset)| Some(*asset)));
            for (account, asset) in own.chain(of_tokens) {
                let place = accounts.list.len();
                // Somebody may name an account of tokens besides its owner: what comes there is the owner's.
                if asset.is_some() || !accounts.by_account.contains_key(account) {
                    accounts.by_account.insert(account.clone(), place);
                }
                accounts.list.push(NamedAccount {
                    account: account.clone(),
                    owner: address.clone(),
                    asset,
                    since: named.since,
                    is_daily: named.is_daily,
                });
            }
            self.derived.insert(address.clone(), derived);
        }
        Ok(accounts)
    }

    /// Returns the states of accounts in their order, of a slot not below this one.
    pub(super) fn states(
        &mut self,
        accounts: &[NamedAccount],
        commitment: Commitment,
        slot: u32,
    ) -> Result<Vec<AccountState>, NodeError> {
        let mut states = Vec::with_capacity(accounts.len());
        let mut rest = accounts;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.at_once.min(rest.len()));
            let names: Vec<&str> = now.iter().map(|one| one.account.as_str()).collect();
            let params = json!([names, {
                "commitment": commitment, "encoding": "base64", "minContextSlot": slot,
                "dataSlice": { "offset": 0, "length": DATA_BYTES },
            }]);
            let answer = self.ask("getMultipleAccounts", &params);
            if let Err(NodeError::Limited(_)) = &answer {
                self.at_once = now.len().div_euclid(2).max(AT_ONCE_MIN);
            }
            let answer: InContext<Vec<Option<AccountAnswer>>> = answer?;
            if answer.context.slot < slot {
                // Another node behind the same url, which has not come so far.
                return Err(NodeError::Behind);
            }
            if answer.value.len() != now.len() {
                return Err(lied(
                    "it answers for more or fewer accounts than it was asked for",
                ));
            }
            let state = |one: AccountAnswer| (one.lamports, one.owner, one.data.0);
            states.extend(answer.value.into_iter().map(|one| one.map(state)));
            rest = later;
        }
        Ok(states)
    }
}
