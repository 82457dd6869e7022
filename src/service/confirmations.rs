//! Computes the current and the needed number of confirmations of payments and deposits.
//!
//! Invariant: both numbers are computed on reading, from the same data that decides about confirmation. A new block
//! causes no writes for these numbers.

use super::{Error, Service};
use crate::domain::asset::Chain;
use crate::domain::confirmations::{OnChain, SIMULATED_HEIGHT, block_confirmations};
use crate::domain::{
    Asset, Cents, ConfirmationTiers, Deposit, Depth, Mode, Payment, PaymentState, StoredObservation,
};
use crate::store::chain_cursors::{self, ChainCursor};
use crate::store::observations_on_chain::{self, Payer};
use crate::store::{FileKind, Reader, confirmation_tiers, observations};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Computes how many confirmations are needed. Caches the tiers of each coin, and the amount of each payer that
/// selects a tier.
#[derive(Default)]
pub(super) struct NeededConfirmations {
    stakes: HashMap<Payer, Cents>,
    tiers: HashMap<&'static str, ConfirmationTiers>,
}

impl NeededConfirmations {
    /// Returns the number of confirmations that a payment in this coin needs. The payer's amount at stake selects the
    /// tier. `payer` is `None` if there is no such amount.
    pub(super) fn needed_confirmations(
        &mut self,
        db: &Reader<'_>,
        asset: &'static Asset,
        payer: Option<Payer>,
    ) -> Result<Depth, Error> {
        let at_stake = match payer {
            None => None,
            Some(payer) => Some(match self.stakes.entry(payer) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    *new.insert(observations_on_chain::amount_at_stake(db, payer)?)
                }
            }),
        };
        let tiers = match self.tiers.entry(asset.id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(confirmation_tiers::tiers_for_asset(db, asset)?),
        };
        Ok(tiers.needed_depth(at_stake))
    }
}

/// A payment or deposit whose confirmations are shown.
pub(in crate::service) struct ConfirmablePayment<'a> {
    mode: Mode,
    asset: &'static Asset,
    txid: &'a str,
    state: PaymentState,
    observation: i64,
    /// `None` if the money belongs to no invoice and no customer.
    payer: Option<Payer>,
}

impl<'a> From<&'a Payment> for ConfirmablePayment<'a> {
    fn from(of: &'a Payment) -> ConfirmablePayment<'a> {
        ConfirmablePayment {
            mode: of.mode,
            asset: of.asset,
            txid: &of.txid,
            state: of.state,
            observation: of.observation,
            payer: Some(Payer::Invoice(of.invoice)),
        }
    }
}

impl<'a> From<&'a Deposit> for ConfirmablePayment<'a> {
    fn from(of: &'a Deposit) -> ConfirmablePayment<'a> {
        ConfirmablePayment {
            mode: of.mode,
            asset: of.asset,
            txid: &of.txid,
            state: of.status.payment_state(),
            observation: of.observation,
            payer: Some(Payer::Customer(of.customer)),
        }
    }
}

impl<'a> ConfirmablePayment<'a> {
    pub(in crate::service) fn observed(
        of: &'a StoredObservation,
        payer: Option<Payer>,
    ) -> ConfirmablePayment<'a> {
        ConfirmablePayment {
            mode: of.seen.mode,
            asset: of.seen.asset,
            txid: &of.seen.txid,
            state: of.state,
            observation: of.seq,
            payer,
        }
    }
}

/// Computes confirmations for several payments, with one read of each cursor.
pub(in crate::service) struct OnChainReader<'a> {
    service: &'a Service,
    cursors: HashMap<Chain, Option<ChainCursor>>,
    needs: NeededConfirmations,
}

impl Service {
    pub(in crate::service) fn on_chain_reader(&self) -> OnChainReader<'_> {
        OnChainReader {
            service: self,
            cursors: HashMap::new(),
            needs: NeededConfirmations::default(),
        }
    }
}

impl OnChainReader<'_> {
    pub(in crate::service) fn read_states(
        &mut self,
        db: &Reader<'_>,
        payments: &[Payment],
    ) -> Result<Vec<OnChain>, Error> {
        payments.iter().map(|one| self.read_state(db, one)).collect()
    }

    /// Returns the state of a payment or deposit on its chain. All fields of the state are `None` if the chain has no
    /// cursor, and in test mode outside a sandbox.
    pub(in crate::service) fn read_state<'s>(
        &mut self,
        db: &Reader<'_>,
        shown: impl Into<ConfirmablePayment<'s>>,
    ) -> Result<OnChain, Error> {
        let shown = shown.into();
        let Some((height, explorer_url)) = self.newest_block(db, &shown)? else {
            return Ok(OnChain::default());
        };
        if shown.state != PaymentState::Seen {
            return Ok(OnChain { explorer_url, ..OnChain::default() });
        }
        let block = observations::by_seq(db, shown.observation)?.seen.block;
        let needed = self.needs.needed_confirmations(db, shown.asset, shown.payer)?;
        Ok(OnChain {
            confirmations: Some(block.map_or(0, |block| block_confirmations(block.height, height))),
            confirmations_needed: Some(needed),
            explorer_url,
        })
    }

    /// Returns the height of the newest block of a payment's chain, and the explorer's page of the payment.
    fn newest_block(
        &mut self,
        db: &Reader<'_>,
        shown: &ConfirmablePayment<'_>,
    ) -> Result<Option<(u32, Option<String>)>, Error> {
        let chain = shown.asset.chain;
        if self.service.is_simulated(shown.mode) {
            let is_sandbox = self.service.kind == FileKind::Sandbox;
            return Ok(is_sandbox.then_some((SIMULATED_HEIGHT, None)));
        }
        let cursor = match self.cursors.get(&chain) {
            Some(known) => known.as_ref(),
            None => {
                let read = chain_cursors::of_chain(db, chain)?;
                self.cursors.entry(chain).or_insert(read).as_ref()
            }
        };
        Ok(cursor.map(|cursor| {
            let url = chain.explorer_url(&cursor.network, shown.txid);
            (cursor.reached.block.height, url)
        }))
    }
}

#[cfg(test)]
mod tests;
