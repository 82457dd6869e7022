//! Sends the requests of each operation in every situation, and formats the responses as golden text.

use super::case::{RequestCase, body_with_other_faults, case_with_body, cases};
use super::document::Operation;
use super::observed::{audit_rows, data_version, describe_response, last_audit_seq};
use super::world::{Owner, SeededSandbox};
use crate::support::{Response, polling};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fmt::Write;

/// State of the sandbox and of the caller when a request is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Situation {
    /// The account of the caller is active.
    Plain,
    Suspended,
    Maintenance,
    /// A valid request with the same idempotency key was sent before.
    Replay,
    /// The ids in the path belong to no account or object.
    Unknown,
    /// The objects in the path belong to another account, not to that of the caller.
    Foreign,
    /// Another connection holds the write lock of the file.
    Locked,
}

impl Situation {
    const ALL: [Situation; 7] = [
        Situation::Plain,
        Situation::Suspended,
        Situation::Maintenance,
        Situation::Replay,
        Situation::Unknown,
        Situation::Foreign,
        Situation::Locked,
    ];

    /// Returns `true` if the situation can change the response of the operation.
    fn applies_to(self, operation: &Operation) -> bool {
        let scheme = operation.scheme.as_deref();
        match self {
            Situation::Plain => true,
            Situation::Suspended | Situation::Maintenance => scheme.is_some(),
            Situation::Replay => operation.is_idempotent,
            Situation::Unknown => operation.path.contains('{'),
            Situation::Foreign => matches!(scheme, Some("session" | "apiKey")),
            // These operations would wait until the file is unlocked.
            Situation::Locked => !matches!(
                operation.id.as_str(),
                "sandboxClock" | "sandboxReset" | "sandboxSnapshot" | "sandboxRestore"
            ),
        }
    }

    fn path_owner(self) -> Owner {
        match self {
            Situation::Unknown => Owner::Unknown,
            Situation::Foreign => Owner::Foreign,
            _ => Owner::Own,
        }
    }
}

/// Operations that other tests cover: three endless streams and a document.
const TESTED_ELSEWHERE: [&str; 4] =
    ["sandboxStream", "streamCheckout", "streamChanges", "getSandboxOpenApi"];

/// Responses of one operation, by request and situation.
struct ResponseTable {
    heading: String,
    /// Name of each request, with the number of its response in each situation, from 1. `None` if the request was not
    /// sent in this situation.
    rows: Vec<(String, [Option<usize>; Situation::ALL.len()])>,
    answers: Vec<String>,
}

impl ResponseTable {
    fn add_response(&mut self, case: &str, situation: Situation, answer: String) {
        let number = match self.answers.iter().position(|known| *known == answer) {
            Some(at) => at,
            None => {
                self.answers.push(answer);
                self.answers.len() - 1
            }
        };
        let at = match self.rows.iter().position(|(name, _)| name == case) {
            Some(at) => at,
            None => {
                self.rows.push((case.to_owned(), [None; Situation::ALL.len()]));
                self.rows.len() - 1
            }
        };
        self.rows[at].1[situation as usize] = Some(number + 1);
    }

    fn append_to(&self, text: &mut String) {
        writeln!(text, "\n== {}\n", self.heading).unwrap();
        for situation in Situation::ALL {
            write!(text, "{:>12}", format!("{situation:?}").to_lowercase()).unwrap();
        }
        text.push('\n');
        for (name, numbers) in &self.rows {
            for number in numbers {
                let number = number.map_or_else(|| "-".to_owned(), |number| number.to_string());
                write!(text, "{number:>12}").unwrap();
            }
            writeln!(text, "  {name}").unwrap();
        }
        text.push('\n');
        for (answer, number) in self.answers.iter().zip(1..) {
            write!(text, "{number}. {answer}").unwrap();
        }
    }
}

/// A sandbox to which requests are sent, with a connection to its file.
pub struct ResponseRecorder {
    world: SeededSandbox,
    file: Connection,
}

impl ResponseRecorder {
    pub fn new() -> ResponseRecorder {
        let world = SeededSandbox::open();
        let recorder = ResponseRecorder {
            file: Connection::open(world.interface.shop.file()).unwrap(),
            world,
        };
        recorder.post("/sandbox/snapshots/plain").expect(200);
        recorder
    }

