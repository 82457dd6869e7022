//! Finds payments in a Solana transaction, from the changes of account balances.
//!
//! Invariant: a transaction credits an account at most once. The index of the account is the position of the payment.
//! Tokens belong to the owner that the account has after the transaction. Tokens count only if their mint is listed
//! and of the classic token program.

use super::accounts::PolledAccounts;
use super::answers::{TokenBalance, TransactionJson, TransactionMeta};
use super::invalid_answer;
use crate::chain::{NodeError, ReceivedOutput};
use crate::domain::address::TOKEN_PROGRAM;
use crate::domain::{Asset, InputSource, Units};
use std::collections::BTreeMap;

/// Largest number of accounts in a transaction. The format allows no more.
const ACCOUNTS_MAX: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct TransactionCredits {
    pub slot: u32,
    /// `false` if the transaction failed and transferred nothing.
    pub is_done: bool,
    /// Accounts that lost more lamports than the fee. If there are no such accounts, the fee payer.
    pub senders: Vec<String>,
    credits: Vec<Credit>,
}

/// A balance increase of one account.
#[derive(Clone, Debug)]
struct Credit {
    /// Index of the account in the transaction.
    position: u32,
    account: String,
    /// Owner of the token account. `None` for lamports, and if the node does not return the owner.
    holder: Option<String>,
    asset: &'static Asset,
    amount: u64,
    /// Accounts whose balance of the same coin decreased, or the owners of these accounts.
    from: Vec<String>,
    /// `true` if the owner of the account signed.
    is_signed: bool,
}

/// The listed coins whose payments are read.
pub(super) struct ListedCoins<'a> {
    pub native: &'static Asset,
    pub mints: &'a [(String, &'static Asset)],
}

/// Token balances of an account before and after a transaction.
#[derive(Default)]
struct TokenChange<'a> {
    before: Option<(&'a TokenBalance, u64)>,
    behind: Option<(&'a TokenBalance, u64)>,
}

impl TokenChange<'_> {
    fn balance_before_or_after(&self) -> Option<&TokenBalance> {
        let known = self.behind.or(self.before);
        known.map(|(balance, _)| balance)
    }

    /// Returns the amounts before and after the transaction, with 0 for a missing balance.
    fn amounts_before_and_after(&self) -> (u64, u64) {
        let amount = |of: Option<(_, u64)>| of.map_or(0, |(_, amount)| amount);
        (amount(self.before), amount(self.behind))
    }
}

impl TransactionCredits {
    pub(super) fn parse(
        answer: &TransactionJson,
        signature: &str,
        coins: &ListedCoins<'_>,
    ) -> Result<TransactionCredits, NodeError> {
        if answer.transaction.signatures.first().map(String::as_str) != Some(signature) {
            return Err(invalid_answer("it answers another transaction"));
        }
        let Some(meta) = &answer.meta else {
            let text = format!("it does not tell what came of {signature}");
            return Err(NodeError::Unreachable(text));
        };
        let keys = account_keys(answer, meta)?;
        let paid = lamport_changes(&keys, meta);
        let senders: Vec<String> = match paid.iter().filter(|one| one.is_decrease()).count() {
            0 => keys.first().into_iter().map(|key| (*key).clone()).collect(),
            _ => addresses_with_decrease(paid.iter().map(|one| (one.is_decrease(), one.key))),
        };
        let is_done = meta.err.is_none();
        let signers = answer.transaction.message.header.num_required_signatures;
        let signers = keys
            .get(..signers)
            .ok_or_else(|| invalid_answer("it has more signers than accounts"))?;
        let mut credits = Vec::new();
        if is_done {
            let tokens = token_changes(meta, keys.len())?;
            for one in paid.iter().filter(|one| one.behind > one.before) {
                // Lamports in a token account are its rent, not a payment.
                if !tokens.contains_key(&one.place) {
                    credits.push(Credit {
                        position: account_position(one.place)?,
                        account: one.key.clone(),
                        holder: None,
                        asset: coins.native,
                        amount: one.behind.saturating_sub(one.before),
                        from: senders.clone(),
                        is_signed: signers.contains(&one.key),
                    });
                }
            }
            for (at, of_account) in &tokens {
                let account =
                    keys.get(*at).ok_or_else(|| invalid_answer("it tells of no such account"))?;
                credits.extend(token_credit(*at, account, of_account, &tokens, coins, signers)?);
            }
        }
        Ok(TransactionCredits { slot: answer.slot, is_done, senders, credits })
    }

    pub(super) fn credited_accounts(&self) -> Vec<String> {
        self.credits.iter().map(|credit| credit.account.clone()).collect()
    }

    /// Returns the payments to these accounts, by position. A payment is omitted if the owner of the account signed
    /// the transaction.
    pub(super) fn received_payments(
        &self,
        signature: &str,
        accounts: &PolledAccounts,
    ) -> Result<Vec<ReceivedOutput>, NodeError> {
        let mut received = Vec::new();
        for credit in &self.credits {
            let Some(named) = accounts.get(&credit.account) else {
                continue;
            };
            let counts = match (named.asset, &credit.holder) {
                // The watched address is this account, and not the owner of a token account.
                (None, _) => true,
                (Some(asset), holder) if asset == credit.asset => match holder {
                    Some(holder) => *holder == named.owner,
                    None => {
                        return Err(invalid_answer(
                            "it does not tell whose an account of tokens is",
                        ));
                    }
                },
                (Some(_), _) => false,
            };
            if counts && !credit.is_signed {
                received.push(ReceivedOutput {
                    asset: credit.asset,
                    txid: signature.to_owned(),
                    position: credit.position,
                    address: named.owner.clone(),
                    amount: Units(u128::from(credit.amount)),
                    first_seen: None,
                    spends: credit.from.iter().cloned().map(InputSource::Address).collect(),
                });
            }
        }
        received.sort_unstable_by_key(|one| one.position);
        Ok(received)
    }
}

