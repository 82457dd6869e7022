//! Verifies the signatures of a transaction, for outputs of one key (BIP 143, BIP 341, and the format before them).
//!
//! A server may invent an unconfirmed transaction, whose id is the hash of its bytes, too. Only the owner of an output
//! can sign a transaction that spends it.

use super::hex::double_sha256;
use super::transaction::{TxOutput, TxReader};
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use k256::{ecdsa, schnorr};
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};

/// Signature hash type of a signature for all inputs and outputs.
const ALL: u8 = 1;
/// Bytes of a pay-to-public-key-hash script before and after the hash of the key.
const P2PKH_START: [u8; 3] = [0x76, 0xa9, 0x14];
const P2PKH_END: [u8; 2] = [0x88, 0xac];
/// Bytes of a pay-to-witness-public-key-hash script before the hash of the key.
const P2WPKH_START: [u8; 2] = [0x00, 0x14];
/// Bytes of a pay-to-script-hash script before the hash of the script. One more byte follows.
const P2SH_START: [u8; 2] = [0xa9, 0x14];
/// Bytes of a taproot script before the key.
const P2TR_START: [u8; 2] = [0x51, 0x20];

/// All parts of a serialized transaction that its signatures cover.
pub(super) struct SignedTransaction<'a> {
    version: [u8; 4],
    pub inputs: Vec<SignedInput<'a>>,
    /// Serialized outputs, without their number.
    outputs: &'a [u8],
    lock_time: [u8; 4],
    /// Number of outputs, as it is serialized.
    output_count: &'a [u8],
}

pub(super) struct SignedInput<'a> {
    /// Id of the spent transaction, then the index of the spent output, as they are serialized.
    pub outpoint: &'a [u8],
    script: &'a [u8],
    sequence: &'a [u8],
    witness: Vec<&'a [u8]>,
}

