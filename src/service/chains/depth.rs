//! How deep what was seen is on its chain, and how deep it has to be.
//!
//! What does not live here: confirming it (`take`). What always holds: what is shown is worked out when it is read, by the
//! numbers that confirming goes by, so no block writes anything for it.

use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::confirmations::{OnChain, count, needed};
use crate::domain::deposit::Deposit;
use crate::domain::money::Cents;
use crate::domain::payment::{Payment, PaymentState};
use crate::service::{Error, Service};
use crate::store::chain_cursors::{self, Cursor};
use crate::store::observations_on_chain::{self, Payer};
use crate::store::{Reader, observations};
use std::collections::HashMap;

/// What is at stake, each payer looked at once.
#[derive(Default)]
pub(super) struct Stakes(HashMap<Payer, Cents>);

impl Stakes {
    /// What is at stake of this payer; nothing where it is nobody's, which has no price.
    pub(super) fn of(
        &mut self,
        db: &Reader<'_>,
        payer: Option<Payer>,
    ) -> Result<Option<Cents>, Error> {
        let Some(payer) = payer else {
            return Ok(None);
        };
        if let Some(known) = self.0.get(&payer) {
            return Ok(Some(*known));
        }
        let at_stake = observations_on_chain::at_stake(db, payer)?;
        self.0.insert(payer, at_stake);
        Ok(Some(at_stake))
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
    stakes: Stakes,
}

impl Service {
    /// Depths, none known yet.
    pub(in crate::service) fn depths(&self) -> Depths<'_> {
        Depths {
            service: self,
            cursors: HashMap::new(),
            stakes: Stakes::default(),
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
                let read = chain_cursors::of(db, chain)?;
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
        let at_stake = self.stakes.of(db, Some(shown.payer))?;
        Ok(OnChain {
            confirmations: Some(block.map_or(0, |block| count(block.height, height))),
            confirmations_needed: Some(needed(chain, at_stake)),
            explorer_url,
        })
    }
}
