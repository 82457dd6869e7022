//! Sender of an approved transfer: the signer within its limit, otherwise a person. The operator can change the
//! sender.

use crate::process::deploy::signer::CHAIN_ID;
use crate::support::anvil::Node;
use crate::support::command::coffer_output;
use crate::support::installation::{
    ETHEREUM, Installation, RunningServer, SOLANA, approval_body, signer_settings,
};
use crate::support::with_fields;
use serde_json::{Value, json};
use std::process::Command;

/// A shop with fixed rates and a signer that never exits.
struct SignerShop {
    served: Installation,
    running: RunningServer,
}

impl Drop for SignerShop {
    fn drop(&mut self) {
        // The signer process outlives a killed server, so it is killed separately.
        self.running.process.kill();
        if let Ok(number) = std::fs::read_to_string(self.served.path("number")) {
            let ended = Command::new("kill").args(["-KILL", number.trim()]).status();
            assert!(ended.unwrap().success());
        }
    }
}

impl SignerShop {
    #[track_caller]
    fn open() -> SignerShop {
        SignerShop::open_with_node(&[])
    }

    /// Opens a shop with these settings, which may replace the node that does not respond.
    #[track_caller]
    fn open_with_node(settings: &[&str]) -> SignerShop {
        let served = Installation::new();
        // The signer never finishes its first transfer, so later transfers stay approved.
        let script = format!("echo $$ > {}; exec sleep 100000", served.path("number").display());
        let program = served.write_program("signer", &script);
        let running = match settings {
            [] => served.start(&signer_settings(&program)),
            _ => served.start(&[&["--signer", &program], settings].concat()),
        };
        let adjustment = json!({ "currency": "EUR", "amount": "100000.00", "memo": "for a test" });
        let path = format!("/dashboard/api/accounts/{}/adjustments", served.account);
        running.operator_request("POST", &path, &adjustment).expect(201);
        served.wait_for_rates();
        SignerShop { served, running }
    }

    /// Requests a refund of this amount in ether and returns its path.
    #[track_caller]
    fn request_refund(&self, amount: &str) -> String {
        let cents: i64 = amount.replace('.', "").parse().unwrap();
        let conn = self.served.open_file();
        let id = format!("01a1fd8d-2c10-7b41-9e07-{:012x}", next_transfer_number(&conn));
        conn.execute(
            "insert into invoices (id, account, mode, status, amount, currency, waits_for, metadata, under_bps, over_bps, \
               created_at, expires_at) values (?1 || 'i', 1, 'live', 'created', 100, 'EUR', '', '{}', 0, 0, 0, 9e15)",
            [&id],
        )
        .unwrap();
        let invoice = conn.last_insert_rowid();
        let destination = "insert or ignore into destinations (mode, chain, address) values ('live', 'ethereum', ?1)";
        conn.execute(destination, [ETHEREUM[2]]).unwrap();
        conn.execute(
            "insert into transfers (id, kind, account, mode, invoice, status, currency, amount, asset, chain, to_address, \
               destination, requested_at) select ?1, 'refund', 1, 'live', ?4, 'requested', 'EUR', ?2, 'ETH', \
               'ethereum', ?3, seq, 0 from destinations where address = ?3",
            rusqlite::params![id, cents, ETHEREUM[2], invoice],
        )
        .unwrap();
        conn.execute(
            "update balances set reserved = reserved + ?1 where mode = 'live' and currency = 'EUR'",
            [cents],
        )
        .unwrap();
        format!("/dashboard/api/refunds/{id}")
    }

    /// Approves a transfer with these additional fields.
    #[track_caller]
    fn approve(&self, path: &str, fields: Value) -> crate::support::Response {
        let mut body = approval_body();
        body["networkFee"] = json!("0");
        self.running.operator_request("POST", path, &with_fields(body, &fields))
    }

    /// Requests and approves a refund of this amount, and returns its path and sender.
    #[track_caller]
    fn approve_refund(&self, amount: &str) -> (String, String) {
        let path = self.request_refund(amount);
        let approved = self.approve(&path, json!({})).expect(200).json();
        (path, approved["sentBy"].as_str().unwrap().to_owned())
    }

    #[track_caller]
    fn apply_action(&self, path: &str, body: Value) -> crate::support::Response {
        self.running.operator_request("POST", path, &body)
    }

    /// Sets the daily limit of the signer.
    #[track_caller]
    fn set_signer_limit(&self, limit: Value) {
        let path = format!("/dashboard/api/accounts/{}", self.served.account);
        let body = json!({ "signerLimit": limit });
        let account = self.running.operator_request("PATCH", &path, &body).expect(200);
        assert_eq!(account.json()["signerLimit"], limit);
    }
}

/// Returns the number of the next transfer.
fn next_transfer_number(conn: &rusqlite::Connection) -> i64 {
    conn.query_row("select count(*) + 1 from transfers", [], |row| row.get(0)).unwrap()
}

