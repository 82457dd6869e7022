//! Payouts and refunds in the operator interface: access, approval data and the audit log.

use crate::support::object_ids;
use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, TEST};
use rusqlite::Connection;
use serde_json::{Value, json};

const OPERATOR_EMAIL: &str = "operator@sandbox.test";
const MERCHANT_EMAIL: &str = "merchant@sandbox.test";
/// A Solana address.
const SOLANA_ADDRESS: &str = "4Nd1mYQZKXmxYkS8VqzuR8yGx1k9w5iP1zv2n7K8d3rT";

#[test]
fn merchant_requests_payout_and_operator_processes_it() {
    let interface = OperatorInterface::open();
    interface.shop.fund_balance(LIVE, "100.00", "EUR");
    let path = format!("/dashboard/api/accounts/{}/payouts", interface.account);
    let body = json!({ "amount": "20.00" });
    let payout = interface.send(&interface.merchant, "POST", &path, &body).expect(201).json();
    let id = payout["id"].as_str().unwrap();
    assert_eq!(payout["account"], interface.account);
    assert_eq!(payout["sending"], Value::Null);
    // Requests with a session pass the same checks as requests with a key. The query parameter selects the mode.
    interface.send(&interface.merchant, "POST", &path, &body).assert_error(
        409,
        "payout_open",
        None,
    );
    interface.send_as_operator("POST", &format!("{path}?mode=test"), &body).assert_error(
        400,
        "test_mode",
        None,
    );
    let list = interface.send(&interface.merchant, "GET", &path, &Value::Null).expect(200).json();
    assert_eq!(list["data"], json!([payout]));
    let step = format!("/dashboard/api/payouts/{id}");
    interface
        .send(&interface.merchant, "POST", &step, &json!({ "action": "approve" }))
        .assert_error(403, "forbidden", None);
    let approve = json!({ "action": "approve", "rate": "160.5", "networkFee": "0.01" });
    let approved = interface.send_as_operator("POST", &step, &approve).expect(200).json();
    // The amount is 20.00 EUR at 160.5 EUR for one SOL, less the network fee of 0.01 SOL.
    let terms = ["rate", "networkFeeCrypto", "amountCrypto"].map(|field| approved[field].clone());
    assert_eq!(terms, [json!("160.5"), json!("0.01"), json!("0.11461059")]);
    interface.send_as_operator("POST", &step, &json!({ "action": "process" })).expect(200);
    let paid = interface
        .send_as_operator("POST", &step, &json!({ "action": "pay", "txid": "5wHu" }))
        .expect(200)
        .json();
    assert_eq!((&paid["status"], &paid["txid"]), (&json!("paid"), &json!("5wHu")));
    let who = |action: &str, actor: &str| (actor.to_owned(), format!("payout.{action}"));
    assert_eq!(
        interface.audit_entries(id),
        [
            who("request", MERCHANT_EMAIL),
            who("approve", OPERATOR_EMAIL),
            who("process", OPERATOR_EMAIL),
            who("pay", OPERATOR_EMAIL)
        ]
    );
}

#[test]
fn refund_is_requested_and_processed() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.fund_balance(TEST, "100.00", "EUR");
    let path = format!("/dashboard/api/accounts/{}/refunds?mode=test", interface.account);
    let body = json!({ "invoice": invoice, "amount": "5.00", "asset": "SOL", "toAddress": SOLANA_ADDRESS, "reason": "late" });
    let headers = [("cookie", interface.merchant.as_str()), ("Idempotency-Key", "a")];
    let ask = || interface.shop.send("POST", &path, &headers, &body.to_string()).expect(201);
    let refund = ask().json();
    assert_eq!(ask().json(), refund, "the same again");
    let id = refund["id"].as_str().unwrap();
    assert_eq!(
        (&refund["invoiceId"], &refund["toAddress"]),
        (&json!(invoice), &json!(SOLANA_ADDRESS))
    );
    for query in ["", &format!("&invoiceId={invoice}"), "&limit=1"] {
        let list = interface
            .send_as_operator("GET", &format!("{path}{query}"), &Value::Null)
            .expect(200)
            .json();
        assert_eq!(list["data"], json!([refund]));
    }
    // The test refund is not visible in live mode.
    let live = path.replace("?mode=test", "");
    let list = interface.send_as_operator("GET", &live, &Value::Null).expect(200).json();
    assert_eq!(list["data"], json!([]));
    interface.send_as_operator("POST", &live, &body).assert_error(404, "not_found", None);
    let no_address = json!({ "invoice": invoice });
    interface.send_as_operator("POST", &path, &no_address).assert_error(
        400,
        "invalid_request",
        Some("toAddress"),
    );
    let step = format!("/dashboard/api/refunds/{id}");
    // In test mode, missing approval data is generated.
    let approved = interface
        .send_as_operator("POST", &step, &json!({ "action": "approve" }))
        .expect(200)
        .json();
    assert_eq!(approved["rate"], "150");
    let failed = json!({ "action": "fail", "reason": "no" });
    let failed = interface.send_as_operator("POST", &step, &failed).expect(200).json();
    assert_eq!((&failed["status"], &failed["failureReason"]), (&json!("failed"), &json!("no")));
    let who = |action: &str, actor: &str| (actor.to_owned(), format!("refund.{action}"));
    assert_eq!(
        interface.audit_entries(id),
        [
            who("request", MERCHANT_EMAIL),
            who("approve", OPERATOR_EMAIL),
            who("fail", OPERATOR_EMAIL)
        ]
    );
}

