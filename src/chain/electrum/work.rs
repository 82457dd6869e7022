//! Proof-of-work rules and checkpoints of the main networks.

use super::hex::{Hash256, double_sha256};
use super::target::Target;
use crate::domain::chain::Chain;

/// Blocks between two difficulty changes, on bitcoin and on litecoin.
pub(super) const PERIOD: u32 = 2016;
/// Largest factor by which one period can change the target.
const SPAN_FACTOR_MAX: u32 = 4;
/// Base-2 logarithm of the scrypt cost N of litecoin. The parameters r and p are 1.
const SCRYPT_LOG_N: u8 = 10;

/// Proof-of-work rules of a main network.
#[derive(Clone, Copy)]
pub(super) struct PowRules {
    /// Height and hash of a block that is known to be on the chain. The hash proves the difficulty in the header of
    /// the block.
    pub checkpoint: (u32, &'static str),
    /// Highest allowed target, in compact form.
    limit: u32,
    /// Intended duration of a period, in seconds.
    span: u32,
    /// Distance, in blocks, from the first block of a new period back to the first block used to measure the old
    /// period.
    pub behind: u32,
    /// Computes the proof-of-work hash of a header.
    work: fn(&[u8; 80]) -> Option<Hash256>,
}

/// Source: `nPowTargetTimespan`, `powLimit` and `defaultAssumeValid` of `src/kernel/chainparams.cpp`, Bitcoin Core 31.
const BITCOIN: PowRules = PowRules {
    checkpoint: (938_343, "00000000000000000000ccebd6d74d9194d8dcdc1d177c478e094bfad51ba5ac"),
    limit: 0x1d00_ffff,
    span: 1_209_600,
    behind: PERIOD,
    work: |header| Some(double_sha256(header)),
};

/// Source: `src/chainparams.cpp`, Litecoin Core 0.21.4. Each measurement also includes the block before its period,
/// which prevents an attack on the timestamps (`src/pow.cpp`).
const LITECOIN: PowRules = PowRules {
    checkpoint: (2_772_730, "80cdb35c080484df5bf384b311fde3c4694d3405765bc0f596e9eb369ff286e5"),
    limit: 0x1e0f_ffff,
    span: 302_400,
    behind: PERIOD + 1,
    work: scrypt_hash,
};

impl PowRules {
    /// Returns the rules of a network; `None` for test networks, which need no proof of work.
    pub(super) fn for_network(chain: Chain, network: &str) -> Option<PowRules> {
        match (chain, network) {
            (Chain::Bitcoin, "main") => Some(BITCOIN),
            (Chain::Litecoin, "main") => Some(LITECOIN),
            _ => None,
        }
    }

    /// Returns the compact target of the next period. `bits` is the current target; `first` and `last` are the times
    /// at which the measurement begins and ends, in seconds.
    pub(super) fn next_target_bits(&self, bits: u32, first: u32, last: u32) -> Option<u32> {
        let (low, high) =
            (self.span.checked_div(SPAN_FACTOR_MAX)?, self.span.checked_mul(SPAN_FACTOR_MAX)?);
        // Block times may decrease, so the difference may be negative.
        let passed = last.saturating_sub(first).clamp(low, high);
        let next = Target::from_compact(bits)?.mul_div(passed, self.span);
        let limit = Target::from_compact(self.limit)?;
        Some(next.min(limit).to_compact())
    }

    pub(super) fn meets_declared_target(&self, header: &[u8; 80], bits: u32) -> bool {
        let target = Target::from_compact(bits);
        let work = (self.work)(header);
        target.zip(work).is_some_and(|(target, work)| target.is_met_by_hash(&work))
    }
}

fn scrypt_hash(header: &[u8; 80]) -> Option<Hash256> {
    let mut work = [0; 32];
    let params = scrypt::Params::new(SCRYPT_LOG_N, 1, 1).ok()?;
    scrypt::scrypt(header, header, &params, &mut work).ok()?;
    Some(work)
}

/// Rules of a test network whose blocks need almost no work.
#[cfg(test)]
pub(super) const EASY: PowRules =
    PowRules { checkpoint: (0, ""), limit: 0x207f_ffff, behind: PERIOD, ..BITCOIN };

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::hex;
    use super::{BITCOIN, LITECOIN};

    /// Genesis header of bitcoin.
    const BITCOIN_FIRST: &str = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c";
    const LITECOIN_FIRST: &str = "010000000000000000000000000000000000000000000000000000000000000000000000d9ced4ed1130f7b7faad9be25323ffafa33232a17c3edf6cfd97bee6bafbdd97b9aa8e4ef0ff0f1ecd513f7c";

    #[test]
    fn only_real_headers_have_proof_of_work() {
        let header = |text: &str| <[u8; 80]>::try_from(hex::parse_bytes(text).unwrap()).unwrap();
        for (rules, text, bits) in
            [(BITCOIN, BITCOIN_FIRST, 0x1d00_ffff), (LITECOIN, LITECOIN_FIRST, 0x1e0f_fff0)]
        {
            let mut header = header(text);
            assert!(rules.meets_declared_target(&header, bits));
            header[79] ^= 1;
            assert!(!rules.meets_declared_target(&header, bits));
        }
        // Litecoin computes the work by scrypt, and the block id by double SHA-256.
        assert!(!BITCOIN.meets_declared_target(&header(LITECOIN_FIRST), 0x1e0f_fff0));
    }

    /// Checks the cases of `src/test/pow_tests.cpp` in Bitcoin Core and Litecoin Core.
    #[test]
    fn next_difficulty_matches_reference_nodes() {
        for (rules, first, last, bits, next) in [
            (BITCOIN, 1_261_130_161, 1_262_152_739, 0x1d00_ffff, 0x1d00_d86a),
            (BITCOIN, 1_231_006_505, 1_233_061_996, 0x1d00_ffff, 0x1d00_ffff),
            (BITCOIN, 1_279_008_237, 1_279_297_671, 0x1c05_a3f4, 0x1c01_68fd),
            (BITCOIN, 1_263_163_443, 1_269_211_443, 0x1c38_7f6f, 0x1d00_e1fd),
            (LITECOIN, 1_358_118_740, 1_358_378_777, 0x1c0a_c141, 0x1c09_3f8d),
        ] {
            assert_eq!(rules.next_target_bits(bits, first, last), Some(next), "{next:x}");
        }
        // Decreasing times count as a quarter of the period.
        assert_eq!(BITCOIN.next_target_bits(0x1c05_a3f4, 9, 3), Some(0x1c01_68fd));
    }
}
