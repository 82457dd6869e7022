//! Decides which of several unconfirmed transactions that spend the same output is believed.
//!
//! A server may invent a transaction, so that a payment seems to be replaced. Only the owner of the output can sign
//! such a transaction.

use super::Electrum;
use super::hex::{self, Hash256, format_hash};
use super::signature::SignedTransaction;
use super::transaction::TxOutput;
use crate::chain::{NodeError, WatchTargets};
use crate::domain::InputSource;
use log::Level;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Largest number of inputs whose spent outputs are fetched to verify signatures.
const INPUTS_MAX: usize = 200;

/// Unconfirmed transactions by the output that they spend.
type SpendersOfOutput = HashMap<(String, u32), Vec<Hash256>>;

/// The bytes of a transaction, and the outputs that its inputs spend, in their order. `None` for an output whose
/// script is too long for an address.
type TransactionWithSpent = (Vec<u8>, Vec<Option<TxOutput>>);

impl Electrum {
    /// Returns those of the `waiting` transactions that are not believed. `known` has the ids of the transactions that
    /// the database has as unconfirmed.
    ///
    /// A transaction is suspect if it spends an output that another unconfirmed payment spends. It is believed if its
    /// signatures are valid, or if two servers report it. If its signatures cannot be verified and only one server
    /// reports it, a payment that is known stays, and another one is believed only if another server is there and no
    /// server reports a transaction in conflict with it.
    pub(super) fn disbelieved_transactions(
        &mut self,
        waiting: &[Hash256],
        known: &HashSet<&str>,
        watched: &dyn WatchTargets,
    ) -> Result<HashSet<Hash256>, NodeError> {
        let reports = &self.reports;
        self.verdicts.retain(|id, _| reports.contains_key(id));
        self.unverified.retain(|id| reports.contains_key(id));
        let mut spenders = SpendersOfOutput::new();
        for id in waiting {
            for output in self.spent_outputs(id) {
                spenders.entry(output).or_default().push(*id);
            }
        }
        let mut suspects: Vec<(Hash256, HashSet<Hash256>, bool)> = Vec::new();
        for id in waiting {
            let mut rivals = HashSet::new();
            let mut is_suspect = false;
            for output in self.spent_outputs(id) {
                let others = spenders.get(&output).into_iter().flatten();
                rivals.extend(others.filter(|other| *other != id).copied());
                is_suspect |= watched.has_output(&output.0, output.1);
            }
            let is_known = known.contains(format_hash(id).as_str());
            if !rivals.is_empty() || is_suspect && !is_known {
                suspects.push((*id, rivals, is_known));
            }
        }
        for (id, ..) in &suspects {
            self.verify_signatures(id, &spenders, watched)?;
        }
        let doubted = suspects
            .iter()
            .filter(|(id, rivals, is_known)| !self.is_believed(id, rivals, *is_known));
        Ok(doubted.map(|(id, ..)| *id).collect())
    }

    fn spent_outputs(&self, id: &Hash256) -> Vec<(String, u32)> {
        let inputs = self.transactions.get(id).into_iter().flat_map(|one| &one.inputs);
        let spent = inputs.filter_map(|input| match input {
            InputSource::Output(txid, position) => Some((txid.clone(), *position)),
            InputSource::Address(_) | InputSource::Coinbase => None,
        });
        spent.collect()
    }

    /// Returns `true` if a transaction is believed. `rivals` are the unconfirmed transactions that spend an output of it.
    fn is_believed(&self, id: &Hash256, rivals: &HashSet<Hash256>, is_known: bool) -> bool {
        let is_signed = |id: &Hash256| self.verdicts.get(id).copied().flatten();
        let servers = |id: &Hash256| {
            let claims = self.reports.get(id).into_iter().flat_map(|report| &report.claims);
            claims.map(|claim| claim.server).collect::<Vec<usize>>()
        };
        let is_sure = |id: &Hash256| is_signed(id) == Some(true) || servers(id).len() > 1;
        // Of two transactions that may both be true, the one that more servers report is newer.
        let rank = |id: &Hash256| {
            let told_by = servers(id);
            (is_signed(id), told_by.len(), Reverse(told_by.into_iter().min()))
        };
        let rivals: Vec<&Hash256> =
            rivals.iter().filter(|rival| is_signed(rival) != Some(false)).collect();
        if is_signed(id) == Some(false) {
            return false;
        }
        if is_sure(id) {
            return rivals.into_iter().all(|rival| rank(id) > rank(rival));
        }
        if is_known {
            return !rivals.into_iter().any(is_sure);
        }
        let told_by = servers(id);
        let mut others = self.servers.iter().enumerate();
        let is_other_there =
            others.any(|(place, one)| !told_by.contains(&place) && !one.is_backing_off());
        rivals.is_empty() && is_other_there
    }