/// Lamports of an account before and after a transaction, and the fee that the account paid.
struct LamportChange<'a> {
    place: usize,
    key: &'a String,
    before: u64,
    behind: u64,
    fee: u64,
}

impl LamportChange<'_> {
    fn is_decrease(&self) -> bool {
        self.behind.saturating_add(self.fee) < self.before
    }
}

fn lamport_changes<'a>(keys: &[&'a String], meta: &TransactionMeta) -> Vec<LamportChange<'a>> {
    let balances = meta.pre_balances.iter().zip(&meta.post_balances);
    let each = keys.iter().zip(balances).enumerate();
    let each = each.map(|(place, (key, (before, behind)))| LamportChange {
        place,
        key,
        before: *before,
        behind: *behind,
        fee: if place == 0 { meta.fee } else { 0 },
    });
    each.collect()
}

/// Returns the accounts of a transaction, including those from lookup tables.
fn account_keys<'a>(
    answer: &'a TransactionJson,
    meta: &'a TransactionMeta,
) -> Result<Vec<&'a String>, NodeError> {
    let mut keys: Vec<&String> = answer.transaction.message.account_keys.iter().collect();
    if let Some(loaded) = &meta.loaded_addresses {
        keys.extend(loaded.writable.iter().chain(&loaded.readonly));
    }
    let (before, behind) = (meta.pre_balances.len(), meta.post_balances.len());
    if keys.len() > ACCOUNTS_MAX || before != keys.len() || behind != keys.len() {
        return Err(invalid_answer("a transaction has not as many balances as accounts"));
    }
    Ok(keys)
}

/// Returns the token balances before and after the transaction, by account index.
fn token_changes(
    meta: &TransactionMeta,
    keys: usize,
) -> Result<BTreeMap<usize, TokenChange<'_>>, NodeError> {
    let (Some(before), Some(behind)) = (&meta.pre_token_balances, &meta.post_token_balances) else {
        let text = "it does not keep the balances of tokens";
        return Err(NodeError::Wrong(text.to_owned()));
    };
    let mut tokens: BTreeMap<usize, TokenChange<'_>> = BTreeMap::new();
    for (balance, is_behind) in
        before.iter().map(|one| (one, false)).chain(behind.iter().map(|one| (one, true)))
    {
        let amount = &balance.ui_token_amount.amount;
        let is_digits = amount.bytes().all(|byte| byte.is_ascii_digit());
        let amount: Option<u64> = amount.parse().ok().filter(|_| is_digits);
        let amount =
            amount.ok_or_else(|| invalid_answer("an amount of tokens is no number of 64 bits"))?;
        if balance.account_index >= keys {
            return Err(invalid_answer("it tells of tokens of no account"));
        }
        let of_account = tokens.entry(balance.account_index).or_default();
        let side = if is_behind { &mut of_account.behind } else { &mut of_account.before };
        if side.replace((balance, amount)).is_some() {
            return Err(invalid_answer("it tells twice of the tokens of an account"));
        }
    }
    Ok(tokens)
}

/// Returns the credit of a token account, if its balance increased.
fn token_credit(
    at: usize,
    account: &str,
    of_account: &TokenChange<'_>,
    all: &BTreeMap<usize, TokenChange<'_>>,
    coins: &ListedCoins<'_>,
    signers: &[&String],
) -> Result<Option<Credit>, NodeError> {
    let (before, behind) = of_account.amounts_before_and_after();
    let Some(known) = of_account.balance_before_or_after().filter(|_| behind > before) else {
        return Ok(None);
    };
    let is_listed = |(mint, _): &&(String, _)| *mint == known.mint;
    let listed = coins.mints.iter().find(is_listed);
    let is_classic = |of: &TokenBalance| of.program_id.as_deref() == Some(TOKEN_PROGRAM);
    let Some((mint, asset)) = listed.filter(|_| is_classic(known)) else {
        return Ok(None);
    };
    let spenders = all.values().filter(|one| {
        let (before, behind) = one.amounts_before_and_after();
        behind < before && one.balance_before_or_after().is_some_and(|known| known.mint == *mint)
    });
    let owners = spenders.filter_map(|one| one.before.and_then(|(one, _)| one.owner.as_ref()));
    let holder = known.owner.clone();
    let is_signed = holder.as_ref().is_some_and(|holder| signers.contains(&holder));
    Ok(Some(Credit {
        position: account_position(at)?,
        account: account.to_owned(),
        is_signed,
        from: addresses_with_decrease(owners.map(|owner| (true, owner))),
        holder,
        asset,
        amount: behind.saturating_sub(before),
    }))
}

/// Returns the addresses whose balance decreased, without duplicates.
fn addresses_with_decrease<'a>(of: impl Iterator<Item = (bool, &'a String)>) -> Vec<String> {
    let mut less: Vec<String> = Vec::new();
    for (_, key) in of.filter(|(is_less, _)| *is_less) {
        if !less.contains(key) {
            less.push(key.clone());
        }
    }
    less
}

fn account_position(at: usize) -> Result<u32, NodeError> {
    u32::try_from(at).map_err(|_| invalid_answer("an account has no place in its transaction"))
}
