//! The QEMU provisioner: disk size, start of the machine, and removal.

use super::deploy_example_path;
use crate::support::installation::Installation;
use crate::support::scratch::Scratch;
use crate::support::tools;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SKIPPED_TEST_NAME: &str = "the provisioner for QEMU";
const GIB: u64 = 1024 * 1024 * 1024;

/// A host that runs servers. On drop, the provisioner removes the remaining servers.
struct VmHost {
    folder: PathBuf,
    /// Loopback address that only this test process uses, so that its ports are free.
    address: String,
}

impl VmHost {
    /// Creates an empty host. Returns `None` if one of these tools is not installed.
    #[track_caller]
    fn new(folder: PathBuf, needed: &[&str]) -> Option<VmHost> {
        for tool in needed {
            tools::tool_output(tool, &["--version"], SKIPPED_TEST_NAME)?;
        }
        std::fs::create_dir(&folder).unwrap();
        let [.., high, middle, low] = std::process::id().to_be_bytes();
        Some(VmHost { folder, address: format!("127.{}.{middle}.{low}", high.saturating_add(1)) })
    }

    fn disk_path(&self, id: &str) -> PathBuf {
        self.folder.join(id).join("disk.qcow2")
    }

    /// Returns the virtual size of a server's disk, in bytes.
    #[track_caller]
    fn disk_size(&self, id: &str) -> u64 {
        let mut command = Command::new("qemu-img");
        command.args(["info", "--force-share", "--output", "json"]);
        let output = command.arg(self.disk_path(id)).output().unwrap();
        let about: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(about["format"], "qcow2");
        about["virtual-size"].as_u64().unwrap()
    }

    /// Runs the provisioner without a server. Returns the parsed standard output, `None` if the provisioner fails.
    #[track_caller]
    fn run_provisioner(&self, more: &[&str], order: &Value) -> Option<Value> {
        let mut command = Command::new(deploy_example_path("provision-qemu.sh"));
        let command = command.args(more).arg(&self.folder).arg(&self.address);
        let piped = command.env_clear().stdin(Stdio::piped());
        let piped = piped.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(order.to_string().as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let answer = || serde_json::from_slice(&output.stdout).unwrap();
        output.status.success().then(answer)
    }

    /// Returns the ids of the servers.
    fn server_ids(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).unwrap();
        let folders = entries.map(Result::unwrap).filter(|entry| entry.path().is_dir());
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }
}

impl Drop for VmHost {
    fn drop(&mut self) {
        for id in self.server_ids() {
            self.run_provisioner(&[], &json!({ "action": "delete", "id": id, "ref": id }));
        }
    }
}

/// Returns `true` if the process is QEMU with this disk.
fn is_qemu_with_disk(pid: &str, disk: &Path) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).into_owned();
    command.starts_with("qemu-system-x86_64") && command.contains(disk.to_str().unwrap())
}

#[test]
fn server_is_created_started_and_removed() {
    let served = Installation::new();
    let needed = ["jq", "flock", "qemu-img", "qemu-system-x86_64"];
    let Some(host) = VmHost::new(served.path("servers"), &needed) else {
        return;
    };
    let program = json!([deploy_example_path("provision-qemu.sh"), host.folder, host.address]);
    let running = served.start(&["--provisioner", &program.to_string()]);
    let body = json!({ "type": "kvm", "hostname": "web-1.example.com", "cpu": 1, "ramMb": 256, "diskGb": 3 });
    let placed = running.reseller_request("POST", "/reseller/servers", &body);
    let id = placed.expect(201).id();
    let status = "select status from servers";
    assert_eq!(served.wait_for_query_result(status, &["active", "failed"]), "active");
    let path = format!("/reseller/servers/{id}");
    let seen = running.reseller_request("GET", &path, &Value::Null).expect(200);
    let address = format!("{}:22001", host.address);
    assert_eq!(seen.json()["address"], json!(address));
    assert_eq!(host.disk_size(&id), 3 * GIB);
    let pid = std::fs::read_to_string(host.folder.join(&id).join("pid")).unwrap();
    assert!(is_qemu_with_disk(pid.trim(), &host.disk_path(&id)));
    // QEMU itself listens at the address of the guest.
    std::net::TcpStream::connect(&address).unwrap();
    running.reseller_request("DELETE", &path, &Value::Null).expect(202);
    served.wait_for_query_result(status, &["deleted"]);
    assert!(!is_qemu_with_disk(pid.trim(), &host.disk_path(&id)));
    assert_eq!(host.server_ids(), [""; 0]);
}

#[test]
fn repeated_order_returns_the_existing_server() {
    let scratch = Scratch::new();
    let needed = ["jq", "flock", "qemu-img"];
    let Some(host) = VmHost::new(scratch.path("servers"), &needed) else {
        return;
    };
    let id = "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90";
    let mut order = json!({ "action": "create", "id": id, "type": "kvm", "hostname": "web-1.example.com",
        "cpu": 2, "ramMb": 2048, "diskGb": 20 });
    let made = Some(json!({ "ref": id }));
    assert_eq!(host.run_provisioner(&["--disk-only"], &order), made);
    assert_eq!(host.disk_size(id), 20 * GIB);
    let mark = |disk: &Path| std::fs::metadata(disk).unwrap().modified().unwrap();
    let before = mark(&host.disk_path(id));
    assert_eq!(host.run_provisioner(&["--disk-only"], &order), made);
    assert_eq!(mark(&host.disk_path(id)), before, "it is the same disk");
    order["diskGb"] = json!(21);
    assert_eq!(host.run_provisioner(&["--disk-only"], &order), None, "another order");
    assert_eq!(host.disk_size(id), 20 * GIB);
    let removal = json!({ "action": "delete", "id": id, "ref": id });
    for _ in 0..2 {
        assert_eq!(host.run_provisioner(&["--disk-only"], &removal), Some(json!({})));
        assert_eq!(host.server_ids(), [""; 0]);
    }
}

#[test]
fn failed_creation_leaves_no_files() {
    let scratch = Scratch::new();
    let needed = ["jq", "flock", "qemu-img", "qemu-system-x86_64"];
    let Some(mut host) = VmHost::new(scratch.path("servers"), &needed) else {
        return;
    };
    let id = "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a91";
    let order = json!({ "action": "create", "id": id, "type": "kvm", "hostname": "web-1.example.com",
        "cpu": 1, "ramMb": 256, "diskGb": 1 });
    // No machine has this address, so QEMU cannot listen on it.
    let own = std::mem::replace(&mut host.address, "192.0.2.1".to_owned());
    let answer = host.run_provisioner(&[], &order).unwrap();
    assert_eq!(answer, json!({ "created": false, "reason": "the server could not be started" }));
    assert_eq!(host.server_ids(), [""; 0]);
    // A delivered server stays, even if it cannot be started again.
    host.address = own;
    host.run_provisioner(&["--disk-only"], &order).unwrap();
    host.address = "192.0.2.1".to_owned();
    assert_eq!(host.run_provisioner(&[], &order), None);
    assert_eq!(host.disk_size(id), GIB);
    let rebuild = json!({ "action": "rebuild", "id": id });
    assert_eq!(host.run_provisioner(&[], &rebuild), None);
}
