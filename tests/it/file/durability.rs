//! Acknowledged writes survive `kill -9`: a sandbox is killed ten times while clients create ten thousand invoices.
//!
//! Invariant: the number of received responses, not a time, decides when the sandbox is killed.

use crate::support::process::{Process, start_sandbox};
use crate::support::{TEST, agent, send};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};

/// Number of invoices to create.
const INVOICE_COUNT: usize = 10_000;
/// Number of times that the sandbox is killed.
const KILL_COUNT: usize = 10;
/// Number of responses between two kills.
const RESPONSES_PER_KILL: usize = 900;
/// Number of concurrent connections.
const CLIENT_COUNT: usize = 32;

/// Idempotency key of an acknowledged invoice, and the id in the response.
type AcknowledgedInvoice = (String, String);

/// On drop, tells the clients that no further server process will start.
struct ClientStopGuard<'a>(&'a CurrentProcess);

/// Number and URL of the current process, for clients that wait for the next process.
#[derive(Default)]
struct CurrentProcess {
    present: Mutex<(usize, Option<String>)>,
    changed: Condvar,
}

impl CurrentProcess {
    /// Announces the URL of the next process to the clients. `None` means that no further process will start.
    fn announce_url(&self, url: Option<String>) {
        let mut present = self.present.lock().unwrap();
        *present = (present.0.saturating_add(1), url);
        self.changed.notify_all();
    }

    /// Waits for a process with a higher number. Returns its number and URL, `None` if no process follows.
    fn wait_for_newer_process(&self, number: usize) -> Option<(usize, String)> {
        let present = self.present.lock().unwrap();
        let later = self.changed.wait_while(present, |now| now.0 <= number);
        let (number, url) = later.unwrap().clone();
        url.map(|url| (number, url))
    }
}

impl Drop for ClientStopGuard<'_> {
    fn drop(&mut self) {
        self.0.announce_url(None);
    }
}

/// Creates invoices until enough exist, each with its own idempotency key. If no response arrives, sends the request
/// again to the next process.
fn create_invoices(
    next: &AtomicUsize,
    generation: &CurrentProcess,
    answered: &Sender<AcknowledgedInvoice>,
) {
    let agent = agent();
    let Some((mut number, mut url)) = generation.wait_for_newer_process(0) else {
        return;
    };
    loop {
        let invoice = next.fetch_add(1, Ordering::SeqCst);
        if invoice >= INVOICE_COUNT {
            return;
        }
        let key = format!("invoice-{invoice}");
        let body =
            json!({ "amount": "20.00", "currency": "EUR", "orderId": format!("order-{invoice}") });
        loop {
            let headers = [("X-API-Key", TEST), ("Idempotency-Key", key.as_str())];
            let target = format!("{url}/v1/invoices");
            if let Some(answer) = try_post(&agent, &target, &headers, &body.to_string()) {
                let invoice: Value = serde_json::from_str(&answer).unwrap();
                let id = invoice["id"].as_str().unwrap().to_owned();
                answered.send((key, id)).unwrap();
                break;
            }
            let Some(later) = generation.wait_for_newer_process(number) else {
                return;
            };
            (number, url) = later;
        }
    }
}

