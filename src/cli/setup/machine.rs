//! Changes the machine for `coffer setup`: writes files in /etc, and starts the service of systemd.
//!
//! Invariant: a file of settings is never readable by other users, and is replaced as a whole.

use super::plan::SetupPlan;
use crate::cli::installed::SETTINGS_FILES;
use crate::cli::terminal::print_message;
use crate::clock::Stopwatch;
use crate::service::Error;
use rustix::process::geteuid;
use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// Group of the service's user.
const USER: &str = "coffer";
const UNIT: &str = "coffer.service";
const BACKUP_TIMER: &str = "coffer-backup.timer";
/// Drop-in that lets the service listen on port 443.
const PORTS_DROP_IN: &str = "/etc/systemd/system/coffer.service.d/ports.conf";
const PORTS: &str = "\
# Written by `coffer setup`: Coffer speaks TLS itself, so it may listen on ports below 1024.
[Service]
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
";

/// Time for which the service may take to become ready, in milliseconds.
const READY_WAIT_MS: i64 = 90_000;
const READY_CHECK_EVERY: Duration = Duration::from_millis(300);
/// Number of restarts after which the service is taken to be failing.
const RESTARTS_MAX: u32 = 3;

/// A machine on which this user can set up the service.
pub(super) struct Machine;

impl Machine {
    /// Returns the machine; `None` without root or systemd.
    ///
    /// # Errors
    /// A message if the service is not installed.
    pub(super) fn find() -> Result<Option<Machine>, Error> {
        if !geteuid().is_root() || !Path::new("/run/systemd/system").exists() {
            return Ok(None);
        }
        if !run("systemctl", &["cat", UNIT])?.status.success() {
            return Err(Error::Failed(format!(
                "{UNIT} is not installed. Run: coffer setup --print systemd >/etc/systemd/system/{UNIT}"
            )));
        }
        Ok(Some(Machine))
    }

    pub(super) fn is_active(&self) -> bool {
        let asked = run("systemctl", &["is-active", "--quiet", UNIT]);
        asked.is_ok_and(|output| output.status.success())
    }

    /// Creates the service's user if it does not exist, and writes all files.
    pub(super) fn write(&self, plan: &SetupPlan) -> Result<(), Error> {
        if !run("id", &["-u", USER])?.status.success() {
            let home =
                ["--system", "--user-group", "--no-create-home", "--home-dir", "/var/lib/coffer"];
            run_successfully(
                "useradd",
                &[&home[..], &["--shell", "/usr/sbin/nologin", USER]].concat(),
            )?;
        }
        let gid = run_successfully("id", &["-g", USER])?;
        let gid: u32 = gid.trim().parse().map_err(|_| failed("id", "printed no group"))?;
        let [_, settings] = SETTINGS_FILES;
        write_file(Path::new(settings), plan.file.text(), Some(gid))?;
        print_message(&format!("wrote {settings}"));
        let drop_in = Path::new(PORTS_DROP_IN);
        match plan.has_acme() {
            true => write_file(drop_in, PORTS, None)?,
            false if drop_in.exists() => {
                std::fs::remove_file(drop_in).map_err(|error| failed(PORTS_DROP_IN, error))?;
            }
            false => {}
        }
        Ok(())
    }

    /// Starts the service with the new settings, and waits until it is ready.
    ///
    /// # Errors
    /// A message with the next step if the service does not become ready.
    pub(super) fn start(&self) -> Result<(), Error> {
        run_successfully("systemctl", &["daemon-reload"])?;
        run_successfully("systemctl", &["enable", "--quiet", UNIT])?;
        if run("systemctl", &["cat", BACKUP_TIMER])?.status.success() {
            run_successfully("systemctl", &["enable", "--quiet", "--now", BACKUP_TIMER])?;
        }
        // Fails if the unit is not loaded. Otherwise sets the number of restarts to zero.
        run("systemctl", &["reset-failed", UNIT])?;
        run_successfully("systemctl", &["restart", UNIT])?;
        print_message("started coffer.service, waiting until it is ready");
        let waited = Stopwatch::start();
        while !run_coffer(&["doctor", "--live"])?.status.success() {
            let restarts = run("systemctl", &["show", "--property=NRestarts", "--value", UNIT])?;
            let restarts = String::from_utf8_lossy(&restarts.stdout).trim().parse().unwrap_or(0);
            if waited.elapsed_ms() > READY_WAIT_MS || restarts >= RESTARTS_MAX {
                return Err(Error::Failed(
                    "the settings are written, but the service is not ready. `journalctl -u coffer -n 20` says why. \
                     Then run `coffer setup` again"
                        .to_owned(),
                ));
            }
            std::thread::sleep(READY_CHECK_EVERY);
        }
        Ok(())
    }

    /// Returns a link for the first operator, or the page to sign in if there is an operator.
    pub(super) fn create_link(&self, email: Option<&str>) -> Result<String, Error> {
        let args = ["user", "setup-link"].into_iter().chain(email).collect::<Vec<_>>();
        let output = run_coffer(&args)?;
        if !output.status.success() {
            return Err(failed("coffer user setup-link", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// Runs a command of this program beside the service.
fn run_coffer(args: &[&str]) -> Result<Output, Error> {
    run("/proc/self/exe", args)
}

#[expect(clippy::disallowed_methods, reason = "setup starts the service by systemctl")]
fn run(program: &str, args: &[&str]) -> Result<Output, Error> {
    let output = Command::new(program).args(args).stdin(std::process::Stdio::null()).output();
    output.map_err(|error| failed(program, error))
}

/// Runs a program that must succeed, and returns its output.
fn run_successfully(program: &str, args: &[&str]) -> Result<String, Error> {
    let output = run(program, args)?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        return Err(failed(&format!("{program} {}", args.join(" ")), problem.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn failed(what: &str, why: impl std::fmt::Display) -> Error {
    Error::Failed(format!("{what}: {why}"))
}

/// Replaces a file of root's: a new file gets its owner, its group and its mode, is filled and synced, and is then
/// renamed. With a group, only root and that group can read the file.
fn write_file(path: &Path, text: &str, group: Option<u32>) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let written = || -> std::io::Result<()> {
        if !folder.exists() {
            std::fs::create_dir_all(folder)?;
            if let Some(group) = group {
                chown(folder, Some(0), Some(group))?;
                std::fs::set_permissions(folder, Permissions::from_mode(0o750))?;
            }
        }
        // A setup that was killed may have left the file. Only root can write into the folder.
        let temporary = path.with_extension("new");
        let _ = std::fs::remove_file(&temporary);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        fchown(&file, Some(0), Some(group.unwrap_or(0)))?;
        let mode = if group.is_some() { 0o640 } else { 0o644 };
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        File::open(folder)?.sync_all()
    };
    written().map_err(|error| failed(&path.display().to_string(), error))
}
