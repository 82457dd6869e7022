//! Litestream replicates the file of a running server: load, killed processes, and recovery on another machine.

use super::{deploy_example_path, example_with_changes, guide_blocks, path_variable};
use crate::support::audit::assert_audit_clean;
use crate::support::command::run_coffer_json;
use crate::support::database::text_column;
use crate::support::installation::Installation;
use crate::support::process::Process;
use crate::support::{agent, polling, send, tools};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

const SKIPPED_TEST_NAME: &str = "replication by Litestream";
/// Number of concurrent clients.
const CLIENT_COUNT: usize = 4;
/// Minimum number of invoices that each phase of the load creates.
const INVOICES_MIN: usize = 100;
/// Id and address of each acknowledged invoice.
type AcknowledgedInvoices = Mutex<Vec<(String, String)>>;

/// Litestream with settings to replicate a file into a folder.
struct Litestream {
    settings: PathBuf,
    socket: PathBuf,
    file: PathBuf,
}

impl Litestream {
    #[track_caller]
    fn set_up(served: &Installation, replica: &str) -> Litestream {
        let (socket, replica) = (served.path("sock"), served.path(replica));
        let text = example_with_changes(
            "litestream.yml",
            &[
                ("/var/lib/coffer/coffer.db", served.file.to_str().unwrap()),
                ("/var/lib/coffer/litestream.sock", socket.to_str().unwrap()),
                ("/mnt/elsewhere/coffer", replica.to_str().unwrap()),
            ],
        );
        let settings = served.path("litestream.yml");
        std::fs::write(&settings, text).unwrap();
        Litestream { settings, socket, file: served.file.clone() }
    }

    fn start(&self) -> Process {
        let mut command = Command::new("litestream");
        command.args(["replicate", "-config"]).arg(&self.settings);
        Process::start(command.arg("-log-level").arg("error"))
    }

    /// Starts Litestream with the script of its container, which stops Litestream when Coffer releases the lock of
    /// the file.
    fn start_in_container(&self) -> Process {
        let mut command = Command::new("sh");
        command.arg(deploy_example_path("litestream-beside.sh"));
        let lock = format!("{}-lock", self.file.display());
        Process::start(command.arg(&self.settings).arg(lock))
    }

    /// Replicates the whole file. Returns `false` if Litestream does not listen yet.
    fn try_sync(&self) -> bool {
        let mut command = Command::new("litestream");
        command.args(["sync", "-wait", "-socket"]).arg(&self.socket);
        command.arg(&self.file).output().unwrap().status.success()
    }

    /// Waits until the whole file is replicated.
    #[track_caller]
    fn wait_until_synced(&self) {
        // Litestream may not listen yet, so the request is repeated.
        assert!(std::iter::repeat_n((), 1000).any(|()| self.try_sync()));
    }

    /// Restores the replica to this path.
    #[track_caller]
    fn restore(&self, copy: PathBuf) -> PathBuf {
        let mut command = Command::new("litestream");
        command.args(["restore", "-config"]).arg(&self.settings);
        let command = command.arg("-o").arg(&copy).arg(&self.file);
        assert!(command.status().unwrap().success());
        copy
    }
}

/// Creates an invoice with an address. Returns its id and address.
#[track_caller]
fn create_invoice(url: &str, key: &str) -> (String, String) {
    let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC" }).to_string();
    let url = format!("{url}/v1/invoices");
    let made = send(&agent(), "POST", &url, &[("X-API-Key", key)], &body).expect(201);
    let made = made.json();
    let of = |field: &str| made[field].as_str().unwrap().to_owned();
    (of("id"), of("depositAddress"))
}

/// Creates a key of test mode, whose invoices need no node.
#[track_caller]
fn create_test_key(served: &Installation) -> String {
    let create = ["key", "create", &served.account, "--mode", "test"];
    let made = run_coffer_json(&served.file, &create);
    made["key"].as_str().unwrap().to_owned()
}

