//! Compares with signatures that the crate `bitcoin` makes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use super::super::transaction::TxOutput;
use super::SignedTransaction;
use bitcoin::absolute::LockTime;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use bitcoin::key::{Keypair, TapTweak};
use bitcoin::script::PushBytesBuf;
use bitcoin::secp256k1::{Message, Secp256k1, SecretKey};
use bitcoin::sighash::{EcdsaSighashType, Prevouts, SighashCache, TapSighashType};
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, CompressedPublicKey, OutPoint, PublicKey, ScriptBuf, Sequence, Transaction, TxIn,
    TxOut, Txid, Witness, ecdsa, taproot,
};

/// Returns outputs of one key, one of each kind.
fn outputs_of_key(pair: &Keypair) -> Vec<TxOut> {
    let secp = Secp256k1::new();
    let key = PublicKey::new(pair.public_key());
    let program = ScriptBuf::new_p2wpkh(&CompressedPublicKey(pair.public_key()).wpubkey_hash());
    let scripts = [
        ScriptBuf::new_p2pkh(&key.pubkey_hash()),
        program.clone(),
        ScriptBuf::new_p2sh(&program.script_hash()),
        ScriptBuf::new_p2tr(&secp, pair.x_only_public_key().0, None),
    ];
    let output = |(amount, script_pubkey): (u64, ScriptBuf)| TxOut {
        value: Amount::from_sat(amount * 100_000),
        script_pubkey,
    };
    (1..).zip(scripts).map(output).collect()
}

/// Returns a transaction of four inputs, one of each kind, and the outputs that it spends.
fn signed_transaction() -> (Transaction, Vec<TxOut>) {
    let secp = Secp256k1::new();
    let secret = SecretKey::from_slice(&[7; 32]).unwrap();
    let pair = Keypair::from_secret_key(&secp, &secret);
    let key = PublicKey::new(pair.public_key());
    let spent = outputs_of_key(&pair);
    let program = spent[1].script_pubkey.clone();
    let input = |index: u32| TxIn {
        previous_output: OutPoint { txid: Txid::from_byte_array([9; 32]), vout: index },
        script_sig: ScriptBuf::new(),
        sequence: Sequence(0xffff_fffd - index),
        witness: Witness::new(),
    };
    let mut transaction = Transaction {
        version: Version::TWO,
        lock_time: LockTime::from_consensus(77),
        input: (0..4).map(input).collect(),
        output: vec![
            TxOut {
                value: Amount::from_sat(900_000),
                script_pubkey: spent[1].script_pubkey.clone(),
            },
            TxOut { value: Amount::from_sat(50), script_pubkey: ScriptBuf::from(vec![0x6a; 300]) },
        ],
    };
    let all = EcdsaSighashType::All;
    let sign = |digest: [u8; 32]| {
        let signature = secp.sign_ecdsa(&Message::from_digest(digest), &secret);
        ecdsa::Signature { signature, sighash_type: all }
    };
    let cache = SighashCache::new(&transaction);
    let legacy = cache.legacy_signature_hash(0, &spent[0].script_pubkey, all.to_u32()).unwrap();
    let mut cache = SighashCache::new(&transaction);
    let segwit: Vec<_> = [1, 2]
        .into_iter()
        .map(|index| cache.p2wpkh_signature_hash(index, &program, spent[index].value, all).unwrap())
        .collect();
    let prevouts = Prevouts::All(&spent);
    let taproot_hash =
        cache.taproot_key_spend_signature_hash(3, &prevouts, TapSighashType::Default).unwrap();
    let tweaked = pair.tap_tweak(&secp, None).to_keypair();
    let schnorr = secp
        .sign_schnorr_no_aux_rand(&Message::from_digest(taproot_hash.to_byte_array()), &tweaked);
    let of_legacy = sign(legacy.to_byte_array());
    transaction.input[0].script_sig = bitcoin::script::Builder::new()
        .push_slice(PushBytesBuf::try_from(of_legacy.to_vec()).unwrap())
        .push_key(&key)
        .into_script();
    for (index, digest) in [1, 2].into_iter().zip(segwit) {
        transaction.input[index].witness =
            Witness::p2wpkh(&sign(digest.to_byte_array()), &pair.public_key());
    }
    transaction.input[2].script_sig = bitcoin::script::Builder::new()
        .push_slice(PushBytesBuf::try_from(program.to_bytes()).unwrap())
        .into_script();
    let signature =
        taproot::Signature { signature: schnorr, sighash_type: TapSighashType::Default };
    transaction.input[3].witness = Witness::p2tr_key_spend(&signature);
    (transaction, spent)
}

/// Returns for each input whether it is signed.
fn verdicts(transaction: &Transaction, spent: &[TxOut]) -> Vec<Option<bool>> {
    let outputs: Vec<Option<TxOutput>> = (0..)
        .zip(spent)
        .map(|(position, output)| {
            let script = output.script_pubkey.to_bytes();
            // The parser of outputs leaves such a script out.
            let is_kept = script.len() <= 40;
            is_kept.then(|| TxOutput { position, amount: output.value.to_sat(), script })
        })
        .collect();
    let raw = serialize(transaction);
    let parsed = SignedTransaction::parse(&raw).unwrap();
    (0..transaction.input.len()).map(|index| parsed.is_signed(index, &outputs)).collect()
}

#[test]
fn signatures_of_each_kind_are_valid() {
    let (transaction, spent) = signed_transaction();
    assert_eq!(verdicts(&transaction, &spent), [Some(true); 4]);
}

#[test]
fn changed_transaction_is_not_signed() {
    let (signed, spent) = signed_transaction();
    let mut other = signed.clone();
    other.output[0].value = Amount::from_sat(900_001);
    assert_eq!(verdicts(&other, &spent), [Some(false); 4]);
    let mut other = signed.clone();
    other.lock_time = LockTime::from_consensus(78);
    assert_eq!(verdicts(&other, &spent), [Some(false); 4]);
    let mut other = signed.clone();
    for input in &mut other.input {
        input.witness = Witness::new();
        input.script_sig = ScriptBuf::new();
    }
    // Without the script of the nested program and without a key path, the kind is not known.
    assert_eq!(verdicts(&other, &spent), [Some(false), Some(false), None, None]);
    // The signatures of witnesses cover the amount that is spent. That of taproot covers all of them.
    let mut others = spent.clone();
    for output in &mut others {
        output.value = Amount::from_sat(1);
    }
    let expected = [Some(true), Some(false), Some(false), Some(false)];
    assert_eq!(verdicts(&signed, &others), expected);
}

#[test]
fn output_of_an_unknown_kind_has_no_verdict() {
    let (signed, mut spent) = signed_transaction();
    for output in &mut spent {
        output.script_pubkey = ScriptBuf::from(vec![0x00, 0x20, 1, 2]);
    }
    assert_eq!(verdicts(&signed, &spent), [None; 4]);
}

#[test]
fn long_script_beside_an_output_hides_only_the_verdict_that_covers_it() {
    let (signed, mut spent) = signed_transaction();
    spent[0].script_pubkey = ScriptBuf::from(vec![0x51; 90]);
    assert_eq!(verdicts(&signed, &spent), [None, Some(true), Some(true), None]);
}
