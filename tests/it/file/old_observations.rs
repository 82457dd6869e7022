//! Upgrade of payments, deposits and unmatched payments to observations.
//!
//! `tests/golden/files/v2_chains.db` is of the second version: a sandbox in both modes, with payments and deposits in
//! every state, zero amounts, several payments in one transaction, and unmatched payments. For `v3.db` see
//! `old_files`.

use crate::file::audit::findings;
use crate::file::old_files::{call, start_on_file, text_column};
use crate::support::scratch::Scratch;
use crate::support::{TEST, agent, send};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

const OLD_VERSIONS: [&str; 2] = ["v2_chains", "v3"];

/// Pairs of queries, one for the old file and one for the upgraded file, that must return the same rows.
const MIGRATED_ROWS_QUERIES: [[&str; 2]; 3] = [
    [
        "select concat_ws(' ', p.seq, p.id, p.invoice, p.quote, p.mode, p.chain, p.asset, p.txid, p.position, p.amount,
           q.address, p.rate, p.value, p.on_time, p.state, p.was_confirmed, p.seen_at, p.confirmed_at, p.created_at)
         from payments p join quotes q on q.seq = p.quote order by p.seq",
        "select concat_ws(' ', p.seq, p.id, p.invoice, p.quote, o.mode, o.chain, o.asset, o.txid, o.position, o.amount,
           o.address, p.rate, p.value, p.on_time, o.state, p.was_confirmed, p.seen_at, o.confirmed_at, p.created_at)
         from payments p join observations o on o.seq = p.observation order by p.seq",
    ],
    [
        "select concat_ws(' ', seq, id, account, mode, customer, chain, asset, address, txid, position, amount, rate, gross,
           fee, iif(status = 'detected', 'seen', status), was_confirmed, created_at, confirmed_at)
         from deposits order by seq",
        "select concat_ws(' ', d.seq, d.id, d.account, d.mode, d.customer, o.chain, o.asset, o.address, o.txid, o.position,
           o.amount, d.rate, d.gross, d.fee, o.state, d.was_confirmed, d.created_at, o.confirmed_at)
         from deposits d join observations o on o.seq = d.observation order by d.seq",
    ],
    [
        "select concat_ws(' ', seq, id, mode, chain, asset, txid, position, address, amount, reason, account, invoice, seen_at,
           resolved_at, note) from unmatched_payments order by seq",
        "select concat_ws(' ', u.seq, u.id, o.mode, o.chain, o.asset, o.txid, o.position, o.address, o.amount, u.reason,
           u.account, u.invoice, o.seen_at, u.resolved_at, u.note)
         from unmatched_payments u join observations o on o.seq = u.observation order by u.seq",
    ],
];

#[test]
fn upgrade_keeps_observed_payments() {
    OLD_VERSIONS.into_iter().for_each(assert_payments_kept);
}

#[track_caller]
fn assert_payments_kept(version: &str) {
    let scratch = Scratch::new();
    let [file, old] = ["file.db", "old.db"].map(|name| scratch.copy_old_file(version, name));
    let (mut process, _) = start_on_file(&file);
    assert!(process.close_input_and_wait());
    assert_eq!(findings(&file), Vec::<String>::new());
    for [before, after] in MIGRATED_ROWS_QUERIES {
        let (before, after) = (text_column(&old, before), text_column(&file, after));
        assert!(before.len() > 3, "{before:?}");
        assert_eq!(after, before);
    }
    let kept = ["ledger", "invoice_steps", "events", "invoices", "addresses"];
    for table in kept {
        let count = format!("select cast(count(*) as text) from {table}");
        assert_eq!(text_column(&file, &count), text_column(&old, &count), "{table}");
    }
}

#[test]
fn upgraded_payments_accept_further_steps() {
    OLD_VERSIONS.into_iter().for_each(assert_payments_usable);
}

#[track_caller]
fn assert_payments_usable(version: &str) {
    let scratch = Scratch::new();
    let [file, old] = ["file.db", "old.db"].map(|name| scratch.copy_old_file(version, name));
    let (mut process, url) = start_on_file(&file);
    let ids = "select id from payments union all select id from deposits union all select id from unmatched_payments";
    // Simulates the steps dropped, seen, confirmed, orphaned and confirmed again for each payment.
    for id in text_column(&old, ids) {
        let path = format!("/sandbox/payments/{id}");
        let step = |state: &str| call(&url, "POST", &path, TEST, &json!({ "state": state }));
        // This step fails for payments that are dropped already.
        let _ = step("dropped");
        for state in ["seen", "confirmed", "orphaned", "confirmed"] {
            step(state).expect(200);
        }
    }
    assert_eq!(findings(&file), Vec::<String>::new());
    let not_confirmed = "select txid from observations where state <> 'confirmed'";
    assert_eq!(text_column(&file, not_confirmed), Vec::<String>::new());
    // If the sandbox gets a payment of the old file again, it recognizes the transaction id.
    let nobody = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
    let again = json!({ "address": nobody, "asset": "BTC", "amount": "0.5", "txid": format!("shared-{TEST}") });
    call(&url, "POST", "/sandbox/payments", TEST, &again).expect(200);
    assert!(process.close_input_and_wait());
    assert_eq!(findings(&file), Vec::<String>::new());
}

/// SQL that stores transaction ids without normalization, as older versions did. In test mode, the ids of payments 1
/// and 9 on bitcoin and of payment 4 on base have the same 32 bytes.
const STORE_UNNORMALIZED_TXIDS: &str =
    "update payments set txid = upper(hex(zeroblob(31))) || 'AB' where seq = 1;
  update payments set txid = '0x' || hex(zeroblob(31)) || 'ab' where seq = 9;
  update payments set txid = '0X' || hex(zeroblob(31)) || 'aB' where seq = 4;
  update deposits set txid = '0x' || hex(zeroblob(31)) || 'Ab' where seq = 1;";

