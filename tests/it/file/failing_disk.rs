//! Full and failing disks: acknowledged writes are not lost, and further writes are rejected.
//!
//! A preloaded library (`support/disk.c`) makes system calls fail while a file with the name of the failure exists.

use crate::support::audit::assert_audit_clean;
use crate::support::process::Process;
use crate::support::scratch::Scratch;
use crate::support::{Response, TEST, agent, polling, send};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A sandbox whose file is on a disk that can fail.
pub struct FailingDiskShop {
    scratch: Scratch,
    logs: Scratch,
    process: Option<Process>,
    pub url: String,
    agent: ureq::Agent,
}

impl FailingDiskShop {
    #[track_caller]
    pub fn open() -> FailingDiskShop {
        let mut shop = FailingDiskShop {
            scratch: Scratch::new(),
            logs: Scratch::new(),
            process: None,
            url: String::new(),
            agent: agent(),
        };
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(shop.library_path())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/disk.c"))
            .args(["-ldl"])
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{compiled:?}");
        shop.start();
        shop
    }

    fn library_path(&self) -> PathBuf {
        self.logs.path("disk.so")
    }

    fn file(&self) -> PathBuf {
        self.scratch.path("shop.db")
    }

    /// Builds a command of the binary that uses this disk.
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command.env("LD_PRELOAD", self.library_path());
        command.env("COFFER_DISK", self.scratch.path("").canonicalize().unwrap());
        command
    }

    #[track_caller]
    fn start(&mut self) {
        let mut command = self.command();
        command.args(["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"]);
        command.arg("--file").arg(self.file());
        let log = std::fs::File::options().append(true).create(true).open(self.logs.path("log"));
        let process = Process::start_with_stderr(&mut command, log.unwrap().into());
        self.url = process.wait_for_url();
        self.process = Some(process);
    }

    /// Stops the server and waits for its end.
    #[track_caller]
    fn stop(&mut self) {
        assert!(self.process.take().unwrap().close_input_and_wait(), "{}", self.read_log());
    }

    /// Makes system calls fail for files whose names end with `names`. `how` is the kind of failure, for example
    /// `full`.
    pub fn start_failure(&self, how: &str, names: &str) {
        let temporary = self.scratch.path("temporary");
        std::fs::write(&temporary, names).unwrap();
        std::fs::rename(temporary, self.scratch.path(how)).unwrap();
    }

    pub fn end_failure(&self, how: &str) {
        std::fs::remove_file(self.scratch.path(how)).unwrap();
    }

    #[track_caller]
    fn get(&self, path: &str) -> Response {
        let url = format!("{}{path}", self.url);
        send(&self.agent, "GET", &url, &[("X-API-Key", TEST)], "")
    }

    #[track_caller]
    fn create_invoice(&self, key: &str) -> Response {
        let url = format!("{}/v1/invoices", self.url);
        let headers = [("X-API-Key", TEST), ("Idempotency-Key", key)];
        let body = json!({ "amount": "20.00", "currency": "EUR", "orderId": key });
        send(&self.agent, "POST", &url, &headers, &body.to_string())
    }

    #[track_caller]
    pub fn wait_until_ready(&self) {
        assert!(polling::wait_until(|| self.get("/readyz").status == 200));
    }

    fn read_log(&self) -> String {
        std::fs::read_to_string(self.logs.path("log")).unwrap()
    }

    /// Asserts that all order ids differ, and returns the number of invoices.
    #[track_caller]
    fn invoice_count(&self) -> i64 {
        let db = rusqlite::Connection::open(self.file()).unwrap();
        let sql = "select count(*), count(distinct order_id) from invoices";
        let (all, distinct): (i64, i64) =
            db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(all, distinct);
        all
    }
}

/// Asserts that a write was rejected.
#[track_caller]
pub fn assert_write_rejected(answer: &Response) {
    answer.assert_error(503, "overloaded", None);
    assert!(answer.headers["retry-after"].parse::<u32>().is_ok());
    assert!(!answer.text.contains("disk"), "{}", answer.text);
}

/// Counts the log lines about rejected writes whose cause and reason start with these texts.
pub(super) fn count_refusal_lines(log: &str, cause: &str, reason: &str) -> usize {
    let cause = format!("] writes refused: cause=\"{cause}");
    let reason = format!("\" reason={reason}");
    log.lines().filter(|line| line.contains(&cause) && line.contains(&reason)).count()
}

#[test]
fn full_disk_rejects_writes_until_space_is_free() {
    let mut shop = FailingDiskShop::open();
    let before = shop.create_invoice("before").expect(201).json();
    for round in 0..3 {
        shop.start_failure("full", "-wal");
        for _ in 0..200 {
            assert_write_rejected(&shop.create_invoice("during"));
        }
        assert_write_rejected(&shop.get("/readyz"));
        shop.get("/livez").expect(200);
        let read = format!("/v1/invoices/{}", before["id"].as_str().unwrap());
        assert_eq!(shop.get(&read).expect(200).json(), before);
        let refused = "\ncoffer_writes_refused 1\n";
        assert!(shop.get("/metrics").expect(200).text.contains(refused));
        shop.end_failure("full");
        shop.wait_until_ready();
        shop.create_invoice(&format!("after {round}")).expect(201);
    }
    shop.create_invoice("during").expect(201);
    shop.stop();
    assert_eq!(shop.invoice_count(), 5);
    assert_audit_clean(&shop.file());
    let log = shop.read_log();
    assert_eq!(count_refusal_lines(&log, "", "the disk is full"), 3, "{log}");
    assert_eq!(log.matches("] writes accepted again").count(), 3, "{log}");
    assert!(log.lines().count() < 30, "{log}");
}

