//! Looks transactions up by their ids.

use super::hex::{self, Hash};
use super::sighted::script_hash;
use super::{Electrum, NodeError, Transaction, time_of};
use crate::chain::{FoundTransaction, Lookup, Watched};
use crate::domain::observation::Block;
use crate::domain::time::Time;

/// Outputs whose histories are looked at for the block of a transaction.
const OUTPUTS_TRIED: usize = 4;

/// A transaction that is in the mempool, or in a block of the chain.
pub(super) struct TransactionPlace {
    pub transaction: Transaction,
    /// Its block, and the time of it; `None` for the mempool.
    pub block: Option<(Block, Time)>,
}

impl Electrum {
    /// Finds a transaction; `None` for one that is in no mempool and no block. That a server has it is not enough: it may be
    /// of a block that was reorganised away. It has to be in the history of a script that it pays.
    pub(super) fn place_of(&mut self, txid: &str) -> Result<Option<TransactionPlace>, NodeError> {
        let Some(id) = hex::hash(txid) else {
            return Ok(None);
        };
        let known = self.fetched(&id).cloned();
        let transaction = match known {
            Some(known) => Some(known),
            None => self.server(0)?.transactions(&[id])?.pop().flatten(),
        };
        let Some(transaction) = transaction else {
            return Ok(None);
        };
        let Some((height, server)) = self.height_of(&id, &transaction)? else {
            return Ok(None);
        };
        let Some(height) = height else {
            return Ok(Some(TransactionPlace {
                transaction,
                block: None,
            }));
        };
        self.sync()?;
        if self.claimed.is_none_or(|(newest, _)| newest < height) {
            return Err(NodeError::Behind);
        }
        let Some(proven) = self.prove(&id, height, server)? else {
            return Err(NodeError::Behind);
        };
        let header = self.header_at(height)?.ok_or(NodeError::Behind)?;
        let block = Block {
            height,
            hash: hex::hash_text(&proven.block),
        };
        Ok(Some(TransactionPlace {
            transaction,
            block: Some((block, time_of(&header)?)),
        }))
    }

    /// Returns the height of a transaction and the server that tells it; the outer `None` where no history has it.
    fn height_of(
        &mut self,
        id: &Hash,
        transaction: &Transaction,
    ) -> Result<Option<(Option<u32>, usize)>, NodeError> {
        if let Some(sighting) = self.sightings.get(id) {
            return Ok(Some((sighting.height, sighting.server)));
        }
        for output in transaction.outputs.iter().take(OUTPUTS_TRIED) {
            let history = self.server(0)?.history(&script_hash(&output.script))?;
            let mut entries = history.into_iter().flatten();
            if let Some(entry) = entries.find(|entry| entry.id == *id) {
                return Ok(Some((entry.height, 0)));
            }
        }
        Ok(None)
    }

    /// [`Node::transaction`](crate::chain::Node::transaction).
    pub(super) fn look_up(
        &mut self,
        txid: &str,
        watched: &dyn Watched,
    ) -> Result<Lookup, NodeError> {
        self.identified()?;
        let Some(place) = self.place_of(txid)? else {
            return Ok(Lookup::Absent);
        };
        let found = self.found(&place.transaction, watched)?;
        Ok(Lookup::Found(Box::new(FoundTransaction {
            block: place.block,
            first_seen: None,
            is_done: true,
            spends: found.spends,
            nonce: None,
            received: found.received,
            is_traced: true,
        })))
    }
}
