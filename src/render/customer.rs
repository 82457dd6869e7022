//! JSON of a customer's addresses and of a deposit.
//!
//! Invariant: field names and their order are part of the API.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::confirmations::OnChain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{
    Asset, AssetKind, Cents, ChainFamily, Currency, Deposit, DepositStatus, Depth, Time,
};
use serde_json::value::to_raw_value;

/// Schema of a merchant's reference for a customer.
const REF: Schema = schema!({ "type": "string", "pattern": "^[A-Za-z0-9._:-]{1,120}$" });

const FAMILY: Schema = Schema::Example(|| ChainFamily::TEXTS.to_vec());

view! {
    /// A customer's static deposit addresses, one for each chain family on offer.
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
    /// Conversion of incoming coins.
    pub(crate) ConversionView {
        /// Always none: coins are not exchanged. Their value is booked at the rate of the time at which they are
        /// seen.
        provider: &'static str [schema!({ "type": "string", "const": "none" })];
        /// Currency of the bookings.
        target: Currency [schema!({ "type": "string", "const": "EUR" })];
        /// Payer of the service's fee.
        fees_paid_by: &'static str [schema!({ "type": "string", "const": "merchant" })];
    }
}

view! {
    pub(crate) FamilyAddressView<'a> {
        /// Chain family that shares the address.
        family: ChainFamily [FAMILY];
        /// Chains on which payments to the address are watched.
        chain_ids: Vec<Chain> [Schema::List(&Schema::CHAIN)];
        /// The address, which never changes.
        address: &'a str;
        /// Coins that the address accepts.
        assets: Vec<TakenAssetView>;
    }
}

view! {
    pub(crate) TakenAssetView {
        /// Asset id of the currencies list.
        id: &'static str [Schema::ASSET];
        /// Ticker symbol.
        symbol: &'static str;
        /// Chain of the coin.
        chain_id: Chain [Schema::CHAIN];
        /// Kind of the coin on its chain.
        kind: AssetKind;
    }
}

/// Returns the JSON of a customer's addresses, in the order of `addresses`. Each family has one address, with the
/// chains on which the address is valid.
pub fn addresses(reference: &str, addresses: &[(ChainFamily, Vec<Chain>, String)]) -> Rendered {
    let asset = |asset: &'static Asset| TakenAssetView {
        id: asset.id,
        symbol: asset.symbol,
        chain_id: asset.chain,
        kind: asset.kind,
    };
    let addresses = addresses.iter().map(|(family, chains, address)| FamilyAddressView {
        family: *family,
        chain_ids: chains.clone(),
        address,
        assets: family.assets().filter(|asset| chains.contains(&asset.chain)).map(asset).collect(),
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
    /// A deposit to a customer's static address.
    pub(crate) DepositView<'a> as "Deposit", object "deposit" {
        /// Deposit id.
        id: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// The merchant's own reference for the customer.
        customer: &'a str [REF] = "user-77";
        /// False when it belongs to test mode.
        livemode: bool = false;
        /// Status. A confirmed deposit is booked.
        status: DepositStatus = "confirmed";
        /// Chain family of the address.
        family: Option<ChainFamily> [FAMILY] = "utxo";
        /// Chain of the deposit.
        chain: Chain [Schema::CHAIN] = "bitcoin";
        /// Coin of the deposit.
        asset: &'static str [Schema::ASSET] = "BTC";
        /// Ticker of the coin.
        asset_symbol: &'static str = "BTC";
        /// The customer's address.
        address: &'a str = "tb1qe4q6d68k24snn697tukzvqh0s50n4jrs4ulsnu";
        /// Transaction id on the chain.
        txid: &'a str = "040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Amount in whole coins.
        amount_crypto: String = "0.001";
        /// EUR per whole coin at the time it was seen.
        rate: String = "60000";
        /// Always EUR.
        currency: Currency [schema!({ "type": "string", "const": "EUR" })] = "EUR";
        /// Value in EUR.
        gross_eur: Cents [Schema::STRING] = "60.00";
        /// Fee of the service; expected until the deposit is first confirmed.
        fee_eur: Cents [Schema::STRING] = "0.60";
        /// Net amount for the merchant: grossEur less feeEur.
        net_eur: Cents [Schema::STRING] = "59.40";
        /// Time at which it was seen, in UTC.
        created_at: Time = "2026-11-21T09:31:02.000Z";
        /// Time of its confirmation, in UTC; null while it is not confirmed.
        confirmed_at: Option<Time> = "2026-11-21T09:31:12.400Z";
        /// Confirmations, 1 for a transaction in the newest block, 0 for one in no block; null once it is confirmed
        /// or gone, and in test mode outside a sandbox.
        confirmations: Option<u32> = null;
        /// Number of confirmations that the payment needs, or final if its block must be final; null if confirmations is null.
        confirmations_needed: Option<Depth> = null;
        /// Page of the transaction in a block explorer; null on test networks and simulated chains.
        explorer_url: Option<&'a str> [Schema::Nullable(&Schema::URL)] = null;
    }
}

/// Returns the JSON of a deposit. `net` is the amount for the merchant, after the fee.
pub fn deposit(deposit: &Deposit, net: Cents, on_chain: &OnChain) -> Rendered {
    to_raw_value(&DepositView {
        id: &deposit.id,
        customer: &deposit.customer_ref,
        livemode: deposit.mode.is_live(),
        status: deposit.status,
        family: deposit.asset.chain.row().customer_family,
        chain: deposit.asset.chain,
        asset: deposit.asset.id,
        asset_symbol: deposit.asset.symbol,
        address: &deposit.address,
        txid: &deposit.txid,
        amount_crypto: deposit.asset.format_units(deposit.amount),
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
