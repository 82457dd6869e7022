//! Decides whether money may be sent to an address.
//!
//! Invariant: payout addresses, destinations of transfers and imported deposit addresses pass [`reason_not_to_send`]. A
//! new row of [`CONTRACTS`] is refused without a change here.

use super::address::encoding::Encoding;
use super::address::{TOKEN_PROGRAMS, account_bytes, old_form_problem};
use super::asset::{Asset, AssetKind};
use super::chain::Chain;
use super::token::CONTRACTS;

/// Address on EVM chains to which coins are sent to destroy them.
const EVM_BURN_ADDRESS: &str = "0x000000000000000000000000000000000000dEaD";

/// Number of precompiled contracts on EVM chains, at the addresses from 1
/// (<https://ethereum.github.io/execution-specs/>).
const EVM_PRECOMPILED_MAX: u8 = 9;

/// Returns the reason why no money may be sent to an address: the end of a sentence that begins with the field's name.
///
/// `text` is the address as it was given, and `canonical` its canonical text.
pub fn reason_not_to_send(chain: Chain, text: &str, canonical: &str) -> Option<String> {
    if let Some(problem) = old_form_problem(chain, text) {
        return Some(problem.to_owned());
    }
    let what = token_contract(chain, canonical).or_else(|| unusable_address(chain, canonical))?;
    Some(format!("is {what}: coins sent to it are lost. Give an address of a wallet"))
}

/// Returns the description of a listed token's contract on any network of any chain with the same addresses.
fn token_contract(chain: Chain, canonical: &str) -> Option<String> {
    CONTRACTS.iter().filter(|row| row.address == canonical).find_map(|row| {
        let asset = Asset::find(row.asset)?;
        let word = match asset.kind {
            AssetKind::Spl => "mint",
            AssetKind::Native | AssetKind::Erc20 | AssetKind::Trc20 => "contract",
        };
        let is_of_pool = asset.chain.address_pool() == chain.address_pool();
        is_of_pool.then(|| format!("the {word} of {}", asset.id))
    })
}

/// Returns the description of an address that no wallet has. [`address::parse`](super::address::parse) refuses the
/// all-zero ones.
fn unusable_address(chain: Chain, canonical: &str) -> Option<String> {
    match chain.row().encoding {
        Encoding::Evm if canonical == EVM_BURN_ADDRESS => Some("a burn address".to_owned()),
        Encoding::Evm => {
            let [zeros @ .., number] = account_bytes(chain, canonical)?;
            let is_precompiled = zeros == [0; 19] && (1..=EVM_PRECOMPILED_MAX).contains(&number);
            is_precompiled.then(|| format!("the precompiled contract {number} of EVM chains"))
        }
        Encoding::Solana => {
            let mut programs = TOKEN_PROGRAMS.iter();
            let (_, name) = programs.find(|(address, _)| *address == canonical)?;
            Some(format!("Solana's {name}"))
        }
        Encoding::Utxo(_) | Encoding::Tron => None,
    }
}

#[cfg(test)]
mod tests {
    use super::reason_not_to_send;
    use crate::domain::address::{Network, parse_on_any_network, test_mode_address};
    use crate::domain::asset::{ASSETS, Chain};
    use crate::domain::token::CONTRACTS;

    const EVM: [Chain; 3] = [Chain::Ethereum, Chain::Base, Chain::Polygon];

    /// Returns the reason to refuse an address on a chain. `None` if the text is accepted.
    fn refused(chain: Chain, text: &str) -> Option<String> {
        match parse_on_any_network(chain, &Network::BOTH, text) {
            Ok((_, canonical)) => reason_not_to_send(chain, text, &canonical),
            Err(problem) => Some(format!("is {problem}")),
        }
    }

    #[track_caller]
    fn assert_refused(chain: Chain, text: &str, reason: &str) {
        let problem = refused(chain, text).unwrap_or_default();
        assert!(problem.contains(reason), "{chain} {text}: {problem:?}");
    }

