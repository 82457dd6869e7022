//! The addresses that a wallet has handed out, and what came to each, as CSV for the owner who sweeps them.
//!
//! What always holds: it is read a page at a time, so that a list without end stops nobody.

use super::wallets::find;
use crate::domain::asset::Asset;
use crate::domain::money::Overflow;
use crate::domain::money::coin::Units;
use crate::service::{Error, Service};
use crate::store::Reader;
use crate::store::wallets::{self, FundedAddress, WalletRow};

/// Addresses of an export that are read at once.
const PAGE_ADDRESSES: u32 = 500;

/// The first line of the list of addresses.
pub const ADDRESSES_HEADER: &str = "path,address,coin,amount,wallet\r\n";

impl Service {
    /// The next lines of a wallet's addresses from an index on, and the index behind them; nothing where none follow. For
    /// a thread that may wait.
    ///
    /// # Errors
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

/// An address that was handed out, and what came to it in one coin.
pub struct Came {
    /// Its index in the wallet; its path is m/0/index.
    pub index: u32,
    /// The address.
    pub address: String,
    /// The coin's id and all that came and was not taken back, as a plain decimal; nothing where nothing came.
    pub came: Option<(&'static str, String)>,
}

/// [`addresses`] as lines of CSV.
fn address_lines(
    db: &Reader<'_>,
    row: &WalletRow,
    funded: bool,
    from: u32,
) -> Result<Option<(String, u32)>, Error> {
    let next = addresses(db, row, funded, from)?;
    Ok(next.map(|(all, behind)| (csv(row, &all), behind)))
}

/// Addresses of a wallet as lines of CSV.
pub fn csv(row: &WalletRow, all: &[Came]) -> String {
    let lines = all.iter().map(|one| {
        let Came { index, address, .. } = one;
        let came = one.came.as_ref();
        let (coin, amount) = came.map_or(("", ""), |(coin, amount)| (coin, amount.as_str()));
        format!("m/0/{index},{address},{coin},{amount},{}\r\n", row.id)
    });
    lines.collect()
}

/// The next of a wallet's addresses from an index on, and the index behind them; nothing where none follow. Addresses to
/// which several coins came are there for each; with `funded` those to which nothing came are left out.
///
/// # Errors
/// None that a caller causes.
pub fn addresses(
    db: &Reader<'_>,
    row: &WalletRow,
    funded: bool,
    from: u32,
) -> Result<Option<(Vec<Came>, u32)>, Error> {
    let rows = wallets::funded(db, row, from, PAGE_ADDRESSES)?;
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    let behind = last.index.saturating_add(1);
    let mut all = Vec::new();
    let mut rows = rows.iter().peekable();
    while let Some(FundedAddress {
        index,
        address,
        came,
    }) = rows.next()
    {
        let came = match came {
            None if funded => continue,
            None => None,
            Some((asset, amount)) => {
                let mut sum = *amount;
                while let Some(more) = rows.next_if(|next| is_of(next, *index, asset)) {
                    let more = more.came.map_or(Units::ZERO, |(_, more)| more);
                    sum = Units(sum.0.checked_add(more.0).ok_or(Overflow)?);
                }
                Some((asset.id, asset.text(sum)))
            }
        };
        all.push(Came {
            index: *index,
            address: address.clone(),
            came,
        });
    }
    Ok(Some((all, behind)))
}

/// Did this come to the same address in the same coin?
fn is_of(next: &FundedAddress, index: u32, asset: &Asset) -> bool {
    next.index == index && next.came.is_some_and(|(other, _)| other == asset)
}
