//! Files of older versions: each is upgraded, passes the audit, and accepts new work.
//!
//! `tests/golden/files/v1.db` is of the first version: a sandbox in both modes, with invoices of every status,
//! payments that were confirmed, orphaned, replaced and dropped, and pending events.
//!
//! `v2.db` is of the second version. It also has customers, deposits, payouts and refunds in every final status, a
//! second operator and account, and an approved payout that is not sent.
//!
//! `v3.db` is of the third version. It also has deposits in every state, transactions with several outputs, unmatched
//! payments, and a server order.

use super::audit::run_audit;
use crate::support::process::{Process, start_sandbox};
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Response, TEST, agent, send};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const OLD_VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

/// Queries for data that merchants have already received, which no upgrade may change.
const PUBLISHED_DATA_QUERIES: [&str; 6] = [
    "select account || mode || type || body from events order by seq",
    "select id || status || amount || currency || coalesce(amount_received, '') from invoices order by seq",
    "select id || kind || amount || coalesce(payment, '') from ledger order by seq",
    "select pool || address || coalesce(invoice, '') from addresses order by address",
    "select mode || currency || available || sales || fees from balances order by mode, currency",
    "select client_key || answer from idempotency order by client_key, mode",
];

/// Query for the errors of attempts without a response.
const ATTEMPT_ERRORS_QUERY: &str =
    "select error from attempts where error is not null order by at, delivery, number";

/// Query for all columns of payments in a file without the table `observations`.
const PAYMENTS_OF_V1: &str = "select concat_ws(' ', p.seq, p.id, p.invoice, p.quote, p.mode, p.chain, p.asset, p.txid, p.position,
    p.amount, q.address, p.rate, p.value, p.on_time, p.state, p.was_confirmed, p.seen_at, p.confirmed_at, p.created_at)
  from payments p join quotes q on q.seq = p.quote order by p.seq";
/// Query for the same columns as [`PAYMENTS_OF_V1`] in a file with the table `observations`.
const PAYMENTS: &str = "select concat_ws(' ', p.seq, p.id, p.invoice, p.quote, o.mode, o.chain, o.asset, o.txid, o.position,
    o.amount, o.address, p.rate, p.value, p.on_time, o.state, p.was_confirmed, p.seen_at, o.confirmed_at, p.created_at)
  from payments p join observations o on o.seq = p.observation order by p.seq";

/// Returns the first column of a query, as texts.
#[track_caller]
pub fn text_column(file: &Path, statement: &str) -> Vec<String> {
    let conn = Connection::open(file).unwrap();
    let mut rows = conn.prepare(statement).unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Creates a file of version `version` at `older`, with the rows of `file` in the tables that this version has.
pub fn downgraded_copy(file: &Path, older: &Path, version: u8) -> Connection {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/migrations");
    let mut migrations: Vec<_> =
        fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    migrations.sort();
    let conn = Connection::open(older).unwrap();
    conn.execute_batch("pragma foreign_keys = off").unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    for migration in migrations.iter().take(version.into()) {
        conn.execute_batch(&fs::read_to_string(migration).unwrap()).unwrap();
    }
    conn.pragma_update(None, "user_version", version).unwrap();
    conn.execute("attach ?1 as now", [file.to_str().unwrap()]).unwrap();
    let names = |conn: &Connection, of: &str| -> Vec<String> {
        let mut statement = conn.prepare(of).unwrap();
        let names = statement.query_map([], |row| row.get("name")).unwrap();
        names.map(Result::unwrap).collect()
    };
    for table in names(
        &conn,
        "select name from main.sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    ) {
        let known = format!(
            "select name from pragma_table_info('{table}', 'main') intersect select name from pragma_table_info('{table}', 'now')"
        );
        let known = names(&conn, &known).join(", ");
        conn.execute_batch(&format!(
            "delete from main.{table}; insert into main.{table} ({known}) select {known} from now.{table}"
        ))
        .unwrap();
    }
    conn.execute_batch("detach now").unwrap();
    conn
}

#[track_caller]
pub fn assert_audit_clean(file: &Path) {
    let output = run_audit(file);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.starts_with("nothing found in "), "{output:?}");
}

