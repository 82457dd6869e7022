//! Wallets in the operator interface and on the command line: adds, lists and retires them.
//!
//! Invariant: a private key is refused before any other check. The key is not stored, not logged, and not part of the
//! response.

pub mod addresses;
pub mod own_addresses;

use super::{Error, Json, audit_log, followed::check_wallet_network};
use crate::domain::asset::Chain;
use crate::domain::wallet::{self, AddWallet, INDEX_END};
use crate::domain::{IndexGaps, Refusal, Time, Wallet, WalletIndexes, WalletNetwork, id};
use crate::render::wallets::{WalletCheckView, WalletView};
use crate::store::backup::GAP;
use crate::store::file::restore_count;
use crate::store::wallets::{self, NewWallet, WalletRow};
use crate::store::{Reader, Tx, chain_cursors};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

/// Number of addresses that are shown for comparison with the owner's wallet.
const PREVIEW_ADDRESSES: u32 = 3;
/// A wallet to add, read from a valid request body.
#[derive(Clone, Debug)]
pub struct WalletToAdd {
    wallet: Wallet,
    is_network_given: bool,
    next: Option<u32>,
    is_sure: bool,
    name: Option<String>,
}

impl WalletToAdd {
    /// Reads a body.
    ///
    /// # Errors
    /// `invalid_request` that names the field. A private key in any field is refused first.
    pub fn from_body(body: &Map<String, Value>) -> Result<WalletToAdd, Refusal> {
        wallet::refuse_secrets_in_body(body)?;
        let body = AddWallet::read(body)?;
        Ok(WalletToAdd {
            wallet: body.key,
            is_network_given: body.network.is_some(),
            next: body.next.and_then(|next| u32::try_from(next).ok()),
            is_sure: false,
            name: body.name,
        })
    }

    /// Returns the chain of the wallet.
    pub const fn chain(&self) -> Chain {
        self.wallet.chain
    }

    /// Returns the wallet. A test key that comes without a network fits several, so the file decides: the wallet is of
    /// regtest if its chain is followed there.
    fn on_followed_network(&self, db: &Reader<'_>) -> Result<Wallet, Error> {
        let is_open = !self.is_network_given && self.wallet.network == WalletNetwork::Test;
        let cursor = if is_open { chain_cursors::of_chain(db, self.wallet.chain)? } else { None };
        let is_regtest = cursor.is_some_and(|cursor| cursor.network == "regtest");
        let network = if is_regtest { WalletNetwork::Regtest } else { self.wallet.network };
        Ok(Wallet { network, ..self.wallet })
    }

    /// Allows `next` to be any distance above the known indexes, if `is_sure`.
    #[must_use]
    pub fn allow_any_next_index(self, is_sure: bool) -> WalletToAdd {
        WalletToAdd { is_sure, ..self }
    }

    /// Returns the indexes of the wallet that the file knows, and the index at which the wallet continues.
    ///
    /// # Errors
    ///
    /// `invalid_request` for `next`, as [`WalletIndexes::next_index`].
    fn known_and_next_indexes(
        &self,
        db: &Reader<'_>,
        known: Option<&WalletRow>,
    ) -> Result<(WalletIndexes, u32), Error> {
        let (reached, wanted) = match known {
            Some(row) => {
                let behind = row.stopped_index.map(|index| index.saturating_add(1));
                let reached = WalletIndexes {
                    next: row.next_index,
                    least: row.least_index.max(behind.unwrap_or_default()),
                    highest: wallets::highest_index(db, row)?,
                    stopped: row.stopped_index,
                };
                (reached, self.next)
            }
            None => {
                let from = first_index_of_new_wallet(db)?;
                let reached =
                    WalletIndexes { next: from, least: from, highest: None, stopped: None };
                (reached, self.next.map(|next| next.max(from)))
            }
        };
        Ok((reached, reached.next_index(wanted, self.is_sure)?))
    }
}

/// Returns the wallet with this ID.
///
/// # Errors
/// `not_found`.
pub fn find(db: &Reader<'_>, id: &str) -> Result<WalletRow, Error> {
    let found = id::parse(id).map(|id| wallets::by_id(db, &id)).transpose()?;
    found.flatten().ok_or_else(|| Refusal::not_found("wallet").into())
}

/// Returns the stored rows of all wallets.
pub fn all(db: &Reader<'_>) -> Result<Vec<WalletRow>, Error> {
    Ok(wallets::all(db)?)
}

/// Returns all wallets, with their gap limits.
pub fn list(db: &Reader<'_>) -> Result<Vec<Json>, Error> {
    let all = wallets::all(db)?;
    all.iter().map(|row| render_wallet(db, row)).collect()
}

/// Returns the ID of every wallet, with its gap limit.
pub fn gap_limits(db: &Reader<'_>) -> Result<Vec<(String, u32)>, Error> {
    let all = wallets::all(db)?.into_iter();
    all.map(|row| Ok((row.id.clone(), gap_limit(db, &row)?))).collect()
}

/// Returns the number of consecutive unused addresses that the owner's wallet software must scan past.
fn gap_limit(db: &Reader<'_>, row: &WalletRow) -> Result<u32, Error> {
    let mut gaps = IndexGaps::starting_at(row.first_index);
    wallets::each_paid_index(db, row, |index| gaps.record_used(index))?;
    Ok(gaps.needed_gap_limit(row.next_index))
}

