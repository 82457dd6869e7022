//! A damaged file: the damage is noticed by whoever reads it first, and nothing is written from then on.

use super::failing_disk::count_refusal_lines;
use crate::support::command::{run_coffer, run_coffer_failing};
use crate::support::database::text_column;
use crate::support::installation::{EMAIL, Installation};
use crate::support::process::Process;
use crate::support::sandbox_file::{call, create_invoice, start_on_file, start_with_log};
use crate::support::scratch::{Scratch, path_text};
use crate::support::smtpd::Smtpd;
use crate::support::{Response, TEST, polling};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Overwrites the first pages of a table and of its indexes.
#[track_caller]
fn damage(file: &Path, name: &str) {
    let conn = Connection::open(file).unwrap();
    let bytes: u32 = conn.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    let roots = "select rootpage from sqlite_schema where tbl_name = ?1 and rootpage > 0";
    let mut statement = conn.prepare(roots).unwrap();
    let roots = statement.query_map([name], |row| row.get(0)).unwrap();
    let roots: Vec<u32> = roots.map(Result::unwrap).collect();
    drop(statement);
    drop(conn);
    assert!(!roots.is_empty(), "{name}");
    for page in roots {
        let garbage = vec![0xa5; usize::try_from(bytes).unwrap()];
        overwrite(file, u64::from((page - 1) * bytes), &garbage);
    }
}

/// Overwrites a part of a file, which another process may have open.
fn overwrite(file: &Path, offset: u64, bytes: &[u8]) {
    File::options().write(true).open(file).unwrap().write_all_at(bytes, offset).unwrap();
}

/// Asserts that an answer says that the file is damaged.
#[track_caller]
fn assert_damaged(answer: &Response) {
    answer.assert_error(503, "overloaded", None);
    assert!(answer.headers.contains_key("retry-after"));
    assert!(answer.text.contains("damaged"), "{}", answer.text);
}

/// A running sandbox on a file that was closed once, so that its log is empty.
struct DamagedShop {
    scratch: Scratch,
    file: PathBuf,
    copy: PathBuf,
    log: PathBuf,
    process: Process,
    url: String,
    /// Id of an invoice.
    invoice: String,
}

impl DamagedShop {
    #[track_caller]
    fn start() -> DamagedShop {
        let scratch = Scratch::new();
        let [file, copy, log] = ["shop.db", "copy.db", "log"].map(|name| scratch.path(name));
        let (mut process, url) = start_on_file(&file);
        let invoice = create_invoice(&url).expect(201).id();
        assert!(process.close_input_and_wait());
        run_coffer(&file, &["backup", path_text(&copy)]);
        let process = start_with_log(&file, &log, &[]);
        let url = process.wait_for_url();
        DamagedShop { scratch, file, copy, log, process, url, invoice }
    }

    #[track_caller]
    fn get(&self, path: &str) -> Response {
        call(&self.url, "GET", path, TEST, &Value::Null)
    }

    /// Asserts that no write is accepted and that the damage is reported. Stops the server and restores the backup.
    #[track_caller]
    fn assert_damaged_and_mend(mut self) {
        for _ in 0..20 {
            assert_damaged(&create_invoice(&self.url));
        }
        let ready = self.get("/readyz");
        assert_damaged(&ready);
        assert!(ready.text.contains("`coffer restore`"), "{}", ready.text);
        self.get("/livez").expect(200);
        let metrics = self.get("/metrics").expect(200).text;
        for gauge in ["coffer_file_damaged", "coffer_writes_refused"] {
            assert!(metrics.contains(&format!("\n{gauge} 1\n")), "{metrics}");
        }
        assert!(self.process.close_input_and_wait());
        let said = std::fs::read_to_string(&self.log).unwrap();
        assert_eq!(count_refusal_lines(&said, "", "the file is damaged"), 1, "{said}");
        assert!(said.lines().count() < 20, "{said}");
        run_coffer(&self.file, &["restore", path_text(&self.copy), "--force"]);
        assert!(run_coffer(&self.file, &["audit"]).starts_with("nothing found in 1 invoices"));
        let (mut process, url) = start_on_file(&self.file);
        create_invoice(&url).expect(201);
        assert!(process.close_input_and_wait());
        drop(self.scratch);
    }
}

#[test]
fn damage_that_only_a_reader_meets_ends_all_writes() {
    let shop = DamagedShop::start();
    damage(&shop.file, "transfers");
    create_invoice(&shop.url).expect(201);
    shop.get("/readyz").expect(200);
    assert_damaged(&shop.get("/v1/refunds"));
    shop.assert_damaged_and_mend();
}

#[test]
fn damage_that_only_the_writer_meets_ends_all_writes() {
    let shop = DamagedShop::start();
    damage(&shop.file, "quotes");
    create_invoice(&shop.url).expect(201);
    let path = format!("/v1/invoices/{}/simulate", shop.invoice);
    assert_damaged(&call(&shop.url, "POST", &path, TEST, &json!({ "case": "exact" })));
    shop.assert_damaged_and_mend();
}

#[test]
fn damage_that_only_a_worker_meets_ends_all_writes() {
    let shop = DamagedShop::start();
    damage(&shop.file, "mail_preferences");
    // No request reads the table. The worker for e-mail does, every ten seconds.
    assert!(polling::wait_until(|| shop.get("/readyz").status == 503));
    shop.assert_damaged_and_mend();
}