/// Starts a sandbox on this file, and returns its URL.
#[track_caller]
pub fn start_on_file(file: &Path) -> (Process, String) {
    start_sandbox("127.0.0.1:0", &["--file", file.to_str().unwrap()])
}

#[track_caller]
pub fn call(url: &str, method: &str, path: &str, key: &str, body: &Value) -> Response {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let path = format!("{url}{path}");
    send(&agent(), method, &path, &[("X-API-Key", key)], &body)
}

#[test]
fn upgrade_of_an_old_file_passes_the_audit() {
    for version in OLD_VERSIONS {
        assert_upgraded(version);
    }
}

#[track_caller]
fn assert_upgraded(version: &str) {
    let scratch = Scratch::new();
    let copy = |name| scratch.copy_old_file(version, name);
    let (file, old) = (copy("file.db"), copy("old.db"));
    let (mut process, url) = start_on_file(&file);
    assert_audit_clean(&file);
    for key in [TEST, LIVE] {
        let mode = if key == TEST { "test" } else { "live" };
        let kept = format!(
            "select id from invoices where mode = '{mode}' and account = 1 order by seq desc"
        );
        let list = call(&url, "GET", "/v1/invoices?limit=100", key, &Value::Null).expect(200);
        let list = list.json();
        let shown = list["data"].as_array().unwrap().iter();
        let shown: Vec<_> = shown.map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(shown, text_column(&old, &kept));
        let kept =
            format!("select body from events where mode = '{mode}' and account = 1 order by seq");
        let ids =
            format!("select id from events where mode = '{mode}' and account = 1 order by seq");
        let events = text_column(&old, &ids).into_iter();
        for (id, body) in events.zip(text_column(&old, &kept)) {
            let path = format!("/v1/events/{id}");
            let event = call(&url, "GET", &path, key, &Value::Null).expect(200);
            assert_eq!(event.text, body, "the text is unchanged");
        }
    }
    assert!(process.close_input_and_wait());
    assert_audit_clean(&file);
    for statement in PUBLISHED_DATA_QUERIES {
        assert_eq!(text_column(&file, statement), text_column(&old, statement), "{statement}");
    }
    assert_eq!(text_column(&file, PAYMENTS), text_column(&old, PAYMENTS_OF_V1));
}

#[test]
fn upgraded_file_has_the_schema_of_a_new_file() {
    let scratch = Scratch::new();
    let new = scratch.path("new.db");
    let files =
        OLD_VERSIONS.map(|version| scratch.copy_old_file(version, &format!("{version}.db")));
    for path in files.iter().chain([&new]) {
        let (mut process, _) = start_on_file(path);
        assert!(process.close_input_and_wait());
    }
    let schema = "select type || ' ' || name || ': ' || coalesce(sql, '') from sqlite_schema order by type, name";
    let version = "select cast(user_version as text) from pragma_user_version";
    for file in &files {
        assert_eq!(text_column(file, schema), text_column(&new, schema));
        assert_eq!(text_column(file, version), text_column(&new, version));
    }
}

#[test]
fn upgraded_sandbox_has_an_operator_and_a_reseller() {
    let scratch = Scratch::new();
    let file = scratch.copy_old_file("v1", "file.db");
    // The first start creates the operator and the reseller. The second start must not create them again.
    for _ in 0..2 {
        let (mut process, url) = start_on_file(&file);
        let body = json!({ "email": "operator@sandbox.test", "password": "sandbox" });
        let session = format!("{url}/dashboard/api/session");
        send(&agent(), "POST", &session, &[], &body.to_string()).expect(201);
        let bearer = [("Authorization", "Bearer rt_sandbox")];
        let servers = format!("{url}/reseller/servers");
        send(&agent(), "GET", &servers, &bearer, "").expect(200);
        assert!(process.close_input_and_wait());
    }
    assert_audit_clean(&file);
}

