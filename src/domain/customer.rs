//! A merchant's customer, and the families of chains; a customer has one address for each family.
//!
//! What lives here: the form of a customer's reference, and which chains and coins belong to a family. What does
//! not: where addresses come from, and what was paid to them (`deposit`). What always holds: an address that
//! belongs to a customer belongs to that customer for ever.

use super::asset::{ASSETS, Asset, Mode};
use super::chain::{CHAINS, Chain, Row};
use super::refusal::Refusal;
use super::text_enum::text_enum;
use super::time::Time;

/// What a reference may be, for the document.
pub const REF_PATTERN: &str = "^[A-Za-z0-9._:-]{1,120}$";

/// The longest reference, in characters.
pub const REF_CHARS_MAX: usize = 120;

text_enum! {
    /// Chains that share one customer's address.
    pub enum Family {
        /// Solana.
        Solana = "solana",
        /// All EVM chains together.
        Evm = "evm",
        /// Tron.
        Tron = "tron",
        /// Bitcoin: each utxo chain would need an address of its own, and customers have one.
        Utxo = "utxo",
    }
}

impl Family {
    /// The chains on which the address takes money: they share one pool.
    pub fn chains(self) -> impl Iterator<Item = Chain> {
        let takes = move |row: &&&Row| row.customers == Some(self);
        CHAINS.iter().filter(takes).map(|row| row.chain)
    }

    /// The chain whose encoding the address has.
    pub const fn chain(self) -> Chain {
        match self {
            Family::Solana => Chain::Solana,
            Family::Evm => Chain::Ethereum,
            Family::Tron => Chain::Tron,
            Family::Utxo => Chain::Bitcoin,
        }
    }

    /// The family of a chain; none for chains on which customers have no address.
    pub const fn of(chain: Chain) -> Option<Family> {
        chain.row().customers
    }

    /// The coins that the address takes.
    pub fn assets(self) -> impl Iterator<Item = &'static Asset> {
        ASSETS
            .iter()
            .filter(move |asset| Family::of(asset.chain) == Some(self))
    }
}

/// A customer of a merchant's.
#[derive(Clone, Debug)]
pub struct Customer {
    /// Order of insertion.
    pub seq: i64,
    /// Whose customer.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// The merchant's own name for the customer.
    pub reference: String,
    /// When the customer was first heard of.
    pub created_at: Time,
}

/// A reference as it may be: 1 to 120 letters, digits, `.`, `_`, `:` and `-`.
///
/// # Errors
/// `invalid_request` for anything else.
pub fn check_ref(text: &str) -> Result<(), Refusal> {
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
    use super::{Chain, Family, check_ref};

    #[test]
    fn the_chains_of_a_family_share_one_pool() {
        for family in Family::ALL {
            let pool = family.chain().address_pool();
            let shared = |chain: &Chain| chain.address_pool() == pool;
            assert!(family.chains().all(|chain| shared(&chain)), "{family}");
            assert!(
                family.chains().any(|chain| chain == family.chain()),
                "{family}"
            );
        }
    }

    #[test]
    fn references_are_told_from_what_looks_like_them() {
        let longest = "a".repeat(120);
        for text in ["a", "Z9", "user:7_b.c-d", "..", &longest] {
            assert!(check_ref(text).is_ok(), "{text}");
        }
        let longer = "a".repeat(121);
        for text in ["", " ", "a b", "a/b", "ä", "a\n", "a%20", &longer] {
            assert!(check_ref(text).is_err(), "{text}");
        }
    }
}
