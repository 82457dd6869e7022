//! The table `transfer_proposals`: outputs that a person may attach to a transfer, or dismiss.

use super::statement::statements;
use crate::domain::ProposedOutput;

/// Maximum number of proposals that are kept for a transfer.
pub const PROPOSALS_MAX: usize = 20;

statements! {
    row read(o.txid, o.amount, o.seen_at, o.block_height: Option<u32>) -> ProposedOutput {
        Ok(ProposedOutput { txid, amount, seen_at, block_height })
    }

    /// Returns the proposals for a transfer, newest first.
    pub fn of_transfer(db, transfer: i64) -> Vec<ProposedOutput> =
        select "from transfer_proposals p join observations o on o.seq = p.observation \
            where p.transfer = :transfer order by o.seen_at desc, o.txid, o.position";

    /// Returns the observations of the proposals for a transfer.
    pub fn observations_of(db, transfer: i64) -> Vec<(observation: i64)> =
        "select observation from transfer_proposals where transfer = :transfer order by observation";

    /// Proposes an output for a transfer.
    pub fn insert(tx, transfer: i64, observation: i64) = insert into transfer_proposals { transfer, observation };

    /// Withdraws a proposal.
    pub fn delete(tx, transfer: i64, observation: i64) =
        "delete from transfer_proposals where transfer = :transfer and observation = :observation";
}
