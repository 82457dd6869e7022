//! How deep what was seen is on its chain, and how deep it has to be.
//!
//! What does not live here: confirming it (`take`). What always holds: what is shown is worked out when it is read, by the
//! numbers that confirming goes by, so no block writes anything for it.

use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::chain::Depth;
use crate::domain::confirmations::{OnChain, Tiers, block_confirmations};
use crate::domain::deposit::Deposit;
use crate::domain::money::Cents;
use crate::domain::payment::{Payment, PaymentState};
use crate::service::{Error, Service};
use crate::store::chain_cursors::{self, Cursor};
use crate::store::observations_on_chain::{self, Payer};
use crate::store::{Reader, confirmation_tiers, observations};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How many confirmations are needed: each payer's stake, and each coin's tiers, are read once.
#[derive(Default)]
pub(super) struct Needs {
    stakes: HashMap<Payer, Cents>,
    tiers: HashMap<&'static str, Tiers>,
}

impl Needs {
    /// How many a payment in this coin needs; where it is nobody's, it has no price.
    pub(super) fn of(
        &mut self,
        db: &Reader<'_>,
        asset: &'static Asset,
        payer: Option<Payer>,
    ) -> Result<Depth, Error> {
        let at_stake = match payer {
            None => None,
            Some(payer) => Some(match self.stakes.entry(payer) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(observations_on_chain::at_stake(db, payer)?),
            }),
        };
        let tiers = match self.tiers.entry(asset.id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(confirmation_tiers::for_asset(db, asset)?),
        };
        Ok(tiers.needed(at_stake))
    }
}

/// Something that was seen, whose depth is shown.
pub(in crate::service) struct Shown<'a> {
    mode: Mode,
    asset: &'static Asset,
    txid: &'a str,
    state: PaymentState,
    observation: i64,
    payer: Payer,
}

impl<'a> From<&'a Payment> for Shown<'a> {
    fn from(of: &'a Payment) -> Shown<'a> {
        Shown {
            mode: of.mode,
            asset: of.asset,
            txid: &of.txid,
            state: of.state,
            observation: of.observation,
            payer: Payer::Invoice(of.invoice),
        }
    }
}

impl<'a> From<&'a Deposit> for Shown<'a> {
    fn from(of: &'a Deposit) -> Shown<'a> {
        Shown {
            mode: of.mode,
            asset: of.asset,
            txid: &of.txid,
            state: of.status.state(),
            observation: of.observation,
            payer: Payer::Customer(of.customer),
        }
    }
}

/// Depths at one moment, for as many as are shown together.
pub(in crate::service) struct Depths<'a> {
    service: &'a Service,
    cursors: HashMap<Chain, Option<Cursor>>,
    needs: Needs,
}

impl Service {
    /// Depths, none known yet.
    pub(in crate::service) fn depths(&self) -> Depths<'_> {
        Depths {
            service: self,
            cursors: HashMap::new(),
            needs: Needs::default(),
        }
    }
}

impl Depths<'_> {
    /// How each of these stands on its chain.
    pub(in crate::service) fn of_each(
        &mut self,
        db: &Reader<'_>,
        payments: &[Payment],
    ) -> Result<Vec<OnChain>, Error> {
        payments.iter().map(|one| self.of(db, one)).collect()
    }

    /// How something stands on its chain; nothing where that is simulated, or no node has told of it.
    pub(in crate::service) fn of<'s>(
        &mut self,
        db: &Reader<'_>,
        shown: impl Into<Shown<'s>>,
    ) -> Result<OnChain, Error> {
        let shown = shown.into();
        let chain = shown.asset.chain;
        if self.service.is_simulated(shown.mode) {
            return Ok(OnChain::default());
        }
        let cursor = match self.cursors.get(&chain) {
            Some(known) => known.as_ref(),
            None => {
                let read = chain_cursors::of_chain(db, chain)?;
                self.cursors.entry(chain).or_insert(read).as_ref()
            }
        };
        let Some(cursor) = cursor else {
            return Ok(OnChain::default());
        };
        let explorer_url = chain.explorer_url(&cursor.network, shown.txid);
        if shown.state != PaymentState::Seen {
            return Ok(OnChain {
                explorer_url,
                ..OnChain::default()
            });
        }
        let block = observations::by_seq(db, shown.observation)?.seen.block;
        let height = cursor.reached.block.height;
        let needed = self.needs.of(db, shown.asset, Some(shown.payer))?;
        Ok(OnChain {
            confirmations: Some(block.map_or(0, |block| block_confirmations(block.height, height))),
            confirmations_needed: Some(needed),
            explorer_url,
        })
    }
}

#[cfg(test)]
mod tests;
