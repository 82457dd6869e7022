//! Tests valid headers, and every kind of invalid header.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::super::hex;
use super::super::work::{EASY, PERIOD};
use super::{HeaderChain, HeaderError, RawHeader, are_linked, parse_all};

/// Blocks 0, 1 and 2 of bitcoin.
const REAL: [&str; 3] = [
    "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c",
    "010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299",
    "010000004860eb18bf1b1620e37e9490fc8a427514416fd75159ab86688e9a8300000000d5fdcc541e25de1c7a5addedf24858b8bb665c9f36ef744ee42c316022c90f9bb0bc6649ffff001d08d2bd61",
];

fn real_headers() -> Vec<RawHeader> {
    parse_all(&hex::parse_bytes(&REAL.concat()).unwrap()).unwrap()
}

/// Mines a child of this header with these compact target bits.
fn mine_child(parent: &RawHeader, time: u32, bits: u32) -> RawHeader {
    let mut bytes = [0; 80];
    bytes[4..36].copy_from_slice(&parent.hash);
    bytes[68..72].copy_from_slice(&time.to_le_bytes());
    bytes[72..76].copy_from_slice(&bits.to_le_bytes());
    for nonce in 0_u32.. {
        bytes[76..].copy_from_slice(&nonce.to_le_bytes());
        if EASY.meets_declared_target(&bytes, bits) {
            return RawHeader::parse(&bytes).unwrap();
        }
    }
    unreachable!();
}

/// Returns the first block of an easy test network, and its descendants with these times.
fn create_headers(times: impl Iterator<Item = u32>) -> Vec<RawHeader> {
    let mut first = [0; 80];
    first[72..76].copy_from_slice(&0x207f_ffff_u32.to_le_bytes());
    let mut headers = vec![RawHeader::parse(&first).unwrap()];
    for time in times {
        let header = mine_child(headers.last().unwrap(), time, 0x207f_ffff);
        headers.push(header);
    }
    headers
}

#[test]
fn real_headers_are_accepted() {
    let real = real_headers();
    let hash = "000000006a625f06636b8bb6ac7b960a8d03705d1ace08b1a19da3fdcc99ddbd";
    assert_eq!(hex::format_hash(&real[2].hash), hash);
    assert_eq!(real[1].unix_time_s(), 1_231_469_665);
    let rules =
        super::super::work::PowRules::for_network(crate::domain::chain::Chain::Bitcoin, "main");
    let mut headers = HeaderChain::start_at(rules, 0, real[..1].to_vec()).unwrap();
    assert_eq!(headers.extend(&real[1..]), Ok(()));
    assert_eq!((headers.tip_height(), headers.header_at(2)), (2, Some(&real[2])));
    headers.truncate_above(1);
    assert_eq!((headers.tip_height(), headers.header_at(2)), (1, None));
    assert_eq!(headers.extend(&real[2..]), Ok(()));
    assert_eq!(parse_all(&[0; 81]), None);
}

#[test]
fn invalid_headers_are_rejected() {
    let valid_headers = create_headers([600, 1_200, 1_800].into_iter());
    let begin = || HeaderChain::start_at(Some(EASY), 0, valid_headers[..2].to_vec()).unwrap();
    let broken = |of: &[RawHeader]| match begin().extend(of) {
        Err(HeaderError::Invalid(what)) => what,
        other => format!("{other:?}"),
    };
    assert_eq!(begin().extend(&valid_headers[2..]), Ok(()));
    // The first new header is not a child of the newest header. In later cases, a header is not a child of the header
    // before it, or there is no header.
    assert_eq!(begin().extend(&valid_headers[3..]), Err(HeaderError::NotLinked));
    assert_eq!(begin().extend(&valid_headers[1..2]), Err(HeaderError::NotLinked));
    assert!(!are_linked(&[valid_headers[0], valid_headers[2]]));
    assert!(HeaderChain::start_at(None, 0, vec![valid_headers[0], valid_headers[2]]).is_none());
    assert!(HeaderChain::start_at(None, 0, Vec::new()).is_none());
    // The header declares a different difficulty within a period.
    let easier = mine_child(&valid_headers[1], 1_200, 0x2070_0000);
    assert!(broken(&[easier]).contains("another difficulty"));
    // The header has no proof of work: its hash does not meet the target.
    let mut lazy = valid_headers[2].bytes;
    let lazy = (0..=u32::MAX).find_map(|nonce| {
        lazy[76..].copy_from_slice(&nonce.to_le_bytes());
        (!EASY.meets_declared_target(&lazy, 0x207f_ffff)).then(|| RawHeader::parse(&lazy).unwrap())
    });
    let lazy = lazy.unwrap();
    assert!(broken(&[lazy]).contains("lacks its proof of work"));
    // A test network checks only links.
    let mut test = HeaderChain::start_at(None, 0, valid_headers[..2].to_vec()).unwrap();
    assert_eq!(test.extend(&[lazy]), Ok(()));
}

#[test]
fn difficulty_changes_after_each_period() {
    // Blocks arrive every 300 s, and not every 600 s, so the next period has different target bits.
    let times = (1..PERIOD).map(|height| height * 300);
    let mut headers =
        HeaderChain::start_at(Some(EASY), 0, create_headers(std::iter::empty())).unwrap();
    headers.extend(&create_headers(times)[1..]).unwrap();
    assert_eq!(headers.tip_height(), PERIOD - 1);
    let last = *headers.header_at(PERIOD - 1).unwrap();
    let bits = EASY.next_target_bits(0x207f_ffff, 0, last.unix_time_s()).unwrap();
    assert_ne!(bits, 0x207f_ffff);
    let time = last.unix_time_s() + 300;
    let same = mine_child(&last, time, 0x207f_ffff);
    assert!(matches!(headers.extend(&[same]), Err(HeaderError::Invalid(_))));
    assert_eq!(headers.extend(&[mine_child(&last, time, bits)]), Ok(()));
    assert_eq!(HeaderChain::first_needed_height(PERIOD), PERIOD - 1);
    assert_eq!(HeaderChain::first_needed_height(2 * PERIOD - 1), PERIOD - 1);
    assert_eq!(HeaderChain::first_needed_height(PERIOD - 1), 0);
}
