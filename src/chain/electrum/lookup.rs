//! Looks up transactions by id.

use super::hex::{self, Hash256};
use super::reports::{LocationClaim, script_hash};
use super::{Electrum, NodeError, ParsedTransaction, block_time};
use crate::chain::{FoundTransaction, LookupResult, WatchTargets};
use crate::domain::{Block, Time};

/// Largest number of outputs of a transaction whose histories are searched for the block of the transaction.
const OUTPUTS_TRIED: usize = 4;

/// Location of a transaction: in the mempool, or in a block of the chain.
pub(super) struct TransactionLocation {
    pub transaction: ParsedTransaction,
    /// Block with its timestamp; `None` if the transaction is in the mempool.
    pub block: Option<(Block, Time)>,
}

impl Electrum {
    /// Finds a transaction; `None` if it is neither in a mempool nor in a block.
    ///
    /// A server may return a transaction of a block that a reorg removed. Therefore the transaction must also be in
    /// the history of a script that it pays.
    pub(super) fn find_transaction(
        &mut self,
        txid: &str,
    ) -> Result<Option<TransactionLocation>, NodeError> {
        let Some(id) = hex::parse_hash(txid) else {
            return Ok(None);
        };
        let known = self.fetched_transaction(&id).cloned();
        let transaction = match known {
            Some(known) => Some(known),
            None => {
                let found = self.server(0)?.fetch_transactions(&[id])?.pop().transpose();
                found
                    .map_err(|why| NodeError::Unreachable(format!("transaction {txid}: it {why}")))?
                    .flatten()
            }
        };
        let Some(transaction) = transaction else {
            return Ok(None);
        };
        let claims = self.location_claims(&id, &transaction)?;
        if claims.is_empty() {
            return Ok(None);
        }
        if claims.iter().all(|claim| claim.height.is_none()) {
            return Ok(Some(TransactionLocation { transaction, block: None }));
        }
        self.sync_headers()?;
        let Some(proven) = self.prove_claims(&id, &claims)? else {
            return Err(NodeError::Behind);
        };
        let header = self.header_at(proven.height)?.ok_or(NodeError::Behind)?;
        let block = Block { height: proven.height, hash: hex::format_hash(&proven.block) };
        Ok(Some(TransactionLocation { transaction, block: Some((block, block_time(&header)?)) }))
    }

    /// Returns what servers report of a transaction. Empty if no history contains it.
    fn location_claims(
        &mut self,
        id: &Hash256,
        transaction: &ParsedTransaction,
    ) -> Result<Vec<LocationClaim>, NodeError> {
        if let Some(report) = self.reports.get(id) {
            return Ok(report.claims.clone());
        }
        for output in transaction.outputs.iter().take(OUTPUTS_TRIED) {
            let history = self.server(0)?.fetch_history(&script_hash(&output.script))?;
            let mut entries = history.into_iter().flatten();
            if let Some(entry) = entries.find(|entry| entry.id == *id) {
                return Ok(vec![LocationClaim { server: 0, height: entry.height }]);
            }
        }
        Ok(Vec::new())
    }

    /// Implements [`Node::look_up_transaction`](crate::chain::Node::look_up_transaction).
    pub(super) fn look_up(
        &mut self,
        txid: &str,
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        self.verify_network()?;
        let Some(place) = self.find_transaction(txid)? else {
            return Ok(LookupResult::Absent);
        };
        let found = self.scan_transaction(&place.transaction, watched)?;
        Ok(LookupResult::Found(Box::new(FoundTransaction {
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
