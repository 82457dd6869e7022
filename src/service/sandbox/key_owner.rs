//! Account and mode to which the Idempotency-Key of a request for a simulated payment belongs.

use crate::domain::address::parse_on_any_network;
use crate::domain::fields::Fields;
use crate::domain::payment::inputs::{SandboxOutput, SandboxPayment};
use crate::domain::{Asset, Mode, Network, Observation, id};
use crate::service::Error;
use crate::service::idempotency::KeyOwner;
use crate::service::sandbox::target::address_owner;
use crate::store::addresses::{AddressOwner, find_owner};
use crate::store::{Reader, customers, invoices};
use serde_json::Value;

/// Returns the owner of the first payment in a request. Invalid fields are not reported here, but when the payment is
/// added.
pub(super) fn key_owner_of_request(db: &Reader<'_>, fields: Fields<'_>) -> Result<KeyOwner, Error> {
    let outputs = SandboxPayment::outputs(fields).unwrap_or_default().unwrap_or_default();
    let first = outputs.first().and_then(Value::as_object).map_or(fields, Fields::new);
    let of_no_account = KeyOwner { account: None, mode: Mode::Test };
    if let Ok(Some(id)) = SandboxOutput::invoice(first) {
        let invoice = id::parse(&id).map(|id| invoices::by_id(db, &id)).transpose()?;
        return Ok(invoice.flatten().map_or(of_no_account, |invoice| KeyOwner {
            account: Some(invoice.account),
            mode: invoice.mode,
        }));
    }
    let Ok(Some(address)) = SandboxOutput::address(first) else {
        return Ok(of_no_account);
    };
    let asset = SandboxOutput::asset(first).unwrap_or_default();
    let asset = asset.and_then(|id| Asset::find(&id));
    // An address can be written in several ways, so its canonical form is looked up.
    let parsed =
        asset.and_then(|asset| parse_on_any_network(asset.chain, &Network::BOTH, &address).ok());
    let canonical = parsed.map_or(address, |(_, canonical)| canonical);
    match address_owner(db, asset, &canonical)? {
        Some((mode, owner)) => Ok(KeyOwner { account: Some(account_of(db, owner)?), mode }),
        None => Ok(of_no_account),
    }
}

/// Returns the owner of a payment that was seen.
pub(super) fn key_owner_of_payment(db: &Reader<'_>, seen: &Observation) -> Result<KeyOwner, Error> {
    let owner = find_owner(db, seen.mode, seen.asset.chain, &seen.address)?;
    let account = owner.map(|owner| account_of(db, owner)).transpose()?;
    Ok(KeyOwner { account, mode: seen.mode })
}

fn account_of(db: &Reader<'_>, owner: AddressOwner) -> Result<i64, Error> {
    match owner {
        AddressOwner::Invoice(seq) => Ok(invoices::by_seq(db, seq)?.account),
        AddressOwner::Customer(seq) => Ok(customers::by_seq(db, seq)?.account),
    }
}
