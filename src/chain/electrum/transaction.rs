//! Parses serialized transactions (BIP 144, and the extension block of litecoin, LIP 3).
//!
//! Invariant: the id is the hash of the same bytes from which inputs and outputs were parsed.

use super::hex::{Hash256, double_sha256, format_hash};
use crate::domain::InputSource;

/// Largest size of a stored script, in bytes. The script of an address has at most 34 bytes.
const SCRIPT_BYTES_MAX: usize = 40;
/// Size in bytes of a transaction that can be confused with two hashes of a Merkle tree (CVE-2017-12842).
const AMBIGUOUS_BYTES: usize = 64;
const HAS_WITNESS: u8 = 1;
const HAS_EXTENSION: u8 = 8;

#[derive(Clone, Debug)]
pub(super) struct ParsedTransaction {
    pub id: Hash256,
    pub inputs: Vec<InputSource>,
    /// Outputs whose script is short enough for an address.
    pub outputs: Vec<TxOutput>,
}

#[derive(Clone, Debug)]
pub(super) struct TxOutput {
    pub position: u32,
    /// Amount, in the smallest unit of the coin.
    pub amount: u64,
    pub script: Vec<u8>,
}

impl ParsedTransaction {
    /// Parses a transaction; `None` if it is malformed, or has 64 bytes without its witness.
    pub(super) fn parse(raw: &[u8]) -> Option<ParsedTransaction> {
        let mut rest = TxReader(raw);
        let version = rest.take_bytes(4)?;
        let flags = match rest.0 {
            [0, flags, ..] => {
                rest.take_bytes(2)?;
                Some(*flags)
            }
            _ => None,
        };
        let body_and_rest = rest.0;
        let inputs = rest.read_inputs()?;
        let outputs = rest.read_outputs()?;
        let body = body_and_rest.get(..body_and_rest.len().checked_sub(rest.0.len())?)?;
        if flags.is_some_and(|flags| flags & HAS_WITNESS != 0) {
            for _ in &inputs {
                for _ in 0..rest.read_varint()? {
                    rest.read_script()?;
                }
            }
        }
        match flags {
            None | Some(HAS_WITNESS) if rest.0.len() == 4 => {}
            Some(flags) if flags & HAS_EXTENSION != 0 && flags & !9 == 0 => {}
            _ => return None,
        }
        let lock_time = rest.0.last_chunk::<4>()?;
        let stripped = [version, body, lock_time].concat();
        (stripped.len() != AMBIGUOUS_BYTES).then(|| ParsedTransaction {
            id: double_sha256(&stripped),
            inputs,
            outputs,
        })
    }
}

/// Reader of values from serialized bytes.
pub(super) struct TxReader<'a>(pub &'a [u8]);

