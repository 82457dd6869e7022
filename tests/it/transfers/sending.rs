//! Sending by a command, from the side of the worker that runs it: what it tells, and who may act in between.

use crate::support::{LIVE, Shop, TEST};
use coffer::domain::progress::unheard;
use coffer::domain::render::Links;
use coffer::domain::server::order::ServerLimits;
use coffer::domain::time::Time;
use coffer::domain::transfer::{Sending, TransferKind, TransferStatus};
use coffer::service::chains::live::Live;
use coffer::service::operator::members::Given;
use coffer::service::operator::passwords::Hasher;
use coffer::service::{Caches, Error, Service, open_beside};
use coffer::store::Kind;
use serde_json::json;
use std::sync::Arc;

/// The use cases beside a running shop, as a server in production has them.
fn beside(shop: &Shop) -> Arc<Service> {
    let links = Links {
        public_url: shop.url().to_owned(),
        checkout_secret: vec![0; 32],
    };
    let store = open_beside(shop.file(), None, false, unheard).unwrap();
    let caches = Arc::new(Caches::default());
    Arc::new(Service::new(
        store,
        links,
        Kind::Production,
        Box::new(|_| Ok(())),
        ServerLimits::default(),
        caches,
        Live::default(),
    ))
}

/// Waits for a use case.
#[track_caller]
fn done<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work)
}

/// The code of a refusal.
#[track_caller]
fn code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome.unwrap_err() {
        Error::Refused(refusal) => refusal.code.to_string(),
        Error::Failed(cause) => cause,
    }
}

const NOW: Time = Time(1_900_000_000_000);
const PAYOUT: TransferKind = TransferKind::Payout;

/// Approves a payout and gives it to the signer, which a sandbox has not.
#[track_caller]
fn approve_for_signer(shop: &Shop, id: &str) {
    shop.moved("payouts", id, &["approve"]);
    shop.write_beside(&format!(
        "update transfers set sent_by = 'signer', signer_at = approved_at where id = '{id}'"
    ));
}

/// What the operator interface says that a command is at.
#[track_caller]
fn sending(shop: &Shop, id: &str) -> serde_json::Value {
    let cookie = shop.signed_in("operator@sandbox.test");
    let list = shop.send("GET", "/dashboard/api/payouts", &[("cookie", &cookie)], "");
    let list = list.expect(200).json();
    let payouts = list["data"].as_array().unwrap();
    let payout = payouts.iter().find(|payout| payout["id"] == id).unwrap();
    payout["sending"].clone()
}

#[test]
fn a_command_is_begun_once_and_its_answer_ends_it() {
    let shop = Shop::open();
    shop.fund(LIVE, "1000.00", "EUR");
    let service = beside(&shop);
    for (is_sent, status) in [(true, "paid"), (false, "failed")] {
        let id = shop.payout("20.00");
        assert!(service.to_send(9).unwrap().is_empty(), "not approved yet");
        assert_eq!(
            code(done(service.begin_sending(NOW, PAYOUT, &id))),
            "invalid_transition"
        );
        approve_for_signer(&shop, &id);
        assert_eq!(service.to_send(9).unwrap().len(), 1);
        // A person does not send it besides.
        let by_hand = shop.post(
            &format!("/sandbox/payouts/{id}"),
            None,
            json!({ "action": "process" }),
        );
        by_hand.refused(409, "invalid_transition", Some("action"));
        let begun = done(service.begin_sending(NOW, PAYOUT, &id)).unwrap();
        assert_eq!(
            (begun.status, begun.sending),
            (TransferStatus::Processing, Some(Sending::Running))
        );
        assert!(service.to_send(9).unwrap().is_empty());
        assert_eq!(
            code(done(service.begin_sending(NOW, PAYOUT, &id))),
            "invalid_transition"
        );
        // Nobody else acts while it runs.
        for action in ["pay", "fail", "cancel"] {
            let path = format!("/sandbox/payouts/{id}");
            let refused = shop.post(&path, None, json!({ "action": action }));
            refused.refused(409, "invalid_transition", Some("action"));
        }
        let ended = if is_sent {
            done(service.sent(NOW, PAYOUT, &id, "5wHu1qwD")).unwrap()
        } else {
            done(service.not_sent(NOW, PAYOUT, &id, "no funds")).unwrap()
        };
        assert_eq!((ended.status.as_str(), ended.sending), (status, None));
        assert_eq!(
            ended.failure_reason.as_deref(),
            (!is_sent).then_some("no funds")
        );
        assert_eq!(shop.event_types(&id, LIVE), [format!("payout.{status}")]);
        // It has answered once.
        assert_eq!(
            code(done(service.sent(NOW, PAYOUT, &id, "x"))),
            "invalid_transition"
        );
        assert_eq!(
            code(done(service.not_sent(NOW, PAYOUT, &id, "x"))),
            "invalid_transition"
        );
    }
    assert_eq!(
        shop.purse(LIVE, "EUR"),
        ["980.00", "0.00", "-20.00", "0.00"]
    );
}

