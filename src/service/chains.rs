//! What a step of a chain starts from, and what it changes.
//!
//! `apply` applies a step. Workers query the nodes.
//!
//! Invariant: the state at the start of a step is one snapshot.

pub mod apply;
mod balances;
pub mod claims;
mod read_back;
mod unowned_payments;

use super::transfers::transactions_to_query;
use super::{Error, Service};
use crate::domain::asset::Chain;
use crate::domain::following::COMES_BACK_MS_MAX;
use crate::domain::{ChainState, Rescan, Time};
use crate::store::{
    Reader, addresses, chain_blocks, chain_cursors, claims as claimed, destinations, invoices,
    observations_on_chain, rescans, set_aside, transfers,
};

impl Service {
    /// Returns the state of a chain for a step that reads at most `blocks_max` blocks.
    ///
    /// `by_name` is `true` if the step queries the node about single addresses.
    pub fn chain_state(
        &self,
        now: Time,
        chain: Chain,
        blocks_max: u32,
        by_name: bool,
    ) -> Result<ChainState, Error> {
        self.read_snapshot(|db| {
            let mut known = load_chain_state(db, now, chain, blocks_max)?;
            if by_name {
                known.named = self.addresses_to_poll(db, now, &known)?;
            }
            Ok(known)
        })
    }

    /// Returns `true` if money is expected on a chain.
    ///
    /// Money is expected while an open invoice waits, an observation is unconfirmed, or a payout or refund is being
    /// sent.
    pub fn is_money_expected(&self, chain: Chain) -> Result<bool, Error> {
        self.read(|db| {
            Ok(observations_on_chain::is_any_unconfirmed(db, chain)?
                || invoices::has_waiting_invoice(db, chain)?
                || transfers::is_any_processing(db, chain)?)
        })
    }

    /// Returns the number of observations in blocks above this height.
    pub fn count_observations_above(&self, chain: Chain, height: u32) -> Result<i64, Error> {
        self.read(|db| Ok(observations_on_chain::count_in_blocks_above(db, chain, height)?))
    }

    /// Calls `each` with every live address of a chain: owned, imported, or the destination of a payout or refund.
    pub fn for_each_watched_address(
        &self,
        chain: Chain,
        mut each: impl FnMut(&str),
    ) -> Result<(), Error> {
        self.read(|db| {
            addresses::each_live(db, chain, |address: String| each(&address))?;
            Ok(destinations::each_watched_in_pool(db, chain, |address| each(&address))?)
        })
    }
}

fn load_chain_state(
    db: &Reader<'_>,
    now: Time,
    chain: Chain,
    blocks_max: u32,
) -> Result<ChainState, Error> {
    let cursor = chain_cursors::of_chain(db, chain)?;
    let since = now.plus_ms(COMES_BACK_MS_MAX.saturating_neg());
    let mut open = observations_on_chain::list_open(db, chain, since)?;
    let known_from = |next: u32| {
        let last = next.saturating_add(blocks_max.saturating_sub(1));
        observations_on_chain::in_blocks(db, chain, next, last)
    };
    if let Some(cursor) = &cursor
        && !chain.has_outputs()
    {
        // On an account-based chain, the node is queried again about confirmed observations above the last final
        // block.
        let next = cursor.complete.height.saturating_add(1);
        let again = known_from(next)?;
        open.extend(again.into_iter().filter(|one| one.state.is_confirmed()));
    }
    let claim = match (claimed::next_open_claim(db, chain)?, &cursor) {
        (Some(claim), Some(cursor)) => {
            let known = balances::known_received_amount(
                db,
                claim.asset,
                &claim.address,
                cursor.complete.height,
            )?;
            Some((claim, known))
        }
        (Some(_) | None, _) => None,
    };
    let rescan = match rescans::active_for_chain(db, chain)? {
        None => None,
        Some(rescan) => Some(Rescan {
            known: known_from(rescan.next_height)?,
            from: rescan.from_height,
            next: rescan.next_height,
            last_hash: rescan.last_hash,
        }),
    };
    Ok(ChainState {
        chain,
        kept: chain_blocks::newest_first(db, chain)?,
        network: cursor.as_ref().map(|cursor| cursor.network.clone()),
        complete: cursor.as_ref().map(|cursor| cursor.complete.clone()),
        stopped: cursor.as_ref().and_then(|cursor| cursor.stopped.clone()),
        cursor: cursor.map(|cursor| cursor.reached),
        open,
        rescan,
        claim,
        walk: balances::next_balance_batch(db, now, chain)?,
        sent: transactions_to_query(db, chain)?,
        undated: read_back::oldest_time_without_height(db, now, chain)?,
        named: Vec::new(),
        set_aside: set_aside::of_chain(db, chain)?,
    })
}
