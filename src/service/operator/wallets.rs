//! Wallets in the operator interface and on the command line: adding, listing, retiring them.
//!
//! What does not live here: taking the next address (`pools`), listing what was taken (`wallet_addresses`), reading a key
//! (`domain::wallet`), our own addresses (`own_addresses`). What always holds: what is private is refused before anything
//! else is looked at, and is neither stored, logged nor repeated.

use crate::domain::asset::Chain;
use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::render::wallets::{WalletCheckView, WalletView};
use crate::domain::time::Time;
use crate::domain::wallet::{self, AddWallet, INDEX_END, IndexGaps, Wallet, WalletIndexes};
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Json, chains::live::check_network};
use crate::store::backup::GAP;
use crate::store::file::restored;
use crate::store::wallets::{self, NewWallet, WalletRow};
use crate::store::{Reader, Tx};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

/// How many addresses are shown, for comparing them with those of the owner's wallet.
const SHOWN: u32 = 3;
/// A wallet that is wanted, read and found right.
#[derive(Clone, Debug)]
pub struct Wanted {
    wallet: Wallet,
    next: Option<u32>,
    is_sure: bool,
    name: Option<String>,
}

impl Wanted {
    /// Reads a body.
    ///
    /// # Errors
    /// `invalid_request` that names the field; what is private is refused first, wherever it is.
    pub fn of(body: &Map<String, Value>) -> Result<Wanted, Refusal> {
        wallet::refuse_secrets_in(body)?;
        let body = AddWallet::read(body)?;
        Ok(Wanted {
            wallet: body.key,
            next: body.next.and_then(|next| u32::try_from(next).ok()),
            is_sure: false,
            name: body.name,
        })
    }

    /// Chain of the wallet.
    pub const fn chain(&self) -> Chain {
        self.wallet.chain
    }

    /// The same, where `next` may be any distance above what is known, if `is_sure`.
    #[must_use]
    pub fn sure(self, is_sure: bool) -> Wanted {
        Wanted { is_sure, ..self }
    }

    /// What the file knows of the wanted wallet's indexes, and the one that it goes on from.
    ///
    /// # Errors
    /// `invalid_request` for `next`, as [`WalletIndexes::next_index`].
    fn place(
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
                    highest: wallets::highest(db, row)?,
                    stopped: row.stopped_index,
                };
                (reached, self.next)
            }
            None => {
                let from = fresh_from(db)?;
                let reached = WalletIndexes {
                    next: from,
                    least: from,
                    highest: None,
                    stopped: None,
                };
                (reached, self.next.map(|next| next.max(from)))
            }
        };
        Ok((reached, reached.next_index(wanted, self.is_sure)?))
    }
}

/// The wallet with this id.
///
/// # Errors
/// `not_found`.
pub fn find(db: &Reader<'_>, id: &str) -> Result<WalletRow, Error> {
    let found = id::parse(id)
        .map(|id| wallets::by_id(db, &id))
        .transpose()?;
    found
        .flatten()
        .ok_or_else(|| Refusal::not_found("wallet").into())
}

/// Every wallet, as it is stored.
///
/// # Errors
/// None that a caller causes.
pub fn all(db: &Reader<'_>) -> Result<Vec<WalletRow>, Error> {
    Ok(wallets::all(db)?)
}

/// Every wallet, with its gap limit.
///
/// # Errors
/// None that a caller causes.
pub fn list(db: &Reader<'_>) -> Result<Vec<Json>, Error> {
    let all = wallets::all(db)?;
    all.iter().map(|row| view(db, row)).collect()
}

/// The id of every wallet, with its gap limit.
///
/// # Errors
/// None that a caller causes.
pub fn gap_limits(db: &Reader<'_>) -> Result<Vec<(String, u32)>, Error> {
    let all = wallets::all(db)?.into_iter();
    all.map(|row| Ok((row.id.clone(), gap_limit(db, &row)?)))
        .collect()
}

/// How many unused addresses in a row the program of a wallet's owner has to look past.
fn gap_limit(db: &Reader<'_>, row: &WalletRow) -> Result<u32, Error> {
    let mut gaps = IndexGaps::from(row.first_index);
    wallets::each_used(db, row, |index| gaps.record_used(index))?;
    Ok(gaps.limit(row.next_index))
}

