//! Compares random keys and indexes with the results of the crate `bitcoin`.

use super::{Chain, ScriptType, WalletHints, hex, read};
use bitcoin::bip32::{ChildNumber, Xpriv, Xpub};
use bitcoin::secp256k1::Secp256k1;
use bitcoin::{Address, CompressedPublicKey, Network};
use sha2::{Digest, Sha256};

const KEYS: u32 = 100;
const CHILDREN_OF_EACH: u32 = 100;

/// Returns pseudorandom bytes that are the same in each run.
fn pseudorandom_bytes(label: &str, number: u32) -> [u8; 32] {
    Sha256::digest(format!("{label} {number}")).into()
}

#[test]
fn derived_keys_equal_those_of_crate_bitcoin() {
    let secp = Secp256k1::new();
    let mut compared = 0;
    for number in 0..KEYS {
        let network = [Network::Bitcoin, Network::Testnet][usize::from(number % 2 == 1)];
        let master = Xpriv::new_master(network, &pseudorandom_bytes("seed", number)).unwrap();
        let steps = [84, 0, number].map(|step| ChildNumber::from_hardened_idx(step).unwrap());
        let account = Xpub::from_priv(&secp, &master.derive_priv(&secp, &steps).unwrap());
        let of = |script| {
            let said = WalletHints { script: Some(script), network: None };
            let wallet = read(Chain::Bitcoin, &account.to_string(), &said).unwrap();
            wallet.receiving_branch().unwrap()
        };
        let branches =
            [ScriptType::Pkh, ScriptType::ShWpkh, ScriptType::Wpkh, ScriptType::Tr].map(of);
        let receiving = account.ckd_pub(&secp, ChildNumber::Normal { index: 0 }).unwrap();
        for child in 0..CHILDREN_OF_EACH {
            let four = pseudorandom_bytes("index", number * CHILDREN_OF_EACH + child);
            let index = u32::from_be_bytes([four[0] & 0x7f, four[1], four[2], four[3]]);
            let derived = receiving.ckd_pub(&secp, ChildNumber::Normal { index }).unwrap();
            let key = CompressedPublicKey(derived.public_key);
            let expected = [
                Address::p2pkh(key, network),
                Address::p2shwpkh(&key, network),
                Address::p2wpkh(&key, network),
                Address::p2tr(&secp, derived.public_key.x_only_public_key().0, None, network),
            ];
            for (branch, expected) in branches.iter().zip(expected) {
                let ours = branch.derive_address(index).unwrap();
                assert_eq!(ours.address, expected.to_string(), "{account} {index}");
                let script = ours.script.unwrap();
                assert_eq!(hex(&script), hex(expected.script_pubkey().as_bytes()));
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 10_000);
}
