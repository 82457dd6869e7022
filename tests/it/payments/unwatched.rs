//! Unwatched chains, for which no address is assigned.

use super::live_addresses::{
    NODES, address_entry, live_customer_addresses, open_shop, set_watched,
};
use crate::process::serve::{call, start_server};
use crate::support::command::coffer_output;
use crate::support::database::{execute_sql, text_column};
use crate::support::installation::Installation;
use serde_json::{Value, json};

#[test]
fn unwatched_chain_hands_out_no_pool_address() {
    let shop = open_shop();
    let (_server, url) = start_server(&shop.file(), &NODES);
    let address = bs58::encode([7; 32]).into_string();
    execute_sql(
        &shop.file(),
        &format!(
            "insert into pool_addresses (pool, address, state, imported_at) values ('solana', '{address}', 'free', 0)"
        ),
    );
    let free = "select state from pool_addresses";
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), []);
    assert_eq!(text_column(&shop.file(), free), ["free"]);
    set_watched(&shop, "solana");
    let given = [address_entry("solana", address)];
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), given);
    // The address is still listed after the chain is stopped.
    let stopped = "update chain_cursors set stopped = 'reorganised' where chain = 'solana'";
    execute_sql(&shop.file(), stopped);
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), given);
    let path = "/v1/customers/ada/addresses";
    let read = call(&url, &shop.live, "GET", path, json!({})).json();
    assert_eq!(read["addresses"][0]["chainIds"], json!([]));
    assert_eq!(read["addresses"][0]["assets"], json!([]));
    assert_eq!(live_customer_addresses(&shop, &url, "bob"), []);
}

#[test]
fn live_invoice_without_coins_warns_with_the_reason() {
    let (served, running) = Installation::start_new(&[]);
    let warned = |body: Value| {
        let made = running.api_request("POST", "/v1/invoices", &body).expect(201).json();
        made["warnings"].as_array().unwrap().last().unwrap().clone()
    };
    let why = "no chain has a node";
    let said = format!("no coin is on offer, so nobody can pay this invoice now: {why}");
    assert_eq!(warned(json!({ "amount": "20.00", "currency": "EUR" })), said);
    assert_eq!(warned(json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC" })), said);
    let summary = |query: &str| {
        let path = format!("/dashboard/api/summary{query}");
        running.operator_get(&path)["nothingOnOffer"].clone()
    };
    assert_eq!(summary(""), why);
    assert_eq!(summary("?mode=test"), Value::Null);
    let sql = "insert into destinations (seq, mode, chain, address) values (1, 'live', 'solana', 's');
        insert into transfers (id, kind, account, mode, invoice, status, currency, amount, asset, chain, to_address,
        destination, requested_at) values ('v', 'refund', 1, 'live', 1, 'requested', 'EUR', 1, 'SOL', 'solana', 's', 1, 0)";
    served.open_file().execute_batch(sql).unwrap();
    let doctor = ["doctor", "--node", "litecoin=http://127.0.0.1:1"];
    let said = coffer_output(&served.file, &doctor).printed;
    let wanted = "wrong: a live key exists, but no coin is on offer: no node of litecoin was reached yet; mend: ";
    assert!(said.contains(wanted), "{said}");
    let wanted = "wrong: refund v waits for approval; mend: approve or reject it";
    assert!(said.contains(wanted), "{said}");
}