impl<'a> SignedTransaction<'a> {
    /// Parses a transaction; `None` if it is malformed, or has an extension of litecoin.
    pub(super) fn parse(raw: &'a [u8]) -> Option<SignedTransaction<'a>> {
        let mut rest = TxReader(raw);
        let version = rest.take_array()?;
        let has_witness = rest.0.starts_with(&[0, 1]);
        if has_witness {
            rest.take_bytes(2)?;
        }
        let mut inputs = Vec::new();
        for _ in 0..rest.read_varint()? {
            let outpoint = rest.take_bytes(36)?;
            let script = rest.read_script()?;
            let sequence = rest.take_bytes(4)?;
            inputs.push(SignedInput { outpoint, script, sequence, witness: Vec::new() });
        }
        let from = rest.0;
        let count = rest.read_varint()?;
        let output_count = from.get(..from.len().checked_sub(rest.0.len())?)?;
        let from = rest.0;
        for _ in 0..count {
            rest.take_bytes(8)?;
            rest.read_script()?;
        }
        let outputs = from.get(..from.len().checked_sub(rest.0.len())?)?;
        for input in inputs.iter_mut().filter(|_| has_witness) {
            for _ in 0..rest.read_varint()? {
                input.witness.push(rest.read_script()?);
            }
        }
        let lock_time = rest.take_array()?;
        let is_whole = rest.0.is_empty();
        is_whole.then_some(SignedTransaction { version, inputs, outputs, lock_time, output_count })
    }

    /// Returns `true` if the signature of an input is valid, and `false` if it is not. `None` if the kind of the spent
    /// output is not known. `spent` has the outputs that the inputs spend, in their order.
    pub(super) fn is_signed(&self, index: usize, spent: &[Option<TxOutput>]) -> Option<bool> {
        let input = self.inputs.get(index)?;
        let output = spent.get(index).filter(|_| spent.len() == self.inputs.len())?.as_ref()?;
        let script = output.script.as_slice();
        if let Some(key) = script.strip_prefix(&P2TR_START).filter(|key| key.len() == 32) {
            // A script path has more than one element.
            let [signature] = input.witness.as_slice() else { return None };
            return self.is_signed_by_taproot_key(index, spent, key, signature);
        }
        if let Some(hash) = script.strip_prefix(&P2WPKH_START).filter(|hash| hash.len() == 20) {
            let [signature, key] = input.witness.as_slice() else { return Some(false) };
            let digest = |hash_type| self.segwit_digest(index, hash, output.amount, hash_type);
            return is_signed_by(hash, key, signature, digest);
        }
        if let Some(hash) = script.strip_prefix(&P2SH_START).and_then(|rest| rest.get(..20))
            && script.len() == 23
        {
            // Only a nested pay-to-witness-public-key-hash is known.
            let program = input.script.strip_prefix(&[22])?;
            let key_hash = program.strip_prefix(&P2WPKH_START).filter(|hash| hash.len() == 20)?;
            if hash160(program) != hash {
                return Some(false);
            }
            let [signature, key] = input.witness.as_slice() else { return Some(false) };
            let digest = |hash_type| self.segwit_digest(index, key_hash, output.amount, hash_type);
            return is_signed_by(key_hash, key, signature, digest);
        }
        let hash = script.strip_prefix(&P2PKH_START)?.strip_suffix(&P2PKH_END)?;
        let mut pushed = TxReader(input.script);
        let parts = pushed.read_script().zip(pushed.read_script());
        let Some((signature, key)) = parts.filter(|_| pushed.0.is_empty()) else {
            return Some(false);
        };
        let digest = |hash_type| self.legacy_digest(index, script, hash_type);
        is_signed_by(hash, key, signature, digest)
    }

    /// Returns the digest that a signature of BIP 143 signs, for a public key with this hash.
    fn segwit_digest(&self, index: usize, key_hash: &[u8], amount: u64, hash_type: u8) -> [u8; 32] {
        let input = self.inputs.get(index);
        let outpoint = input.map_or(&[][..], |input| input.outpoint);
        let sequence = input.map_or(&[][..], |input| input.sequence);
        let outpoints = self.concat_inputs(|input| input.outpoint);
        let sequences = self.concat_inputs(|input| input.sequence);
        double_sha256(
            &[
                &self.version[..],
                &double_sha256(&outpoints),
                &double_sha256(&sequences),
                outpoint,
                &[25],
                &P2PKH_START,
                key_hash,
                &P2PKH_END,
                &amount.to_le_bytes(),
                sequence,
                &double_sha256(self.outputs),
                &self.lock_time,
                &u32::from(hash_type).to_le_bytes(),
            ]
            .concat(),
        )
    }

    /// Returns the digest that a signature of the format before BIP 143 signs.
    fn legacy_digest(&self, index: usize, script: &[u8], hash_type: u8) -> [u8; 32] {
        let mut text = self.version.to_vec();
        text.extend(compact_size(self.inputs.len()));
        for (place, input) in self.inputs.iter().enumerate() {
            let script = if place == index { script } else { &[] };
            text.extend(input.outpoint);
            text.extend(compact_size(script.len()));
            text.extend(script);
            text.extend(input.sequence);
        }
        text.extend(self.output_count);
        text.extend(self.outputs);
        text.extend(self.lock_time);
        text.extend(u32::from(hash_type).to_le_bytes());
        double_sha256(&text)
    }

    fn is_signed_by_taproot_key(
        &self,
        index: usize,
        spent: &[Option<TxOutput>],
        key: &[u8],
        signature: &[u8],
    ) -> Option<bool> {
        // Such a signature covers all outputs that are spent.
        let spent: Option<Vec<&TxOutput>> = spent.iter().map(Option::as_ref).collect();
        let spent = spent?;
        let (signature, hash_type) = match signature.len() {
            64 => (signature, 0),
            65 => {
                signature.split_last_chunk::<1>().map(|(signature, [last])| (signature, *last))?
            }
            _ => return Some(false),
        };
        if hash_type > ALL {
            return None;
        }
        let mut scripts = Vec::new();
        for output in &spent {
            scripts.extend(compact_size(output.script.len()));
            scripts.extend(&output.script);
        }
        let amounts: Vec<u8> =
            spent.iter().flat_map(|output| output.amount.to_le_bytes()).collect();
        let index = u32::try_from(index).ok()?;
        let text = [
            &[0, hash_type][..],
            &self.version,
            &self.lock_time,
            &Sha256::digest(self.concat_inputs(|input| input.outpoint)),
            &Sha256::digest(&amounts),
            &Sha256::digest(&scripts),
            &Sha256::digest(self.concat_inputs(|input| input.sequence)),
            &Sha256::digest(self.outputs),
            // A key path without an annex.
            &[0],
            &index.to_le_bytes(),
        ]
        .concat();
        let tag = Sha256::digest("TapSighash");
        let digest = Sha256::digest([&tag[..], &tag, &text].concat());
        let key = schnorr::VerifyingKey::from_slice(key);
        let signature = schnorr::Signature::from_slice(signature);
        let (Ok(key), Ok(signature)) = (key, signature) else { return Some(false) };
        Some(key.verify_raw(&digest, &signature).is_ok())
    }

    fn concat_inputs(&self, part: impl Fn(&SignedInput<'a>) -> &'a [u8]) -> Vec<u8> {
        self.inputs.iter().map(part).collect::<Vec<_>>().concat()
    }
}

/// Returns `true` if a public key with this hash signed the digest. `None` if the signature does not cover all inputs
/// and outputs.
fn is_signed_by(
    key_hash: &[u8],
    key: &[u8],
    signature: &[u8],
    digest: impl Fn(u8) -> [u8; 32],
) -> Option<bool> {
    if hash160(key) != key_hash {
        return Some(false);
    }
    let Some((hash_type, der)) = signature.split_last() else { return Some(false) };
    if *hash_type != ALL {
        return None;
    }
    let key = ecdsa::VerifyingKey::from_sec1_bytes(key);
    let (Ok(key), Some(signature)) = (key, parse_der(der)) else { return Some(false) };
    Some(key.verify_prehash(&digest(*hash_type), &signature).is_ok())
}

/// Parses a signature in the strict form of BIP 66.
fn parse_der(der: &[u8]) -> Option<ecdsa::Signature> {
    let mut rest = TxReader(der);
    let [sequence, length] = rest.take_array()?;
    let mut number = || {
        let [integer, length] = rest.take_array()?;
        let digits = rest.take_bytes(usize::from(length))?;
        let start = digits.iter().position(|digit| *digit != 0)?;
        let digits = digits.get(start..)?;
        let mut padded = [0_u8; 32];
        padded.get_mut(32_usize.checked_sub(digits.len())?..)?.copy_from_slice(digits);
        (integer == 2).then_some(padded)
    };
    let (r, s) = (number()?, number()?);
    let is_whole = sequence == 0x30 && rest.0.is_empty();
    let is_whole = is_whole && usize::from(length).checked_add(2) == Some(der.len());
    ecdsa::Signature::from_scalars(r, s).ok().filter(|_| is_whole)
}

fn hash160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(Sha256::digest(bytes)).into()
}

/// Serializes a length as a variable-length integer. Scripts and inputs of honest transactions have fewer than 65 536.
fn compact_size(length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(short) if short < 0xfd => vec![short],
        _ => {
            let long = u16::try_from(length).unwrap_or(u16::MAX);
            [&[0xfd][..], &long.to_le_bytes()].concat()
        }
    }
}

#[cfg(test)]
mod tests;
