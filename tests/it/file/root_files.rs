//! Files of root's that root names for a command beside the installed service, which runs as the owner of its file.

use crate::support::command::run_coffer;
use crate::support::sandbox_file::{create_sandbox_file, start_on_file};
use crate::support::scratch::{Scratch, path_text};
use crate::support::tools;
use rusqlite::Connection;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// User and group of the service, which have no name.
pub(super) const OWNER: u32 = 12_345;

/// An installed service whose file belongs to a user, a folder that only root may search, and a folder of that user.
pub(super) struct Installed {
    pub(super) scratch: Scratch,
    pub(super) file: PathBuf,
    pub(super) secret: PathBuf,
    pub(super) own: PathBuf,
}

/// Builds a shell command in a mount namespace of root's.
pub(super) fn in_namespace(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--", "sh", "-ec", script, "sh"]);
    command
}

impl Installed {
    /// Returns `None` if this is not root, or there are no mount namespaces.
    #[track_caller]
    pub(super) fn new() -> Option<Installed> {
        let test = ["--mount", "--", "mount", "--bind", "/tmp", "/tmp"];
        tools::tool_output("unshare", &test, "files of root's")?;
        let scratch = Scratch::new();
        let folder = scratch.path("").canonicalize().unwrap();
        let [data, secret, own, settings] =
            ["data", "secret", "own", "default"].map(|name| folder.join(name));
        for folder in [&data, &secret, &own, &settings] {
            std::fs::create_dir(folder).unwrap();
        }
        let file = data.join("coffer.db");
        std::fs::write(settings.join("coffer"), format!("COFFER_FILE={}\n", file.display()))
            .unwrap();
        run_coffer(&file, &["account", "create", "Shop"]);
        let copy = secret.join("copy.db");
        run_coffer(&file, &["backup", path_text(&copy)]);
        run_coffer(&file, &["account", "create", "Second"]);
        for path in [&secret, &data] {
            std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        }
        for path in [&data, &own, &file] {
            chown(path, Some(OWNER), Some(OWNER)).unwrap();
        }
        Some(Installed { scratch, file, secret, own })
    }

    /// Builds a command that root runs beside the service, after a shell command.
    pub(super) fn command(&self, before: &str, args: &[&str]) -> Command {
        let settings = self.scratch.path("default");
        let script =
            format!("mount --bind '{}' /etc/default; {before} exec \"$@\"", settings.display());
        let mut command = in_namespace(&script);
        command.arg(env!("CARGO_BIN_EXE_coffer")).args(args);
        command.stdin(Stdio::null());
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.command("", args).output().unwrap()
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub(super) fn run(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        self.assert_all_is_owned();
        said(&output)
    }

    /// Runs a command that must fail, and returns its messages.
    #[track_caller]
    pub(super) fn fail(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        self.assert_all_is_owned();
        said(&output)
    }

    /// Asserts that every file beside the database belongs to its owner, and that no private file is left.
    #[track_caller]
    pub(super) fn assert_all_is_owned(&self) {
        for entry in std::fs::read_dir(self.file.parent().unwrap()).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            assert_eq!(entry.metadata().unwrap().uid(), OWNER, "{name}");
            assert!(!name.contains("-private-") && !name.contains("-copying"), "{name}");
        }
    }

    pub(super) fn account_count(&self) -> i64 {
        account_count(&self.file)
    }

    /// Returns the path of a file in the folder of root's.
    pub(super) fn secret_path(&self, name: &str) -> String {
        path_text(&self.secret.join(name)).to_owned()
    }