#[test]
fn transfers_above_the_daily_signer_limit_are_sent_by_hand() {
    let shop = SignerShop::open();
    let path = format!("/dashboard/api/accounts/{}", shop.served.account);
    let account = shop.running.operator_get(&path);
    assert_eq!(account["signerLimit"], "1000.00");
    let (_, first) = shop.approve_refund("600.00");
    let (second, sent_by) = shop.approve_refund("400.00");
    assert_eq!([first.as_str(), sent_by.as_str()], ["signer", "signer"]);
    let (over, sent_by) = shop.approve_refund("0.01");
    assert_eq!(sent_by, "hand", "the limit is reached");
    let path = shop.request_refund("0.01");
    let refused = shop.approve(&path, json!({ "sentBy": "signer" }));
    refused.assert_error(400, "invalid_request", Some("sentBy"));
    assert!(refused.text.contains("was given 1000.00 EUR"), "{}", refused.text);
    // A cancelled transfer no longer counts towards the limit.
    shop.apply_action(&second, json!({ "action": "cancel" })).expect(200);
    assert_eq!(
        shop.approve(&path, json!({ "sentBy": "signer" })).expect(200).json()["sentBy"],
        "signer"
    );
    let back = json!({ "action": "reassign", "sentBy": "signer" });
    assert_eq!(shop.apply_action(&over, back).expect(200).json()["sentBy"], "signer");
    // Moves all other transfers one day into the past, so that only the two transfers of 0.01 EUR count towards the
    // limit.
    let day = "update transfers set signer_at = signer_at - 86400000 where amount > 1";
    shop.served.open_file().execute(day, []).unwrap();
    assert_eq!(shop.approve_refund("999.99").1, "hand");
    assert_eq!(shop.approve_refund("999.98").1, "signer");
}

#[test]
fn operator_sets_signer_limit_to_amount_zero_or_null() {
    let shop = SignerShop::open();
    shop.set_signer_limit(json!("0.00"));
    assert_eq!(shop.approve_refund("0.50").1, "hand");
    shop.set_signer_limit(Value::Null);
    assert_eq!(shop.approve_refund("50000.00").1, "signer");
    shop.set_signer_limit(json!("50000.50"));
    assert_eq!(shop.approve_refund("0.51").1, "hand");
    assert_eq!(shop.approve_refund("0.50").1, "signer");
    let path = format!("/dashboard/api/accounts/{}", shop.served.account);
    for wrong in [json!("-1"), json!("1.001"), json!("x"), json!(true), json!("99999999999.99")] {
        let body = json!({ "signerLimit": wrong });
        let refused = shop.running.operator_request("PATCH", &path, &body);
        refused.assert_error(400, "invalid_request", Some("signerLimit"));
    }
    let log = shop.running.operator_get("/dashboard/api/audit-log?limit=200");
    let log = log["data"].clone();
    let changes =
        log.as_array().unwrap().iter().filter(|entry| entry["action"] == "account.change");
    let limits: Vec<&Value> =
        changes.filter_map(|entry| entry["detail"].get("signerLimit")).collect();
    assert_eq!(limits, [&json!("50000.50"), &Value::Null, &json!("0.00")]);
}

#[test]
fn person_cannot_send_a_signer_transfer_until_reassigned() {
    let shop = SignerShop::open();
    let (_, first) = shop.approve_refund("1.00");
    assert_eq!(first, "signer", "the signer runs and holds later transfers");
    shop.served.wait_for_query_result(
        "select status from transfers order by seq limit 1",
        &["processing"],
    );
    let (path, sent_by) = shop.approve_refund("2.00");
    assert_eq!(sent_by, "signer");
    let process = json!({ "action": "process" });
    shop.apply_action(&path, process.clone()).assert_error(
        409,
        "invalid_transition",
        Some("action"),
    );
    for (body, param) in [
        (json!({ "action": "reassign" }), "sentBy"),
        (json!({ "action": "reassign", "sentBy": "me" }), "sentBy"),
        (json!({ "action": "reassign", "sentBy": "hand", "rate": "1" }), "rate"),
        (json!({ "action": "process", "sentBy": "hand" }), "sentBy"),
    ] {
        shop.apply_action(&path, body).assert_error(400, "invalid_request", Some(param));
    }
    let by_hand = json!({ "action": "reassign", "sentBy": "hand" });
    assert_eq!(shop.apply_action(&path, by_hand.clone()).expect(200).json()["sentBy"], "hand");
    shop.apply_action(&path, by_hand.clone()).assert_error(
        409,
        "invalid_transition",
        Some("sentBy"),
    );
    shop.apply_action(&path, process).expect(200);
    shop.apply_action(&path, by_hand).assert_error(409, "invalid_transition", Some("action"));
    let requested = shop.request_refund("3.00");
    let early = json!({ "action": "reassign", "sentBy": "hand" });
    shop.apply_action(&requested, early).assert_error(409, "invalid_transition", Some("action"));
}