    /// Returns the golden text of these operations.
    pub fn golden_text(&self, operations: &[&Operation]) -> String {
        let operations: Vec<&Operation> = operations
            .iter()
            .copied()
            .filter(|one| !TESTED_ELSEWHERE.contains(&one.id.as_str()))
            .collect();
        let heading = |one: &&Operation| ResponseTable {
            heading: format!("{}: {} {}", one.id, one.method, one.path),
            rows: Vec::new(),
            answers: Vec::new(),
        };
        let mut tables: Vec<ResponseTable> = operations.iter().map(heading).collect();
        for situation in Situation::ALL {
            self.enter_situation(situation);
            for (operation, table) in operations.iter().zip(&mut tables) {
                if situation.applies_to(operation) {
                    self.record_cases(table, operation, situation);
                }
            }
            if situation == Situation::Locked {
                self.file.execute_batch("rollback").unwrap();
                let shop = &self.world.interface.shop;
                assert!(polling::wait_until(|| shop.get("/readyz", None).status == 200));
            }
        }
        let mut text = String::from(
            "Answers by situation: the number below stands for the answer of this number after the table.\n",
        );
        for table in &tables {
            table.append_to(&mut text);
        }
        text
    }

    /// Puts the sandbox into the situation.
    fn enter_situation(&self, situation: Situation) {
        self.restore_snapshot("plain");
        let by_operator = |method: &str, path: String, body: Value| {
            let interface = &self.world.interface;
            interface.send_as_operator(method, &path, &body).expect(200);
        };
        let account = &self.world.interface.account;
        match situation {
            Situation::Suspended => {
                let path = format!("/dashboard/api/accounts/{account}/status");
                by_operator("POST", path, json!({ "status": "suspended" }));
            }
            Situation::Maintenance => {
                by_operator(
                    "PUT",
                    "/dashboard/api/settings".to_owned(),
                    json!({ "maintenance": true }),
                );
            }
            _ => (),
        }
        self.post("/sandbox/snapshots/situation").expect(200);
        if situation == Situation::Locked {
            self.file.execute_batch("begin immediate").unwrap();
        }
    }

    fn record_cases(&self, table: &mut ResponseTable, operation: &Operation, situation: Situation) {
        let valid = self.world.valid_body(operation);
        for case in cases(operation, valid.as_ref(), situation != Situation::Plain) {
            let answer = self.send_case(operation, &case, situation);
            table.add_response(&case.name, situation, answer.1);
        }
        // All fields of the first body are invalid. Each further body corrects the field that the last response
        // reported.
        let fields = operation.fields.as_deref().unwrap_or_default();
        let mut named = Vec::new();
        for turn in 1..=fields.len() + 1 {
            let body = body_with_other_faults(fields, valid.as_ref(), &named);
            let case = case_with_body(&format!("every field wrong, fault {turn}"), &body);
            let (answer, observed) = self.send_case(operation, &case, situation);
            table.add_response(&case.name, situation, observed);
            let param = serde_json::from_str(&answer.text).ok();
            let param = param.and_then(|body: Value| Some(body["param"].as_str()?.to_owned()));
            match param.filter(|param| fields.contains(param) && !named.contains(param)) {
                Some(param) => named.push(param),
                None => break,
            }
        }
    }

    /// Sends one request in a situation, and returns the response and its golden text. Restores the file if the
    /// request has changed it, or may have changed what is only in memory.
    fn send_case(
        &self,
        operation: &Operation,
        case: &RequestCase,
        situation: Situation,
    ) -> (Response, String) {
        let is_locked = situation == Situation::Locked;
        let version = data_version(&self.file);
        let mut case = case.clone();
        if !is_locked {
            self.world.prepare_sandbox_for(operation);
            if operation.id == "signIn" || operation.tag.contains("sign-in") {
                self.restore_snapshot("situation");
            }
        }
        if situation == Situation::Replay {
            let key = case.idempotency_key.get_or_insert_with(|| "replay".to_owned()).clone();
            let mut first = case_with_body(
                "",
                &operation.example.as_ref().map(Value::to_string).unwrap_or_default(),
            );
            first.body =
                self.world.valid_body(operation).map(|body| body.to_string()).unwrap_or_default();
            first.idempotency_key = Some(key);
            self.world.send(operation, &first, Owner::Own);
        }
        let before = last_audit_seq(&self.file);
        let answer = self.world.send(operation, &case, situation.path_owner());
        let audit = audit_rows(&self.file, before);
        let text = describe_response(&answer, &audit);
        if !is_locked
            && (answer.status < 400
                || situation == Situation::Replay
                || !operation.is_get_request())
        {
            if operation.tag.starts_with("Sandbox") {
                self.world.interface.shop.send("DELETE", "/sandbox/faults", &[], "").expect(204);
                self.world.interface.shop.send("DELETE", "/sandbox/inbox/other", &[], "");
            }
            let may_have_changed = answer.status < 400 || situation == Situation::Replay;
            let is_changed = || data_version(&self.file) != version;
            if !operation.is_get_request() && (may_have_changed || is_changed()) {
                self.restore_snapshot("situation");
            }
        }
        (answer, text)
    }

    fn restore_snapshot(&self, snapshot: &str) {
        self.post(&format!("/sandbox/snapshots/{snapshot}/restore")).expect(200);
    }

    #[track_caller]
    fn post(&self, path: &str) -> Response {
        self.world.interface.shop.post(path, None, json!({}))
    }
}
