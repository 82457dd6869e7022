//! Receipts of many invoices at once, alarms over time, and attempts that ended with their process.

use super::{MailKind, MailOutcome, MailPreferences};
use crate::domain::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};
use crate::domain::{SalesMail, SimulatedAmount, Time};
use crate::service::mail::queue_for_team;
use crate::service::mail::receipts::queue_receipt;
use crate::service::tests::{
    NOW, audit_findings, block_on, request_without_key, seeded_service, service_on_seeded_file,
    write,
};
use crate::service::{Error, Requester, Service, Step, accounts, sandbox};
use crate::store::mail_messages::DueMail;
use crate::store::{invoices, mail_cursor, mail_preferences, receipts, users};
use serde_json::{Value, json};
use std::sync::Arc;

/// Lets the operator of the sandbox get everything.
fn subscribe_operator(service: &Arc<Service>) {
    write(service, NOW, |step| {
        let Step { tx, .. } = *step;
        let user = users::all(tx)?.remove(0);
        let preferences = MailPreferences { sales: SalesMail::Each, tasks: true, alarms: true };
        Ok(mail_preferences::put(tx, &user, &preferences)?)
    });
}

/// Returns the waiting messages in the order in which they are sent. Marks each as sent.
fn take_all(service: &Arc<Service>, now: Time) -> Vec<DueMail> {
    let mut all = Vec::new();
    while let Some(mail) = service.next_due_mail(now).unwrap() {
        block_on(service.record_mail(&mail, MailOutcome::Accepted, now)).unwrap();
        all.push(mail);
    }
    all
}

/// Creates a test invoice with an address, and returns its id.
fn create_invoice(service: &Arc<Service>, now: Time) -> String {
    let caller = service.authenticate(now, sandbox::SECRET_TEST).unwrap();
    let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC", "customerEmail": "ada@example.com" });
    let (requester, request) = (Requester::Key(caller.key_id()), request_without_key(&body));
    let made = block_on(service.create_invoice(now, &caller, requester, request)).unwrap();
    let made: Value = serde_json::from_str(&made.body).unwrap();
    made.get("id").and_then(Value::as_str).unwrap().to_owned()
}

/// Queues the receipts of all invoices in one transaction, as if all were confirmed in one batch.
fn queue_all(service: &Arc<Service>, ids: &[String], now: Time) {
    let ids = ids.to_vec();
    write(service, now, move |step| {
        ids.iter().try_for_each(|id| {
            let invoice = invoices::by_id(step.tx, id)?.unwrap();
            queue_receipt(step, &invoice)
        })
    });
}

#[test]
fn account_sends_at_most_200_receipts_in_a_day() {
    let (service, _file) = seeded_service();
    write(&service, NOW, |step| Ok(receipts::set(step.tx, 1, true)?));
    let ids: Vec<String> = (0..1000).map(|_| create_invoice(&service, NOW)).collect();
    queue_all(&service, &ids, NOW);
    assert_eq!(take_all(&service, NOW).len(), 200);
    queue_all(&service, &ids, NOW.plus_ms(HOUR_MS));
    assert_eq!(take_all(&service, NOW.plus_ms(HOUR_MS)).len(), 0);
    let tomorrow = NOW.plus_ms(DAY_MS + SECOND_MS);
    queue_all(&service, &ids, tomorrow);
    let next = take_all(&service, tomorrow);
    assert_eq!(next.len(), 200, "of invoices without a receipt");
    let count = service.read(|db| Ok::<_, Error>(receipts::count_since(db, 1, Time(0), 10_000)?));
    assert_eq!(count.unwrap(), 400);
    assert_eq!(audit_findings(&service), [""; 0]);
}

/// Queues the messages of new events, and returns those that wait.
fn queue_and_take(service: &Arc<Service>, now: Time) -> Vec<String> {
    while block_on(service.queue_mail_of_events(now)).unwrap() {}
    take_all(service, now).into_iter().map(|mail| mail.text.subject).collect()
}

#[test]
fn event_causes_its_messages_once_in_this_process_or_the_next() {
    let (service, file) = seeded_service();
    subscribe_operator(&service);
    let sell = |service: &Arc<Service>| {
        let id = create_invoice(service, NOW);
        let caller = service.authenticate(NOW, sandbox::SECRET_TEST).unwrap();
        let case = SimulatedAmount::Exact;
        block_on(service.simulate_payment(
            NOW,
            &caller,
            &id,
            case,
            None,
            request_without_key(&json!({})),
        ))
        .unwrap();
    };
    sell(&service);
    service.start_mail_cursor(NOW).unwrap();
    assert_eq!(queue_and_take(&service, NOW), [""; 0], "it was before the mail server");
    // Without the cursor, which a full disk may have prevented, messages begin with the next event.
    write(&service, NOW, |step| Ok(mail_cursor::remove(step.tx)?));
    sell(&service);
    assert_eq!(queue_and_take(&service, NOW), [""; 0]);
    sell(&service);
    assert_eq!(take_all(&service, NOW).len(), 0, "the commit of the sale queues nothing");
    // The process ends after the sale and before its message is queued.
    drop(service);
    let service = service_on_seeded_file(&file);
    service.start_mail_cursor(NOW).unwrap();
    assert_eq!(queue_and_take(&service, NOW).len(), 1);
    drop(service);
    let service = service_on_seeded_file(&file);
    service.start_mail_cursor(NOW).unwrap();
    assert_eq!(queue_and_take(&service, NOW), [""; 0]);
    // A reset begins again with the first event.
    block_on(service.reset_sandbox(NOW)).unwrap();
    subscribe_operator(&service);
    sell(&service);
    assert_eq!(queue_and_take(&service, NOW).len(), 1);
    assert_eq!(audit_findings(&service), [""; 0]);
}

