//! Tests of sandbox addresses: they are valid, distinct, stable, and never valid on a main network.

use std::collections::HashSet;

use super::Chain::{Base, Bitcoin, Dogecoin, Ethereum, Litecoin, Polygon, Solana, Tron};
use super::Network::{Main, Test};
use super::vectors::all_chain_networks;
use super::{assert_accepted, assert_refused, test_mode_address};

#[test]
fn test_mode_addresses_are_canonical_and_distinct() {
    for (chain, network) in all_chain_networks().filter(|(_, network)| *network == Test) {
        let mut seen = HashSet::new();
        for label in ["", "a", "a1", "invoice", "\u{5ba2}"] {
            for index in [0, 1, 2, 10, 255, 256, u64::MAX] {
                let text = test_mode_address(chain, label, index);
                assert_accepted((chain, network), &text, &text);
                assert!(seen.insert(text), "{chain:?} {label} {index}");
            }
        }
    }
}

/// The address for a label and an index must never change. The expected addresses were computed in Python.
#[test]
fn test_mode_addresses_never_change() {
    let evm = "0x8C5284132c3C174Ef8896A2Ce0260E7522cD8f65";
    assert_eq!(
        test_mode_address(Bitcoin, "label", 7),
        "tb1q33fggyev8st5a7yfdgkwqfsww53vmrm90hsn3v"
    );
    assert_eq!(
        test_mode_address(Litecoin, "label", 7),
        "tltc1q33fggyev8st5a7yfdgkwqfsww53vmrm9kljdp9"
    );
    assert_eq!(test_mode_address(Dogecoin, "label", 7), "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV");
    assert_eq!(
        [Ethereum, Base, Polygon].map(|chain| test_mode_address(chain, "label", 7)),
        [evm; 3]
    );
    assert_eq!(test_mode_address(Tron, "label", 7), "TNmATDp8AS9HSWEwgCrrafwG5crHCXdTCG");
    assert_eq!(
        test_mode_address(Solana, "label", 7),
        "ASm4Cdjzsgvj83Rr2ciapbspqeGGtDy3Kj2HE7j1oJkK"
    );
}

#[test]
fn utxo_test_mode_addresses_are_refused_on_main_networks() {
    for chain in [Bitcoin, Litecoin, Dogecoin] {
        assert_refused((chain, Main), &test_mode_address(chain, "label", 7));
    }
}
