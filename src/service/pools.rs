//! Sources of addresses: simulated addresses, wallets, and pools that the operator imports.
//!
//! `derived_addresses` derives them ahead of need.
//!
//! Invariant: an address is handed out once, to one owner, in the transaction that stores its owner.

use super::destination_check::skip_if_destination;
use super::{Error, Json, Service, Step, audit_log};
use crate::domain::asset::Chain;
use crate::domain::payable_address::reason_not_to_send;
use crate::domain::time::MINUTE_MS;
use crate::domain::{Mode, Refusal, RefusalCode, Time, address};
use crate::render::pools::{PoolImportView, PoolView};
use crate::store::addresses::{self, AddressOwner};
use crate::store::wallets::{self, WalletIndex};
use crate::store::{Reader, Tx, accounts, pool_addresses};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// Maximum number of addresses that an account takes from an imported pool in one minute.
const TAKEN_A_MINUTE_MAX: u32 = 10;
/// Maximum number of addresses in one import.
pub const IMPORT_MAX: usize = 1000;
const ADDRESSES_FIELD: &str = "addresses";

impl Service {
    /// Returns `true` if the chain has a source of addresses. An empty pool counts as a source. An imported pool
    /// counts only if its chain is watched.
    pub(super) fn has_pool(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
    ) -> Result<bool, Error> {
        if self.is_simulated(mode) {
            return Ok(true);
        }
        if chain.row().imported {
            return Ok(
                self.is_chain_watched(db, chain)? && pool_addresses::has_any_address(db, chain)?
            );
        }
        Ok(self.pool_wallet(db, chain)?.is_some())
    }

    /// Takes the next address of the chain's wallet to which no transfer sends money.
    fn derive_address(
        &self,
        tx: &Tx<'_>,
        chain: Chain,
    ) -> Result<Option<(String, Option<WalletIndex>)>, Error> {
        let Some(mut row) = self.pool_wallet(tx, chain)? else {
            return Ok(None);
        };
        while let Some(taken) = wallets::take_next_index(tx, &row)? {
            let usable = |derived| skip_if_destination(tx, derived);
            if let Some(derived) = self.stock.address(&row.wallet, taken.index, usable)? {
                return Ok(Some((derived.address, Some(taken))));
            }
            log::warn!(
                "address index skipped, its address was paid: chain={chain} index={} wallet={}",
                taken.index,
                row.id
            );
            row.next_index = row.next_index.saturating_add(1);
        }
        Ok(None)
    }

    /// Returns the canonical forms of addresses that can receive live money.
    ///
    /// # Errors
    ///
    /// `invalid_request` that says which address is wrong.
    pub fn addresses_to_import(&self, chain: Chain, list: &[Value]) -> Result<Vec<String>, Error> {
        self.read(|db| canonical_addresses(self, db, chain, list))
    }
}

/// Assigns the next address of a chain to an owner forever. Returns `None` if no address is available.
pub(super) fn claim_address(
    step: &Step<'_>,
    account: i64,
    mode: Mode,
    chain: Chain,
    owner: AddressOwner,
) -> Result<Option<String>, Error> {
    let Some((address, taken)) = take_address(step, account, mode, chain)? else {
        return Ok(None);
    };
    addresses::insert(step.tx, mode, chain, &address, taken, owner)?;
    Ok(Some(address))
}

/// Takes the next address of a chain. The caller must assign the address to its owner in the same transaction.
///
/// Returns `None` if the pool is empty or the account has reached its limit.
pub(super) fn take_address(
    step: &Step<'_>,
    account: i64,
    mode: Mode,
    chain: Chain,
) -> Result<Option<(String, Option<WalletIndex>)>, Error> {
    let Step { service, tx, now } = *step;
    if service.faults().pool_empty {
        return Ok(None);
    }
    if service.is_simulated(mode) {
        let taken = wallets::take_simulated_index(tx, mode, chain)?;
        let address = address::simulated_address(mode, chain, taken.index);
        return Ok(Some((address, Some(taken))));
    }
    if !chain.row().imported {
        return service.derive_address(tx, chain);
    }
    if !may_take_address(tx, now, account, chain)? {
        return Ok(None);
    }
    let address = pool_addresses::take_free_address(tx, chain, account, now)?;
    Ok(address.map(|address| (address, None)))
}

/// Returns the chain of the pool with this name, if addresses are imported for that chain.
///
/// # Errors
///
/// `not_found`.
pub fn chain_of_imported_pool(pool: &str) -> Result<Chain, Refusal> {
    let mut chains = Chain::with_imported_addresses();
    let chain = chains.find(|chain| chain.address_pool() == pool);
    chain.ok_or_else(|| Refusal::not_found("pool"))
}