#[test]
fn upgraded_file_accepts_new_work() {
    for version in OLD_VERSIONS {
        assert_accepts_new_work(version);
    }
}

#[track_caller]
fn assert_accepts_new_work(version: &str) {
    let scratch = Scratch::new();
    let copy = |name| scratch.copy_old_file(version, name);
    let (file, old) = (copy("file.db"), copy("old.db"));
    let (mut process, url) = start_on_file(&file);
    let taken: BTreeSet<_> =
        text_column(&old, "select address from addresses").into_iter().collect();
    let post = |path: &str, key: &str, body: Value| call(&url, "POST", path, key, &body);
    // A request with an existing order id returns the existing invoice.
    let body = json!({ "amount": "41.00", "currency": "EUR", "orderId": "open" });
    let again = post("/v1/invoices", TEST, body).expect(200).json();
    let mut handed_out = BTreeSet::new();
    for (key, asset) in [TEST, LIVE]
        .into_iter()
        .flat_map(|key| ["BTC", "ETH", "TRX", "SOL", "DOGE"].map(|asset| (key, asset)))
    {
        let body = json!({ "amount": "50.00", "currency": "EUR", "asset": asset });
        let made = post("/v1/invoices", key, body).expect(201).json();
        let address = made["depositAddress"].as_str().unwrap().to_owned();
        assert!(!taken.contains(&address), "{address} handed out twice");
        assert!(handed_out.insert(address), "handed out twice");
    }
    // Pending payments are confirmed, and an open invoice is paid.
    let seen = "select id from payments where state = 'seen' order by seq";
    for payment in text_column(&old, seen) {
        let path = format!("/sandbox/payments/{payment}");
        post(&path, TEST, json!({ "state": "confirmed" })).expect(200);
    }
    let path = format!("/v1/invoices/{}/simulate", again["id"].as_str().unwrap());
    let paid = post(&path, TEST, json!({ "case": "exact" })).expect(200);
    assert_eq!(paid.json()["status"], "confirmed");
    // The upgraded file supports features that the first version lacked.
    let path = "/v1/customers/anna/addresses";
    post(path, TEST, Value::Null).expect(201);
    let path = "/v1/customers/anna/simulate";
    post(path, TEST, json!({ "asset": "ETH", "amount": "0.1" })).expect(201);
    let move_on = |payout: &str, actions: &[&str]| {
        for action in actions {
            let path = format!("/sandbox/payouts/{payout}");
            post(&path, LIVE, json!({ "action": action })).expect(200);
        }
    };
    let approved = "select id from transfers where kind = 'payout' and status = 'approved'";
    for payout in text_column(&file, approved) {
        move_on(&payout, &["process", "pay"]);
    }
    let payout = post("/v1/payouts", LIVE, json!({ "amount": "20.00" })).expect(201);
    let payout = payout.json()["id"].as_str().unwrap().to_owned();
    move_on(&payout, &["approve", "process", "pay"]);
    assert_audit_clean(&file);
    assert!(process.close_input_and_wait());
    assert_audit_clean(&file);
}

#[test]
fn upgraded_attempts_reveal_no_internal_address() {
    for version in ["v1", "v2"] {
        let scratch = Scratch::new();
        let file = scratch.copy_old_file(version, "file.db");
        let conn = Connection::open(&file).unwrap();
        let before = text_column(&file, ATTEMPT_ERRORS_QUERY);
        conn.execute_batch(
            "update attempts set error = 'address not allowed: ' || iif(rowid % 2 = 0, '10.0.0.7', '::ffff:10.0.0.7')
             where error is not null;",
        )
        .unwrap();
        drop(conn);
        let (mut process, _) = start_on_file(&file);
        assert!(process.close_input_and_wait());
        let after = text_column(&file, ATTEMPT_ERRORS_QUERY);
        assert!(!before.is_empty() && after.len() >= before.len());
        let told = &after[..before.len()];
        assert!(told.iter().all(|error| error == "address not allowed"), "{after:?}");
        assert_audit_clean(&file);
    }
}