#[test]
fn overwritten_header_is_noticed_without_a_request() {
    for header in [&[0xa5; 100][..], b"somebody's notes "] {
        let shop = DamagedShop::start();
        overwrite(&shop.file, 0, header);
        assert!(polling::wait_until(|| shop.get("/readyz").status == 503));
        shop.assert_damaged_and_mend();
    }
}

#[test]
fn copy_over_the_file_of_a_running_server_is_noticed() {
    let shop = DamagedShop::start();
    create_invoice(&shop.url).expect(201);
    // `cp` also truncates the file, which may end the process at once.
    overwrite(&shop.file, 0, &std::fs::read(&shop.copy).unwrap());
    assert!(polling::wait_until(|| shop.get("/readyz").status == 503));
    assert_damaged(&create_invoice(&shop.url));
    shop.assert_damaged_and_mend();
}

/// Returns the names of all tables.
fn tables(file: &Path) -> Vec<String> {
    text_column(file, "select name from sqlite_schema where type = 'table'")
}

#[test]
fn damage_of_any_table_is_never_an_internal_error() {
    let DamagedShop { scratch, copy, mut process, .. } = DamagedShop::start();
    assert!(process.close_input_and_wait());
    let mut refused = 0;
    for table in tables(&copy) {
        let file = scratch.path("damaged.db");
        std::fs::copy(&copy, &file).unwrap();
        damage(&file, &table);
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command.args(["sandbox", "--exit-with-parent", "--log", "off", "--listen", "127.0.0.1:0"]);
        let mut child = command
            .args(["--file", path_text(&file)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _input = child.stdin.take();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        if let Some(rest) = line.strip_prefix("coffer ready url=") {
            let url = rest.split_once(' ').unwrap().0;
            for path in
                ["/v1/invoices", "/v1/events", "/v1/deposits", "/v1/payouts", "/v1/balances"]
            {
                let answer = call(url, "GET", path, TEST, &Value::Null);
                assert!([200, 503].contains(&answer.status), "{table} {path}: {}", answer.text);
            }
            let answer = create_invoice(url);
            assert!([201, 503].contains(&answer.status), "{table}: {}", answer.text);
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{table}: {said}");
            assert!(said.contains("damaged") && said.contains("coffer restore"), "{table}: {said}");
            refused += 1;
        }
        for suffix in ["", "-wal", "-shm", "-lock"] {
            let _ = std::fs::remove_file(scratch.path(&format!("damaged.db{suffix}")));
        }
    }
    assert!(refused > 0);
}

#[test]
fn damaged_file_is_named_by_every_command() {
    let DamagedShop { scratch, file, copy, mut process, .. } = DamagedShop::start();
    assert!(process.close_input_and_wait());
    damage(&file, "deposits");
    let said = run_coffer_failing(&file, &["doctor"]);
    assert!(said.contains("shop.db is damaged: "), "{said}");
    let mend = format!("`coffer restore BACKUP --file {} --force`", file.display());
    assert!(said.contains(&mend), "{said}");
    assert!(
        run_coffer_failing(&file, &["backup", path_text(&scratch.path("b.db"))])
            .contains("damaged")
    );
    assert!(run_coffer_failing(&file, &["audit"]).contains("rule 6: the file is"));
    overwrite(&file, 0, &[0xa5; 100]);
    for command in ["doctor", "audit", "backup", "sandbox", "serve"] {
        let more: &[&str] = match command {
            "backup" => &["b.db"],
            "sandbox" | "serve" => &["--listen", "127.0.0.1:0"],
            _ => &[],
        };
        let said = run_coffer_failing(&file, &[&[command], more].concat());
        assert!(said.contains(&mend), "{command}: {said}");
    }
    run_coffer(&file, &["restore", path_text(&copy), "--force"]);
    run_coffer(&file, &["audit"]);
}

#[test]
fn operators_are_told_of_damage_once() {
    let Some(smtpd) = Smtpd::start("the message about a damaged file") else { return };
    let served = Installation::new();
    let settings = ["--smtp", &smtpd.url(), "--smtp-from", "pay@shop.example"];
    let running = served.start(&settings);
    running.operator_request("PUT", "/dashboard/api/mail", &json!({ "alarms": true })).expect(200);
    let mut first = running;
    assert!(first.process.close_input_and_wait());
    damage(&served.file, "payment_links");
    let running = served.restart(&first, &settings);
    let summary = || running.operator_request("GET", "/dashboard/api/summary", &Value::Null);
    assert_eq!(summary().expect(200).json()["fileDamaged"], false);
    let links = format!("/dashboard/api/accounts/{}/payment-links", served.account);
    assert_damaged(&running.operator_request("GET", &links, &Value::Null));
    assert_eq!(summary().expect(200).json()["fileDamaged"], true);
    let told = smtpd.wait_for_messages(1);
    assert_eq!(told[0].to, [EMAIL]);
    assert_eq!(told[0].header("Subject"), "The file is damaged");
    assert!(told[0].text.contains("The file is damaged."), "{}", told[0].text);
    let mut running = running;
    assert!(running.process.close_input_and_wait());
    assert_eq!(smtpd.messages().len(), 1);
}
