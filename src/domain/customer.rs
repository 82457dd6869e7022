//! A merchant's customers. A customer has one address for each family of chains.
//!
//! Invariant: an address of a customer never becomes an address of another customer.

use super::asset::{ASSETS, Asset, Mode};
use super::chain::{CHAINS, Chain, ChainFamily, ChainRow};
use super::refusal::Refusal;
use super::time::Time;

/// Pattern of a customer's reference, for the API description.
pub const REF_PATTERN: &str = "^[A-Za-z0-9._:-]{1,120}$";

/// Longest customer's reference, in characters.
pub const REF_CHARS_MAX: usize = 120;

impl ChainFamily {
    /// Returns the chains of the family. All of them share one address pool.
    pub fn chains(self) -> impl Iterator<Item = Chain> {
        let takes = move |row: &&&ChainRow| row.customer_family == Some(self);
        CHAINS.iter().filter(takes).map(|row| row.chain)
    }

    /// Returns the chain whose address encoding the family uses.
    pub const fn encoding_chain(self) -> Chain {
        match self {
            ChainFamily::Solana => Chain::Solana,
            ChainFamily::Evm => Chain::Ethereum,
            ChainFamily::Tron => Chain::Tron,
            ChainFamily::Utxo => Chain::Bitcoin,
        }
    }

    /// Returns the coins that an address of the family accepts.
    pub fn assets(self) -> impl Iterator<Item = &'static Asset> {
        ASSETS.iter().filter(move |asset| asset.chain.row().customer_family == Some(self))
    }
}

/// A customer of a merchant.
#[derive(Clone, Debug)]
pub struct Customer {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// `seq` of the merchant's account.
    pub account: i64,
    /// Mode: live or test.
    pub mode: Mode,
    /// The merchant's reference for the customer.
    pub reference: String,
    /// Time of the first request with this customer's reference.
    pub created_at: Time,
}

/// Checks a customer's reference: 1 to 120 letters, digits, `.`, `_`, `:` and `-`.
///
/// # Errors
///
/// `invalid_request` for any other text.
pub fn check_reference(text: &str) -> Result<(), Refusal> {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-');
    if (1..=REF_CHARS_MAX).contains(&text.len()) && text.bytes().all(plain) {
        Ok(())
    } else {
        Err(Refusal::field(
            "ref",
            format!("must have 1 to {REF_CHARS_MAX} letters, digits, '.', '_', ':' or '-'"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, ChainFamily, check_reference};

    #[test]
    fn chains_of_a_family_share_one_pool() {
        for family in ChainFamily::ALL {
            let pool = family.encoding_chain().address_pool();
            let shared = |chain: &Chain| chain.address_pool() == pool;
            assert!(family.chains().all(|chain| shared(&chain)), "{family}");
            assert!(family.chains().any(|chain| chain == family.encoding_chain()), "{family}");
        }
    }

    #[test]
    fn malformed_references_are_refused() {
        let longest = "a".repeat(120);
        for text in ["a", "Z9", "user:7_b.c-d", "..", &longest] {
            assert!(check_reference(text).is_ok(), "{text}");
        }
        let longer = "a".repeat(121);
        for text in ["", " ", "a b", "a/b", "ä", "a\n", "a%20", &longer] {
            assert!(check_reference(text).is_err(), "{text}");
        }
    }
}
