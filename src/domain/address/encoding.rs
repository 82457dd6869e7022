//! Encodings of addresses, with the prefixes of each network.

use bech32::{Hrp, hrp};

const DOGECOIN_TEST_VERSION: u8 = 0x71;
const LITECOIN_TEST_PREFIX: Hrp = Hrp::parse_unchecked("tltc");

#[derive(Debug, PartialEq, Eq)]
pub(in crate::domain) enum Encoding {
    /// Base58check and segwit, with different prefixes on each network.
    Utxo(UtxoEncoding),
    /// Twenty bytes in hexadecimal, with an EIP-55 checksum.
    Evm,
    /// Base58check of twenty bytes.
    Tron,
    /// Base58 of 32 bytes.
    Solana,
}

/// Encoding of the addresses of a utxo chain, by network.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::domain) struct UtxoEncoding {
    pub(super) main: &'static UtxoPrefixes,
    pub(super) test: &'static UtxoPrefixes,
    /// Encoding of the simulated addresses of test mode.
    pub(super) simulated: SimulatedEncoding,
}

/// Encoding of the simulated addresses of test mode on a utxo chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SimulatedEncoding {
    /// Segwit with this human-readable part.
    Segwit(Hrp),
    /// Base58check with this version byte.
    Hash(u8),
}

pub(in crate::domain) const BITCOIN: Encoding = Encoding::Utxo(UtxoEncoding {
    main: &BITCOIN_MAIN,
    test: &BITCOIN_TEST,
    simulated: SimulatedEncoding::Segwit(hrp::TB),
});

pub(in crate::domain) const LITECOIN: Encoding = Encoding::Utxo(UtxoEncoding {
    main: &LITECOIN_MAIN,
    test: &LITECOIN_TEST,
    simulated: SimulatedEncoding::Segwit(LITECOIN_TEST_PREFIX),
});

pub(in crate::domain) const DOGECOIN: Encoding = Encoding::Utxo(UtxoEncoding {
    main: &DOGECOIN_MAIN,
    test: &DOGECOIN_TEST,
    simulated: SimulatedEncoding::Hash(DOGECOIN_TEST_VERSION),
});

#[derive(Debug, PartialEq, Eq)]
pub(super) struct UtxoPrefixes {
    /// Accepted base58check version bytes, each with the version byte of the canonical address. The first entry is
    /// for keys, all others are for scripts.
    pub(super) versions: &'static [(u8, u8)],
    /// Human-readable parts of the network's segwit addresses.
    pub(super) hrps: &'static [Hrp],
    /// Message for a text that is not an address of the network.
    pub(super) expected: &'static str,
    /// Accepted version byte that another chain has too, with the reason not to send money to such an address.
    pub(super) shared: Option<(u8, &'static str)>,
}

/// Versions and prefixes from `src/kernel/chainparams.cpp` of Bitcoin Core.
const BITCOIN_MAIN: UtxoPrefixes = UtxoPrefixes {
    versions: &[(0x00, 0x00), (0x05, 0x05)],
    hrps: &[hrp::BC],
    expected: "expected a complete address that starts with 1, 3, bc1q or bc1p",
    shared: None,
};

const BITCOIN_TEST: UtxoPrefixes = UtxoPrefixes {
    versions: &[(0x6f, 0x6f), (0xc4, 0xc4)],
    hrps: &[hrp::TB, hrp::BCRT],
    expected: "expected a complete test address that starts with m, n, 2, tb1q, tb1p, bcrt1q or bcrt1p",
    shared: None,
};

/// Versions and prefixes from `src/chainparams.cpp` of Litecoin Core.
///
/// Older script addresses have the same version byte as Bitcoin's. They are accepted, and their canonical text has
/// the newer version byte. Litecoin Core does the same in `src/key_io.cpp`. No money is sent to the older form, because
/// it may be an address of bitcoin.
///
/// MWEB addresses (`ltcmweb1…`) are refused, because payments to them cannot be seen on the chain.
const LITECOIN_MAIN: UtxoPrefixes = UtxoPrefixes {
    versions: &[(0x30, 0x30), (0x32, 0x32), (0x05, 0x32)],
    hrps: &[Hrp::parse_unchecked("ltc")],
    expected: "expected a complete address that starts with L, M, ltc1q or ltc1p",
    shared: Some((
        0x05,
        "starts with 3, an old form of litecoin's script addresses: give the M or ltc1 form (it may be a bitcoin \
         address)",
    )),
};

const LITECOIN_TEST: UtxoPrefixes = UtxoPrefixes {
    versions: &[(0x6f, 0x6f), (0x3a, 0x3a), (0xc4, 0x3a)],
    hrps: &[LITECOIN_TEST_PREFIX, Hrp::parse_unchecked("rltc")],
    expected: "expected a complete test address that starts with m, n, Q, tltc1q, tltc1p, rltc1q or rltc1p",
    shared: Some((
        0xc4,
        "starts with 2, an old form of litecoin's test script addresses: give the Q, tltc1 or rltc1 form (it may be a \
         bitcoin address)",
    )),
};

/// Versions from `src/chainparams.cpp` of Dogecoin Core. The chain has no segwit.
const DOGECOIN_MAIN: UtxoPrefixes = UtxoPrefixes {
    versions: &[(0x1e, 0x1e), (0x16, 0x16)],
    hrps: &[],
    expected: "expected a complete address that starts with D, 9 or A",
    shared: None,
};

const DOGECOIN_TEST: UtxoPrefixes = UtxoPrefixes {
    versions: &[(DOGECOIN_TEST_VERSION, DOGECOIN_TEST_VERSION), (0xc4, 0xc4)],
    hrps: &[],
    expected: "expected a complete test address that starts with n or 2",
    shared: None,
};