/// Returns the properties of a wallet and its first addresses. Also returns its ID if the file has this wallet.
///
/// # Errors
///
/// As [`add`].
pub fn preview(db: &Reader<'_>, wanted: &WalletToAdd) -> Result<Json, Error> {
    let wallet = &wanted.on_followed_network(db)?;
    let known = find_known_wallet(db, wallet)?;
    let (_, next_index) = wanted.known_and_next_indexes(db, known.as_ref())?;
    Ok(to_raw_value(&WalletCheckView {
        chain: wallet.chain.address_pool(),
        script: wallet.script,
        network: wallet.network,
        addresses: first_addresses(wallet)?,
        wallet: known.as_ref().map(|row| row.id.as_str()),
        next_index,
    })?)
}

/// Returns the first index for a wallet that is new to the file.
///
/// The index is above 0 after a restore of an older copy: the wallet may have been added after the copy and handed
/// out addresses.
pub fn first_index_of_new_wallet(db: &Reader<'_>) -> Result<u32, Error> {
    let gaps = u64::try_from(restore_count(db)?).unwrap_or_default();
    let from = u32::try_from(gaps.saturating_mul(GAP)).unwrap_or(INDEX_END);
    Ok(from.min(INDEX_END))
}

/// Adds a wallet, or resumes one with the same key and chain code, whatever their encoding.
///
/// A resumed wallet continues at its next index or at the given index. The script of the wallet may change if the
/// wallet has handed out no address.
///
/// # Errors
///
/// `invalid_request` if the wallet has handed out addresses with another script, or if its addresses are of another
/// network. `invalid_request` for `next` as [`WalletIndexes::next_index`].
pub fn add(tx: &Tx<'_>, actor: &str, wanted: &WalletToAdd, now: Time) -> Result<Json, Error> {
    let wallet = &wanted.on_followed_network(tx)?;
    let known = find_known_wallet(tx, wallet)?;
    let (reached, next_index) = wanted.known_and_next_indexes(tx, known.as_ref())?;
    let id = known.as_ref().map_or_else(|| id::new(now).to_string(), |row| row.id.clone());
    let new = NewWallet {
        id: &id,
        name: wanted.name.as_deref(),
        wallet,
        first_index: wanted.next.unwrap_or_default(),
        next_index,
        least_index: reached.least,
    };
    let (action, before) = match &known {
        Some(row) => {
            wallets::resume(tx, row.seq, &new, now)?;
            ("wallet.resume", Some(row.next_index))
        }
        None => {
            wallets::insert(tx, &new, now)?;
            ("wallet.add", None)
        }
    };
    let row = find(tx, &id)?;
    let detail = json!({
        "chain": wallet.chain.address_pool(), "script": wallet.script, "network": wallet.network,
        "nextIndex": next_index, "before": before,
    });
    audit_log::record(tx, now, actor, action, None, Some(&id), &detail)?;
    render_wallet(tx, &row)
}

/// Returns the wallet with this key and chain code, if it is known.
///
/// # Errors
///
/// `invalid_request` if the known wallet has handed out addresses with another script, if only one of the two wallets
/// is of a main network, or if the chain is followed on another network.
fn find_known_wallet(db: &Reader<'_>, wallet: &Wallet) -> Result<Option<WalletRow>, Error> {
    let known = wallets::by_key(db, wallet)?;
    match &known {
        Some(row) if row.wallet.network.is_main() != wallet.network.is_main() => {
            let network = row.wallet.network;
            let problem = format!(
                "must be {network}, as the wallet {} has this key: give the key as it was spelt then",
                row.id
            );
            Err(Refusal::field("network", problem).into())
        }
        Some(row)
            if row.wallet.script != wallet.script && wallets::highest_index(db, row)?.is_some() =>
        {
            let script = row.wallet.script.map_or("none", |script| script.as_str());
            let problem = format!("must be {script}, as the wallet {} has handed out", row.id);
            Err(Refusal::field("script", problem).into())
        }
        Some(_) | None => {
            check_wallet_network(db, wallet)?;
            Ok(known)
        }
    }
}

/// Retires a wallet, which hands out no more addresses.
///
/// # Errors
/// `not_found`.
pub fn retire(tx: &Tx<'_>, actor: &str, id: &str, now: Time) -> Result<Json, Error> {
    let row = find(tx, id)?;
    if row.retired_at.is_none() {
        wallets::retire(tx, row.seq, now)?;
        let detail = json!({ "nextIndex": row.next_index });
        audit_log::record(tx, now, actor, "wallet.retire", None, Some(&row.id), &detail)?;
    }
    render_wallet(tx, &find(tx, id)?)
}

fn first_addresses(wallet: &Wallet) -> Result<Vec<String>, Error> {
    let branch = wallet.receiving_branch();
    let derive = |index| branch.as_ref()?.derive_address(index).map(|derived| derived.address);
    let addresses: Option<Vec<_>> = (0..PREVIEW_ADDRESSES).map(derive).collect();
    addresses.ok_or_else(|| Error::Failed("a wallet has no addresses".to_owned()))
}

fn render_wallet(db: &Reader<'_>, row: &WalletRow) -> Result<Json, Error> {
    let hands_out = wallets::active_for_chain(db, row.wallet.chain)?;
    Ok(to_raw_value(&WalletView {
        id: &row.id,
        name: row.name.as_deref(),
        chain: row.wallet.chain.address_pool(),
        script: row.wallet.script,
        network: row.wallet.network,
        first_index: row.first_index,
        next_index: row.next_index,
        gap_limit: gap_limit(db, row)?,
        addresses: first_addresses(&row.wallet)?,
        hands_out: hands_out.is_some_and(|other| other.seq == row.seq),
        created_at: row.created_at,
        added_at: row.added_at,
        retired_at: row.retired_at,
        stopped_at: row.stopped_at,
        stopped_index: row.stopped_index,
        problem: row.stopped_index.map(|index| wallet::stopped_wallet_problem(&row.id, index)),
    })?)
}
