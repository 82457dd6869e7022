//! Compares the balances of our addresses with the amounts of the observed payments. Contracts can send coins without
//! an event log, and some nodes do not report these transfers.
//!
//! Invariant: nothing is booked from a balance.

use super::claims::native_coin;
use crate::domain::asset::Chain;
use crate::domain::time::MINUTE_MS;
use crate::domain::{Asset, BalanceBatch, BalanceCheck, Time, Units};
use crate::service::{Error, Step};
use crate::store::unexplained::{self, UnexplainedBalance};
use crate::store::{Reader, observations_on_chain};

/// Largest number of addresses in one check.
const ACCOUNTS_MAX: usize = 50;
/// Time between two balance checks, in milliseconds.
const CHECK_INTERVAL_MS: i64 = 10 * MINUTE_MS;

/// Returns the addresses to check next, or `None` before the next check is due.
pub(super) fn next_balance_batch(
    db: &Reader<'_>,
    now: Time,
    chain: Chain,
) -> Result<Option<BalanceBatch>, Error> {
    let Ok(asset) = native_coin(chain) else {
        return Ok(None);
    };
    let walk = unexplained::last_checked_address(db, chain)?;
    let (from, looked_at) = walk.unwrap_or((String::new(), Time(0)));
    if now.since_ms(looked_at) < CHECK_INTERVAL_MS {
        return Ok(None);
    }
    let accounts = unexplained::next_addresses(db, chain, &from, ACCOUNTS_MAX)?;
    let is_last = accounts.len() < ACCOUNTS_MAX;
    // After the last batch, the next check starts at the first address.
    let after = accounts.last().filter(|_| !is_last).cloned();
    Ok(Some(BalanceBatch { asset, accounts, from, after: after.unwrap_or_default() }))
}

/// Stores each checked address whose balance exceeds the known amount. Removes the other checked addresses.
pub(super) fn store_balance_check(step: &Step<'_>, looked: &BalanceCheck) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let BalanceCheck { walk, held, height } = looked;
    let (asset, chain) = (walk.asset, walk.asset.chain);
    let Some(held) = held else {
        return Ok(unexplained::save_last_checked(tx, chain, &walk.from, now)?);
    };
    for (address, balance) in walk.accounts.iter().zip(held) {
        let known = known_received_amount(tx, asset, address, *height)?;
        if *balance > known {
            let found = UnexplainedBalance {
                asset,
                address: address.clone(),
                balance: *balance,
                known,
                height: *height,
            };
            log::warn!(
                "unexplained balance, claim it by its transaction: chain={chain} address={address} coin={} balance={} \
                 known={}",
                asset.id,
                asset.format_units(*balance),
                asset.format_units(known)
            );
            unexplained::put(tx, &found, now)?;
        } else {
            unexplained::remove(tx, chain, address)?;
        }
    }
    Ok(unexplained::save_last_checked(tx, chain, &walk.after, now)?)
}

/// Returns the total amount known to have reached an address in a coin, in blocks up to this height.
pub(super) fn known_received_amount(
    db: &Reader<'_>,
    asset: &Asset,
    address: &str,
    height: u32,
) -> Result<Units, Error> {
    let came = observations_on_chain::amounts_received(db, asset, address, height)?;
    let mut amounts = came.into_iter();
    Ok(amounts.try_fold(Units::ZERO, Units::plus)?)
}
