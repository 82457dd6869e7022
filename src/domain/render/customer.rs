//! The JSON of a customer's addresses, and of a deposit.
//!
//! What always holds: field names and their order are the interface's.

use super::Rendered;
use crate::domain::asset::{Asset, AssetKind, Chain};
use crate::domain::confirmations::OnChain;
use crate::domain::customer::Family;
use crate::domain::deposit::{Deposit, DepositStatus};
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::to_raw_value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddressesView<'a> {
    customer: &'a str,
    conversion: Conversion,
    addresses: Vec<FamilyView<'a>>,
}

/// What becomes of the coins: they are kept, and told in EUR.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Conversion {
    provider: &'static str,
    target: Currency,
    fees_paid_by: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FamilyView<'a> {
    family: Family,
    chain_ids: Vec<Chain>,
    address: &'a str,
    assets: Vec<AssetView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssetView {
    id: &'static str,
    symbol: &'static str,
    chain_id: Chain,
    kind: AssetKind,
}

/// A customer's addresses, one for each family, in the order given, each with the chains that it may be paid on.
pub fn addresses(reference: &str, addresses: &[(Family, Vec<Chain>, String)]) -> Rendered {
    let asset = |asset: &'static Asset| AssetView {
        id: asset.id,
        symbol: asset.symbol,
        chain_id: asset.chain,
        kind: asset.kind,
    };
    let addresses = addresses
        .iter()
        .map(|(family, chains, address)| FamilyView {
            family: *family,
            chain_ids: chains.clone(),
            address,
            assets: family
                .assets()
                .filter(|asset| chains.contains(&asset.chain))
                .map(asset)
                .collect(),
        });
    to_raw_value(&AddressesView {
        customer: reference,
        conversion: Conversion {
            provider: "none",
            target: Currency::Eur,
            fees_paid_by: "merchant",
        },
        addresses: addresses.collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DepositView<'a> {
    object: &'static str,
    id: &'a str,
    customer: &'a str,
    livemode: bool,
    status: DepositStatus,
    family: Option<Family>,
    chain: Chain,
    asset: &'static str,
    asset_symbol: &'static str,
    address: &'a str,
    txid: &'a str,
    amount_crypto: String,
    rate: String,
    currency: Currency,
    gross_eur: Cents,
    fee_eur: Cents,
    net_eur: Cents,
    created_at: Time,
    confirmed_at: Option<Time>,
    #[serde(flatten)]
    on_chain: &'a OnChain,
}

/// A deposit, of which `net` is left for the merchant, and how it stands on its chain.
pub fn deposit(deposit: &Deposit, net: Cents, on_chain: &OnChain) -> Rendered {
    to_raw_value(&DepositView {
        object: "deposit",
        id: &deposit.id,
        customer: &deposit.customer_ref,
        livemode: deposit.mode.is_live(),
        status: deposit.status,
        family: Family::of(deposit.asset.chain),
        chain: deposit.asset.chain,
        asset: deposit.asset.id,
        asset_symbol: deposit.asset.symbol,
        address: &deposit.address,
        txid: &deposit.txid,
        amount_crypto: deposit.asset.text(deposit.amount),
        rate: deposit.quoted.rate.to_string(),
        currency: Currency::Eur,
        gross_eur: deposit.gross,
        fee_eur: deposit.fee,
        net_eur: net,
        created_at: deposit.created_at,
        confirmed_at: deposit.confirmed_at,
        on_chain,
    })
}
