//! Compares wallets with the results of other programs for the same keys.

use super::descriptor::checksum;
use super::{
    ScriptType, Wallet, WalletHints, WalletNetwork, WalletSecret, find_wallet_chain, read,
};
use crate::domain::asset::Chain;
use crate::domain::refusal::Refusal;
use serde_json::Value;

mod random;
mod refused;

/// Test vectors of independent libraries for the well-known test phrase.
const VECTORS: &str = include_str!("tests/vectors.json");

/// Key of the account m/84'/0'/0' of the test phrase, as wallets export it.
const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const XPUB: &str = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";

fn vectors() -> Vec<Value> {
    serde_json::from_str(VECTORS).unwrap()
}

fn text_field<'a>(vector: &'a Value, field: &str) -> Option<&'a str> {
    vector[field].as_str()
}

fn text_list_field(vector: &Value, field: &str) -> Vec<String> {
    serde_json::from_value(vector[field].clone()).unwrap()
}

/// Returns the hints of a request with this script and network.
fn hints(script: Option<&str>, network: Option<&str>) -> WalletHints {
    WalletHints {
        script: script.map(|script| script.parse().unwrap()),
        network: network.map(|network| network.parse().unwrap()),
    }
}

fn first_three_addresses(wallet: &Wallet) -> Vec<String> {
    let branch = wallet.receiving_branch().unwrap();
    (0..3).map(|index| branch.derive_address(index).unwrap().address).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn wallets_derive_the_addresses_of_every_vector() {
    for vector in vectors() {
        let name = text_field(&vector, "name").unwrap();
        let chain = find_wallet_chain(text_field(&vector, "chain").unwrap()).unwrap();
        let said = hints(text_field(&vector, "script"), text_field(&vector, "network"));
        let wallet = read(chain, text_field(&vector, "key").unwrap(), &said).unwrap();
        assert_eq!(first_three_addresses(&wallet), text_list_field(&vector, "addresses"), "{name}");
        let keys = (0..).zip(text_list_field(&vector, "pubkeys"));
        for (index, expected) in keys {
            let key = wallet.key.child_key(0).unwrap().child_key(index).unwrap().key;
            assert_eq!(hex(&key), expected, "{name} {index}");
        }
        let networks = match said.network {
            None => WalletNetwork::Any,
            Some(network) => network,
        };
        assert_eq!(wallet.network, networks, "{name}");
        // `plain` is the same key with the version `xpub`. With the script type of the request, both texts give the
        // same wallet.
        let is_main = said.network.is_none_or(|network| network == WalletNetwork::Main);
        if let Some(plain) = text_field(&vector, "plain").filter(|_| is_main) {
            assert_eq!(read(chain, plain, &said).unwrap(), wallet, "{name}");
        }
    }
}

#[test]
fn script_of_each_address_matches_its_output() {
    for vector in vectors() {
        let chain = find_wallet_chain(text_field(&vector, "chain").unwrap()).unwrap();
        let said = hints(text_field(&vector, "script"), text_field(&vector, "network"));
        let wallet = read(chain, text_field(&vector, "key").unwrap(), &said).unwrap();
        let derived = wallet.receiving_branch().unwrap().derive_address(0).unwrap();
        let begins = match wallet.script {
            None => "",
            Some(ScriptType::Pkh) => "76a914",
            Some(ScriptType::ShWpkh) => "a914",
            Some(ScriptType::Wpkh) => "0014",
            Some(ScriptType::Tr) => "5120",
        };
        assert_eq!(derived.script.is_some(), wallet.script.is_some());
        let script = hex(&derived.script.unwrap_or_default());
        assert!(script.starts_with(begins), "{} {script}", derived.address);
    }
}

#[test]
fn key_version_gives_script_and_network() {
    let of = |chain, text: &str| {
        read(chain, text, &WalletHints::default()).map(|wallet| (wallet.script, wallet.network))
    };
    for vector in vectors() {
        let chain = find_wallet_chain(text_field(&vector, "chain").unwrap()).unwrap();
        let key = text_field(&vector, "key").unwrap();
        let is_plain = ["xpub", "tpub", "ttub"].contains(&&key[..4]);
        let found = of(chain, key);
        if is_plain && chain.has_outputs() {
            let refused: Refusal = found.unwrap_err();
            assert_eq!(refused.param.as_deref(), Some("script"));
            assert!(refused.message.contains("pkh, sh-wpkh, wpkh, tr"));
        } else {
            let (script, network) = found.unwrap();
            let name = text_field(&vector, "name").unwrap();
            assert_eq!(script.map(ScriptType::as_str), text_field(&vector, "script"), "{name}");
            let named = text_field(&vector, "network").unwrap_or("any");
            let expected = named.replace("regtest", "test");
            assert_eq!(network.as_str(), expected, "{name}");
        }
    }
    // Dogecoin has one script type only, so a key without a script type is enough.
    assert_eq!(of(Chain::Dogecoin, XPUB), Ok((Some(ScriptType::Pkh), WalletNetwork::Main)));
}

#[test]
fn descriptor_is_read_with_origin_path_and_checksum() {
    // This is the example of BIP 380.
    assert_eq!(checksum("raw(deadbeef)").as_deref(), Some("89f8spxm"));
    let wallet = |text: &str| read(Chain::Bitcoin, text, &WalletHints::default());
    for (before, after, script) in [
        ("pkh(", ")", ScriptType::Pkh),
        ("wpkh(", ")", ScriptType::Wpkh),
        ("sh(wpkh(", "))", ScriptType::ShWpkh),
        ("tr(", ")", ScriptType::Tr),
    ] {
        for origin in ["", "[73c5da0a/84h/0h/0h]", "[73C5DA0A/84'/0H/0'/7]", "[73c5da0a]"] {
            for path in ["/0/*", "/<0;1>/*"] {
                let body = format!("{before}{origin}{XPUB}{path}{after}");
                let with_sum = format!("{body}#{}", checksum(&body).unwrap());
                for text in [&body, &with_sum, &format!(" {with_sum}\n")] {
                    let read = wallet(text).unwrap();
                    assert_eq!(read.script, Some(script), "{text}");
                    assert_eq!(read.key, wallet(ZPUB).unwrap().key, "{text}");
                }
                let wrong = format!("{body}#qqqqqqqq");
                let refused = wallet(&wrong).unwrap_err();
                assert!(refused.message.contains("checksum"), "{}", refused.message);
            }
        }
    }
    assert_eq!(
        first_three_addresses(&wallet(&format!("wpkh({XPUB}/0/*)")).unwrap()),
        first_three_addresses(&wallet(ZPUB).unwrap())
    );
}

#[test]
fn wallet_is_valid_only_on_networks_of_its_addresses() {
    for (network, chain, agrees) in [
        (WalletNetwork::Main, Chain::Bitcoin, &["main"][..]),
        (WalletNetwork::Test, Chain::Bitcoin, &["test", "testnet4", "signet"]),
        (WalletNetwork::Regtest, Chain::Litecoin, &["regtest"]),
        (WalletNetwork::Any, Chain::Base, &["8453", "84532"]),
        (WalletNetwork::Any, Chain::Tron, &["mainnet", "shasta", "nile"]),
    ] {
        let (main, tests) = chain.row().networks;
        for name in std::iter::once(&main).chain(tests) {
            let expected = agrees.contains(name);
            assert_eq!(
                network.includes_node_network(chain, name),
                expected,
                "{network} {chain} {name}"
            );
        }
    }
}

#[test]
fn every_unhardened_index_has_an_address() {
    let branch =
        read(Chain::Bitcoin, ZPUB, &WalletHints::default()).unwrap().receiving_branch().unwrap();
    assert!(branch.derive_address(super::INDEX_END - 1).is_some());
    assert_eq!(branch.derive_address(super::INDEX_END), None);
    assert_eq!(branch.derive_address(u32::MAX), None);
}

#[test]
fn names_of_secrets_are_not_detected_as_secrets() {
    for secret in WalletSecret::ALL {
        assert_eq!(WalletSecret::find_in_text(secret.as_str()), None);
    }
}
