//! Proof of work of the main networks: how much of it a header needs, and where each chain is known from.

use super::hex::{Hash, double_sha256};
use super::target::Target;
use crate::domain::chain::Chain;

/// Blocks between two changes of difficulty, on both chains.
pub(super) const PERIOD: u32 = 2016;
/// The span of a period counts within this factor of what it should be.
const SPAN_FACTOR_MAX: u32 = 4;
/// Cost of litecoin's scrypt: N is 2 to this power, r and p are 1.
const SCRYPT_LOG_N: u8 = 10;

/// Rules of a main network.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Height and hash of a block that is known to be on the chain. The hash proves the difficulty in its header.
    pub checkpoint: (u32, &'static str),
    /// Highest target, in compact form.
    limit: u32,
    /// Seconds that a period should take.
    span: u32,
    /// Distance from the first block of a period to the block whose time the last period is counted from.
    pub behind: u32,
    /// Returns the work of a header.
    work: fn(&[u8; 80]) -> Option<Hash>,
}

/// Bitcoin: `nPowTargetTimespan`, `powLimit` and `defaultAssumeValid` of `src/kernel/chainparams.cpp`, Bitcoin Core 31.
const BITCOIN: Rules = Rules {
    checkpoint: (
        938_343,
        "00000000000000000000ccebd6d74d9194d8dcdc1d177c478e094bfad51ba5ac",
    ),
    limit: 0x1d00_ffff,
    span: 1_209_600,
    behind: PERIOD,
    work: |header| Some(double_sha256(header)),
};

/// Litecoin: the same of `src/chainparams.cpp`, Litecoin Core 0.21.4. Its periods overlap by a block: `src/pow.cpp` goes back
/// the full period, against an attack on the timestamps.
const LITECOIN: Rules = Rules {
    checkpoint: (
        2_772_730,
        "80cdb35c080484df5bf384b311fde3c4694d3405765bc0f596e9eb369ff286e5",
    ),
    limit: 0x1e0f_ffff,
    span: 302_400,
    behind: PERIOD + 1,
    work: scrypt,
};

impl Rules {
    /// Returns the rules of a network; `None` for test networks, whose work is worth nothing.
    pub(super) fn of(chain: Chain, network: &str) -> Option<Rules> {
        match (chain, network) {
            (Chain::Bitcoin, "main") => Some(BITCOIN),
            (Chain::Litecoin, "main") => Some(LITECOIN),
            _ => None,
        }
    }

    /// Returns the compact target after a period, from the one in it and from the times that it is counted by.
    pub(super) fn next_bits(&self, bits: u32, first: u32, last: u32) -> Option<u32> {
        let (low, high) = (
            self.span.checked_div(SPAN_FACTOR_MAX)?,
            self.span.checked_mul(SPAN_FACTOR_MAX)?,
        );
        // Times may run backwards.
        let passed = last.saturating_sub(first).clamp(low, high);
        let next = Target::from_compact(bits)?.scaled(passed, self.span);
        let limit = Target::from_compact(self.limit)?;
        Some(next.min(limit).to_compact())
    }

    /// Returns `true` if a header has the work that its own target asks for.
    pub(super) fn has_work(&self, header: &[u8; 80], bits: u32) -> bool {
        let target = Target::from_compact(bits);
        let work = (self.work)(header);
        target
            .zip(work)
            .is_some_and(|(target, work)| target.allows(&work))
    }
}

fn scrypt(header: &[u8; 80]) -> Option<Hash> {
    let mut work = [0; 32];
    let params = scrypt::Params::new(SCRYPT_LOG_N, 1, 1).ok()?;
    scrypt::scrypt(header, header, &params, &mut work).ok()?;
    Some(work)
}

/// Rules of a network for tests, whose work takes no time.
#[cfg(test)]
pub(super) const EASY: Rules = Rules {
    checkpoint: (0, ""),
    limit: 0x207f_ffff,
    behind: PERIOD,
    ..BITCOIN
};

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::hex;
    use super::{BITCOIN, LITECOIN};

    /// The first headers of the two chains.
    const BITCOIN_FIRST: &str = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c";
    const LITECOIN_FIRST: &str = "010000000000000000000000000000000000000000000000000000000000000000000000d9ced4ed1130f7b7faad9be25323ffafa33232a17c3edf6cfd97bee6bafbdd97b9aa8e4ef0ff0f1ecd513f7c";

    #[test]
    fn real_headers_have_their_work_and_others_do_not() {
        let header = |text: &str| <[u8; 80]>::try_from(hex::bytes(text).unwrap()).unwrap();
        for (rules, text, bits) in [
            (BITCOIN, BITCOIN_FIRST, 0x1d00_ffff),
            (LITECOIN, LITECOIN_FIRST, 0x1e0f_fff0),
        ] {
            let mut header = header(text);
            assert!(rules.has_work(&header, bits));
            header[79] ^= 1;
            assert!(!rules.has_work(&header, bits));
        }
        // Litecoin's is not the double SHA-256 that is its id.
        assert!(!BITCOIN.has_work(&header(LITECOIN_FIRST), 0x1e0f_fff0));
    }

    /// The cases of `src/test/pow_tests.cpp` of Bitcoin Core and of Litecoin Core.
    #[test]
    fn difficulty_changes_as_in_the_nodes() {
        for (rules, first, last, bits, next) in [
            (
                BITCOIN,
                1_261_130_161,
                1_262_152_739,
                0x1d00_ffff,
                0x1d00_d86a,
            ),
            (
                BITCOIN,
                1_231_006_505,
                1_233_061_996,
                0x1d00_ffff,
                0x1d00_ffff,
            ),
            (
                BITCOIN,
                1_279_008_237,
                1_279_297_671,
                0x1c05_a3f4,
                0x1c01_68fd,
            ),
            (
                BITCOIN,
                1_263_163_443,
                1_269_211_443,
                0x1c38_7f6f,
                0x1d00_e1fd,
            ),
            (
                LITECOIN,
                1_358_118_740,
                1_358_378_777,
                0x1c0a_c141,
                0x1c09_3f8d,
            ),
        ] {
            assert_eq!(rules.next_bits(bits, first, last), Some(next), "{next:x}");
        }
        // Times that run backwards count as a quarter.
        assert_eq!(BITCOIN.next_bits(0x1c05_a3f4, 9, 3), Some(0x1c01_68fd));
    }
}