#[test]
fn alarms_are_sent_before_sales_and_sales_before_receipts() {
    let (service, _file) = seeded_service();
    subscribe_operator(&service);
    write(&service, NOW, |step| Ok(receipts::set(step.tx, 1, true)?));
    let ids = [create_invoice(&service, NOW)];
    queue_all(&service, &ids, NOW);
    for kind in [MailKind::Sale, MailKind::Alarm] {
        write(&service, NOW, move |step| {
            queue_for_team(step, kind, None, || super::MailText {
                subject: kind.to_string(),
                body: String::new(),
            })
        });
    }
    let kinds: Vec<MailKind> = take_all(&service, NOW).iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, [MailKind::Alarm, MailKind::Sale, MailKind::Receipt]);
}

#[test]
fn waiting_account_is_told_once_until_it_is_approved() {
    let (service, _file) = seeded_service();
    let check = |at: Time| {
        let found = service.alarm_conditions(at).unwrap();
        block_on(service.update_alarms(found, at)).unwrap();
        take_all(&service, at).into_iter().map(|mail| mail.text.subject).collect::<Vec<_>>()
    };
    let account = write(&service, NOW, |step| accounts::create(step.tx, "New shop", NOW));
    let minute = |minute: i64| NOW.plus_ms(minute * MINUTE_MS);
    assert!(check(minute(0)).is_empty(), "nobody wants to be told");
    subscribe_operator(&service);
    assert!(check(minute(1)).is_empty(), "it may be approved soon");
    assert_eq!(check(minute(6)), ["1 account waits for approval"]);
    assert!(check(minute(90)).is_empty());
    write(&service, NOW, |step| accounts::create(step.tx, "Second shop", NOW).map(drop));
    assert_eq!(check(minute(91)), ["2 accounts wait for approval"]);
    write(&service, NOW, move |step| {
        let mut account = account;
        let active = crate::domain::AccountStatus::Active;
        accounts::change_status(step.tx, "a test", &mut account, active, NOW)
    });
    assert!(check(minute(92)).is_empty());
    write(&service, NOW, |step| {
        let Step { tx, .. } = *step;
        let mut second = crate::store::accounts::all(tx)?.pop().unwrap();
        let rejected = crate::domain::AccountStatus::Rejected;
        accounts::change_status(tx, "a test", &mut second, rejected, NOW)
    });
    assert_eq!(check(minute(93)), ["Over: no account waits for approval"]);
    assert!(check(minute(94)).is_empty());
}

#[test]
fn message_of_an_ended_process_is_sent_once_more() {
    let (service, _file) = seeded_service();
    subscribe_operator(&service);
    write(&service, NOW, |step| {
        queue_for_team(step, MailKind::Alarm, None, || super::MailText {
            subject: "s".to_owned(),
            body: "b".to_owned(),
        })
    });
    let mut now = NOW;
    for doubts in [1, 2] {
        let mail = service.next_due_mail(now).unwrap().unwrap();
        assert!(block_on(service.mark_mail_sending(mail.seq)).unwrap());
        assert!(!block_on(service.mark_mail_sending(mail.seq)).unwrap(), "it is marked");
        assert!(service.next_due_mail(now).unwrap().is_none(), "it is on its way");
        assert_eq!(block_on(service.record_interrupted_mail(now)).unwrap(), 1);
        assert_eq!(block_on(service.record_interrupted_mail(now)).unwrap(), 0);
        now = now.plus_ms(5 * MINUTE_MS);
        let counts = service.mail_counts().unwrap();
        assert_eq!((counts.waiting, counts.failed), (2 - doubts, doubts - 1));
    }
    assert!(service.next_due_mail(now).unwrap().is_none());
}

#[test]
fn waiting_and_old_messages_are_pruned() {
    let (service, _file) = seeded_service();
    subscribe_operator(&service);
    let queue = |at: Time| {
        write(&service, at, move |step| {
            queue_for_team(step, MailKind::Sale, None, || super::MailText {
                subject: "s".to_owned(),
                body: "b".to_owned(),
            })
        });
    };
    queue(NOW);
    let later = NOW.plus_ms(3 * DAY_MS + SECOND_MS);
    queue(later);
    block_on(service.prune_old_rows(later, 30 * DAY_MS)).unwrap();
    let counts = service.mail_counts().unwrap();
    assert_eq!((counts.waiting, counts.failed), (1, 1));
    let much_later = later.plus_ms(31 * DAY_MS);
    block_on(service.prune_old_rows(much_later, 30 * DAY_MS)).unwrap();
    let counts = service.mail_counts().unwrap();
    assert_eq!((counts.waiting, counts.failed), (0, 1), "the second one is given up now");
}
