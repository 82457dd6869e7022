//! State of the followed chains, and requests to rescan them.
//!
//! `apply` applies a step. Workers query the nodes.
//!
//! Invariant: the state at the start of a step is one snapshot.

pub mod apply;
mod astray;
mod balances;
mod claims;
mod depth;
pub mod live;
mod named;
pub mod nodes;
mod offer;
mod read_back;
mod reports;
mod shown;
mod spare;

pub(in crate::service) use depth::OnChainReader;
pub(in crate::service) use read_back::order_rescan_unless_covered;

use super::{Error, Service};
use crate::domain::asset::Chain;
use crate::domain::following::{COMES_BACK_MS_MAX, ChainState, Rescan};
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::service::transfers::{for_each_watched_destination, transactions_to_query};
use crate::store::{
    Reader, Tx, addresses, chain_blocks, chain_cursors, claims as claimed, invoices,
    observations_on_chain, rescans, transfers,
};
use std::sync::Arc;

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
            Ok(for_each_watched_destination(db, chain, &mut |address: String| {
                each(&address);
            })?)
        })
    }

    /// Calls [`order_rescan`] and blocks the thread until the commit.
    pub fn order_rescan(self: &Arc<Self>, now: Time, chain: Chain, from: u32) -> Result<(), Error> {
        self.write_and_wait(move |_, tx| order_rescan(tx, now, chain, from))
    }
}

/// Orders a rescan of a chain's blocks from this height.
///
/// # Errors
///
/// `invalid_request` if the chain is not followed, or `from` is above the last block that was read. `invalid_request`
/// also if the chain is stopped and `from` is above the lowest block that a reorg removed.
pub fn order_rescan(tx: &Tx<'_>, now: Time, chain: Chain, from: u32) -> Result<(), Error> {
    let Some(cursor) = chain_cursors::of_chain(tx, chain)? else {
        let problem = format!("{chain} is not followed yet: no server has reached a node of it");
        return Err(Refusal::field("chain", problem).into());
    };
    let height = cursor.reached.block.height;
    if from > height {
        let problem = format!("must be at most {height}, up to where {chain} has been read");
        return Err(Refusal::field("from", problem).into());
    }
    if cursor.stopped.is_some()
        && let Some(given_up) = chain_blocks::newest_first(tx, chain)?.last()
        && from > given_up.height
    {
        let lowest = given_up.height;
        let problem = format!(
            "must be at most {lowest}, as the block that was read at {lowest} is on the chain no more"
        );
        return Err(Refusal::field("from", problem).into());
    }
    Ok(rescans::insert(tx, chain, from, now)?)
}

/// Returns a note for the operator if no server has followed a chain of this pool yet. Until a server follows one, no
/// address of the pool is handed out. Otherwise returns `None`.
pub fn unwatched_pool_note(db: &Reader<'_>, chain: Chain) -> Result<Option<String>, Error> {
    let pool = chain.address_pool();
    let cursors = chain_cursors::all(db)?;
    let is_followed = cursors.iter().any(|cursor| cursor.chain.address_pool() == pool);
    Ok((!is_followed).then(|| {
        format!(
            "{pool} is not watched yet, so none of these addresses is handed out: name a node by `coffer serve --node \
             {chain}=URL`"
        )
    }))
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
    })
}
