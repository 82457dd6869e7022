//! `coffer audit` of the chain tables: SQL statements break each rule, and the audit reports each fault.

use super::audit::findings;
use crate::support::Shop;
use crate::support::database::{copy_database, execute_sql};
use crate::support::scratch::Scratch;

/// The chain state before each fault: litecoin was read up to block 300, and hashes are stored from block 298.
/// Ethereum was read up to block 90, and block 82 is final. Both chains have payments in a stored block and in older
/// blocks.
const FOLLOWED_CHAINS_SQL: &str = "
insert into chain_cursors (chain, network, height, hash, time, complete_height, complete_hash, head_height, head_time, stepped_at)
  values ('litecoin', 'regtest', 300, 'l300', 0, 300, 'l300', 300, 0, 0),
         ('ethereum', '11155111', 90, 'e90', 0, 82, 'e82', 90, 0, 0);
insert into chain_blocks (chain, height, hash)
  values ('litecoin', 298, 'l298'), ('litecoin', 299, 'l299'), ('litecoin', 300, 'l300'),
         ('ethereum', 82, 'e82'), ('ethereum', 85, 'e85'), ('ethereum', 90, 'e90');
insert into observations (seq, mode, chain, txid, position, asset, address, amount, state, seen_at, confirmed_at, block_height, block_hash)
  values (101, 'live', 'litecoin', 't1', 0, 'LTC', 'a', '1', 'confirmed', 0, 0, 298, 'l298'),
         (102, 'live', 'litecoin', 't2', 0, 'LTC', 'a', '1', 'confirmed', 0, 0, 12, 'gone'),
         (103, 'live', 'litecoin', 't3', 0, 'LTC', 'a', '1', 'seen', 0, null, 300, 'another'),
         (104, 'live', 'ethereum', 't4', 0, 'ETH', 'b', '1', 'confirmed', 0, 0, 85, 'e85'),
         (105, 'live', 'ethereum', 't5', 0, 'ETH', 'b', '1', 'confirmed', 0, 0, 81, 'gone');
insert into own_transfers (id, observation) select 'own ' || seq, seq from observations where seq > 100;
";

/// A statement that corrupts the chain tables, the beginning of the resulting finding, and another part of the
/// finding.
const FAULTS: [(&str, &str, &str); 14] = [
    ("delete from own_transfers where observation = 101", "rule 5: observation 101", "of 0 owners"),
    ("insert into unmatched_payments (id, observation, reason) values ('u', 101, 'unknown_address')",
        "rule 5: observation 101", "of 2 owners"),
    // The unmatched payment is assigned, but has no payment or deposit.
    ("insert into unmatched_payments (id, observation, reason, outcome, resolved_at)
        values ('u', 101, 'unknown_address', 'assigned', 1); delete from own_transfers where observation = 101",
        "rule 5: observation 101", "of 0 owners"),
    ("update chain_cursors set complete_height = 81, complete_hash = 'e81' where chain = 'ethereum'",
        "rule 7: chain ethereum", "read for good up to block 81"),
    ("update chain_cursors set complete_hash = 'other' where chain = 'litecoin'",
        "rule 7: chain litecoin", "read for good up to block 300 other"),
    ("delete from chain_blocks where chain = 'ethereum' and height = 82", "rule 7: chain ethereum", "read for good"),
    ("update chain_cursors set height = 301, hash = 'l301' where chain = 'litecoin'",
        "rule 7: chain litecoin", "read up to block 301"),
    ("insert into chain_blocks (chain, height, hash) values ('ethereum', 91, 'e91')",
        "rule 7: chain ethereum", "block 91, which has not been read"),
    ("update observations set block_hash = 'other' where seq = 101", "rule 7: observation 101", "block 298 other"),
    ("update observations set block_height = 301, block_hash = 'l301' where seq = 101",
        "rule 7: observation 101", "block 301"),
    ("update observations set block_height = null, block_hash = null where seq = 102",
        "rule 7: observation 102", "in no block"),
    ("update observations set block_height = 86, block_hash = 'e86' where seq = 104", "rule 7: observation 104", "block 86"),
    ("update observations set state = 'confirmed', confirmed_at = 0 where seq = 103",
        "rule 7: observation 103", "block 300 another"),
    ("delete from chain_blocks where chain = 'litecoin' and height = 298; update observations set block_height = 299
        where seq = 101", "rule 7: observation 101", "block 299 l298"),
];

/// Statements that cause no finding.
const VALID_STATEMENTS: [&str; 4] = [
    // The cursor of a chain need not advance while a rescan is pending or the chain is stopped.
    "insert into rescans (chain, from_height, next_height, asked_at) values ('ethereum', 80, 80, 0);
     update chain_cursors set complete_height = 81, complete_hash = 'e81' where chain = 'ethereum'",
    "update chain_cursors set stopped = 'why', complete_hash = 'other' where chain = 'litecoin'",
    // The audit accepts a payment that could not be reversed, because `doctor` reports it.
    "update observations set block_height = null, block_hash = null, unbookable_at = 1 where seq = 101",
    // A simulated payment has no block.
    "insert into observations (seq, mode, chain, txid, position, asset, address, amount, state, seen_at, confirmed_at)
       values (106, 'test', 'litecoin', 't6', 0, 'LTC', 'a', '1', 'confirmed', 0, 0);
     insert into own_transfers (id, observation) values ('own 106', 106)",
];

#[test]
fn audit_checks_chain_tables() {
    let shop = Shop::open();
    let scratch = Scratch::new();
    let original = scratch.path("original.db");
    copy_database(shop.file(), &original);
    let planted = |name: &str, sql: &str| {
        let file = scratch.path(name);
        std::fs::copy(&original, &file).unwrap();
        execute_sql(&file, sql);
        findings(&file)
    };
    for (number, right) in VALID_STATEMENTS.iter().chain([&""]).enumerate() {
        let found = planted(&format!("right{number}.db"), &format!("{FOLLOWED_CHAINS_SQL}{right}"));
        assert_eq!(found, Vec::<String>::new(), "{right}");
    }
    for (number, (fault, rule, part)) in FAULTS.iter().enumerate() {
        let found = planted(&format!("fault{number}.db"), &format!("{FOLLOWED_CHAINS_SQL}{fault}"));
        let is_told = |line: &String| line.starts_with(rule) && line.contains(part);
        assert!(found.iter().any(is_told), "{fault}: {found:#?}");
    }
}
