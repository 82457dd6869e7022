//! The JSON of wallets and of addresses declared as our own.
//!
//! What always holds: a wallet's key is in none of them: whoever has it sees every payment.

use super::Rendered;
use crate::domain::time::Time;
use crate::domain::wallet::{Script, WalletNetwork};
use serde::Serialize;
use serde_json::value::to_raw_value;

/// A wallet.
#[derive(Debug, Serialize)]
#[serde(tag = "object", rename = "wallet", rename_all = "camelCase")]
pub(crate) struct WalletView<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: Option<&'a str>,
    pub(crate) chain: &'static str,
    pub(crate) script: Option<Script>,
    pub(crate) network: WalletNetwork,
    pub(crate) first_index: u32,
    pub(crate) next_index: u32,
    /// How many unused addresses in a row its owner's wallet has to look past.
    pub(crate) gap_limit: u32,
    /// The first three.
    pub(crate) addresses: Vec<String>,
    /// Is it the one of its chain that hands out?
    pub(crate) hands_out: bool,
    pub(crate) created_at: Time,
    pub(crate) added_at: Time,
    pub(crate) retired_at: Option<Time>,
    pub(crate) stopped_at: Option<Time>,
    /// The highest index that something came to and that was not handed out.
    pub(crate) stopped_index: Option<u32>,
    /// Why it is stopped.
    pub(crate) problem: Option<String>,
}

/// What a key would be as a wallet.
#[derive(Debug, Serialize)]
#[serde(tag = "object", rename = "wallet_check", rename_all = "camelCase")]
pub(crate) struct WalletCheck<'a> {
    pub(crate) chain: &'static str,
    pub(crate) script: Option<Script>,
    pub(crate) network: WalletNetwork,
    /// The first three.
    pub(crate) addresses: Vec<String>,
    /// The wallet that has this key already.
    pub(crate) wallet: Option<&'a str>,
    /// The index that it would go on from.
    pub(crate) next_index: u32,
}

#[derive(Serialize)]
#[serde(tag = "object", rename = "own_address", rename_all = "camelCase")]
struct OwnAddress<'a> {
    chain: &'a str,
    address: &'a str,
    created_at: Time,
}

/// An address that was declared as our own.
///
/// # Errors
/// serde_json's, which no address causes.
pub(crate) fn own_address(chain: &str, address: &str, created_at: Time) -> Rendered {
    to_raw_value(&OwnAddress {
        chain,
        address,
        created_at,
    })
}
