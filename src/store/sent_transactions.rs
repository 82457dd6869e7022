//! The table `sent_transactions`: transactions that are attached to payouts and refunds.

use super::observations::unreadable_spends;
use super::statement::{commands, rows};
use super::{Reader, StoreError};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::Spent;
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::{AttachedTransaction, SentState};
use rusqlite::named_params;

rows! {
    fn read(
        s.seq, s.txid, s.state, s.block_height: Option<u32>, s.spends: Option<String>, s.nonce: Option<i64>, s.is_reverted,
        s.first_seen_at, s.last_seen_at, s.gone_by, s.gone_height: Option<u32>, s.is_read_back, s.problem,
    ) -> (AttachedTransaction, Option<String>) {
        let nonce = nonce.and_then(|nonce| u64::try_from(nonce).ok());
        let transaction = AttachedTransaction {
            seq, txid, state, block_height, spends: Vec::new(), nonce, is_reverted, first_seen_at, last_seen_at, gone_by,
            gone_height, is_read_back, problem,
        };
        Ok((transaction, spends))
    }
    BY_TXID = select "from sent_transactions s where s.mode = :mode and s.chain = :chain and s.txid = :txid";
    /// A mined one is not asked for again, but a reverted one is until it is final, and one of [`ask_again`] once. Of a
    /// paid transfer it is asked for while a person has to say what took the place of the transaction that is gone.
    TO_ASK = select "from sent_transactions s where s.mode = 'live' and s.chain = :chain \
        and (s.state <> 'mined' or s.is_reverted or s.asked_at = 0) and exists (select 1 from transfers t \
        where t.chain = s.chain and t.txid = s.txid and t.mode = 'live' and (t.status = 'processing' \
        or t.status = 'paid' and exists (select 1 from transfer_reviews r where r.transfer = t.seq and r.kind = 'gone' \
        and r.ended_at is null))) \
        order by s.asked_at nulls first, s.seq limit :limit";
}

commands! {
    /// Adds a transaction of which no node has told yet, unless it is there.
    pub fn insert(tx, mode: Mode, chain: Chain, txid: &str) =
        "insert into sent_transactions (mode, chain, txid, state) values (:mode, :chain, :txid, 'unseen') \
            on conflict (mode, chain, txid) do nothing";

    /// Saves what is known of a transaction.
    pub fn update(tx, of: &AttachedTransaction) =
        "update sent_transactions set state = :state, block_height = :block_height, spends = :spends, nonce = :nonce, \
            is_reverted = :is_reverted, first_seen_at = :first_seen_at, last_seen_at = :last_seen_at, gone_by = \
            :gone_by, \
            gone_height = :gone_height, is_read_back = :is_read_back, problem = :problem where seq = :seq"
        with {
            seq: of.seq, state: of.state, block_height: of.block_height.filter(|_| of.state == SentState::Mined),
            spends: spends_json(&of.spends)?, nonce: of.nonce.and_then(|nonce| i64::try_from(nonce).ok()),
            is_reverted: of.is_reverted, first_seen_at: of.first_seen_at, last_seen_at: of.last_seen_at,
            gone_by: of.gone_by, gone_height: of.gone_height, is_read_back: of.is_read_back, problem: of.problem,
        };

    /// Notes that a node was asked for a transaction.
    pub fn asked(tx, chain: Chain, txid: &str, now: Time) =
        "update sent_transactions set asked_at = :now where mode = 'live' and chain = :chain and txid = :txid";

    /// Has a node asked for a transaction whatever is known of it, as its outputs to one more destination are not.
    pub fn ask_again(tx, mode: Mode, chain: Chain, txid: &str) =
        "update sent_transactions set asked_at = 0, is_read_back = 0 \
            where mode = :mode and chain = :chain and txid = :txid";

    /// Takes transactions out of the blocks above this height, and forgets what took their places there.
    pub fn give_up(tx, chain: Chain, height: u32) =
        "update sent_transactions set state = iif(block_height > :height, 'absent', state), \
            block_height = iif(block_height > :height, null, block_height), is_reverted = iif(block_height > \
            :height, 0, is_reverted), \
            gone_by = iif(gone_height > :height, null, gone_by), gone_height = iif(gone_height > :height, null, \
            gone_height) \
            where mode = 'live' and chain = :chain and (block_height > :height or gone_height > :height)";

    /// Takes a transaction out of its block.
    pub fn take_out(tx, chain: Chain, txid: &str) =
        "update sent_transactions set state = 'absent', block_height = null, is_reverted = 0 \
            where mode = 'live' and chain = :chain and txid = :txid and state = 'mined'";
}

fn whole(row: (AttachedTransaction, Option<String>)) -> Result<AttachedTransaction, StoreError> {
    let (mut transaction, spends) = row;
    if let Some(spends) = spends {
        transaction.spends = serde_json::from_str(&spends).map_err(unreadable_spends(&spends))?;
    }
    Ok(transaction)
}

/// The JSON of what a transaction spends; `None` where nothing is known.
pub(super) fn spends_json(spends: &[Spent]) -> Result<Option<String>, StoreError> {
    let json = (!spends.is_empty()).then(|| serde_json::to_string(spends));
    let json = json.transpose();
    json.map_err(|error| StoreError::Failed(format!("json: {error}")))
}

/// The transaction with this id.
pub fn by_txid(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    txid: &str,
) -> Result<Option<AttachedTransaction>, StoreError> {
    let params = named_params! { ":mode": mode, ":chain": chain, ":txid": txid };
    BY_TXID.first(db, params)?.map(whole).transpose()
}

/// Live transactions that a node is to be asked for by id, the least recently asked first.
pub fn to_ask(
    db: &Reader<'_>,
    chain: Chain,
    limit: u32,
) -> Result<Vec<AttachedTransaction>, StoreError> {
    let found = TO_ASK.all(db, named_params! { ":chain": chain, ":limit": limit })?;
    found.into_iter().map(whole).collect()
}
