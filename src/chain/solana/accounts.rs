//! Accounts to poll. Each watched address has its own account and its token accounts.

use super::answers::{AccountJson, Commitment, WithSlot};
use super::{Solana, invalid_answer};
use crate::chain::{NodeError, WatchTargets};
use crate::domain::address::token_account;
use crate::domain::{Asset, Time};
use serde_json::json;
use std::collections::HashMap;

/// Largest number of accounts in one request. Public nodes accept no more.
pub(super) const ACCOUNTS_PER_REQUEST: usize = 100;
/// Smallest number of accounts in one request, after rate limits.
const ACCOUNTS_PER_REQUEST_MIN: usize = 5;
/// Number of bytes of account data to fetch. They contain the fields of a token account up to its amount.
const DATA_BYTES: usize = 72;

#[derive(Clone, Debug)]
pub(super) struct PolledAccount {
    /// Address of the account, in base58.
    pub account: String,
    /// Watched address: the account itself, or the owner of the token account.
    pub owner: String,
    /// Token of the account; `None` for the watched address's own account.
    pub asset: Option<&'static Asset>,
    /// Time at which the address was assigned.
    pub since: Time,
    /// `true` if the account is polled once a day.
    pub is_daily: bool,
}

/// Accounts to poll in one step. All accounts of one address are adjacent; the address's own account comes first.
#[derive(Debug, Default)]
pub(super) struct PolledAccounts {
    pub list: Vec<PolledAccount>,
    by_account: HashMap<String, usize>,
}

impl PolledAccounts {
    /// Returns the account with this address in base58.
    pub(super) fn get(&self, account: &str) -> Option<&PolledAccount> {
        self.list.get(*self.by_account.get(account)?)
    }

    /// If `is_daily`, returns the accounts that are polled once a day. Otherwise, returns the accounts that are
    /// polled more often.
    pub(super) fn filter_daily(&self, is_daily: bool) -> Vec<PolledAccount> {
        let of_kind = self.list.iter().filter(|one| one.is_daily == is_daily);
        of_kind.cloned().collect()
    }
}

/// Lamports, owner program, and first bytes of the data of an account; `None` if the account does not exist.
pub(super) type AccountState = Option<(u64, String, String)>;

impl Solana {
    pub(super) fn polled_accounts(
        &mut self,
        watched: &dyn WatchTargets,
    ) -> Result<PolledAccounts, NodeError> {
        let mints = self.verify_identity()?.mints;
        let mut before = std::mem::take(&mut self.derived);
        let mut accounts = PolledAccounts::default();
        for named in watched.polled_addresses() {
            let address = &named.address;
            let derived = before.remove(address);
            let derived: Vec<String> = derived.unwrap_or_else(|| {
                let of_mint = |(mint, _): &(String, _)| token_account(address, mint);
                mints.iter().filter_map(of_mint).collect()
            });
            let own = std::iter::once((address, None));
            let of_tokens = derived.iter().zip(mints.iter().map(|(_, asset)| Some(*asset)));
            for (account, asset) in own.chain(of_tokens) {
                let place = accounts.list.len();
                // Both a token account and its owner may be watched. Payments to the token account then belong to the
                // owner.
                if asset.is_some() || !accounts.by_account.contains_key(account) {
                    accounts.by_account.insert(account.clone(), place);
                }
                accounts.list.push(PolledAccount {
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

    /// Returns the states of these accounts in the same order, as they are at `slot` or later.
    pub(super) fn fetch_states(
        &mut self,
        accounts: &[PolledAccount],
        commitment: Commitment,
        slot: u32,
    ) -> Result<Vec<AccountState>, NodeError> {
        let mut states = Vec::with_capacity(accounts.len());
        let mut rest = accounts;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.accounts_per_request.min(rest.len()));
            let names: Vec<&str> = now.iter().map(|one| one.account.as_str()).collect();
            let params = json!([names, {
                "commitment": commitment, "encoding": "base64", "minContextSlot": slot,
                "dataSlice": { "offset": 0, "length": DATA_BYTES },
            }]);
            let answer = self.call_required("getMultipleAccounts", &params);
            if let Err(NodeError::Limited(_)) = &answer {
                self.accounts_per_request = now.len().div_euclid(2).max(ACCOUNTS_PER_REQUEST_MIN);
            }
            let answer: WithSlot<Vec<Option<AccountJson>>> = answer?;
            if answer.context.slot < slot {
                // Another node behind the same url has answered, and that node lags.
                return Err(NodeError::Behind);
            }
            if answer.value.len() != now.len() {
                return Err(invalid_answer(
                    "it answers for more or fewer accounts than it was asked for",
                ));
            }
            let state = |one: AccountJson| (one.lamports, one.owner, one.data.0);
            states.extend(answer.value.into_iter().map(|one| one.map(state)));
            rest = later;
        }
        Ok(states)
    }
}
