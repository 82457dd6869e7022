//! Bitcoin's main network: headers with too little work are refused by name, and an honest second server takes over.

use crate::chain::till::TestnetShop;
use crate::support::header_server::HeaderServer;
use crate::support::step_follower::StepFollower;
use crate::support::tron::to_hex;
use coffer::domain::asset::Chain;
use sha2::{Digest, Sha256};

/// First three headers of bitcoin.
const HEADERS: [&str; 3] = [
    "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c",
    "010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299",
    "010000004860eb18bf1b1620e37e9490fc8a427514416fd75159ab86688e9a8300000000d5fdcc541e25de1c7a5addedf24858b8bb665c9f36ef744ee42c316022c90f9bb0bc6649ffff001d08d2bd61",
];
/// Target of bitcoin's first blocks in compact form, which needs 2^32 hashes a block.
const REAL_BITS: u32 = 0x1d00_ffff;
/// Target that every second hash meets.
const EASY_BITS: u32 = 0x207f_ffff;

/// Returns the hash of a header.
fn header_hash(header: &str) -> Vec<u8> {
    let digits = header.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = digits.map(byte).collect();
    Sha256::digest(Sha256::digest(bytes)).to_vec()
}

/// Returns the first header of bitcoin and this many invented ones above it, which declare this target.
fn invented_headers(count: u32, bits: u32) -> Vec<String> {
    let mut headers = vec![HEADERS[0].to_owned()];
    for at in 1..=count {
        let parent = header_hash(headers.last().unwrap());
        let mut header = 1_u32.to_le_bytes().to_vec();
        header.extend(parent);
        header.extend([7; 32]);
        header.extend((1_231_006_505 + at * 600).to_le_bytes());
        header.extend(bits.to_le_bytes());
        header.extend(at.to_le_bytes());
        headers.push(to_hex(&header));
    }
    headers
}

/// Opens a shop that has read the first block of bitcoin, and follows these servers.
#[track_caller]
fn start_follower(till: &TestnetShop, urls: &str) -> StepFollower {
    let follower = StepFollower::open(&till.served.file, Chain::Bitcoin, urls, &[]);
    let mut hash = header_hash(HEADERS[0]);
    hash.reverse();
    let hash = to_hex(&hash);
    let file = till.served.open_file();
    let cursor = "insert or ignore into chain_cursors (chain, network, height, hash, time, complete_height, \
        complete_hash, head_height, head_time, stepped_at) values ('bitcoin', 'main', 0, ?1, 0, 0, ?1, 0, 0, 0)";
    file.execute(cursor, [&hash]).unwrap();
    let block =
        "insert or ignore into chain_blocks (chain, height, hash) values ('bitcoin', 0, ?1)";
    file.execute(block, [&hash]).unwrap();
    follower
}

#[track_caller]
fn height(till: &TestnetShop) -> u32 {
    let height = "select height from chain_cursors where chain = 'bitcoin'";
    till.served.open_file().query_row(height, [], |row| row.get(0)).unwrap()
}

#[test]
fn headers_with_too_little_work_are_refused_by_name() {
    for (bits, told) in
        [(REAL_BITS, "lacks its proof of work"), (EASY_BITS, "has another difficulty")]
    {
        let invented = invented_headers(50, bits);
        let mut hash = header_hash(&invented[1]);
        hash.reverse();
        let liar = HeaderServer::start(invented);
        let honest = HeaderServer::start(HEADERS.map(str::to_owned).to_vec());
        let till = TestnetShop::new(&[]);
        let mut follower = start_follower(&till, &liar.url());
        for _ in 0..8 {
            let problem = follower.step().unwrap_err();
            let named = format!("the header {} at height 1 {told}", to_hex(&hash));
            assert!(problem.contains(&named), "{problem}");
        }
        assert_eq!(height(&till), 0);
        drop(follower);
        // With an honest second server, the chain goes on.
        let urls = format!("{},{}", liar.url(), honest.url());
        let mut follower = start_follower(&till, &urls);
        let mut steps = 0;
        while height(&till) < 2 {
            let _ = follower.step();
            steps += 1;
            assert!(steps < 10, "{steps} steps");
        }
        drop(follower);
        let booked = "select count(*) from observations";
        let booked: u32 = till.served.open_file().query_row(booked, [], |row| row.get(0)).unwrap();
        assert_eq!(booked, 0);
        till.served.assert_audit_clean();
    }
}
