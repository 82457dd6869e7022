//! Something came to an address of a wallet that this file has handed out to nobody.
//!
//! What does not live here: whose the money is: nobody's, until a person says so. What always holds: a wallet that was paid
//! at an index that it has not come to hands out nothing more, so no address is given to two.

use crate::domain::observation::Observation;
use crate::domain::time::Time;
use crate::domain::wallet::{stopped_problem, stopped_remedy};
use crate::service::audit_log::{Entry, record};
use crate::service::{Error, Service};
use crate::store::{Tx, wallets};
use serde_json::json;

impl Service {
    /// Is it an address of a wallet that nobody has? The wallet is stopped where it has not come to that index.
    pub(super) fn is_astray(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
    ) -> Result<bool, Error> {
        let (chain, address) = (seen.asset.chain, &seen.address);
        let Some((wallet, index)) = self.live.spare.find(chain, address) else {
            return Ok(false);
        };
        let Some(row) = wallets::by_seq(tx, wallet)? else {
            return Ok(false);
        };
        if index < row.next_index {
            // Somebody has it: the wallet never goes back to it.
            wallets::keep_above(tx, row.seq, index)?;
            return Ok(true);
        }
        if row.stopped_index >= Some(index) {
            return Ok(true);
        }
        wallets::stop(tx, row.seq, index, now)?;
        if row.stopped_at.is_some() {
            // It is stopped already; the way on leads behind this index, too.
            return Ok(true);
        }
        let (pool, id, txid) = (row.wallet.chain.address_pool(), &row.id, &seen.txid);
        let detail = json!({
            "chain": chain, "txid": txid, "address": address, "index": index, "nextIndex": row.next_index,
        });
        let entry = Entry {
            action: "wallet.stop",
            account: None,
            object: Some(id),
            detail: &detail,
        };
        record(tx, now, chain.as_str(), &entry)?;
        let (problem, mend) = (stopped_problem(id, index), stopped_remedy(pool, index));
        log::error!("{chain}: {problem} (transaction {txid}). It hands out nothing more: {mend}");
        Ok(true)
    }
}