#[test]
fn failed_sync_stops_writes_until_a_restart() {
    let mut shop = FailingDiskShop::open();
    shop.create_invoice("before").expect(201);
    let untouched = std::fs::read(shop.file()).unwrap();
    shop.start_failure("broken", "-wal");
    assert_write_rejected(&shop.create_invoice("lost"));
    // The failure is over, but the server must still reject writes.
    shop.end_failure("broken");
    for _ in 0..200 {
        assert_write_rejected(&shop.create_invoice("during"));
    }
    assert_write_rejected(&shop.get("/readyz"));
    shop.get("/v1/invoices").expect(200);
    shop.stop();
    assert_eq!(std::fs::read(shop.file()).unwrap(), untouched);
    let wal = shop.scratch.path("shop.db-wal");
    assert!(std::fs::metadata(wal).unwrap().len() > 0);
    let log = shop.read_log();
    assert_eq!(count_refusal_lines(&log, "", "the disk failed"), 1, "{log}");
    assert!(log.lines().count() < 15, "{log}");
    shop.start();
    shop.get("/readyz").expect(200);
    for key in ["before", "lost", "during"] {
        shop.create_invoice(key).expect(201);
    }
    shop.stop();
    assert_eq!(shop.invoice_count(), 3);
    assert_audit_clean(&shop.file());
}

#[test]
fn failed_sync_during_a_checkpoint_stops_writes() {
    let mut shop = FailingDiskShop::open();
    shop.start_failure("broken", "shop.db");
    let mut made = 0;
    while shop.create_invoice(&format!("order {made}")).status == 201 {
        made += 1;
        assert!(made < 2_000, "a checkpoint runs every 1000 pages");
    }
    shop.end_failure("broken");
    assert_write_rejected(&shop.create_invoice("during"));
    assert_write_rejected(&shop.get("/readyz"));
    shop.stop();
    shop.start();
    shop.create_invoice("during").expect(201);
    shop.stop();
    assert_eq!(shop.invoice_count(), made + 1);
    assert_audit_clean(&shop.file());
}

#[test]
fn doctor_and_start_report_a_full_disk() {
    let mut shop = FailingDiskShop::open();
    shop.stop();
    shop.start_failure("full", "-doctor");
    let mut command = shop.command();
    command.args(["doctor", "--file"]).arg(shop.file());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("No space left on device"), "{output:?}");
    assert!(said.contains("free space"), "{output:?}");
    assert!(!shop.scratch.path("shop.db-doctor").exists());
    shop.start_failure("full", "-shm");
    let mut command = shop.command();
    command.args(["sandbox", "--listen", "127.0.0.1:0", "--file"]);
    let output = command.arg(shop.file()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_full_disk_message(&said, "shop.db");
    shop.end_failure("full");
    shop.start();
    shop.stop();
}

/// Asserts that the message names the file and says how many bytes are missing.
#[track_caller]
fn assert_full_disk_message(said: &str, file: &str) {
    let said = said.split_once(&format!("{file}: the disk is full: up to "));
    let (needed, rest) = said.unwrap().1.split_once(" bytes are needed at /").unwrap();
    assert!(needed.parse::<u64>().unwrap() > 10_000, "{needed}");
    assert!(rest.contains(" are free"), "{rest}");
}

#[test]
fn backup_reports_a_full_disk() {
    let mut shop = FailingDiskShop::open();
    shop.stop();
    shop.start_failure("full", "-copying");
    let mut command = shop.command();
    command.args(["backup", "--file"]).args([shop.file(), shop.scratch.path("copy.db")]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_full_disk_message(&String::from_utf8(output.stderr).unwrap(), "copy.db");
    shop.end_failure("full");
}

#[test]
fn server_without_an_operator_starts_read_only_on_a_full_disk() {
    let mut shop = FailingDiskShop::open();
    shop.stop();
    let file = shop.scratch.path("live.db");
    let create = |name: &str| {
        let mut command = shop.command();
        command.args(["account", "create", name, "--file"]).arg(&file);
        command.output().unwrap()
    };
    assert!(create("Shop").status.success());
    shop.start_failure("full", "-wal");
    let mut command = shop.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--exit-with-parent", "--file"]);
    command.arg(&file).env("COFFER_RATES", crate::support::installation::NO_RATES);
    let log = std::fs::File::create(shop.logs.path("live")).unwrap();
    let mut process = Process::start_with_stderr(&mut command, log.into());
    let url = process.wait_for_url();
    let get = |path: &str| send(&shop.agent, "GET", &format!("{url}{path}"), &[], "");
    get("/livez").expect(200);
    assert_write_rejected(&get("/readyz"));
    assert!(get("/metrics").expect(200).text.contains("\ncoffer_writes_refused 1\n"));
    shop.end_failure("full");
    assert!(polling::wait_until(|| get("/readyz").status == 200));
    assert!(process.close_input_and_wait());
    let said = std::fs::read_to_string(shop.logs.path("live")).unwrap();
    assert!(said.contains("started for reads only"), "{said}");
}
