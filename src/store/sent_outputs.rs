//! The table `sent_outputs`: outputs of attached transactions to watched destinations.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::transfer::on_chain::SentOutput;
use rusqlite::named_params;

rows! {
    fn read(
        s.observation, s.transfer, o.address, o.asset, o.amount, o.state, height = "o.block_height",
    ) -> SentOutput {
        Ok(SentOutput { observation, transfer, address, asset, amount, state, height })
    }
    /// Without those that gave their places to others.
    OF_TRANSACTION = select "from observations o join sent_outputs s on s.observation = o.seq \
        where o.mode = :mode and o.chain = :chain and o.txid = :txid and o.position < 2147483648 order by o.position";
    OF_OBSERVATION = select "from sent_outputs s join observations o on o.seq = s.observation \
        where s.observation = :observation";
}

commands! {
    INSERT = "insert into sent_outputs (observation) values (:observation)";
    COUNT_FOR = "update sent_outputs set transfer = :transfer where observation = :observation";
}

/// Adds an output that counts for no transfer yet.
pub fn insert(tx: &Tx<'_>, observation: i64) -> Result<(), StoreError> {
    INSERT
        .run(tx, named_params! { ":observation": observation })
        .map(drop)
}

/// Makes an output count for a transfer, or for none.
pub fn count_for(tx: &Tx<'_>, observation: i64, transfer: Option<i64>) -> Result<(), StoreError> {
    let params = named_params! { ":observation": observation, ":transfer": transfer };
    COUNT_FOR.run(tx, params).map(drop)
}

/// Outputs of a transaction, by position.
pub fn of_transaction(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    txid: &str,
) -> Result<Vec<SentOutput>, StoreError> {
    OF_TRANSACTION.all(
        db,
        named_params! { ":mode": mode, ":chain": chain, ":txid": txid },
    )
}

/// The output of an observation, if it is one.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<Option<SentOutput>, StoreError> {
    OF_OBSERVATION.first(db, named_params! { ":observation": observation })
}
