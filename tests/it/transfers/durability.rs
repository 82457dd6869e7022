//! Tests that kill the server with `kill -9` while payouts and refunds are requested, approved and sent. The file
//! keeps every acknowledged step.
//!
//! Invariant: the server is killed after a fixed number of responses, so the test does not depend on timing.

use crate::support::process::start_sandbox;
use crate::support::scratch::Scratch;
use crate::support::{LIVE, agent, send};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

/// Number of times that the server is killed.
const KILLS: usize = 8;
/// Number of responses from the server before each kill.
const RESPONSES_PER_KILL: usize = 150;

/// Id and status of an acknowledged step.
type AcknowledgedStep = (String, String);

/// A client that requests payouts or refunds, one after the other, and moves each to a final status.
struct TransferClient {
    kind: &'static str,
    /// Number of the client, which is included in its idempotency keys.
    place: usize,
    invoice: String,
    /// Number of the current request of this client, which is included in the idempotency key. A retry has the same
    /// key.
    number: usize,
    id: Option<String>,
}

impl TransferClient {
    /// Sends requests until no response arrives.
    fn run_until_disconnect(&mut self, url: &str, answered: &Sender<AcknowledgedStep>) {
        let agent = agent();
        while let Some(answer) = self.advance_transfer(&agent, url) {
            let (id, status) = (text_field(&answer, "id"), text_field(&answer, "status"));
            self.id = Some(id.clone());
            if next_action(&status, self.number).is_none() {
                self.id = None;
                self.number += 1;
            }
            answered.send((id, status)).unwrap();
        }
    }

    /// Requests a new transfer if none is open, otherwise moves the open transfer by one step. Returns the transfer;
    /// `None` where no response arrived.
    fn advance_transfer(&self, agent: &ureq::Agent, url: &str) -> Option<Value> {
        let kind = self.kind;
        match &self.id {
            None if kind == "payouts" => {
                self.post(agent, url, "/v1/payouts", json!({ "amount": "20.00" }))
            }
            None => {
                let body = json!({ "invoice": self.invoice, "amount": "0.03" });
                self.post(agent, url, "/sandbox/refunds", body)
            }
            Some(id) => {
                let read = agent.get(format!("{url}/v1/{kind}/{id}"));
                let now = read.header("X-API-Key", LIVE).call().ok()?;
                let now: Value = parse_json(now)?;
                match next_action(now["status"].as_str().unwrap(), self.number) {
                    // The status is already final: the server stored the last action, but was killed before it
                    // responded.
                    None => Some(now),
                    Some(action) => {
                        let path = format!("/sandbox/{kind}/{id}");
                        self.post(agent, url, &path, json!({ "action": action }))
                    }
                }
            }
        }
    }

    /// Posts JSON; `None` if the process ended before the response.
    fn post(&self, agent: &ureq::Agent, url: &str, path: &str, body: Value) -> Option<Value> {
        let request = agent.post(format!("{url}{path}"));
        let request = request.header("X-API-Key", LIVE);
        let action = body["action"].as_str().unwrap_or("create");
        let key = format!("key-{}-{}-{action}", self.place, self.number);
        let request = request.header("Idempotency-Key", key);
        parse_json(request.send(body.to_string()).ok()?)
    }
}

/// Parses a successful response; `None` if the connection broke off.
fn parse_json(mut answer: ureq::http::Response<ureq::Body>) -> Option<Value> {
    let text = answer.body_mut().read_to_string().ok()?;
    assert!(answer.status().is_success(), "{text}");
    Some(serde_json::from_str(&text).unwrap())
}

fn text_field(object: &Value, field: &str) -> String {
    object[field].as_str().unwrap().to_owned()
}

/// Returns the next action for a status; `None` for a final status. Consecutive requests reach different final
/// statuses.
fn next_action(status: &str, number: usize) -> Option<&'static str> {
    match (status, number % 3) {
        ("requested", 0) => Some("cancel"),
        ("requested", _) => Some("approve"),
        ("approved", _) => Some("process"),
        ("processing", 1) => Some("pay"),
        ("processing", _) => Some("fail"),
        _ => None,
    }
}

/// Returns the position of a status among the steps to a final status.
fn status_rank(status: &str) -> usize {
    let open = ["requested", "approved", "processing"];
    open.iter().position(|known| *known == status).unwrap_or(open.len())
}