#[test]
fn an_unknown_outcome_waits_for_a_person() {
    let shop = Shop::open();
    shop.fund(LIVE, "1000.00", "EUR");
    let service = beside(&shop);
    for (action, end) in [("pay", "paid"), ("fail", "failed")] {
        let id = shop.payout("20.00");
        approve_for_signer(&shop, &id);
        done(service.begin_sending(NOW, PAYOUT, &id)).unwrap();
        assert_eq!(
            code(done(service.sent(NOW, PAYOUT, &id, "no id"))),
            "invalid_request"
        );
        done(service.sending_unknown(NOW, PAYOUT, &id, "exit 1")).unwrap();
        assert_eq!(sending(&shop, &id), "unknown");
        // It is never begun again by itself, and a command that comes back late changes nothing.
        assert!(service.to_send(9).unwrap().is_empty());
        assert_eq!(
            code(done(service.begin_sending(NOW, PAYOUT, &id))),
            "invalid_transition"
        );
        assert_eq!(
            code(done(service.sent(NOW, PAYOUT, &id, "x"))),
            "invalid_transition"
        );
        assert_eq!(
            code(done(service.sending_unknown(NOW, PAYOUT, &id, "x"))),
            "invalid_transition"
        );
        assert_eq!(shop.purse(LIVE, "EUR")[1], "20.00");
        assert_eq!(shop.moved("payouts", &id, &[action])["status"], end);
        assert_eq!(sending(&shop, &id), json!(null));
    }
}

#[test]
fn what_was_running_when_the_server_ended_is_unknown() {
    let shop = Shop::open();
    shop.fund(LIVE, "1000.00", "EUR");
    let service = beside(&shop);
    assert_eq!(done(service.hold_interrupted_sendings(NOW)).unwrap(), 0);
    let id = shop.payout("20.00");
    approve_for_signer(&shop, &id);
    done(service.begin_sending(NOW, PAYOUT, &id)).unwrap();
    assert_eq!(sending(&shop, &id), "running");
    assert_eq!(done(service.hold_interrupted_sendings(NOW)).unwrap(), 1);
    assert_eq!(sending(&shop, &id), "unknown");
    assert_eq!(done(service.hold_interrupted_sendings(NOW)).unwrap(), 0);
}

/// Where real money is sent nothing is made up, and an address is one of the main network.
#[test]
fn in_production_the_operator_gives_everything() {
    let shop = Shop::open();
    let invoice = shop.fund(LIVE, "1000.00", "EUR");
    let service = beside(&shop);
    let id = shop.payout("20.00");
    let step = |body: serde_json::Value| {
        let serde_json::Value::Object(body) = body else {
            unreachable!("{body} is no object")
        };
        match done(service.move_transfer(NOW, "o@sandbox.test", PAYOUT, &id, body)) {
            Ok(payout) => payout.get().to_owned(),
            Err(Error::Refused(refusal)) => refusal.message,
            Err(Error::Failed(cause)) => cause,
        }
    };
    for body in [
        json!({ "action": "approve" }),
        json!({ "action": "approve", "rate": "150" }),
        json!({ "action": "approve", "acceptRate": true }),
    ] {
        let message = "rate must be given together with acceptRate: true";
        assert!(step(body.clone()).starts_with(message), "{body}");
    }
    let approved = step(json!({
        "action": "approve", "rate": "150", "acceptRate": true, "networkFee": "0",
    }));
    assert!(
        approved.contains(r#""amountCrypto":"0.13333333""#),
        "{approved}"
    );
    step(json!({ "action": "process" }));
    assert!(step(json!({ "action": "pay" })).starts_with("txid must be given"));
    assert!(step(json!({ "action": "pay", "txid": "5wHu" })).contains(r#""status":"paid""#));

    let credentials = service.credentials("operator@sandbox.test").unwrap();
    let proven = credentials.prove(&mut Hasher::default(), "sandbox");
    let given = Given {
        proven: proven.unwrap(),
        code: None,
        client: "test".to_owned(),
        real_now: Time(0),
    };
    let begun = done(service.sign_in(Time(0), given)).unwrap();
    let account = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
    let account = account["id"].as_str().unwrap();
    let scope = service.scope(&begun.member, account, coffer::domain::asset::Mode::Live);
    let refund = |to: &str| {
        let body = json!({ "invoice": invoice, "amount": "1.00", "toAddress": to });
        let body = body.as_object().unwrap().clone();
        done(service.create_refund(NOW, scope.as_ref().unwrap(), "o@sandbox.test", body, None))
    };
    let test = refund("tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl");
    assert_eq!(code(test.map(|(_, json)| json)), "invalid_request");
    assert!(refund("LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9").is_ok());
}

#[test]
fn no_command_is_started_for_test_money() {
    let shop = Shop::open();
    let invoice = shop.fund(TEST, "100.00", "EUR");
    let refund = shop.refund(&invoice, None);
    shop.moved("refunds", &refund, &["approve"]);
    let service = beside(&shop);
    assert!(service.to_send(9).unwrap().is_empty());
    let begun = done(service.begin_sending(NOW, TransferKind::Refund, &refund));
    assert_eq!(code(begun), "invalid_transition");
    assert_eq!(
        shop.moved("refunds", &refund, &["process"])["status"],
        "processing"
    );
}
