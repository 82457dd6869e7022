//! Transfers sent by the signer command: outcomes of the command, and actions that are rejected while the command
//! runs.

use crate::support::{LIVE, Shop, TEST};
use coffer::domain::progress::ignore_progress;
use coffer::domain::transfer::inputs::MoveTransfer;
use coffer::domain::{SendingState, ServerLimits, Time, TransferKind, TransferStatus};
use coffer::render::LinkBuilder;
use coffer::service::followed::LiveMode;
use coffer::service::idempotency::IdempotentRequest;
use coffer::service::users::members::VerifiedCredentials;
use coffer::service::users::passwords::Hasher;
use coffer::service::{Caches, Error, Service, open_shared};
use coffer::store::FileKind;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Returns the service of a production server, on the file of a running shop.
fn production_service(shop: &Shop) -> Arc<Service> {
    let links = LinkBuilder { public_url: shop.url().to_owned(), checkout_secret: vec![0; 32] };
    let store = open_shared(shop.file(), None, false, ignore_progress).unwrap();
    let caches = Arc::new(Caches::default());
    Arc::new(Service::new(
        store,
        links,
        FileKind::Production,
        Box::new(|_| Ok(())),
        ServerLimits::default(),
        caches,
        LiveMode::default(),
    ))
}

/// Runs a future to completion.
#[track_caller]
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work)
}

/// Returns the code of an error.
#[track_caller]
fn error_code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome.unwrap_err() {
        Error::Refused(refusal) => refusal.code.to_string(),
        Error::Failed(cause) => cause,
    }
}

const NOW: Time = Time(1_900_000_000_000);
const PAYOUT: TransferKind = TransferKind::Payout;

/// Approves a payout for the signer. The database is changed directly, because a sandbox has no signer.
#[track_caller]
fn approve_for_signer(shop: &Shop, id: &str) {
    shop.apply_actions("payouts", id, &["approve"]);
    shop.execute_sql(&format!(
        "update transfers set sent_by = 'signer', signer_at = approved_at, signer_amount = amount where id = '{id}'"
    ));
}

/// Returns the state of the signer command, as the operator interface shows it.
#[track_caller]
fn signer_command_state(shop: &Shop, id: &str) -> Value {
    let cookie = shop.sign_in_operator();
    let list = shop.send("GET", "/dashboard/api/payouts", &[("cookie", &cookie)], "");
    let list = list.expect(200).json();
    let payouts = list["data"].as_array().unwrap();
    let payout = payouts.iter().find(|payout| payout["id"] == id).unwrap();
    payout["sending"].clone()
}

/// Returns a well-formed transaction id of Solana, the chain of these payouts.
fn solana_txid(byte: u8) -> String {
    bs58::encode([byte; 64]).into_string()
}

/// Creates a payout, starts its signer command, and returns the payout's id.
#[track_caller]
fn create_started_payout(shop: &Shop, service: &Arc<Service>) -> String {
    let id = shop.create_payout("20.00");
    assert!(service.next_transfer_to_send(NOW).unwrap().is_none(), "not approved yet");
    assert_eq!(error_code(block_on(service.begin_sending(NOW, PAYOUT, &id))), "invalid_transition");
    approve_for_signer(shop, &id);
    assert!(service.next_transfer_to_send(NOW).unwrap().is_some());
    let begun = block_on(service.begin_sending(NOW, PAYOUT, &id)).unwrap();
    assert_eq!(
        (begun.status, begun.sending),
        (TransferStatus::Processing, Some(SendingState::Running))
    );
    assert!(service.next_transfer_to_send(NOW).unwrap().is_none());
    assert_eq!(error_code(block_on(service.begin_sending(NOW, PAYOUT, &id))), "invalid_transition");
    id
}

fn request_without_key(body: Map<String, Value>) -> IdempotentRequest {
    IdempotentRequest { operation: "", path_ids: String::new(), client_key: None, body }
}

/// Applies an operator action in production, and returns the response or the error.
fn apply_action(service: &Arc<Service>, id: &str, body: Value) -> String {
    let Value::Object(body) = body else { unreachable!("{body} is no object") };
    let change = match MoveTransfer::read(&body) {
        Ok(body) => body.into(),
        Err(refusal) => return refusal.message,
    };
    let request = request_without_key(body);
    let moved = service.apply_operator_step(NOW, "o@sandbox.test", PAYOUT, id, change, request);
    match block_on(moved) {
        Ok(payout) => payout.body,
        Err(Error::Refused(refusal)) => refusal.message,
        Err(Error::Failed(cause)) => cause,
    }
}