/// Asserts that the file of a stopped server has each acknowledged step, and that the ledger entries of each transfer
/// are complete.
#[track_caller]
fn assert_steps_stored(file: &Path, acknowledged: &BTreeMap<String, String>) {
    let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut rows = db
        .prepare(
            "select t.id, t.status, t.amount, (select count(*) from ledger where transfer = t.seq),
               (select ifnull(sum(amount), 0) from ledger where transfer = t.seq),
               (select group_concat(type) from events where object_id = t.id),
               (select count(*) from audit_log where object_id = t.id), t.kind
             from transfers t",
        )
        .unwrap();
    let mut rows = rows.query([]).unwrap();
    let (mut statuses, mut open) = (BTreeMap::new(), 0);
    while let Some(row) = rows.next().unwrap() {
        let (id, status): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let amount: i64 = row.get(2).unwrap();
        let is_back = ["failed", "rejected", "cancelled"].contains(&status.as_str());
        assert_eq!(
            row.get(3),
            Ok(if is_back { 2 } else { 1 }),
            "ledger entries of {id} in {status}"
        );
        assert_eq!(
            row.get(4),
            Ok(if is_back { 0 } else { -amount }),
            "amount booked for {id} in {status}"
        );
        let told = ["paid", "failed"].contains(&status.as_str());
        let told = told.then(|| format!("{}.{status}", row.get::<_, String>(7).unwrap()));
        assert_eq!(row.get(5), Ok(told), "events of {id}");
        let steps: u32 = row.get(6).unwrap();
        assert!(
            steps > u32::from(status_rank(&status) > 0),
            "{id} is {status} and was moved {steps} times"
        );
        open += if status_rank(&status) < 3 { amount } else { 0 };
        statuses.insert(id, status);
    }
    for (id, answered) in acknowledged {
        let now = &statuses[id];
        assert!(status_rank(now) >= status_rank(answered), "{id} was {answered} and is {now}");
        assert!(status_rank(answered) < 3 || now == answered, "{id} was {answered} and is {now}");
    }
    let balance = "select reserved, available, (select sum(amount) from ledger) from balances";
    let [reserved, available, booked]: [i64; 3] =
        db.query_row(balance, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
    assert_eq!((reserved, available), (open, booked));
    let refunded = "select ifnull(refunded, 0) = (select ifnull(sum(amount), 0) from transfers where invoice = invoices.seq
                      and status not in ('failed', 'rejected', 'cancelled')) from invoices";
    assert_eq!(db.query_row(refunded, [], |row| row.get(0)), Ok(true), "refundedAmount");
}

/// Creates a paid live invoice and returns its id.
#[track_caller]
fn create_paid_invoice(url: &str) -> String {
    let call = |path: &str, body: Value| {
        let path = format!("{url}{path}");
        let answer = send(&agent(), "POST", &path, &[("X-API-Key", LIVE)], &body.to_string());
        assert!(answer.status < 300, "{}", answer.text);
        answer.json()
    };
    let body = json!({ "amount": "50000.00", "currency": "EUR", "asset": "LTC" });
    let invoice = text_field(&call("/v1/invoices", body), "id");
    let payment = text_field(&call("/sandbox/payments", json!({ "invoice": invoice })), "id");
    call(&format!("/sandbox/payments/{payment}"), json!({ "state": "confirmed" }));
    invoice
}

#[test]
fn acknowledged_payouts_and_refunds_survive_kill_9() {
    let scratch = Scratch::new();
    let file = scratch.path("coffer.db");
    let path = file.to_str().unwrap();
    let mut movers: Vec<TransferClient> = Vec::new();
    let mut acknowledged = BTreeMap::new();
    for round in 0..KILLS {
        let (mut process, url) = start_sandbox("127.0.0.1:0", &["--file", path]);
        if round == 0 {
            let invoice = create_paid_invoice(&url);
            let kinds = ["payouts", "refunds", "refunds", "refunds"];
            movers.extend(kinds.into_iter().enumerate().map(|(place, kind)| TransferClient {
                kind,
                place,
                invoice: invoice.clone(),
                number: 0,
                id: None,
            }));
        }
        let (answered, answers) = channel();
        std::thread::scope(|scope| {
            for mover in &mut movers {
                let (url, answered) = (&url, answered.clone());
                scope.spawn(move || mover.run_until_disconnect(url, &answered));
            }
            drop(answered);
            let mut count = 0;
            for (id, status) in answers {
                acknowledged.insert(id, status);
                count += 1;
                if count == RESPONSES_PER_KILL {
                    process.kill();
                }
            }
        });
        assert_steps_stored(&file, &acknowledged);
    }
    let ends = |end: &str| acknowledged.values().filter(|status| *status == end).count();
    for end in ["paid", "failed", "cancelled"] {
        assert!(ends(end) > KILLS, "{} are {end}", ends(end));
    }
}