impl<'a> TxReader<'a> {
    pub(super) fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take_bytes(N)?.try_into().ok()
    }

    /// Reads a variable-length integer.
    pub(super) fn read_varint(&mut self) -> Option<u64> {
        let [first] = self.take_array()?;
        Some(match first {
            0xfd => u64::from(u16::from_le_bytes(self.take_array()?)),
            0xfe => u64::from(u32::from_le_bytes(self.take_array()?)),
            0xff => u64::from_le_bytes(self.take_array()?),
            small => u64::from(small),
        })
    }

    pub(super) fn read_script(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.read_varint()?).ok()?;
        self.take_bytes(length)
    }

    fn read_inputs(&mut self) -> Option<Vec<InputSource>> {
        let mut inputs = Vec::new();
        for _ in 0..self.read_varint()? {
            let id: Hash256 = self.take_array()?;
            let position = u32::from_le_bytes(self.take_array()?);
            self.read_script()?;
            self.take_bytes(4)?;
            inputs.push(if id == [0; 32] && position == u32::MAX {
                InputSource::Coinbase
            } else {
                InputSource::Output(format_hash(&id), position)
            });
        }
        Some(inputs)
    }

    fn read_outputs(&mut self) -> Option<Vec<TxOutput>> {
        let mut outputs = Vec::new();
        for position in 0..self.read_varint()? {
            let position = u32::try_from(position).ok()?;
            let amount = u64::from_le_bytes(self.take_array()?);
            let script = self.read_script()?;
            if i64::try_from(amount).is_err() {
                return None;
            }
            if script.len() <= SCRIPT_BYTES_MAX {
                outputs.push(TxOutput { position, amount, script: script.to_vec() });
            }
        }
        Some(outputs)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::hex;
    use super::{InputSource, ParsedTransaction};

    /// First payment on bitcoin, the transaction f4184fc5… in block 170.
    const FIRST: &str = "0100000001c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd3704000000004847304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901ffffffff0200ca9a3b00000000434104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84cac00286bee0000000043410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac00000000";
    const FIRST_ID: &str = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16";
    /// Signed transaction of the example "Native P2WPKH" of BIP 143.
    const SEGWIT: &str = "01000000000102fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f00000000494830450221008b9d1dc26ba6a9cb62127b02742fa9d754cd3bebf337f7a55d114c8e5cdd30be022040529b194ba3f9281a99f2b1c0a19c0489bc22ede944ccf4ecbab4cc618ef3ed01eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac000247304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358f51928d43c212a8caed02de67eebee0121025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee635711000000";

    fn raw_transaction(text: &str) -> Vec<u8> {
        hex::parse_bytes(text).unwrap()
    }

    #[test]
    fn real_transactions_hash_to_their_ids() {
        let first = ParsedTransaction::parse(&raw_transaction(FIRST)).unwrap();
        assert_eq!(hex::format_hash(&first.id), FIRST_ID);
        let parent = "0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9";
        assert_eq!(first.inputs, [InputSource::Output(parent.to_owned(), 0)]);
        // Both outputs pay a bare public key, which has no address.
        assert!(first.outputs.is_empty());
        let segwit = ParsedTransaction::parse(&raw_transaction(SEGWIT)).unwrap();
        let id = "e8151a2af31c368a35053ddd4bdb285a8595c769a3ad83e0fa02314a602d4609";
        let amounts: Vec<_> = segwit.outputs.iter().map(|out| (out.position, out.amount)).collect();
        assert_eq!(amounts, [(0, 112_340_000), (1, 223_450_000)]);
        assert_eq!(segwit.inputs.len(), 2);
        assert_eq!(hex::format_hash(&segwit.id), id);
    }

    #[test]
    fn litecoin_extension_does_not_change_the_id() {
        let one_line = ParsedTransaction::parse(&raw_transaction(FIRST)).unwrap();
        // The new text has flag 8 after the version, and a zero byte before the lock time, like an integrating
        // transaction of litecoin (LIP 3).
        let extended = format!("{}0008{}00{}", &FIRST[..8], &FIRST[8..FIRST.len() - 8], "00000000");
        let extended = ParsedTransaction::parse(&raw_transaction(&extended)).unwrap();
        assert_eq!(one_line.id, extended.id);
    }

    #[test]
    fn malformed_transaction_is_rejected() {
        for wrong in [
            String::new(),
            FIRST[..FIRST.len() - 2].to_owned(),
            format!("{FIRST}00"),
            format!("{SEGWIT}00"),
            // The first text has an unknown flag. The second text declares more inputs than it has bytes.
            format!("{}0002{}", &FIRST[..8], &FIRST[8..]),
            format!("{}ffffffffffffffffff{}", &FIRST[..8], &FIRST[10..]),
            // The amount of the output is above the maximum.
            FIRST.replace("00ca9a3b00000000", "00ca9a3b000000ff"),
        ] {
            assert!(ParsedTransaction::parse(&raw_transaction(&wrong)).is_none(), "{wrong}");
        }
    }

    #[test]
    fn transaction_of_64_bytes_is_rejected() {
        let of_script = |script: &str| {
            let length = script.len() / 2;
            let hash = "11".repeat(32);
            raw_transaction(&format!(
                "0100000001{hash}0000000000ffffffff010000000000000000{length:02x}{script}00000000"
            ))
        };
        let ambiguous = of_script("51515151");
        assert_eq!(ambiguous.len(), 64);
        assert!(ParsedTransaction::parse(&ambiguous).is_none());
        assert!(ParsedTransaction::parse(&of_script("5151515151")).is_some());
    }
}
