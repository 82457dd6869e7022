//! Coins on offer in live mode, and the reasons why other coins are not on offer.

use super::{LiveChain, LiveMode, lagging_chains};
use crate::domain::asset::{ASSETS, Chain};
use crate::domain::chain::CHAINS;
use crate::domain::token::contract_address;
use crate::domain::{Asset, Currency, Mode, Time, WalletNetwork};
use crate::service::{Error, Service};
use crate::store::{Reader, chain_cursors, coins_off, pool_addresses, wallets};

impl LiveMode {
    /// Returns the reason why no live address of a coin can be handed out, or `None` if one can.
    fn address_obstacle(&self, db: &Reader<'_>, asset: &Asset) -> Result<Option<String>, Error> {
        let (chain, id) = (asset.chain, asset.id);
        let says = |text: String| Ok(Some(text));
        if !self.has_node(chain) {
            return says(format!("{chain} has no node"));
        }
        let Some(cursor) = chain_cursors::of_chain(db, chain)? else {
            return says(format!("no node of {chain} was reached yet"));
        };
        if cursor.stopped.is_some() {
            return says(format!("{chain} is stopped"));
        }
        let network = cursor.network;
        if !self.allows_test_networks()
            && !WalletNetwork::Main.includes_node_network(chain, &network)
        {
            return says(format!("{chain} is followed on the test network {network}"));
        }
        let is_named = |one: &LiveChain| one.tokens.contains(&id);
        let exists = !asset.kind.has_contract()
            || contract_address(asset, &network).is_some()
            || self.has_chain(chain, is_named);
        if !exists {
            return says(format!("{id} has no contract on {network}"));
        }
        no_address_source_reason(db, chain)
    }

    /// Returns the reasons why no coin is on offer, or `None` if a coin is on offer.
    ///
    /// `besides` checks each coin that the settings and the file allow. The callback returns a reason why the coin is
    /// not on offer, or `None`.
    pub fn no_coin_reasons(
        &self,
        db: &Reader<'_>,
        mut besides: impl FnMut(&'static Asset) -> Result<Option<String>, Error>,
    ) -> Result<Option<String>, Error> {
        let off = coins_off::all(db)?;
        let mut why: Vec<String> = Vec::new();
        for asset in ASSETS.iter().filter(|asset| self.has_node(asset.chain)) {
            let is_off = off.iter().any(|(other, _)| *other == asset);
            let obstacle = match self.address_obstacle(db, asset)? {
                Some(obstacle) => Some(obstacle),
                None if is_off => Some(format!("{} is switched off", asset.id)),
                None => besides(asset)?,
            };
            match obstacle {
                None => return Ok(None),
                Some(obstacle) if why.contains(&obstacle) => {}
                Some(obstacle) => why.push(obstacle),
            }
        }
        if why.is_empty() {
            why.push("no chain has a node".to_owned());
        }
        Ok(Some(why.join("; ")))
    }
}

/// Returns the reason why neither a wallet nor a pool hands out addresses of a chain, or `None` if one does.
fn no_address_source_reason(db: &Reader<'_>, chain: Chain) -> Result<Option<String>, Error> {
    if chain.row().imported {
        let has_any = pool_addresses::has_more_free_than(db, chain, 0)?;
        return Ok((!has_any).then(|| format!("no address of {chain} is free")));
    }
    let has_wallet = wallets::active_for_chain(db, chain)?.is_some();
    Ok((!has_wallet).then(|| format!("{chain} has no wallet that hands out addresses")))
}

impl Service {
    /// Returns `true` if an address can be handed out for this coin. In live mode its chain must be followed, and the
    /// coin must exist on that network and have a wallet. Always `true` in simulated mode.
    pub(in crate::service) fn can_hand_out_address(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        asset: &Asset,
    ) -> Result<bool, Error> {
        Ok(self.is_simulated(mode) || self.live.address_obstacle(db, asset)?.is_none())
    }

    /// Returns the reasons why no coin can be paid in any of these currencies, or `None` if one can.
    pub(in crate::service) fn no_payable_coin_reasons(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        now: Time,
        currencies: &[Currency],
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(mode) {
            return Ok(None);
        }
        let scanned = lagging_chains(db, mode)?;
        self.live.no_coin_reasons(db, |asset| {
            if !self.is_chain_recently_read(&scanned, mode, asset, now) {
                let chain = asset.chain;
                return Ok(Some(format!("{chain} has not been read up to now")));
            }
            for currency in currencies {
                if self.fresh_rate(db, mode, asset, *currency, now)?.is_ok() {
                    return Ok(None);
                }
            }
            Ok(Some(format!("{} has no fresh rate", asset.id)))
        })
    }

    /// Returns the reasons why no chain is read up to now, or `None` if one is.
    pub(in crate::service) fn no_read_chain_reasons(
        &self,
        db: &Reader<'_>,
        now: Time,
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(Mode::Live) {
            return Ok(None);
        }
        let scanned = lagging_chains(db, Mode::Live)?;
        let mut why = Vec::new();
        for row in CHAINS.iter().filter(|row| self.live.has_node(row.chain)) {
            let chain = row.chain;
            let is_read =
                |asset: &&Asset| self.is_chain_recently_read(&scanned, Mode::Live, asset, now);
            let mut coins = ASSETS.iter().filter(|asset| asset.chain == chain);
            if self.followed_network(db, chain)?.is_none() {
                why.push(format!("no node of {chain} was reached yet, or {chain} is stopped"));
            } else if coins.any(|asset| is_read(&asset)) {
                return Ok(None);
            } else {
                why.push(format!("{chain} has not been read up to now"));
            }
        }
        if why.is_empty() {
            why.push("no chain has a node".to_owned());
        }
        Ok(Some(why.join("; ")))
    }

    /// Returns the reasons why no address can be handed out, or `None` if a wallet or a pool hands out addresses.
    /// Considers only chains that have a node, or all chains if none has one.
    pub(in crate::service) fn no_address_source_reasons(
        &self,
        db: &Reader<'_>,
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(Mode::Live) {
            return Ok(None);
        }
        let has_any = CHAINS.iter().any(|row| self.live.has_node(row.chain));
        let mut why = Vec::new();
        for row in CHAINS.iter().filter(|row| !has_any || self.live.has_node(row.chain)) {
            match no_address_source_reason(db, row.chain)? {
                None => return Ok(None),
                Some(reason) => why.push(reason),
            }
        }
        let none = || "no wallet hands out addresses".to_owned();
        Ok(Some(if has_any { why.join("; ") } else { none() }))
    }

    /// Returns a warning for a new invoice that no coin can pay.
    pub(in crate::service) fn offer_warning(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        now: Time,
        currency: Currency,
    ) -> Result<Option<String>, Error> {
        let why = self.no_payable_coin_reasons(db, mode, now, &[currency])?;
        Ok(why.map(|why| format!("no coin is on offer, so nobody can pay this invoice now: {why}")))
    }
}