#[test]
fn invalid_approval_is_rejected() {
    let interface = OperatorInterface::open();
    interface.shop.fund_balance(LIVE, "100.00", "EUR");
    let id = interface.shop.create_payout("20.00");
    let step = format!("/dashboard/api/payouts/{id}");
    for (field, value) in [
        ("rate", json!("0")),
        ("rate", json!("-1")),
        ("rate", json!("1e3")),
        ("rate", json!("0.00000000001")),
        ("rate", json!(150)),
        ("networkFee", json!("-1")),
        ("networkFee", json!("0.0000000001")),
        ("networkFee", json!("0.14")),
        ("networkFee", json!("x")),
        ("txid", json!("x")),
        ("more", json!(1)),
    ] {
        let mut body = json!({ "action": "approve", "rate": "150", "networkFee": "0" });
        body[field] = value;
        interface.send_as_operator("POST", &step, &body).assert_error(
            400,
            "invalid_request",
            Some(field),
        );
    }
    interface.send_as_operator("POST", &step, &json!({ "action": "pay" })).assert_error(
        409,
        "invalid_transition",
        Some("action"),
    );
    interface
        .send_as_operator("POST", "/dashboard/api/payouts/x", &json!({ "action": "pay" }))
        .assert_error(404, "not_found", None);
    let as_refund = step.replace("payouts", "refunds");
    interface.send_as_operator("POST", &as_refund, &json!({ "action": "reject" })).assert_error(
        404,
        "not_found",
        None,
    );
}

#[test]
fn operator_sees_waiting_transfers_of_all_accounts() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.fund_balance(LIVE, "100.00", "EUR");
    let (payout, refund) = (
        interface.shop.create_payout("20.00"),
        interface.shop.create_refund(&invoice, Some("1.00")),
    );
    interface.shop.apply_actions("payouts", &payout, &["approve"]);
    for (path, id) in [("/dashboard/api/payouts", &payout), ("/dashboard/api/refunds", &refund)] {
        let found = |query: &str| object_ids(&interface.get_path(&format!("{path}{query}")));
        let status = if *id == payout { "approved" } else { "requested" };
        assert_eq!(found(""), [id.as_str()]);
        assert_eq!(found(&format!("?status={status}&limit=5")), [id.as_str()]);
        assert_eq!(found("?status=processing"), Vec::<String>::new());
        assert_eq!(found("?mode=test"), Vec::<String>::new());
        let answer = interface.send_as_operator("GET", &format!("{path}?status=x"), &Value::Null);
        answer.assert_error(400, "invalid_request", Some("status"));
        interface.send(&interface.merchant, "GET", path, &Value::Null).assert_error(
            403,
            "forbidden",
            None,
        );
    }
}

#[test]
fn user_of_another_account_finds_nothing() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.fund_balance(LIVE, "100.00", "EUR");
    let other = &interface.stranger;
    let body = json!({ "amount": "20.00", "invoice": invoice, "toAddress": SOLANA_ADDRESS });
    for kind in ["payouts", "refunds"] {
        let path = format!("/dashboard/api/accounts/{}/{kind}", interface.account);
        for method in ["GET", "POST"] {
            interface.send(other, method, &path, &body).assert_error(404, "not_found", None);
        }
    }
    // A refund of one account cannot refer to an invoice of another account.
    let own = "/dashboard/api/accounts/01a1fd55-7a80-7af2-9132-9b2fc82e5efe/refunds";
    let body = json!({ "invoice": invoice, "toAddress": SOLANA_ADDRESS });
    interface.send(other, "POST", own, &body).assert_error(404, "not_found", None);
    assert_eq!(
        interface.send(other, "GET", own, &Value::Null).expect(200).json(),
        json!({ "data": [], "hasMore": false, "nextBefore": null })
    );
}

#[test]
fn key_of_another_account_finds_nothing() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.fund_balance(LIVE, "100.00", "EUR");
    let conn = Connection::open(interface.shop.file()).unwrap();
    let key = "sk_live_other";
    let hash = coffer::domain::apikey::hash_key(key);
    let insert = "insert into keys (id, account, class, mode, hash, last4, created_at)
                    values ('k', 2, 'secret', 'live', ?1, 'ther', 0)";
    conn.execute(insert, [hash]).unwrap();
    let (payout, refund) = (
        interface.shop.create_payout("20.00"),
        interface.shop.create_refund(&invoice, Some("1.00")),
    );
    for path in [format!("/v1/payouts/{payout}"), format!("/v1/refunds/{refund}")] {
        interface.shop.get(&path, Some(LIVE)).expect(200);
        let foreign = interface.shop.get(&path, Some(key));
        foreign.assert_error(404, "not_found", None);
    }
    let by_invoice = format!("/v1/refunds?invoiceId={invoice}");
    for list in ["/v1/payouts", "/v1/refunds", &by_invoice] {
        let list = interface.shop.get(list, Some(key)).expect(200);
        assert_eq!(list.json(), json!({ "data": [] }));
    }
    // An open payout of another account does not block a payout of this account.
    let body = json!({ "amount": "20.00" });
    let own = interface.shop.post("/v1/payouts", Some(key), body);
    own.assert_error(400, "no_address", None);
}