#[test]
fn transfer_without_a_node_is_sent_by_hand() {
    let shop = SignerShop::open();
    let id = shop.served.request_payout_to(&shop.running, SOLANA);
    let path = format!("/dashboard/api/payouts/{id}");
    let refused = shop.approve(&path, json!({ "sentBy": "signer" }));
    refused.assert_error(400, "invalid_request", Some("sentBy"));
    assert!(refused.text.contains("solana has no node"), "{}", refused.text);
    let approved = shop.approve(&path, json!({})).expect(200).json();
    assert_eq!(approved["sentBy"], "hand");
    let reassign = json!({ "action": "reassign", "sentBy": "signer" });
    shop.apply_action(&path, reassign).assert_error(400, "invalid_request", Some("sentBy"));
}

#[test]
fn summary_counts_transfers_without_a_signer() {
    let (served, mut running) = Installation::start_new(&[]);
    let id = served.create_approved_payout_to(&running, ETHEREUM);
    let waiting = |running: &RunningServer| {
        running.operator_get("/dashboard/api/summary")["transfersWithoutSigner"].clone()
    };
    assert_eq!(waiting(&running), 0);
    served.assign_to_signer(&id);
    assert_eq!(waiting(&running), 1);
    assert!(running.process.close_input_and_wait());
    let doctor = |signer: &str| {
        let doctor = ["doctor", "--rates", "fixed:/nowhere", "--signer", signer];
        coffer_output(&served.file, &doctor).printed
    };
    let limit = "ok: signer limit, in any 24 hours and in each currency: 1000.00 for Shop\n";
    let said = doctor("");
    assert!(
        said.contains("wrong: 1 approved payouts and refunds are for a signer, and none is set"),
        "{said}"
    );
    assert!(said.contains(limit), "{said}");
    let said = doctor("/bin/true");
    assert!(said.contains("ok: signer\n") && said.contains(limit), "{said}");
}

#[test]
fn release_of_a_held_transfer_sets_its_sender() {
    let Some(node) = Node::start(CHAIN_ID, "the release of transfers to a signer") else {
        return;
    };
    let url = format!("ethereum={}", node.url);
    let shop = SignerShop::open_with_node(&["--node", &url, "--test-networks"]);
    shop.served.wait_for_query_result("select chain from chain_cursors", &["ethereum"]);
    // The signer is busy with the first transfer.
    shop.approve_refund("600.00");
    let held: Vec<String> = (0..5).map(|_| shop.approve_refund("80.00").0).collect();
    let hold = "update transfers set sending = 'restored', signer_at = signer_at - 100000000 where amount = 8000";
    assert_eq!(shop.served.open_file().execute(hold, []).unwrap(), 5);
    let requested = shop.request_refund("1.00");
    let hold = "update transfers set sending = 'restored' where amount = 100";
    assert_eq!(shop.served.open_file().execute(hold, []).unwrap(), 1);
    // A transfer on hold accepts no other action, whatever fields the request has.
    for body in [json!({ "action": "approve" }), json!({ "action": "approve", "rate": "0.01" })] {
        shop.apply_action(&requested, body).assert_error(409, "invalid_transition", Some("action"));
    }
    shop.apply_action(&held[0], json!({ "action": "reassign" })).assert_error(
        409,
        "invalid_transition",
        Some("action"),
    );
    let release = |path: &str, sent_by: Value| {
        let mut body = json!({ "action": "release" });
        if !sent_by.is_null() {
            body["sentBy"] = sent_by;
        }
        shop.apply_action(path, body)
    };
    release(&requested, json!("hand")).assert_error(400, "invalid_request", Some("sentBy"));
    let after = release(&requested, Value::Null).expect(200).json();
    assert_eq!(after["status"], "requested");
    assert_eq!(after["sentBy"], Value::Null);
    let by_hand = release(&held[0], json!("hand")).expect(200).json();
    assert_eq!([&by_hand["status"], &by_hand["sentBy"]], ["approved", "hand"]);
    let process = json!({ "action": "process" });
    shop.apply_action(&held[0], process.clone()).expect(200);
    // A transfer that is released to the signer counts towards the limit from its release, not from its first
    // approval.
    shop.set_signer_limit(json!("840.00"));
    for (path, asked, sent_by) in [
        (&held[1], json!("signer"), "signer"),
        (&held[2], Value::Null, "signer"),
        (&held[3], Value::Null, "signer"),
        (&held[4], Value::Null, "hand"),
    ] {
        let after = release(path, asked).expect(200).json();
        assert_eq!([&after["status"], &after["sentBy"]], ["approved", sent_by], "{path}");
        release(path, Value::Null).assert_error(409, "invalid_transition", Some("action"));
    }
    shop.apply_action(&held[1], process.clone()).assert_error(
        409,
        "invalid_transition",
        Some("action"),
    );
    shop.apply_action(&held[4], process).expect(200);
}
