//! Loads a destination: the facts about it, and the stored outcome.

use super::watch::final_height;
use crate::domain::{
    AttachedTransaction, DestinationFacts, DestinationTransfer, ReviewRecord, Time, Transfer,
    TransferReview,
};
use crate::service::Error;
use crate::store::destinations::{self, Destination, StoredOutput};
use crate::store::{Reader, sent_transactions, transfer_acts, transfer_reviews, transfers};
use std::collections::BTreeSet;

/// A destination with the facts about it and the stored outcome.
pub(in crate::service) struct LoadedDestination {
    pub(in crate::service) destination: Destination,
    pub(in crate::service) facts: DestinationFacts,
    /// For each output, the stored `seq` of the transfer for which it counts.
    pub(in crate::service) shares: Vec<Option<i64>>,
    /// Reviews of each transfer, newest first.
    pub(in crate::service) reviews: Vec<Vec<TransferReview>>,
}

impl LoadedDestination {
    /// Adds the outputs of a transaction that count for frozen transfers, so that they are known to be taken.
    pub(super) fn add_frozen_outputs(&mut self, db: &Reader<'_>, txid: &str) -> Result<(), Error> {
        for one in destinations::frozen_outputs(db, &self.destination, txid)? {
            let mut known = self.facts.outputs.iter();
            if !known.any(|known| known.observation == one.output.observation) {
                self.facts.outputs.push(one.output);
                self.shares.push(one.transfer);
            }
        }
        Ok(())
    }

    pub(in crate::service) fn place_of(&self, seq: i64) -> Option<usize> {
        self.facts.transfers.iter().position(|one| one.seq() == seq)
    }
}

/// Loads a destination with all its transfers that are not frozen.
pub(in crate::service) fn load_destination(
    db: &Reader<'_>,
    now: Time,
    destination: Destination,
) -> Result<LoadedDestination, Error> {
    let transfers = transfers::list_at_destination(db, destination.seq)?;
    let outputs = destinations::outputs(db, destination.seq)?;
    load(db, now, destination, transfers, outputs)
}

/// Loads the destination of a transfer. Leaves out the other transfers if they have no effect on this one: it is frozen,
/// or no output has reached the destination.
pub(in crate::service) fn load_destination_of(
    db: &Reader<'_>,
    now: Time,
    of: &Transfer,
) -> Result<LoadedDestination, Error> {
    let found = destinations::by_seq(db, of.destination)?;
    let missing = || Error::Failed(format!("destination {} is missing", of.destination));
    let destination = found.ok_or_else(missing)?;
    if of.is_frozen {
        let outputs = destinations::outputs_of_transfer(db, of.seq)?;
        return load(db, now, destination, vec![of.clone()], outputs);
    }
    if destinations::has_outputs(db, destination.seq)? {
        return load_destination(db, now, destination);
    }
    load(db, now, destination, vec![of.clone()], Vec::new())
}

fn load(
    db: &Reader<'_>,
    now: Time,
    destination: Destination,
    transfers: Vec<Transfer>,
    stored: Vec<StoredOutput>,
) -> Result<LoadedDestination, Error> {
    let final_height = final_height(db, destination.chain)?;
    let (shares, outputs) = stored.into_iter().map(|one| (one.transfer, one.output)).unzip();
    let mut facts = DestinationFacts {
        transfers: Vec::new(),
        outputs,
        transactions: Vec::new(),
        final_height,
        now,
    };
    let mut reviews = Vec::new();
    for transfer in transfers {
        let acts = transfer_acts::of_transfer(db, transfer.seq)?;
        let newest_first = transfer_reviews::of_transfer(db, transfer.seq)?;
        let records = newest_first.iter().rev().map(|review| ReviewRecord {
            kind: review.kind,
            txid: review.txid.clone(),
            decision: review.decision,
        });
        let records = records.collect();
        facts.transfers.push(DestinationTransfer { transfer, acts, reviews: records });
        reviews.push(newest_first);
    }
    facts.transactions = load_transactions(db, &destination, &facts)?;
    let mut loaded = LoadedDestination { destination, facts, shares, reviews };
    let acts = loaded.facts.transfers.iter().flat_map(|one| &one.acts);
    let named: BTreeSet<String> = acts.map(|act| act.txid.clone()).collect();
    named.iter().try_for_each(|txid| loaded.add_frozen_outputs(db, txid))?;
    Ok(loaded)
}

/// Loads the transactions of the transfers, and those that took their places.
fn load_transactions(
    db: &Reader<'_>,
    destination: &Destination,
    facts: &DestinationFacts,
) -> Result<Vec<AttachedTransaction>, Error> {
    let acts = facts.transfers.iter().flat_map(|one| &one.acts).map(|act| act.txid.clone());
    let current = facts.transfers.iter().filter_map(|one| one.transfer.txid.clone());
    let settled = facts.outputs.iter().filter(|output| output.settled.is_some());
    let settled = settled.map(|output| output.txid.clone());
    let mut wanted: Vec<String> = acts.chain(current).chain(settled).collect();
    let mut known: Vec<AttachedTransaction> = Vec::new();
    let (mode, chain) = (destination.mode, destination.chain);
    while let Some(txid) = wanted.pop() {
        if known.iter().any(|one| one.txid == txid) {
            continue;
        }
        if let Some(found) = sent_transactions::by_txid(db, mode, chain, &txid)? {
            wanted.extend(found.gone_by.clone());
            known.push(found);
        }
    }
    Ok(known)
}