/// Returns all imported pools, with the number of addresses in each state.
pub fn list(db: &Reader<'_>) -> Result<Vec<PoolView>, Error> {
    Chain::with_imported_addresses().map(|chain| pool_view(db, chain)).collect()
}

/// Adds addresses in canonical form to the pool of a chain: all of them, or none.
///
/// # Errors
///
/// `invalid_request` that names the position of an address to which a transfer sends money.
pub fn import(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    chain: Chain,
    imported: &[String],
    place: impl Fn(usize) -> String,
) -> Result<Json, Error> {
    let mut added: usize = 0;
    for (at, address) in imported.iter().enumerate() {
        if addresses::is_destination(tx, address)? {
            let problem = "is a destination: a payout address, or the address of a refund";
            let message = format!("{} {problem}", place(at));
            return Err(
                Refusal::for_param(RefusalCode::InvalidRequest, ADDRESSES_FIELD, message).into()
            );
        }
        if pool_addresses::import_address(tx, chain, address, now)? {
            added = added.saturating_add(1);
        }
    }
    let pool = chain.address_pool();
    let duplicates = imported.len().saturating_sub(added);
    let detail = json!({ "added": added, "duplicates": duplicates });
    audit_log::record(tx, now, actor, "pool.import", None, Some(pool), &detail)?;
    let free = pool_addresses::counts(tx, chain)?.free;
    Ok(to_raw_value(&PoolImportView { pool, added, duplicates, free })?)
}

/// Returns the reason why an address must not be imported, or `None`. A program-derived address of Solana must not be
/// imported, because such an address has no private key. Nor must an address to which no money may be sent.
pub fn reason_not_to_import(chain: Chain, address: &str) -> Option<String> {
    reason_not_to_send(chain, address, address).or_else(|| {
        let is_key = chain != Chain::Solana || address::can_sign(address);
        let problem =
            "is a program-derived address, which has no private key; import addresses of keys";
        (!is_key).then(|| problem.to_owned())
    })
}

/// Returns `true` if an account may take one more address of an imported pool.
///
/// The limit is [`TAKEN_A_MINUTE_MAX`]. If other accounts are active, the pool must have more free addresses than the
/// account took since the last import. An account therefore never takes more than half of the addresses that were
/// free at the last import.
fn may_take_address(db: &Reader<'_>, now: Time, account: i64, chain: Chain) -> Result<bool, Error> {
    let a_minute_ago = now.plus_ms(1_i64.saturating_sub(MINUTE_MS));
    if pool_addresses::count_taken_since(db, chain, account, a_minute_ago)? >= TAKEN_A_MINUTE_MAX {
        return Ok(false);
    }
    if !accounts::has_other_active(db, account)? {
        return Ok(true);
    }
    let Some(import) = pool_addresses::last_import_time(db, chain)? else {
        return Ok(false);
    };
    let taken = pool_addresses::count_taken_since(db, chain, account, import)?;
    Ok(pool_addresses::has_more_free_than(db, chain, taken)?)
}

/// Returns the canonical forms of addresses that can receive live money.
fn canonical_addresses(
    service: &Service,
    db: &Reader<'_>,
    chain: Chain,
    list: &[Value],
) -> Result<Vec<String>, Error> {
    if !(1..=IMPORT_MAX).contains(&list.len()) {
        let problem = format!("must have 1 to {IMPORT_MAX} entries");
        return Err(Refusal::field(ADDRESSES_FIELD, problem).into());
    }
    let read = |(at, item): (usize, &Value)| {
        let wrong = |problem: String| {
            let message = format!("{ADDRESSES_FIELD}[{at}] {problem}");
            Refusal::for_param(RefusalCode::InvalidRequest, ADDRESSES_FIELD, message)
        };
        let text = item.as_str();
        let text = text.ok_or_else(|| wrong("must be a string".to_owned()))?;
        let parsed = service.valid_destination(db, Mode::Live, chain, text)?;
        let address = parsed.map_err(wrong)?;
        match reason_not_to_import(chain, &address) {
            Some(problem) => Err(wrong(problem).into()),
            None => Ok(address),
        }
    };
    list.iter().enumerate().map(read).collect()
}

fn pool_view(db: &Reader<'_>, chain: Chain) -> Result<PoolView, Error> {
    let counts = pool_addresses::counts(db, chain)?;
    Ok(PoolView {
        pool: chain.address_pool(),
        free: counts.free,
        assigned: counts.assigned,
        retired: counts.retired,
    })
}