/// Posts JSON and asserts the status 201. Returns `None` if no complete response arrived.
fn try_post(
    agent: &ureq::Agent,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<String> {
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut response = request.send(body).ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    assert_eq!(response.status(), 201, "{text}");
    Some(text)
}

/// Repeatedly kills the process while responses arrive, checks the file, and starts the next process. Returns the ids
/// of the acknowledged invoices by idempotency key.
fn kill_repeatedly(
    file: &Path,
    generation: &CurrentProcess,
    answers: &Receiver<AcknowledgedInvoice>,
) -> BTreeMap<String, String> {
    let path = file.to_str().unwrap();
    let (mut process, url) = start_sandbox("127.0.0.1:0", &["--file", path]);
    // Nothing listens at the endpoint: the first attempt of each delivery fails, and the delivery stays pending.
    let body = json!({ "endpoints": [{ "url": "http://127.0.0.1:9/" }] }).to_string();
    let settings = format!("{url}/sandbox/account");
    send(&agent(), "PATCH", &settings, &[], &body).expect(200);
    let _generations = ClientStopGuard(generation);
    generation.announce_url(Some(url));
    let mut acknowledged = BTreeMap::new();
    let mut kills = 0;
    while acknowledged.len() < INVOICE_COUNT {
        let (key, id) = answers.recv().unwrap();
        assert_eq!(acknowledged.insert(key, id), None, "each request gets one response");
        if kills < KILL_COUNT && acknowledged.len().is_multiple_of(RESPONSES_PER_KILL) {
            process.kill();
            kills = kills.saturating_add(1);
            assert_acknowledged_writes_stored(file, &acknowledged);
            process = start_next_process(path, generation);
        }
    }
    assert_eq!(kills, KILL_COUNT);
    assert!(process.close_input_and_wait(), "the process stops cleanly");
    acknowledged
}

/// Starts the next process on the same file.
fn start_next_process(path: &str, generation: &CurrentProcess) -> Process {
    let (process, url) = start_sandbox("127.0.0.1:0", &["--file", path]);
    generation.announce_url(Some(url));
    process
}

/// Asserts that a closed file contains every acknowledged invoice, and no incomplete invoice.
#[track_caller]
fn assert_acknowledged_writes_stored(file: &Path, acknowledged: &BTreeMap<String, String>) {
    let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let verdict: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let orphans = db.prepare("pragma foreign_key_check").unwrap().exists([]);
    assert!(!orphans.unwrap(), "every reference exists");

    let mut found = BTreeMap::new();
    let mut rows = db
        .prepare(
            "select idempotency.client_key, json_extract(idempotency.answer, '$.id'), invoices.id, invoices.order_id, \
             count(distinct events.seq), count(deliveries.id), min(events.type), \
             min(json_extract(events.body, '$.data.object.id')) \
             from invoices left join idempotency on idempotency.client_key = replace(invoices.order_id, 'order', 'invoice') \
             left join events on events.object_id = invoices.id left join deliveries on deliveries.event = events.seq \
             group by invoices.seq",
        )
        .unwrap();
    let mut rows = rows.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let text = |column: usize| row.get::<_, String>(column).unwrap();
        let (key, id) = (text(0), text(2));
        assert_eq!(text(1), id, "the stored response belongs to the invoice");
        assert_eq!(text(3).replace("order", "invoice"), key);
        assert_eq!(row.get(4), Ok(1), "events of {id}");
        assert_eq!(row.get(5), Ok(1), "deliveries of {id}");
        assert_eq!((text(6).as_str(), text(7)), ("invoice.created", id.clone()));
        assert_eq!(found.insert(key, id), None);
    }
    for (key, id) in acknowledged {
        assert_eq!(found.get(key), Some(id), "{key} was acknowledged");
    }
    assert_eq!(row_counts(&db), [found.len(); 4]);
    let torn = "select count(*) from deliveries where attempts <> (select count(*) from attempts \
                where attempts.delivery = deliveries.seq)";
    assert_eq!(query_count(&db, torn), 0, "attempts and their deliveries agree");
}

/// Returns the number of invoices, events, deliveries and stored responses.
fn row_counts(db: &Connection) -> [usize; 4] {
    ["invoices", "events", "deliveries", "idempotency"]
        .map(|table| query_count(db, &format!("select count(*) from {table}")))
}

fn query_count(db: &Connection, statement: &str) -> usize {
    let number: i64 = db.query_row(statement, [], |row| row.get(0)).unwrap();
    usize::try_from(number).unwrap()
}

/// A folder that is removed with its content.
struct TempFolder(PathBuf);

impl Drop for TempFolder {
    fn drop(&mut self) {
        // If the removal fails, only a temporary folder stays behind.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn acknowledged_writes_survive_kill_9() {
    let name = format!("coffer-durability-{}", std::process::id());
    let folder = TempFolder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("coffer.db");
    let (generation, next) = (CurrentProcess::default(), AtomicUsize::new(0));
    let (answered, answers) = channel();
    let acknowledged = std::thread::scope(|scope| {
        for _ in 0..CLIENT_COUNT {
            let (generation, next, answered) = (&generation, &next, answered.clone());
            scope.spawn(move || create_invoices(next, generation, &answered));
        }
        drop(answered);
        kill_repeatedly(&file, &generation, &answers)
    });
    assert_acknowledged_writes_stored(&file, &acknowledged);
    let db = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    assert_eq!(row_counts(&db), [INVOICE_COUNT; 4]);
}