    /// Verifies the signatures with which a transaction spends outputs that others spend, too.
    fn verify_signatures(
        &mut self,
        id: &Hash256,
        spenders: &SpendersOfOutput,
        watched: &dyn WatchTargets,
    ) -> Result<(), NodeError> {
        if self.verdicts.contains_key(id) {
            return Ok(());
        }
        let inputs = self.spent_outputs(id);
        let claims = self.reports.get(id).into_iter().flat_map(|report| report.claims.clone());
        let tellers: Vec<usize> = claims.map(|claim| claim.server).collect();
        let mut asked = tellers.iter().copied();
        let asked = asked
            .find(|place| self.servers.get(*place).is_some_and(|server| !server.is_backing_off()));
        let Some(place) = asked else {
            return Ok(());
        };
        let Some((raw, spent)) = self.fetch_with_spent_outputs(place, id, &inputs)? else {
            return Ok(());
        };
        let is_contested = |(_, output): &(usize, &(String, u32))| {
            spenders.get(*output).is_some_and(|all| all.len() > 1)
                || watched.has_output(&output.0, output.1)
        };
        let contested = inputs.iter().enumerate().filter(is_contested);
        let signed = SignedTransaction::parse(&raw);
        let is_signed = |index: usize| signed.as_ref()?.is_signed(index, &spent);
        let each: Vec<Option<bool>> = contested.map(|(index, _)| is_signed(index)).collect();
        let verdict = if each.contains(&Some(false)) {
            Some(false)
        } else if each.contains(&None) {
            None
        } else {
            Some(true)
        };
        self.verdicts.insert(*id, verdict);
        let (chain, txid) = (self.chain, format_hash(id));
        match verdict {
            Some(true) => {}
            // It counts once a second server tells of it, or a block has it.
            None => log::info!("signatures not verified: chain={chain} txid={txid}"),
            Some(false) => {
                for place in tellers {
                    let text = format!("it tells of transaction {txid}, which nobody signed");
                    self.back_off_from(place, &text);
                }
            }
        }
        Ok(())
    }

    /// Fetches a transaction, and the outputs that it spends. `None` if the server does not give all of them.
    fn fetch_with_spent_outputs(
        &mut self,
        place: usize,
        id: &Hash256,
        inputs: &[(String, u32)],
    ) -> Result<Option<TransactionWithSpent>, NodeError> {
        let parents: HashSet<Hash256> =
            inputs.iter().filter_map(|(txid, _)| hex::parse_hash(txid)).collect();
        let parents: Vec<Hash256> = parents.into_iter().collect();
        if parents.len() > INPUTS_MAX {
            return Ok(None);
        }
        let raw = self.server(place)?.fetch_raw_transaction(id);
        let found = raw.and_then(|raw| {
            let parents = self.server(place)?.fetch_transactions(&parents)?;
            let parents: Result<Vec<_>, String> = parents.into_iter().collect();
            Ok(raw.and_then(|raw| Ok((raw, parents?))))
        });
        let (raw, parents) = match found {
            Ok(Ok(found)) => found,
            Ok(Err(reason)) => {
                let level = if self.unverified.insert(*id) { Level::Warn } else { Level::Debug };
                let txid = format_hash(id);
                log::log!(level, "signatures not verified: txid={txid} reason={reason}");
                return Ok(None);
            }
            Err(error) if place > 0 => {
                self.back_off_from(place, &error.to_string());
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let spent = inputs.iter().map(|(txid, position)| {
            let mut parents = parents.iter().flatten();
            let parent = parents.find(|parent| format_hash(&parent.id) == *txid)?;
            parent.outputs.iter().find(|output| output.position == *position).cloned()
        });
        Ok(Some((raw, spent.collect())))
    }
}