    /// Walks every contract of every listed token on every chain: each chain with such addresses refuses it, in upper
    /// and lower case too.
    #[test]
    fn token_contract_is_refused_on_each_chain_of_its_family() {
        let tokens = ASSETS.iter().filter(|asset| asset.kind.has_contract());
        for asset in tokens {
            let rows: Vec<_> = CONTRACTS.iter().filter(|row| row.asset == asset.id).collect();
            assert!(!rows.is_empty(), "{}", asset.id);
            for (row, chain) in
                rows.iter().flat_map(|row| Chain::ALL.iter().map(move |chain| (row, *chain)))
            {
                if chain.address_pool() != asset.chain.address_pool() {
                    assert_refused(chain, row.address, "is not an address on");
                    continue;
                }
                let word = if chain == Chain::Solana { "mint" } else { "contract" };
                let reason = format!("is the {word} of {}: coins sent to it are lost", asset.id);
                assert_refused(chain, row.address, &reason);
                if let Some(digits) = row.address.strip_prefix("0x") {
                    assert_refused(chain, &format!("0x{}", digits.to_lowercase()), &reason);
                    assert_refused(chain, &format!("0x{}", digits.to_uppercase()), &reason);
                }
            }
        }
    }

    #[test]
    fn burn_addresses_and_precompiled_contracts_are_refused() {
        let zeros = "0".repeat(36);
        for chain in EVM {
            for dead in ["dEaD", "dead", "DEAD"] {
                assert_refused(chain, &format!("0x{zeros}{dead}"), "is a burn address: ");
            }
            assert_refused(chain, &format!("0x{zeros}0000"), "the all-zero address");
            for number in 1..=9 {
                let reason = format!("is the precompiled contract {number} of EVM chains: ");
                assert_refused(chain, &format!("0x{zeros}000{number}"), &reason);
            }
            for other in ["000a", "0010", "0101", "dEaE"] {
                let text = format!("0x{zeros}{}", other.to_lowercase());
                assert_eq!(refused(chain, &text), None, "{text}");
            }
        }
        assert_refused(Chain::Tron, "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", "the all-zero address");
    }

    #[test]
    fn solana_programs_are_refused() {
        for (program, name) in [
            ("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "token program"),
            ("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", "Token-2022 program"),
            ("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", "associated token program"),
            ("11111111111111111111111111111111", "system program"),
        ] {
            assert_refused(Chain::Solana, program, name);
        }
    }

    /// Bitcoin and dogecoin have script addresses of these forms, and accept them.
    #[test]
    fn old_litecoin_script_address_is_refused_with_the_form_to_give() {
        let (main, test) =
            ("3EUyNhvqZcLiNVskD2sjV9c4KMPgUsMve6", "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd");
        let problem = refused(Chain::Litecoin, main);
        let expected = "starts with 3, an old form of litecoin's script addresses: give the M or ltc1 form (it may \
                        be a bitcoin address)";
        assert_eq!(problem.as_deref(), Some(expected));
        let problem = refused(Chain::Litecoin, test);
        let expected = "starts with 2, an old form of litecoin's test script addresses: give the Q, tltc1 or \
                        rltc1 form (it may be a bitcoin address)";
        assert_eq!(problem.as_deref(), Some(expected));
        for newer in ["MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd", "QZPwZTj7CAu9iUGLWGXdBo2kg63gBauR6x"] {
            assert_eq!(refused(Chain::Litecoin, newer), None, "{newer}");
        }
        assert_eq!(refused(Chain::Bitcoin, main), None);
        assert_eq!(refused(Chain::Bitcoin, test), None);
        assert_eq!(refused(Chain::Dogecoin, test), None);
    }

    #[test]
    fn ordinary_addresses_are_accepted() {
        for chain in Chain::ALL {
            for index in 0..100 {
                let address = test_mode_address(*chain, "recipients", index);
                assert_eq!(refused(*chain, &address), None, "{chain} {address}");
            }
        }
        let by_key = ["LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez", "mzYpQmSAGYWWyTLiLGbGaG8T3rHdjNcV11"];
        for text in by_key {
            assert_eq!(refused(Chain::Litecoin, text), None, "{text}");
        }
    }
}
