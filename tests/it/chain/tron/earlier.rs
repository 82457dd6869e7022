//! Customer addresses that are older than the first poll of the chain. The server reads the earlier blocks once for
//! these addresses.

use crate::chain::till::TestnetShop;
use crate::file::audit::findings;
use crate::file::old_files::downgraded_copy;
use crate::support::installation::RunningServer;
use crate::support::tron::{Node, TOKEN, encode_address};
use serde_json::{Value, json};

const DAY_MS: i64 = 24 * 3_600_000;
const UNMATCHED: &str = "/dashboard/api/unmatched-payments";

/// Opens a shop with two customer addresses, 40 and 20 days old.
#[track_caller]
fn open_shop() -> (TestnetShop, [String; 2]) {
    let node = Node::start();
    let till = TestnetShop::with_account_chain(
        "tron",
        &node.url(),
        ("USDT-TRC20", &encode_address(TOKEN)),
    );
    let enabled = "update accounts set customers_enabled = 1";
    till.served.open_file().execute(enabled, []).unwrap();
    let running = till.start();
    till.wait_for_rate("tron", "TRX");
    let addresses = ["bob", "ada"].map(|name| {
        let path = format!("/v1/customers/{name}/addresses");
        let given = till.call_api(&running, "POST", &path, "{}");
        let given = given["addresses"][0]["address"].as_str();
        given.unwrap().to_owned()
    });
    (till, addresses)
}

/// Replaces the shop's file with a file that was written by a version without Tron.
fn downgrade_file(till: &mut TestnetShop) {
    let older = till.served.path("older.db");
    let old = downgraded_copy(&till.served.file, &older, 27);
    let unwatched = "delete from chain_blocks; delete from chain_cursors; delete from chains where chain = 'tron'";
    old.execute_batch(unwatched).unwrap();
    let given_out = "update customers set created_at = created_at - ?1 * iif(ref = 'bob', 40, 20)";
    assert_eq!(old.execute(given_out, [DAY_MS]), Ok(2));
    till.served.file = older;
}

/// Pays the first address 35 days ago and the second address 10 days ago, in simulated time.
fn pay_earlier_deposits(node: &Node, [bob, ada]: &[String; 2]) {
    node.pay(bob, 5_000_000);
    node.mine(1);
    node.chain().ahead_ms = -10 * DAY_MS;
    node.pay(ada, 7_000_000);
    node.mine(30);
    node.chain().ahead_ms = 0;
    node.mine(30);
}

#[test]
fn earlier_deposits_are_unmatched_and_old_addresses_are_listed() {
    let (mut till, addresses) = open_shop();
    downgrade_file(&mut till);
    let node = Node::start_with_clock_behind(35 * DAY_MS);
    pay_earlier_deposits(&node, &addresses);
    till.set_node_url("tron", &node.url());
    let mut running = till.start();
    let found = "select (select count(*) from rescans where ended_at is not null) || ' ' || \
        ifnull(group_concat(reason || ' ' || (account is not null)), '-') from unmatched_payments";
    till.served.wait_for_query_result(found, &["1 unwatched 1"]);
    running.process.kill();
    node.pay(&addresses[1], 9_000_000);
    node.mine(30);
    let mut running = till.start();
    let booked = "select ifnull(group_concat(o.amount), '-') from deposits d join observations o on o.seq = d.observation \
        where o.state = 'confirmed'";
    till.served.wait_for_query_result(booked, &["9000000"]);
    assign_unmatched_payment(&running);
    till.served.wait_for_query_result("select count(*) || '' from deposits", &["2"]);

    let said = till.run_coffer(&["doctor"]);
    let named = format!("tron was read for them: {}", addresses[0]);
    assert!(said.contains("1 addresses of customers were given out before"), "{said}");
    assert!(said.contains(&named) && !said.contains(&addresses[1]), "{said}");
    running.process.kill();
    till.run_coffer(&["rescan", "tron", "--from", "1"]);
    let running = till.start();
    till.served.wait_for_query_result(found, &["2 unwatched 1,unwatched 1"]);
    let said = till.run_coffer(&["doctor"]);
    assert!(!said.contains("given out before"), "{said}");
    drop(running);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
}

/// Assigns the unmatched payment to the owner of its address.
#[track_caller]
fn assign_unmatched_payment(running: &RunningServer) {
    let listed = running.operator_request("GET", UNMATCHED, &Value::Null);
    let listed = listed.expect(200).json();
    let found = &listed["data"][0];
    let shown = [&found["reason"], &found["amountCrypto"], &found["candidate"]["customer"]];
    assert_eq!(shown, [&json!("unwatched"), &json!("7"), &json!("ada")], "{found}");
    let path = format!("{UNMATCHED}/{}/assign", found["id"].as_str().unwrap());
    let to = json!({ "account": found["candidate"]["account"], "customer": "ada" });
    running.operator_request("POST", &path, &to).expect(200);
}
