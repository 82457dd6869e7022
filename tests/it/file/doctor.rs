//! `coffer doctor`: problems that it reports in a file.

use super::keeping::{run_coffer, run_failing};
use crate::support::process::start_sandbox;
use crate::support::scratch::{Scratch, path_text};
use rusqlite::Connection;

#[test]
fn doctor_reports_what_needs_attention() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let missing = run_failing("doctor", &file, &[]);
    assert!(missing.contains("does not exist; mend: "), "{missing}");
    run_coffer("account", &file, &["create", "Shop"]);
    let said = run_failing("doctor", &file, &["--public-url", "http://pay.example.com"]);
    for about in [
        "wrong: nobody can sign in",
        "(Shop) waits for approval; mend: `coffer account approve ",
        "wrong: the public url is not https",
        "ok: maintenance",
    ] {
        assert!(said.contains(about), "{about}: {said}");
    }
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch(
        "update accounts set status = 'active';
        update file set maintenance = 1;
        insert into users (id, email, password_hash, role, created_at) values ('u', 'a@b', '$argon2id$', 'operator', 0)",
    )
    .unwrap();
    let site = ["--public-url", "https://pay.example.com"];
    let said = run_failing("doctor", &file, &site);
    for about in ["(Shop) has no secret key", "wrong: maintenance is on", "ok: operators"] {
        assert!(said.contains(about), "{about}: {said}");
    }
    conn.execute_batch("update file set maintenance = 0").unwrap();
    let account: String = conn.query_row("select id from accounts", [], |row| row.get(0)).unwrap();
    run_coffer("key", &file, &["create", &account, "--mode", "live"]);
    let rates = scratch.path("rates.json");
    std::fs::write(&rates, r#"{"BTC": {"EUR": "60000", "USD": "65000"}}"#).unwrap();
    let rates = format!("fixed:{}", path_text(&rates));
    let said = run_failing("doctor", &file, &[site[0], site[1], "--rates", &rates]);
    assert_eq!(said.matches("wrong:").count(), 1, "{said}");
    let why = "wrong: a live key exists, but no coin is on offer: no chain has a node; mend: ";
    assert!(said.contains(why), "{said}");
    let rate = "ok: rate of BTC: 60000 EUR (0 s old, file), 65000 USD (0 s old, file)";
    assert!(said.contains(rate), "{said}");
    let simulated = scratch.path("sandbox.db");
    drop(start_sandbox("127.0.0.1:0", &["--file", path_text(&simulated)]));
    let said = run_failing("doctor", &simulated, &[]);
    assert!(said.contains("belongs to a sandbox"), "{said}");
}