    pub(super) fn names_in(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(super) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

pub(super) fn account_count(file: &Path) -> i64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let conn = Connection::open_with_flags(file, flags).unwrap();
    conn.query_row("select count(*) from accounts", [], |row| row.get(0)).unwrap()
}

#[test]
fn root_restores_a_copy_that_the_owner_may_not_read() {
    let Some(service) = Installed::new() else { return };
    let copy = service.secret_path("copy.db");
    let bytes = std::fs::read(&copy).unwrap();
    let dry = service.run(&["restore", &copy, "--force", "--dry-run"]);
    assert!(dry.contains(&format!("can be restored from {copy}")), "{dry}");
    assert_eq!(service.account_count(), 2);
    let done = service.run(&["restore", &copy, "--force"]);
    assert!(done.contains(&format!("is restored from {copy}")), "{done}");
    assert_eq!(service.account_count(), 1);
    assert!(std::fs::read(&copy).unwrap() == bytes);
    assert_eq!(Installed::names_in(&service.secret), ["copy.db"]);
    // Links of root's are followed, also to the folder.
    let link = service.scratch.path("link");
    symlink(&service.secret, &link).unwrap();
    symlink("link/copy.db", service.scratch.path("copy-link.db")).unwrap();
    for name in [link.join("../secret/copy.db"), service.scratch.path("copy-link.db")] {
        service.run(&["restore", path_text(&name), "--force"]);
    }
    // A relative path is taken from the folder of root's shell.
    let mut relative = service.command("", &["restore", "copy.db", "--force"]);
    let output = relative.current_dir(&service.secret).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn root_restores_only_a_whole_file() {
    let Some(service) = Installed::new() else { return };
    let path = |name: &str| service.secret_path(name);
    let missing = service.fail(&["restore", &path("missing.db"), "--force"]);
    assert!(missing.contains("missing.db does not exist"), "{missing}");
    let missing = service.fail(&["restore", &path("no/missing.db"), "--force"]);
    assert!(missing.contains("missing.db does not exist"), "{missing}");
    let pipe = path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::create_dir(path("folder")).unwrap();
    for name in [pipe, path("folder"), "/dev/zero".to_owned()] {
        let refused = service.fail(&["restore", &name, "--force"]);
        assert!(refused.contains(&format!("{name} is not a file")), "{refused}");
    }
    for log in ["-wal", "-journal"] {
        let log = path(&format!("copy.db{log}"));
        std::fs::write(&log, "not empty").unwrap();
        let refused = service.fail(&["restore", &path("copy.db"), "--force"]);
        assert!(refused.contains(&log) && refused.contains("coffer backup"), "{refused}");
        std::fs::write(&log, "").unwrap();
    }
    std::fs::write(path("other.db"), "no database ".repeat(1000)).unwrap();
    let refused = service.fail(&["restore", &path("other.db"), "--force"]);
    assert!(refused.contains(&path("other.db")), "{refused}");
    assert!(!refused.contains("-private-"), "{refused}");
    assert_eq!(service.account_count(), 2);
    service.run(&["restore", &path("copy.db"), "--force"]);
}

#[test]
fn root_follows_no_link_of_another_user() {
    let Some(service) = Installed::new() else { return };
    let copy = service.secret.join("copy.db");
    let (link, folder) = (service.own.join("1.db"), service.own.join("folder"));
    symlink(&copy, &link).unwrap();
    symlink(&service.secret, &folder).unwrap();
    for link in [&link, &folder] {
        lchown(link, Some(OWNER), Some(OWNER)).unwrap();
    }
    for name in [link.clone(), folder.join("copy.db")] {
        let refused = service.fail(&["restore", path_text(&name), "--force"]);
        let why = format!("{}: Permission denied (os error 13) for user {OWNER}", name.display());
        assert!(refused.contains(&why), "{refused}");
    }
    let refused = service.fail(&["backup", path_text(&folder.join("new.db"))]);
    assert!(refused.contains(&format!("for user {OWNER}")), "{refused}");
    // A link at the place of the copy is neither followed nor replaced.
    let target = service.secret.join("target.db");
    std::fs::write(&target, "mine").unwrap();
    symlink(&target, service.secret.join("to.db")).unwrap();
    let refused = service.fail(&["backup", &service.secret_path("to.db"), "--force"]);
    assert!(refused.contains("exists already"), "{refused}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
}

#[test]
fn restore_of_root_needs_room_beside_the_file() {
    let Some(service) = Installed::new() else { return };
    let copy = service.secret_path("copy.db");
    let data = service.file.parent().unwrap().display().to_string();
    let before =
        format!("mount -t tmpfs -o size=1m,uid={OWNER},gid={OWNER},mode=0700 none '{data}';");
    let output = service.command(&before, &["restore", &copy]).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the disk is full: up to "), "{said}");
}

#[test]
fn root_passes_passwords_and_addresses() {
    let Some(service) = Installed::new() else { return };
    let [password, addresses] = ["password", "addresses"].map(|name| service.secret_path(name));
    std::fs::write(&password, "a long password\n").unwrap();
    std::fs::write(&addresses, "So11111111111111111111111111111111111111112\n").unwrap();
    let user = ["user", "create", "ada@example.com", "--role", "operator", "--password-file"];
    let made = service.run(&[&user[..], &[&password]].concat());
    assert!(made.contains("ada@example.com"), "{made}");
    let imported = service.run(&["pool", "import", "solana", &addresses]);
    assert!(imported.contains("solana"), "{imported}");
    // A shell passes the output of a program as a descriptor.
    let mut command = in_namespace(&format!(
        "mount --bind '{}' /etc/default; exec bash -c '\"$0\" user password ada@example.com --password-file <(cat {password})' \"$@\"",
        service.scratch.path("default").display()
    ));
    let output = command.arg(env!("CARGO_BIN_EXE_coffer")).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    // Standard input stays what it is.
    let mut command = service.command("", &["pool", "import", "solana", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM\n").unwrap();
    drop(input);
    assert!(child.wait_with_output().unwrap().status.success());
    for args in [
        &["user", "create", "b@example.com", "--role", "operator", "--password-file", "/root/none"]
            [..],
        &["pool", "import", "solana", "/root/none"],
    ] {
        let refused = service.fail(args);
        assert!(refused.contains("/root/none does not exist"), "{refused}");
    }
    service.assert_all_is_owned();
}

#[test]
fn refused_file_names_the_user() {
    let Some(service) = Installed::new() else { return };
    let copy = service.secret_path("copy.db");
    let user = OWNER.to_string();
    let binary = service.own.join("coffer");
    // If this process wrote the program, a process that another test starts could keep it open for writing.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_coffer")).arg(&binary).status();
    assert!(copied.unwrap().success());
    let run = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command.arg(&binary).args(args).args(["--file", path_text(&service.file)]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
        said(&output)
    };
    let password = service.secret_path("password");
    for args in [
        &["restore", &copy, "--force"][..],
        &["backup", &service.secret_path("new.db")],
        &["pool", "import", "solana", &copy],
        &["user", "create", "b@example.com", "--role", "operator", "--password-file", &password],
    ] {
        let refused = run(args);
        assert!(
            refused.contains(&format!("Permission denied (os error 13) for user {user}")),
            "{refused}"
        );
        assert!(refused.contains(path_text(&service.secret)), "{refused}");
    }
}

#[test]
fn next_start_removes_private_files_of_killed_commands() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    create_sandbox_file(&file);
    let id = "01a400f6-39ea-7000-8000-000149227cfd";
    let private = |suffix: &str| scratch.path(&format!("shop.db-private-{id}{suffix}"));
    for suffix in ["", "-lock", "-copying", "-copying-lock"] {
        std::fs::write(private(suffix), "left").unwrap();
    }
    let copying = scratch.path("shop.db-copying");
    std::fs::write(&copying, "left").unwrap();
    let used = scratch.path("shop.db-private-01a400f6-39ea-7000-8000-000149227cfe");
    std::fs::write(&used, "in use").unwrap();
    let lock = File::create(format!("{}-lock", used.display())).unwrap();
    lock.try_lock().unwrap();
    let (mut process, _) = start_on_file(&file);
    for suffix in ["", "-lock", "-copying", "-copying-lock"] {
        assert!(!private(suffix).exists(), "{suffix}");
    }
    assert!(!copying.exists());
    assert!(used.exists());
    assert!(process.close_input_and_wait());
}