/// Creates invoices with addresses until Coffer exits.
fn create_invoices_until_exit(url: &str, key: &str, acknowledged: &AcknowledgedInvoices) {
    let agent = agent();
    let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC" }).to_string();
    loop {
        let request = agent.post(url).header("X-API-Key", key);
        let sent = request.send(&body);
        let read = |mut response: ureq::http::Response<ureq::Body>| {
            let text = response.body_mut().read_to_string().ok()?;
            let made: Value = serde_json::from_str(&text).ok()?;
            let of = |field: &str| made[field].as_str().map(str::to_owned);
            Some((of("id")?, of("depositAddress")?))
        };
        let Some(made) = sent.ok().and_then(read) else {
            return;
        };
        acknowledged.lock().unwrap().push(made);
    }
}

/// Waits until this many invoices are acknowledged.
#[track_caller]
fn wait_for_count(acknowledged: &AcknowledgedInvoices, count: usize) {
    assert!(polling::wait_until(|| acknowledged.lock().unwrap().len() >= count));
}

/// Returns the ids of the invoices in a file.
#[track_caller]
fn invoice_ids(file: &Path) -> HashSet<String> {
    text_column(file, "select id from invoices").into_iter().collect()
}

/// Returns the commands of `examples/deploy/README.md` for this case of recovery.
#[track_caller]
fn recovery_commands(case: &str) -> String {
    let found = guide_blocks().into_iter().find(|(kind, _)| kind == case);
    found.unwrap().1
}

