//! Handles payments to wallet addresses that this file has not handed out.
//!
//! Invariant: a wallet that was paid at or above its next index hands out no more addresses, so no address has two
//! owners. The payment stays unmatched until a person assigns it.

use crate::domain::Observation;
use crate::domain::wallet::{stopped_wallet_problem, stopped_wallet_remedy};
use crate::service::{Error, Step, audit_log};
use crate::store::wallets;
use serde_json::json;

/// Returns `true` if the address belongs to a wallet but has no owner. Stops the wallet if the address is at or
/// above the wallet's next index.
pub(super) fn stop_wallet_if_unassigned(
    step: &Step<'_>,
    seen: &Observation,
) -> Result<bool, Error> {
    let Step { service, tx, now } = *step;
    let (chain, address) = (seen.asset.chain, &seen.address);
    let Some((wallet, index)) = service.live.unowned.find_index(chain, address) else {
        return Ok(false);
    };
    let Some(row) = wallets::by_seq(tx, wallet)? else {
        return Ok(false);
    };
    if index < row.next_index {
        // The address is in use, so the wallet's next index must never be set back to this index.
        wallets::raise_least_index(tx, row.seq, index)?;
        return Ok(true);
    }
    if row.stopped_index >= Some(index) {
        return Ok(true);
    }
    wallets::stop(tx, row.seq, index, now)?;
    if row.stopped_at.is_some() {
        // The wallet was already stopped, so its stop is in the audit log.
        return Ok(true);
    }
    let (pool, id, txid) = (row.wallet.chain.address_pool(), &row.id, &seen.txid);
    let detail = json!({
        "chain": chain, "txid": txid, "address": address, "index": index, "nextIndex": row.next_index,
    });
    audit_log::record(tx, now, chain.as_str(), "wallet.stop", None, Some(id), &detail)?;
    let (problem, mend) = (stopped_wallet_problem(id, index), stopped_wallet_remedy(pool, index));
    log::error!("wallet stopped: chain={chain} txid={txid} reason={problem}; {mend}");
    Ok(true)
}
