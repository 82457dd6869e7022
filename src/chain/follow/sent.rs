//! Looks up the transactions that pay payouts and refunds, by their ids.
//!
//! Invariant: a node failure or an invalid answer never ends a step.

use super::StepBuilder;
use crate::chain::{FoundTransaction, Head, LookupResult, NodeError};
use crate::domain::{
    BalanceChange, Block, Depth, InputSource, SentTransaction, TransactionAnswer,
    TransactionLookup, UnsettledTransaction,
};

/// Largest number of transactions that one step looks up, including candidates for a replacement.
const LOOKUPS_MAX: u32 = 20;

/// Parameters of the lookups of sent transactions: the head of the node, and the blocks that were read.
struct LookupPosition<'a> {
    head: &'a Head,
    /// The last block that was read.
    to: &'a Block,
    /// Blocks whose hashes this step will store.
    keep: &'a [Block],
}

impl StepBuilder<'_> {
    /// Looks up the first [`LOOKUPS_MAX`] transactions of
    /// [`ChainState::sent`](crate::domain::ChainState::sent).
    pub(super) fn look_up_sent_transactions(
        &mut self,
        head: &Head,
        keep: &[Block],
        to: &Block,
    ) -> Vec<TransactionLookup> {
        let (known, at) = (self.known, LookupPosition { head, to, keep });
        let (mut reads, mut left) = (Vec::new(), LOOKUPS_MAX);
        for sent in &known.sent {
            if left == 0 {
                break;
            }
            let found = self.find_sent_transaction(sent, &at, &mut left);
            // Further lookups would fail in the same way, each after a long wait.
            let is_down = matches!(
                found,
                Err(NodeError::Unreachable(_) | NodeError::Limited(_) | NodeError::Wrong(_))
            );
            let txid = sent.txid.clone();
            let found =
                found.unwrap_or_else(|error| TransactionAnswer::Unanswered(error.to_string()));
            reads.push(TransactionLookup { txid, found });
            if is_down {
                break;
            }
        }
        self.retract_absence_if_head_moved(reads, head)
    }

    /// Changes the answer `Absent` to `Unanswered` if the head has moved during the lookups. The new block may
    /// contain these transactions.
    fn retract_absence_if_head_moved(
        &mut self,
        mut reads: Vec<TransactionLookup>,
        head: &Head,
    ) -> Vec<TransactionLookup> {
        let is_hasty = |read: &TransactionLookup| read.found == TransactionAnswer::Absent;
        if !reads.iter().any(is_hasty) {
            return reads;
        }
        let stands = match self.node.head() {
            Ok(now) if now.block == head.block => return reads,
            Ok(_) => NodeError::Behind,
            Err(error) => error,
        };
        for read in reads.iter_mut().filter(|read| is_hasty(read)) {
            read.found = TransactionAnswer::Unanswered(stands.to_string());
        }
        reads
    }

    /// Looks up one transaction. If no block contains the transaction, also looks for a replacement.
    fn find_sent_transaction(
        &mut self,
        sent: &UnsettledTransaction,
        at: &LookupPosition<'_>,
        left: &mut u32,
    ) -> Result<TransactionAnswer, NodeError> {
        let found = match self.look_up(&sent.txid, &sent.native_to, at, left)? {
            LookupResult::NoIndex => return Ok(TransactionAnswer::CannotTell),
            LookupResult::Absent => None,
            LookupResult::Found(found) => Some(*found),
        };
        if let Some(found) = found.as_ref().filter(|found| found.block.is_some()) {
            return self.build_present_answer(found, &sent.native_to, at);
        }
        // If the node no longer has the transaction, the sender and the nonce from the database are used.
        let (spends, nonce) = match &found {
            Some(found) => (&found.spends, found.nonce),
            None => (&sent.spends, sent.nonce),
        };
        if let ([InputSource::Address(sender)], Some(nonce)) = (spends.as_slice(), nonce) {
            let other = self.find_nonce_use(sent, sender, nonce, at, left)?;
            if let Some(other) = other {
                return Ok(other);
            }
        }
        match found {
            Some(found) => self.build_present_answer(&found, &[], at),
            None => Ok(TransactionAnswer::Absent),
        }
    }

    /// Looks up a transaction. Fails with [`NodeError::Behind`] if its block has not been read or is on another
    /// branch.
    fn look_up(
        &mut self,
        txid: &str,
        native_to: &[String],
        at: &LookupPosition<'_>,
        left: &mut u32,
    ) -> Result<LookupResult, NodeError> {
        *left = left.saturating_sub(1);
        let found = self.node.look_up_transaction(txid, native_to, self.watched)?;
        if let LookupResult::Found(found) = &found
            && let Some((block, _)) = &found.block
            && !self.is_block_read(block, at)
        {
            return Err(NodeError::Behind);
        }
        Ok(found)
    }

    /// Returns `true` if the block has been read. If a hash is stored for the height of the block, both hashes must
    /// be equal.
    fn is_block_read(&self, block: &Block, at: &LookupPosition<'_>) -> bool {
        let mut kept = self.known.kept.iter().chain(at.keep).chain([at.to]);
        block.height <= at.to.height
            && kept.all(|kept| kept.height != block.height || kept.hash == block.hash)
    }

    /// Returns another transaction that used the sender's nonce. If no such transaction is found, returns the block
    /// whose state shows that the nonce was used.
    fn find_nonce_use(
        &mut self,
        sent: &UnsettledTransaction,
        sender: &str,
        nonce: u64,
        at: &LookupPosition<'_>,
        left: &mut u32,
    ) -> Result<Option<TransactionAnswer>, NodeError> {
        for candidate in &sent.candidates {
            if *left == 0 || *candidate == sent.txid {
                continue;
            }
            let LookupResult::Found(found) = self.look_up(candidate, &[], at, left)? else {
                continue;
            };
            let is_senders = found.spends == [InputSource::Address(sender.to_owned())];
            if let Some((block, _)) = found.block
                && is_senders
                && found.nonce == Some(nonce)
            {
                let by = candidate.clone();
                return Ok(Some(TransactionAnswer::ReplacedBy { by, block }));
            }
        }
        let Some(finalized) = at.head.finalized.filter(|height| *height <= at.to.height) else {
            return Ok(None);
        };
        let taken = self.node.block_if_nonce_used(&sent.txid, sender, nonce, finalized)?;
        match taken {
            Some(block) if !self.is_block_read(&block, at) => Err(NodeError::Behind),
            Some(block) => Ok(Some(TransactionAnswer::Gone { by: None, block })),
            None => Ok(None),
        }
    }

    fn build_present_answer(
        &mut self,
        found: &FoundTransaction,
        native_to: &[String],
        at: &LookupPosition<'_>,
    ) -> Result<TransactionAnswer, NodeError> {
        let block = found.block.as_ref().map(|(block, _)| block.clone());
        let time = found.block.as_ref().map(|(_, time)| *time);
        let time = time.or(found.first_seen);
        let seen_at = time.unwrap_or(self.manner.now);
        let received = found.received.iter();
        let received = received.map(|one| self.to_observation(one, seen_at, block.clone()));
        let received = received.collect();
        let is_final = block.as_ref().is_some_and(|block| self.is_final(block, at));
        Ok(TransactionAnswer::Present(Box::new(SentTransaction {
            is_done: found.is_done,
            is_final,
            spends: found.spends.clone(),
            nonce: found.nonce,
            received,
            balances: match &block {
                Some(block) if !found.is_traced => self.balance_changes(found, native_to, block)?,
                Some(_) | None => Vec::new(),
            },
            block,
            time,
        })))
    }

    fn is_final(&self, block: &Block, at: &LookupPosition<'_>) -> bool {
        match (self.chain().row().horizon, at.head.finalized) {
            (Depth::Final, finalized) => finalized.is_some_and(|height| block.height <= height),
            (Depth::Blocks(blocks), _) => at.to.height.saturating_sub(block.height) >= blocks,
        }
    }

    /// Returns the balances before and after a block, for each destination without a known payment.
    fn balance_changes(
        &mut self,
        found: &FoundTransaction,
        native_to: &[String],
        block: &Block,
    ) -> Result<Vec<BalanceChange>, NodeError> {
        let is_paid = |to: &&String| found.received.iter().any(|one| one.address == **to);
        let unpaid: Vec<String> = native_to.iter().filter(|to| !is_paid(to)).cloned().collect();
        let before = self.node.balances_at(&unpaid, block.height.saturating_sub(1))?;
        let after = self.node.balances_at(&unpaid, block.height)?;
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(Vec::new());
        };
        let changes = unpaid.into_iter().zip(before.into_iter().zip(after));
        let changes = changes.map(|(address, (before, after))| BalanceChange {
            address,
            before: before.amount,
            after: after.amount,
        });
        Ok(changes.collect())
    }
}
