//! The table `sent_transactions`: transactions that pay payouts and refunds.

use super::row::{InputSources, InputSourcesRef};
use super::statement::statements;
use crate::domain::asset::Chain;
use crate::domain::{AttachedState, AttachedTransaction, Mode, Time};

statements! {
    row read(
        s.seq, s.txid, s.state, s.block_height: Option<u32>, s.spends: InputSources, s.nonce: Option<i64>, s.is_reverted,
        s.first_seen_at, s.last_seen_at, s.gone_by, s.gone_height: Option<u32>, s.is_read_back, s.problem,
    ) -> AttachedTransaction {
        let nonce = nonce.and_then(|nonce| u64::try_from(nonce).ok());
        Ok(AttachedTransaction {
            seq, txid, state, block_height, spends: spends.0, nonce, is_reverted, first_seen_at, last_seen_at, gone_by,
            gone_height, is_read_back, problem,
        })
    }

    /// Returns the transaction with this id.
    pub fn by_txid(db, mode: Mode, chain: Chain, txid: &str) -> Option<AttachedTransaction> =
        select "from sent_transactions s where s.mode = :mode and s.chain = :chain and s.txid = :txid";

    /// Returns live transactions that a node should be asked about, the least recently asked first.
    ///
    /// A node is asked about a mined transaction only if it is reverted, or after [`ask_again`]. For a paid transfer,
    /// a node is asked while a review of the missing transaction is open.
    pub fn transactions_to_query(db, chain: Chain, limit: u32) -> Vec<AttachedTransaction> =
        select "from sent_transactions s where s.mode = 'live' and s.chain = :chain \
            and (s.state <> 'mined' or s.is_reverted or s.asked_at = 0) and exists (select 1 from transfers t \
            where t.chain = s.chain and t.txid = s.txid and t.mode = 'live' and (t.status = 'processing' \
            or t.status = 'paid' and exists (select 1 from transfer_reviews r where r.transfer = t.seq and r.kind = 'gone' \
            and r.ended_at is null))) \
            order by s.asked_at nulls first, s.seq limit :limit";

    /// Returns the ids of the transactions that are, or whose replacement is, in a block above this height.
    pub fn touched_above(db, chain: Chain, height: u32) -> Vec<(txid: String)> =
        "select txid from sent_transactions \
            where mode = 'live' and chain = :chain and (block_height > :height or gone_height > :height)";

    /// Inserts a transaction that no node has reported yet, unless the table has it already.
    pub fn insert(tx, mode: Mode, chain: Chain, txid: &str) =
        "insert into sent_transactions (mode, chain, txid, state) values (:mode, :chain, :txid, 'unseen') \
            on conflict (mode, chain, txid) do nothing";

    /// Saves the state of a transaction.
    pub fn update(tx, of: &AttachedTransaction) =
        "update sent_transactions set state = :state, block_height = :block_height, spends = :spends, nonce = :nonce, \
            is_reverted = :is_reverted, first_seen_at = :first_seen_at, last_seen_at = :last_seen_at, \
            gone_by = :gone_by, gone_height = :gone_height, is_read_back = :is_read_back, problem = :problem where seq = :seq"
        with {
            seq: of.seq, state: of.state, block_height: of.block_height.filter(|_| of.state == AttachedState::Mined),
            spends: InputSourcesRef(&of.spends), nonce: of.nonce.and_then(|nonce| i64::try_from(nonce).ok()),
            is_reverted: of.is_reverted, first_seen_at: of.first_seen_at, last_seen_at: of.last_seen_at,
            gone_by: of.gone_by, gone_height: of.gone_height, is_read_back: of.is_read_back, problem: of.problem,
        };

    /// Saves the time at which a node was asked about a transaction.
    pub fn save_asked_at(tx, chain: Chain, txid: &str, now: Time) =
        "update sent_transactions set asked_at = :now where mode = 'live' and chain = :chain and txid = :txid";

    /// Makes the worker ask a node about a transaction again, because a further destination is watched now.
    pub fn ask_again(tx, mode: Mode, chain: Chain, txid: &str) =
        "update sent_transactions set asked_at = 0, is_read_back = 0 \
            where mode = :mode and chain = :chain and txid = :txid";

    /// Rolls transactions back to a height after a reorg. Deletes their blocks and replacements above this height.
    pub fn roll_back_above(tx, chain: Chain, height: u32) =
        "update sent_transactions set state = iif(block_height > :height, 'absent', state), \
            block_height = iif(block_height > :height, null, block_height), \
            is_reverted = iif(block_height > :height, 0, is_reverted), \
            gone_by = iif(gone_height > :height, null, gone_by), \
            gone_height = iif(gone_height > :height, null, gone_height) \
            where mode = 'live' and chain = :chain and (block_height > :height or gone_height > :height)";

    /// Records that a transaction is in no block any more.
    pub fn remove_from_block(tx, chain: Chain, txid: &str) =
        "update sent_transactions set state = 'absent', block_height = null, is_reverted = 0 \
            where mode = 'live' and chain = :chain and txid = :txid and state = 'mined'";
}