#[test]
fn signer_response_is_stored_once_and_settles_nothing() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let service = production_service(&shop);
    for is_sent in [true, false] {
        let id = create_started_payout(&shop, &service);
        // While the command runs, other actions are rejected.
        for action in ["process", "pay", "fail", "cancel"] {
            let path = format!("/sandbox/payouts/{id}");
            let refused = shop.post(&path, None, json!({ "action": action }));
            refused.assert_error(409, "invalid_transition", Some("action"));
        }
        let ended = if is_sent {
            block_on(service.record_sent_transaction(NOW, PAYOUT, &id, &solana_txid(1))).unwrap()
        } else {
            block_on(service.record_nothing_sent(NOW, PAYOUT, &id, "no funds", false)).unwrap()
        };
        assert_eq!(ended.status, TransferStatus::Processing);
        assert!(shop.event_types(&id, LIVE).is_empty());
        let left = if is_sent {
            (Some(solana_txid(1)), None)
        } else {
            (None, Some(SendingState::Declined))
        };
        assert_eq!((ended.txid, ended.sending), left);
        // The signer command has responded, so it is not run again.
        assert_eq!(
            error_code(block_on(service.record_sent_transaction(NOW, PAYOUT, &id, "x"))),
            "invalid_transition"
        );
        assert_eq!(
            error_code(block_on(service.record_nothing_sent(NOW, PAYOUT, &id, "x", true))),
            "invalid_transition"
        );
        assert!(service.next_transfer_to_send(NOW).unwrap().is_none());
        let (end, status) = if is_sent {
            (json!({ "action": "pay", "txid": solana_txid(1), "unverified": true }), "paid")
        } else {
            // The signer signed no transaction, so `fail` needs no `force`.
            (json!({ "action": "fail", "reason": "no funds" }), "failed")
        };
        let ended = apply_action(&service, &id, end);
        assert!(ended.contains(&format!(r#""status":"{status}""#)), "{ended}");
        assert_eq!(shop.event_types(&id, LIVE), [format!("payout.{status}")]);
    }
    assert_eq!(shop.balance_fields(LIVE, "EUR"), ["980.00", "0.00", "-20.00", "0.00"]);
}

#[test]
fn signer_retry_runs_after_ten_minutes() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let service = production_service(&shop);
    let id = create_started_payout(&shop, &service);
    let later = |minutes: i64| NOW.plus_ms(minutes * 60_000);
    let retry = |at| block_on(service.record_nothing_sent(at, PAYOUT, &id, "fees are high", true));
    assert_eq!(retry(NOW).unwrap().sending, Some(SendingState::Retry));
    assert_eq!(service.next_signer_retry(NOW).unwrap(), Some(later(10)));
    for minutes in [0, 9] {
        assert!(service.next_transfer_to_send(later(minutes)).unwrap().is_none());
        let early = block_on(service.begin_sending(later(minutes), PAYOUT, &id));
        assert_eq!(error_code(early), "invalid_transition");
    }
    assert!(service.next_transfer_to_send(later(10)).unwrap().is_some());
    let again = block_on(service.begin_sending(later(10), PAYOUT, &id)).unwrap();
    assert_eq!(again.sending, Some(SendingState::Running));
    assert_eq!(retry(later(11)).unwrap().sending_progress.retry, Some((NOW, later(21))));
    // The signer signed no transaction, so `fail` needs no `force`.
    let failed = apply_action(&service, &id, json!({ "action": "fail" }));
    assert!(failed.contains(r#""status":"failed""#), "{failed}");
    assert_eq!(service.next_signer_retry(NOW).unwrap(), None);
}

#[test]
fn payment_by_others_prevents_the_signer_start() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let service = production_service(&shop);
    let id = shop.create_payout("20.00");
    approve_for_signer(&shop, &id);
    assert!(service.next_transfer_to_send(NOW).unwrap().is_some());
    shop.execute_sql(&format!(
        "insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at) \
         select 'live', chain, 'a', 0, asset, to_address, amount_crypto, 'seen', approved_at / 1000 * 1000 \
         from transfers where id = '{id}'; \
         insert into destination_outputs (observation, destination) \
         select o.seq, t.destination from observations o join transfers t on t.id = '{id}' where o.txid = 'a'"
    ));
    assert!(service.next_transfer_to_send(NOW).unwrap().is_none());
    assert_eq!(error_code(block_on(service.begin_sending(NOW, PAYOUT, &id))), "invalid_transition");
    shop.execute_sql(&format!(
        "insert into transfer_acts (transfer, kind, txid, source, at) \
         select seq, 'dismissed', 'a', 'person', 1 from transfers where id = '{id}'"
    ));
    block_on(service.begin_sending(NOW, PAYOUT, &id)).unwrap();
}

#[test]
fn unknown_signer_outcome_waits_for_a_person() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let service = production_service(&shop);
    for (end, status) in [
        (json!({ "action": "pay", "reason": "sent by the exchange" }), "paid"),
        (json!({ "action": "fail", "force": true }), "failed"),
    ] {
        let id = create_started_payout(&shop, &service);
        assert_eq!(
            error_code(block_on(service.record_sent_transaction(NOW, PAYOUT, &id, "no id"))),
            "invalid_request"
        );
        // No transaction can have this id. The service stores the id, but settles nothing.
        let answered =
            block_on(service.record_sent_transaction(NOW, PAYOUT, &id, "deadbeef")).unwrap();
        let reason = answered.sending_progress.sending_reason.unwrap();
        assert!(reason.contains("deadbeef"), "{reason}");
        assert_eq!(signer_command_state(&shop, &id), "unknown");
        // The signer command does not start again, and a late response changes nothing.
        assert!(service.next_transfer_to_send(NOW).unwrap().is_none());
        for late in [
            error_code(block_on(service.begin_sending(NOW, PAYOUT, &id))),
            error_code(block_on(service.record_sent_transaction(NOW, PAYOUT, &id, "x"))),
            error_code(block_on(service.record_unknown_outcome(NOW, PAYOUT, &id, "x"))),
        ] {
            assert_eq!(late, "invalid_transition");
        }
        let unforced = apply_action(&service, &id, json!({ "action": "fail" }));
        assert!(unforced.starts_with("must be true"), "{unforced}");
        assert_eq!(shop.balance_fields(LIVE, "EUR")[1], "20.00");
        let ended = apply_action(&service, &id, end);
        assert!(ended.contains(&format!(r#""status":"{status}""#)), "{ended}");
        assert_eq!(signer_command_state(&shop, &id), json!(null));
    }
}

#[test]
fn signer_run_interrupted_by_exit_has_unknown_outcome() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let service = production_service(&shop);
    assert_eq!(block_on(service.record_interrupted_commands(NOW)).unwrap(), 0);
    let id = shop.create_payout("20.00");
    approve_for_signer(&shop, &id);
    block_on(service.begin_sending(NOW, PAYOUT, &id)).unwrap();
    assert_eq!(signer_command_state(&shop, &id), "running");
    assert_eq!(block_on(service.record_interrupted_commands(NOW)).unwrap(), 1);
    assert_eq!(signer_command_state(&shop, &id), "unknown");
    assert_eq!(block_on(service.record_interrupted_commands(NOW)).unwrap(), 0);
}

/// In production, the operator must give rate and fee, and each address must belong to the main network.
#[test]
fn production_approval_requires_rate_and_fee() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    let service = production_service(&shop);
    let id = shop.create_payout("20.00");
    let step = |body| apply_action(&service, &id, body);
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
    assert!(approved.contains(r#""amountCrypto":"0.13333333""#), "{approved}");
    step(json!({ "action": "process" }));
    assert!(step(json!({ "action": "pay" })).starts_with("txid must be given"));
    let wrong = step(json!({ "action": "pay", "txid": "deadbeef" }));
    assert!(wrong.starts_with("txid must be the id of a transaction on solana"), "{wrong}");
    let unchecked = step(json!({ "action": "pay", "txid": solana_txid(2) }));
    assert!(unchecked.starts_with("unverified must be true"), "{unchecked}");
    let unchecked = json!({ "action": "pay", "txid": solana_txid(2), "unverified": true });
    let paid = step(unchecked);
    assert!(paid.contains(r#""status":"paid""#), "{paid}");
    assert!(paid.contains(r#""state":"unwatched""#), "{paid}");

    let credentials = service.credentials_by_email("operator@sandbox.test").unwrap();
    let proven = credentials.verify(&mut Hasher::default(), "sandbox");
    let given = VerifiedCredentials {
        proven: proven.unwrap(),
        code: None,
        client: "test".to_owned(),
        real_now: Time(0),
    };
    let begun = block_on(service.sign_in(Time(0), given)).unwrap();
    let account = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
    let account = account["id"].as_str().unwrap();
    let scope = service.scope_of_account(&begun.member, account, coffer::domain::Mode::Live);
    let refund = |to: &str| {
        let body = json!({ "invoice": invoice, "amount": "1.00", "toAddress": to });
        let request = request_without_key(body.as_object().unwrap().clone());
        block_on(service.create_refund(NOW, scope.as_ref().unwrap(), "o@sandbox.test", request))
    };
    let test = refund("tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl");
    assert_eq!(error_code(test.map(|made| made.body)), "invalid_request");
    assert!(refund("LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9").is_ok());
}

#[test]
fn test_mode_transfer_starts_no_signer() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let refund = shop.create_refund(&invoice, None);
    shop.apply_actions("refunds", &refund, &["approve"]);
    let service = production_service(&shop);
    assert!(service.next_transfer_to_send(NOW).unwrap().is_none());
    let begun = block_on(service.begin_sending(NOW, TransferKind::Refund, &refund));
    assert_eq!(error_code(begun), "invalid_transition");
    assert_eq!(shop.apply_actions("refunds", &refund, &["process"])["status"], "processing");
}
