//! The JSON of a customer's addresses, and of a deposit.
//!
//! What always holds: field names and their order are the interface's.

use super::Rendered;
use crate::domain::asset::{Asset, AssetKind, Chain};
use crate::domain::chain::Depth;
use crate::domain::confirmations::OnChain;
use crate::domain::customer::Family;
use crate::domain::deposit::{Deposit, DepositStatus};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use serde_json::value::to_raw_value;

/// A merchant's reference for a customer.
const REF: Schema = schema!({ "type": "string", "pattern": "^[A-Za-z0-9._:-]{1,120}$" });

/// Name of a chain family.
const FAMILY: Schema = Schema::Example(|| Family::TEXTS.to_vec());

view! {
    /// A customer's static deposit addresses, one for each chain family that is offered.
    pub(crate) CustomerAddressesView<'a> as "CustomerAddresses" {
        /// The merchant's own reference for the customer.
        customer: &'a str [REF] = "user-77";
        conversion: ConversionView = {
            "provider": "none", "target": "EUR", "feesPaidBy": "merchant"
        };
        /// One entry for each chain family.
        addresses: Vec<FamilyAddressView<'a>> = [{
            "family": "utxo", "chainIds": ["bitcoin"], "address": "tb1qe4q6d68k24snn697tukzvqh0s50n4jrs4ulsnu",
            "assets": [{ "id": "BTC", "symbol": "BTC", "chainId": "bitcoin", "kind": "native" }]
        }];
    }
}

view! {
    /// What becomes of the coins that come in.
    pub(crate) ConversionView {
        /// Who exchanges the coins: nobody, their value is booked at the rate of the moment they are seen.
        provider: &'static str [schema!({ "type": "string", "const": "none" })];
        /// Currency in which deposits are booked.
        target: Currency [schema!({ "type": "string", "const": "EUR" })];
        /// Who bears the service's fee.
        fees_paid_by: &'static str [schema!({ "type": "string", "const": "merchant" })];
    }
}

view! {
    pub(crate) FamilyAddressView<'a> {
        /// Chains that share the address.
        family: Family [FAMILY];
        /// The chains on which what the address is paid is seen; empty while none of them is watched.
        chain_ids: Vec<Chain> [Schema::List(&Schema::CHAIN)];
        /// The address; it stays with the customer for ever.
        address: &'a str;
        /// The coins that the address takes.
        assets: Vec<TakenAssetView>;
    }
}

view! {
    pub(crate) TakenAssetView {
        /// Asset id of the currencies list.
        id: &'static str [Schema::ASSET];
        /// Ticker shown to people.
        symbol: &'static str;
        /// Chain the coin lives on.
        chain_id: Chain [Schema::CHAIN];
        /// How the coin exists on its chain.
        kind: AssetKind;
    }
}

/// A customer's addresses, one for each family, in the order given, each with the chains that it may be paid on.
pub fn addresses(reference: &str, addresses: &[(Family, Vec<Chain>, String)]) -> Rendered {
    let asset = |asset: &'static Asset| TakenAssetView {
        id: asset.id,
        symbol: asset.symbol,
        chain_id: asset.chain,
        kind: asset.kind,
    };
    let addresses = addresses
        .iter()
        .map(|(family, chains, address)| FamilyAddressView {
            family: *family,
            chain_ids: chains.clone(),
            address,
            assets: family
                .assets()
                .filter(|asset| chains.contains(&asset.chain))
                .map(asset)
                .collect(),
        });
    to_raw_value(&CustomerAddressesView {
        customer: reference,
        conversion: ConversionView {
            provider: "none",
            target: Currency::Eur,
            fees_paid_by: "merchant",
        },
        addresses: addresses.collect(),
    })
}

view! {
    /// Money that came to a customer's static address.
    pub(crate) DepositView<'a> as "Deposit", object "deposit" {
        /// Deposit id.
        id: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// The merchant's own reference for the customer.
        customer: &'a str [REF] = "user-77";
        /// False when it belongs to test mode.
        livemode: bool = false;
        /// Where it stands; it is booked when it is confirmed.
        status: DepositStatus = "confirmed";
        /// Chain family of the address.
        family: Option<Family> [FAMILY] = "utxo";
        /// Chain it was seen on.
        chain: Chain [Schema::CHAIN] = "bitcoin";
        /// Coin it came in.
        asset: &'static str [Schema::ASSET] = "BTC";
        /// Ticker of the coin.
        asset_symbol: &'static str = "BTC";
        /// The customer's address it came to.
        address: &'a str = "tb1qe4q6d68k24snn697tukzvqh0s50n4jrs4ulsnu";
        /// Transaction id on the chain.
        txid: &'a str = "040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// What came, in whole coins.
        amount_crypto: String = "0.001";
        /// EUR per whole coin when it was seen.
        rate: String = "60000";
        /// Always EUR.
        currency: Currency [schema!({ "type": "string", "const": "EUR" })] = "EUR";
        /// What it is worth.
        gross_eur: Cents [Schema::STRING] = "60.00";
        /// The service's fee on it; expected, until it is confirmed for the first time.
        fee_eur: Cents [Schema::STRING] = "0.60";
        /// What is left for the merchant: grossEur less feeEur.
        net_eur: Cents [Schema::STRING] = "59.40";
        /// When it was seen, in UTC.
        created_at: Time = "2026-11-21T09:31:02.000Z";
        /// When it was confirmed, in UTC; null while it is not.
        confirmed_at: Option<Time> = "2026-11-21T09:31:12.400Z";
        /// How many blocks confirm it, its own one counted, 0 while it is in none; null once it is confirmed or
        /// gone, and where the chain is simulated.
        confirmations: Option<u32> = null;
        /// How many it needs, or final: its block has to be; null where confirmations is.
        confirmations_needed: Option<Depth> = null;
        /// Where a person looks the transaction up; null on test networks and where the chain is simulated.
        explorer_url: Option<&'a str> [Schema::Nullable(&Schema::URL)] = null;
    }
}

/// A deposit, of which `net` is left for the merchant, and how it stands on its chain.
pub fn deposit(deposit: &Deposit, net: Cents, on_chain: &OnChain) -> Rendered {
    to_raw_value(&DepositView {
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
        confirmations: on_chain.confirmations,
        confirmations_needed: on_chain.confirmations_needed,
        explorer_url: on_chain.explorer_url.as_deref(),
    })
}
