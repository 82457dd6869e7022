//! Origin of addresses: each address has a wallet and an index, and on UTXO chains also a script.

use crate::file::audit::findings;
use crate::support::database::text_column;
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop, TEST};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Query for the addresses with their stored indexes. [`CONSECUTIVE_INDEXES`] returns the same addresses, numbered without gaps.
const INDEXES: &str = "select concat_ws(' ', w.mode, w.pool, a.address, a.wallet_index) from addresses a join wallets w on w.seq = a.wallet
  order by a.seq";
const CONSECUTIVE_INDEXES: &str = "select concat_ws(' ', mode, pool, address, row_number() over (partition by mode, pool order by seq) - 1)
  from addresses order by seq";
/// Query for addresses that lack a script, or that have a script although their chain has none.
const WRONG_SCRIPTS: &str = "select address from addresses
  where (script is not null) <> (pool in ('bitcoin', 'litecoin', 'dogecoin'))";

#[test]
fn wallet_hands_out_each_index_once() {
    let shop = Shop::open();
    let invoice = |key: &str, asset: &str| -> Value {
        let body = json!({ "amount": "60.00", "currency": "EUR", "asset": asset });
        shop.post("/v1/invoices", Some(key), body).expect(201).json()
    };
    for key in [TEST, LIVE] {
        for asset in ["BTC", "LTC", "DOGE", "ETH", "USDC-BASE", "TRX", "SOL", "BTC"] {
            invoice(key, asset);
        }
    }
    shop.create_addresses(TEST, "ada").expect(201);
    let lines = |sql: &str| text_column(shop.file(), sql);
    assert_eq!(lines(INDEXES), lines(CONSECUTIVE_INDEXES));
    assert_eq!(lines(WRONG_SCRIPTS), Vec::<String>::new());
    let wallets =
        "select concat_ws(' ', mode, pool, network, next_index) from wallets order by seq";
    let expected = [
        "test bitcoin simulated 3",
        "test litecoin simulated 1",
        "test dogecoin simulated 1",
        "test evm simulated 3",
        "test tron simulated 2",
        "test solana simulated 2",
        "live bitcoin simulated 2",
        "live litecoin simulated 1",
        "live dogecoin simulated 1",
        "live evm simulated 2",
        "live tron simulated 1",
        "live solana simulated 1",
    ];
    assert_eq!(lines(wallets), expected);
    let script = "select hex(script) from addresses where pool = 'dogecoin' and mode = 'test'";
    let script = shop.query_text(script);
    assert!(script.starts_with("76A914") && script.ends_with("88AC"), "{script}");
}

#[test]
fn audit_finds_addresses_with_a_wrong_wallet_or_index() {
    let shop = Shop::open();
    for asset in ["BTC", "LTC", "ETH"] {
        shop.create_invoice("60.00", json!({ "asset": asset }));
    }
    // The audit finds three errors: an index that was not assigned, a wallet of another pool, and an address without
    // a wallet.
    for (change, problem) in [
        ("update wallets set next_index = 0 where seq = 3", "an index below 0"),
        ("update addresses set wallet = 2, wallet_index = 0 where seq = 3", "its pool's wallet"),
        ("update addresses set wallet = null, wallet_index = null where seq = 3", "of no wallet"),
    ] {
        let scratch = Scratch::new();
        let copy = scratch.path("copy.db");
        shop.execute_sql(&format!("vacuum into '{}'", copy.display()));
        let conn = Connection::open(&copy).unwrap();
        conn.execute_batch("drop index addresses_of_wallet").unwrap();
        conn.execute_batch(change).unwrap();
        conn.execute_batch("create index addresses_of_wallet on addresses (wallet, wallet_index) where wallet is not null").unwrap();
        drop(conn);
        let found = findings(&copy);
        assert!(found.iter().any(|one| one.contains(problem)), "{change}: {found:?}");
    }
}