/// Runs the commands of `examples/deploy/README.md` for a new machine.
#[track_caller]
fn run_recovery(folder: &Path, file: &Path) -> Output {
    let block = &recovery_commands("lost");
    let mut command = Command::new("sh");
    command.args(["-euc", block]).current_dir(folder);
    command.env("COFFER_FILE", file).env("PATH", path_variable());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

#[test]
fn synced_invoices_survive_loss_of_the_machine() {
    let Some(_) = tools::tool_output("litestream", &["version"], SKIPPED_TEST_NAME) else {
        return;
    };
    let served = Installation::new();
    let key = create_test_key(&served);
    let litestream = Litestream::set_up(&served, "replica");
    let mut running = served.start(&["--rate-limit", "0"]);
    let mut copying = litestream.start();
    let (acknowledged, url) =
        (AcknowledgedInvoices::default(), format!("{}/v1/invoices", running.url));
    let before = std::thread::scope(|scope| {
        for _ in 0..CLIENT_COUNT {
            scope.spawn(|| create_invoices_until_exit(&url, &key, &acknowledged));
        }
        wait_for_count(&acknowledged, INVOICES_MIN);
        let before = acknowledged.lock().unwrap().clone();
        litestream.wait_until_synced();
        wait_for_count(&acknowledged, before.len() + INVOICES_MIN);
        // The kill simulates that the machine is lost with all its data.
        running.process.kill();
        copying.kill();
        before
    });
    drop(running);
    let folder = served.file.parent().unwrap();
    for name in ["shop.db", "shop.db-wal", "shop.db-shm", "shop.db-lock"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    std::fs::remove_dir_all(folder.join(".shop.db-litestream")).unwrap();
    let told = String::from_utf8(run_recovery(folder, &served.file).stdout).unwrap();
    assert!(told.contains("test litecoin addresses go on from index "), "{told}");
    let known = invoice_ids(&served.file);
    let lost: Vec<_> = before.iter().filter(|(id, _)| !known.contains(id)).collect();
    assert_eq!(lost, Vec::<&(String, String)>::new());
    let acknowledged = acknowledged.into_inner().unwrap();
    let handed_out = acknowledged.into_iter().map(|(_, address)| address);
    assert_restored_file_works(&served, &key, &handed_out.collect());
    assert_restore_on_same_machine(&served, &key);
}

/// Asserts that the restored file can be served and replicated. The server assigns no address twice, not even an
/// address that the replica lacks.
#[track_caller]
fn assert_restored_file_works(served: &Installation, key: &str, handed_out: &HashSet<String>) {
    let address = replicate_again(served, key, "another");
    assert!(!handed_out.contains(&address), "{address}");
}

/// Script that replaces `systemctl`: it stops the process whose id is in a file, and records a start in another file.
const SYSTEMCTL: &str = r#"#!/bin/sh
if [ "$1" = start ]; then exec touch "$0.$2.started"; fi
number=$(cat "$0.$2")
kill "$number" 2>/dev/null
while grep -qs . "/proc/$number/cmdline"; do :; done
"#;

/// Asserts that the recovery on the same machine stops Litestream first, and starts Coffer only if the file was
/// replaced.
#[track_caller]
fn assert_restore_on_same_machine(served: &Installation, key: &str) {
    let litestream = Litestream::set_up(served, "another");
    let running = served.start(&[]);
    let copying = litestream.start();
    litestream.wait_until_synced();
    let copy = litestream.restore(served.path("copy.db"));
    let (made, _) = create_invoice(&running.url, key);
    litestream.wait_until_synced();
    std::fs::write(served.path("systemctl"), SYSTEMCTL).unwrap();
    std::fs::set_permissions(served.path("systemctl"), Permissions::from_mode(0o700)).unwrap();
    let number = |name: &str, process: &Process| {
        let text = process.id().to_string();
        std::fs::write(served.path(&format!("systemctl.{name}")), text).unwrap();
    };
    number("coffer", &running.process);
    number("litestream", &copying);
    let block =
        recovery_commands("back").replace("/var/lib/coffer/copy.db", copy.to_str().unwrap());
    let first = "systemctl stop litestream\n";
    let folder = served.file.parent().unwrap();
    let does = |block: &str| {
        let mut command = Command::new("sh");
        command.args(["-uc", block]).env("COFFER_FILE", &served.file);
        let path = format!("{}:{}", folder.display(), path_variable());
        command.env("PATH", path).output().unwrap()
    };
    let started = served.path("systemctl.coffer.started");
    let output = does(block.trim_start().strip_prefix(first).unwrap());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("is in use by another program"), "{told}");
    assert!(!output.status.success() && !started.exists());
    assert!(invoice_ids(&served.file).contains(&made));
    let output = does(&block);
    assert!(output.status.success() && started.exists(), "{output:?}");
    assert!(!invoice_ids(&served.file).contains(&made));
    // Litestream's local state belongs to the old file. Nevertheless, the new replica is complete.
    drop((running, copying));
    replicate_again(served, key, "a third");
}

/// Serves the file, replicates it into this folder and restores it. Returns the address of the newest invoice.
#[track_caller]
fn replicate_again(served: &Installation, key: &str, replica: &str) -> String {
    let litestream = Litestream::set_up(served, replica);
    let running = served.start(&[]);
    let mut copying = litestream.start();
    let (made, address) = create_invoice(&running.url, key);
    litestream.wait_until_synced();
    copying.kill();
    drop(running);
    let again = litestream.restore(served.path(&format!("{replica}.db")));
    assert!(invoice_ids(&again).contains(&made));
    assert_audit_clean(&again);
    address
}

#[test]
fn container_of_litestream_ends_with_coffer() {
    let Some(_) = tools::tool_output("litestream", &["version"], SKIPPED_TEST_NAME) else {
        return;
    };
    let served = Installation::new();
    let key = create_test_key(&served);
    let litestream = Litestream::set_up(&served, "replica");
    for _ in 0..3 {
        let mut running = served.start(&[]);
        let mut beside = litestream.start_in_container();
        create_invoice(&running.url, &key);
        litestream.wait_until_synced();
        // The kill simulates a container that exceeds its memory limit.
        running.process.kill();
        assert!(!beside.wait_for_success(), "so that it is started again");
        assert!(!litestream.try_sync(), "nobody copies");
    }
    // Litestream does not start without Coffer, and the replica stays valid.
    assert!(!litestream.start_in_container().wait_for_success());
    let running = served.start(&[]);
    let mut beside = litestream.start_in_container();
    litestream.wait_until_synced();
    let (made, _) = create_invoice(&running.url, &key);
    let number = beside.id().to_string();
    let told = Command::new("kill").args(["-TERM", &number]).status();
    assert!(told.unwrap().success());
    beside.wait_for_success();
    let copy = litestream.restore(served.path("copy.db"));
    assert!(invoice_ids(&copy).contains(&made));
    assert_audit_clean(&copy);
    drop(running);
}
