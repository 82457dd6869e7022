//! Declares addresses as the operator's own, in the operator interface and on the command line.

use crate::domain::wallet::AddOwnAddress;
use crate::domain::{Mode, Network, Refusal, Time, address};
use crate::render::wallets::OwnAddressView;
use crate::service::{Error, Json, audit_log};
use crate::store::{Tx, own_transfers};
use serde_json::json;
use serde_json::value::to_raw_value;

/// Declares an address as the operator's own, on any network of its chain. Money from this address is not a payment.
///
/// # Errors
///
/// `invalid_request` if the text is not an address of the chain.
pub fn declare_own_address(
    tx: &Tx<'_>,
    actor: &str,
    body: &AddOwnAddress,
    now: Time,
) -> Result<Json, Error> {
    let (_, address) = address::parse_on_any_network(body.chain, &Network::BOTH, &body.address)
        .map_err(|problem| Refusal::field("address", format!("is {problem}")))?;
    let pool = body.chain.address_pool();
    if own_transfers::declare_own_address(tx, Mode::Live, body.chain, &address, now)? {
        let detail = json!({ "chain": pool });
        audit_log::record(tx, now, actor, "own_address.add", None, Some(&address), &detail)?;
    }
    Ok(to_raw_value(&OwnAddressView { chain: pool, address: &address, created_at: now })?)
}