/// What a wallet would be, its first addresses, and whether it is known.
///
/// # Errors
/// As [`add`].
pub fn check(db: &Reader<'_>, wanted: &Wanted) -> Result<Json, Error> {
    let wallet = &wanted.wallet;
    let known = known(db, wallet)?;
    let (_, next_index) = wanted.place(db, known.as_ref())?;
    Ok(to_raw_value(&WalletCheckView {
        chain: wallet.chain.address_pool(),
        script: wallet.script,
        network: wallet.network,
        addresses: first_addresses(wallet)?,
        wallet: known.as_ref().map(|row| row.id.as_str()),
        next_index,
    })?)
}

/// The index that a wallet begins with that the file does not know. Behind 0 where the file is an older copy that was
/// restored: the wallet may have been added after the copy, and what it handed out is not known.
///
/// # Errors
/// None that a caller causes.
pub fn fresh_from(db: &Reader<'_>) -> Result<u32, Error> {
    let gaps = u64::try_from(restored(db)?).unwrap_or_default();
    let from = u32::try_from(gaps.saturating_mul(GAP)).unwrap_or(INDEX_END);
    Ok(from.min(INDEX_END))
}

/// Adds a wallet. One whose key and chain code are known, whatever its key is spelt like, goes on from where it was or from
/// the index that is wanted; with another script, too, as long as it has handed out nothing.
///
/// # Errors
/// `invalid_request` where it has handed out addresses with another script, where they are known as those of another
/// network, and for `next` as [`WalletIndexes::next_index`].
pub fn add(tx: &Tx<'_>, actor: &str, wanted: &Wanted, now: Time) -> Result<Json, Error> {
    let wallet = &wanted.wallet;
    let known = known(tx, wallet)?;
    let (reached, next_index) = wanted.place(tx, known.as_ref())?;
    let id = known
        .as_ref()
        .map_or_else(|| id::new(now).to_string(), |row| row.id.clone());
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
    record(tx, now, actor, action, &id, &detail)?;
    view(tx, &row)
}

/// The wallet that has this key and chain code already.
///
/// # Errors
/// `invalid_request` where it has handed out addresses that hold another script, or where its coins are worth something
/// and those of the wanted one are not, or the other way round, or where its chain is followed on another network.
fn known(db: &Reader<'_>, wallet: &Wallet) -> Result<Option<WalletRow>, Error> {
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
        Some(row) if row.wallet.script != wallet.script && wallets::highest(db, row)?.is_some() => {
            let script = row.wallet.script.map_or("none", |script| script.as_str());
            let problem = format!("must be {script}, as the wallet {} has handed out", row.id);
            Err(Refusal::field("script", problem).into())
        }
        Some(_) | None => {
            check_network(db, wallet)?;
            Ok(known)
        }
    }
}

/// Lets a wallet hand out nothing more.
///
/// # Errors
/// `not_found`.
pub fn retire(tx: &Tx<'_>, actor: &str, id: &str, now: Time) -> Result<Json, Error> {
    let row = find(tx, id)?;
    if row.retired_at.is_none() {
        wallets::retire(tx, row.seq, now)?;
        let detail = json!({ "nextIndex": row.next_index });
        record(tx, now, actor, "wallet.retire", &row.id, &detail)?;
    }
    view(tx, &find(tx, id)?)
}

/// The first addresses of a wallet.
fn first_addresses(wallet: &Wallet) -> Result<Vec<String>, Error> {
    let branch = wallet.receiving();
    let derive = |index| {
        branch
            .as_ref()?
            .derive(index)
            .map(|derived| derived.address)
    };
    let addresses: Option<Vec<_>> = (0..SHOWN).map(derive).collect();
    addresses.ok_or_else(|| Error::Failed("a wallet has no addresses".to_owned()))
}

/// A wallet as it is answered.
fn view(db: &Reader<'_>, row: &WalletRow) -> Result<Json, Error> {
    let hands_out = wallets::handing_out(db, row.wallet.chain)?;
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
        problem: row
            .stopped_index
            .map(|index| wallet::stopped_problem(&row.id, index)),
    })?)
}

/// Notes in the audit log what concerns no account.
pub(super) fn record(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    action: &str,
    object: &str,
    detail: &Value,
) -> Result<(), Error> {
    let entry = Entry {
        action,
        account: None,
        object: Some(object),
        detail,
    };
    audit_log::record(tx, now, actor, &entry)
}
