//! Lists the addresses that a wallet has handed out, with their received amounts, as CSV for sweeping.
//!
//! Invariant: the list is read in pages, so a long list does not delay other requests.

use super::find;
use crate::domain::{Asset, Overflow, Units};
use crate::service::{Error, Service};
use crate::store::Reader;
use crate::store::wallets::{self, FundedAddress, WalletRow};

const PAGE_ADDRESSES: u32 = 500;

/// Header line of the CSV list of addresses.
pub const ADDRESSES_HEADER: &str = "path,address,coin,amount,wallet\r\n";

impl Service {
    /// Returns the next lines of a wallet's list of addresses, starting at an index, and the next index. Returns
    /// `None` at the end. The caller needs a thread that can block.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub fn wallet_addresses(
        &self,
        id: &str,
        funded: bool,
        from: u32,
    ) -> Result<Option<(String, u32)>, Error> {
        self.read(|db| address_lines(db, &find(db, id)?, funded, from))
    }
}

/// An address that was handed out, and the amount that it received in one coin.
pub struct AddressReceipt {
    /// Index of the address in the wallet. The derivation path is m/0/index.
    pub index: u32,
    /// Address that was handed out.
    pub address: String,
    /// ID of the coin, and the received amount as a plain decimal, without dropped payments. `None` if nothing was
    /// received.
    pub received: Option<(&'static str, String)>,
}

/// Same as [`list_handed_out_addresses`], but returns lines of CSV.
fn address_lines(
    db: &Reader<'_>,
    row: &WalletRow,
    funded: bool,
    from: u32,
) -> Result<Option<(String, u32)>, Error> {
    let next = list_handed_out_addresses(db, row, funded, from)?;
    Ok(next.map(|(all, behind)| (to_csv(row, &all), behind)))
}

/// Returns addresses of a wallet as lines of CSV.
pub fn to_csv(row: &WalletRow, all: &[AddressReceipt]) -> String {
    let lines = all.iter().map(|one| {
        let AddressReceipt { index, address, .. } = one;
        let came = one.received.as_ref();
        let (coin, amount) = came.map_or(("", ""), |(coin, amount)| (coin, amount.as_str()));
        format!("m/0/{index},{address},{coin},{amount},{}\r\n", row.id)
    });
    lines.collect()
}

/// Returns the next addresses of a wallet, starting at an index, and the next index. Returns `None` at the end.
///
/// An address with several coins has one entry for each coin. If `funded` is `true`, addresses that received nothing
/// are omitted.
pub fn list_handed_out_addresses(
    db: &Reader<'_>,
    row: &WalletRow,
    funded: bool,
    from: u32,
) -> Result<Option<(Vec<AddressReceipt>, u32)>, Error> {
    let rows = wallets::funded_addresses(db, row, from, PAGE_ADDRESSES)?;
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    let behind = last.index.saturating_add(1);
    let mut all = Vec::new();
    let mut rows = rows.iter().peekable();
    while let Some(FundedAddress { index, address, received: came }) = rows.next() {
        let came = match came {
            None if funded => continue,
            None => None,
            Some((asset, amount)) => {
                let mut sum = *amount;
                while let Some(more) = rows.next_if(|next| has_index_and_coin(next, *index, asset))
                {
                    let more = more.received.map_or(Units::ZERO, |(_, more)| more);
                    sum = Units(sum.0.checked_add(more.0).ok_or(Overflow)?);
                }
                Some((asset.id, asset.format_units(sum)))
            }
        };
        all.push(AddressReceipt { index: *index, address: address.clone(), received: came });
    }
    Ok(Some((all, behind)))
}

fn has_index_and_coin(next: &FundedAddress, index: u32, asset: &Asset) -> bool {
    next.index == index && next.received.is_some_and(|(other, _)| other == asset)
}