#[test]
fn upgrade_normalizes_a_txid_entered_by_hand() {
    let scratch = Scratch::new();
    let [file, old] = ["file.db", "old.db"].map(|name| scratch.copy_old_file("v3", name));
    Connection::open(&file).unwrap().execute_batch(STORE_UNNORMALIZED_TXIDS).unwrap();
    let (mut process, url) = start_on_file(&file);
    let zeros = "0".repeat(62);
    let ids = "select cast(position as text) || ' ' || txid from observations
      where txid like '%000ab' order by chain, position";
    let expected = [
        format!("0 0x{zeros}ab"),
        format!("0 {zeros}ab"),
        format!("1 {zeros}ab"),
        format!("2 {zeros}ab"),
    ];
    assert_eq!(text_column(&file, ids), expected);
    assert_eq!(findings(&file), Vec::<String>::new());
    let books = "select id || amount || kind from ledger order by seq";
    assert_eq!(text_column(&file, books), text_column(&old, books));
    // A request with any spelling of the transaction id returns the existing payment.
    let first = |select: &str| text_column(&file, select).remove(0);
    let paid = first(
        "select p.id || ' ' || q.address from payments p join quotes q on q.seq = p.quote where p.seq = 1",
    );
    let (payment, address) = paid.split_once(' ').unwrap();
    for txid in
        [format!("{zeros}ab"), format!("{zeros}AB"), format!("0x{zeros}Ab"), format!("0X{zeros}aB")]
    {
        let again = json!({ "address": address, "asset": "BTC", "amount": "1", "txid": txid });
        let again = call(&url, "POST", "/sandbox/payments", TEST, &again).expect(200);
        assert_eq!(again.json()["id"], json!(payment), "{txid}");
    }
    // The search of the operator interface also finds the payment by every spelling.
    let body = json!({ "email": "operator@sandbox.test", "password": "sandbox" });
    let signed_in = call(&url, "POST", "/dashboard/api/session", TEST, &body).expect(201);
    let cookie = signed_in.headers["set-cookie"].split(';').next().unwrap();
    let account = first("select id from accounts where seq = 1");
    for txid in [format!("{zeros}ab"), format!("0X{zeros}AB")] {
        let path = format!("{url}/dashboard/api/accounts/{account}/invoices?mode=test&text={txid}");
        let found = send(&agent(), "GET", &path, &[("cookie", cookie)], "").expect(200);
        let found = found.json();
        let found = found["data"].as_array().unwrap().iter();
        let mut found: Vec<_> = found.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        let named = "select distinct i.id from invoices i join payments p on p.invoice = i.seq where p.seq in (1, 4, 9)";
        let mut expected = text_column(&file, named);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{txid}");
    }
    assert!(process.close_input_and_wait());
    assert_eq!(findings(&file), Vec::<String>::new());
}

/// Runs one migration.
fn run_migration(conn: &Connection, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("sql/migrations/{name}.sql"));
    let migration = std::fs::read_to_string(path).unwrap();
    conn.execute_batch(&migration).unwrap();
}

/// Runs the sixth migration on a file with these payments. Returns transaction id, position and spent outputs of each
/// observation.
fn migrate_observations(
    rows: &[(&str, &str, String, i64, Option<String>)],
) -> Vec<(String, i64, Option<String>)> {
    let conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    for name in
        ["0001_initial", "0002_out_and_operators", "0003_repairs", "0004_intake", "0005_rates"]
    {
        run_migration(&conn, name);
    }
    let sql = "insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at, spends)
      values (?1, ?2, ?3, ?4, 'BTC', 'a', '1', 'seen', 0, ?5)";
    for row in rows {
        conn.execute(sql, row.clone()).unwrap();
    }
    run_migration(&conn, "0006_transaction_ids");
    let mut moved =
        conn.prepare("select txid, position, spends from observations order by seq").unwrap();
    let moved = moved.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    moved.unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn upgrade_merges_equal_txids() {
    let (small, large) = ("ab".repeat(32), "AB".repeat(32));
    let (evm, strange) = (format!("0x{small}"), "zz".repeat(32));
    let spends = format!(r#"[["0X{large}",1],["mine",0],null,"a \"b\""]"#);
    let spends_then = format!(r#"[["{small}",9],["mine",0],null,"a \"b\""]"#);
    let plain = |mode, chain, txid: &str, position| (mode, chain, txid.to_owned(), position, None);
    let rows = [
        plain("test", "bitcoin", &small, 1),
        // The migration merges the next two rows with the first row, because all three rows are the same output.
        ("test", "bitcoin", large.clone(), 1, Some(spends)),
        plain("test", "bitcoin", &format!("0X{large}"), 1),
        plain("test", "bitcoin", &format!("0x{small}"), 7),
        plain("live", "bitcoin", &large, 1),
        plain("test", "base", &large, 0),
        plain("test", "tron", &format!("0x{large}"), 0),
        plain("test", "solana", &large, 0),
        plain("test", "bitcoin", "My-Own", 0),
        plain("test", "bitcoin", &large[1..], 0),
        plain("test", "bitcoin", &strange, 0),
    ];
    let then = |txid: &str, position| (txid.to_owned(), position, None);
    let expected = [
        then(&small, 1),
        (small.clone(), 8, Some(spends_then)),
        then(&small, 9),
        then(&small, 7),
        then(&small, 1),
        then(&evm, 0),
        then(&small, 0),
        then(&large, 0),
        then("My-Own", 0),
        then(&large[1..], 0),
        then(&strange, 0),
    ];
    assert_eq!(migrate_observations(&rows), expected);
}
