//! The table `sent_outputs`: outputs of sent transactions to destinations of payouts and refunds.

use super::statement::{commands, rows};
use crate::domain::asset::{Chain, Mode};
use crate::domain::transfer::on_chain::SentOutput;

rows! {
    fn read(
        s.observation, s.transfer, o.address, o.asset, o.amount, o.state, height = "o.block_height",
    ) -> SentOutput {
        Ok(SentOutput { observation, transfer, address, asset, amount, state, height })
    }

    /// Returns the outputs of a transaction, by position. Leaves out outputs whose position another output has taken.
    pub fn of_transaction(db, mode: Mode, chain: Chain, txid: &str) -> Vec<SentOutput> =
        select "from observations o join sent_outputs s on s.observation = o.seq \
            where o.mode = :mode and o.chain = :chain and o.txid = :txid and o.position < 2147483648 \
            order by o.position";

    /// Returns the output that belongs to an observation.
    pub fn of_observation(db, observation: i64) -> Option<SentOutput> =
        select "from sent_outputs s join observations o on o.seq = s.observation \
            where s.observation = :observation";
}

commands! {
    /// Inserts an output that is not assigned to a transfer yet.
    pub fn insert(tx, observation: i64) = insert into sent_outputs { observation };

    /// Assigns an output to a transfer, or to none.
    pub fn assign_to_transfer(tx, observation: i64, transfer: Option<i64>) =
        "update sent_outputs set transfer = :transfer where observation = :observation";
}
