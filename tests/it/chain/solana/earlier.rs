//! Customer addresses that are older than the first poll of the chain. The server reads the earlier blocks once for
//! these addresses.

use crate::chain::till::TestnetShop;
use crate::file::audit::findings;
use crate::file::old_files::downgraded_copy;
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC};

const UNTESTED: &str = "earlier deposits on Solana";

#[test]
fn deposits_before_the_cursor_are_unmatched_and_later_ones_are_booked() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let mut till = TestnetShop::with_solana(&node, &node.url);
    let enabled = "update accounts set customers_enabled = 1";
    till.served.open_file().execute(enabled, []).unwrap();
    let running = till.start();
    till.wait_for_rate("solana", SOL);
    let given = till.call_api(&running, "POST", "/v1/customers/ada/addresses", "{}");
    let address = given["addresses"][0]["address"].as_str().unwrap().to_owned();
    drop(running);
    // Replaces the shop's file by a copy in the format of a version without Solana.
    let older = till.served.path("older.db");
    let old = downgraded_copy(&till.served.file, &older, 27);
    let unwatched = "delete from chain_blocks; delete from chain_cursors; delete from chains where chain = 'solana'";
    old.execute_batch(unwatched).unwrap();
    drop(old);
    till.served.file = older;
    // The payment was received and spent before the server read the chain.
    node.pay(SOL, &address, 70_000_000);
    node.pay(USDC, &address, 7_000_000);
    let at = node.pool_addresses(0, 40).iter().position(|one| *one == address);
    let sweep = serde_json::json!([
        ["token", USDC, node.payer, 7_000_000],
        ["close", USDC, node.payer],
        ["sol", node.payer, 69_995_000]
    ]);
    node.send(Some(u32::try_from(at.unwrap()).unwrap()), &sweep);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let mut running = till.start();
    let found = "select (select count(*) from rescans where ended_at is not null) || ' ' || \
        ifnull(group_concat(reason || ' ' || (account is not null)), '-') from unmatched_payments";
    till.served.wait_for_query_result(found, &["1 unwatched 1,unwatched 1"]);
    running.process.kill();
    node.pay(SOL, &address, 90_000_000);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let running = till.start();
    let booked = "select ifnull(group_concat(o.amount), '-') from deposits d join observations o on o.seq = d.observation \
        where o.state = 'confirmed'";
    till.served.wait_for_query_result(booked, &["90000000"]);
    till.served.wait_for_query_result(found, &["1 unwatched 1,unwatched 1"]);
    drop(running);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
}
