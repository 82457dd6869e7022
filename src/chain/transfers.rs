//! Transfers from one account to another, on EVM chains and Tron. Selects the transfers that pay a watched account.

use super::evm::hex::{Account, Number};
use super::{ReceivedOutput, WatchTargets};
use crate::domain::address::account_address;
use crate::domain::asset::Chain;
use crate::domain::{Asset, InputSource, Units};
use std::fmt::Display;

/// An amount that one account sent to another, in the smallest unit of the coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    pub from: Account,
    pub to: Account,
    pub amount: Number,
}

/// The coins and accounts whose transfers are read from blocks.
pub(super) struct TransferFilter<'a> {
    pub chain: Chain,
    /// Native coin of the chain; `None` if Coffer does not list it.
    pub native: Option<&'static Asset>,
    /// Contract and coin of each listed token.
    pub tokens: &'a [(Account, &'static Asset)],
    pub watched: &'a dyn WatchTargets,
}

pub(super) fn have_all_received_native_coins(
    native: Option<&'static Asset>,
    received: &[ReceivedOutput],
    addresses: &[String],
) -> bool {
    addresses.iter().all(|to| {
        let mut received = received.iter();
        received.any(|one| Some(one.asset) == native && one.address == *to)
    })
}

impl TransferFilter<'_> {
    pub fn find_token(&self, contract: Account) -> Option<&'static Asset> {
        let mut tokens = self.tokens.iter();
        let token = tokens.find(|(address, _)| *address == contract);
        token.map(|(_, asset)| *asset)
    }

    /// Returns the payment that a transfer makes to a watched account.
    ///
    /// A zero amount is not a payment. An amount of more than 128 bits is ignored, because no coin has that many
    /// units.
    pub fn watched_payment(
        &self,
        asset: &'static Asset,
        txid: impl Display,
        position: u32,
        transfer: Transfer,
    ) -> Option<ReceivedOutput> {
        let Transfer { from, to, amount } = transfer;
        if !self.watched.has_account(&to.0) || amount.is_zero() {
            return None;
        }
        let address = account_address(self.chain, &to.0)?;
        let Some(amount) = amount.to_u128() else {
            let id = asset.id;
            log::warn!(
                "transfer ignored, amount above 128 bits: coin={id} address={address} txid={txid}"
            );
            return None;
        };
        // `None` for the zero account, which is the sender when a contract creates new tokens.
        let from = account_address(self.chain, &from.0);
        Some(ReceivedOutput {
            asset,
            txid: txid.to_string(),
            position,
            address,
            amount: Units(amount),
            first_seen: None,
            spends: from.into_iter().map(InputSource::Address).collect(),
        })
    }
}
