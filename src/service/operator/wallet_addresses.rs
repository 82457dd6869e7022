//! The addresses that a wallet has handed out, and what came to each, as CSV for the owner who sweeps them.
//!
//! What always holds: it is read a page at a time, so that a list without end stops nobody.

use super::wallets::find;
use crate::domain::asset::Asset;
use crate::domain::money::Overflow;
use crate::domain::money::coin::Units;
use crate::service::{Error, Service};
use crate::store::Reader;
use crate::store::wallets::{self, Funded, WalletRow};

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

/// The next lines of a wallet's addresses from an index on, and the index behind them; nothing where none follow. Amounts
/// are all that came and was not taken back; with `funded` addresses to which nothing came are left out.
///
/// # Errors
/// None that a caller causes.
pub fn address_lines(
    db: &Reader<'_>,
    row: &WalletRow,
    funded: bool,
    from: u32,
) -> Result<Option<(String, u32)>, Error> {
    let rows = wallets::funded(db, row, from, PAGE_ADDRESSES)?;
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    let behind = last.index.saturating_add(1);
    let mut lines = String::new();
    let mut rows = rows.iter().peekable();
    while let Some(Funded {
        index,
        address,
        came,
    }) = rows.next()
    {
        let (coin, amount) = match came {
            None if funded => continue,
            None => ("", String::new()),
            Some((asset, amount)) => {
                let mut sum = *amount;
                while let Some(more) = rows.next_if(|next| is_of(next, *index, asset)) {
                    let more = more.came.map_or(Units::ZERO, |(_, more)| more);
                    sum = Units(sum.0.checked_add(more.0).ok_or(Overflow)?);
                }
                (asset.id, asset.text(sum))
            }
        };
        lines.push_str(&format!(
            "m/0/{index},{address},{coin},{amount},{}\r\n",
            row.id
        ));
    }
    Ok(Some((lines, behind)))
}

/// Did this come to the same address in the same coin?
fn is_of(next: &Funded, index: u32, asset: &Asset) -> bool {
    next.index == index && next.came.is_some_and(|(other, _)| other == asset)
}
