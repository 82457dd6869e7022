//! Backups that root keeps in a folder of its own, and commands of root that are killed.

use super::root_files::{Installed, OWNER, account_count, in_namespace};
use crate::support::command::run_coffer;
use crate::support::database::query_value;
use crate::support::polling;
use crate::support::scratch::path_text;
use rusqlite::Connection;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn root_keeps_a_backup_where_the_owner_may_not_write() {
    let Some(service) = Installed::new() else { return };
    let path = service.secret_path("new.db");
    let done = service.run(&["backup", &path]);
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(done.contains(&format!("{path} has {bytes} bytes and is whole")), "{done}");
    let found = std::fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.mode() & 0o7777, found.nlink()), (0, 0o600, 1));
    assert_eq!(&std::fs::read(&path).unwrap()[18..20], [1, 1]);
    assert!(run_coffer(Path::new(&path), &["audit"]).starts_with("nothing found"));
    assert_eq!(account_count(Path::new(&path)), 2);
    let before = std::fs::read(&path).unwrap();
    for more in [&[][..], &["--force"]] {
        let refused = service.fail(&[&["backup", &path][..], more].concat());
        assert!(refused.contains("exists already"), "{refused}");
    }
    let refused = service.fail(&["backup", &service.secret_path("new.db-wal")]);
    assert!(refused.contains("has a name that is kept"), "{refused}");
    let refused = service.fail(&["backup", &service.secret_path("no/new.db")]);
    assert!(refused.contains("No such file"), "{refused}");
    assert!(std::fs::read(&path).unwrap() == before);
    assert_eq!(Installed::names_in(&service.secret), ["copy.db", "new.db"]);
    let json = service.run(&["backup", &service.secret_path("json.db"), "--json"]);
    assert!(json.contains(&format!("\"bytes\":{bytes}")), "{json}");
    // Where the owner may write, the copy is the owner's, and --force replaces it.
    let own = service.own.join("own.db");
    for _ in 0..2 {
        service.run(&["backup", path_text(&own), "--force"]);
        assert_eq!(std::fs::metadata(&own).unwrap().uid(), OWNER);
    }
}

/// Makes a database larger.
fn grow(file: &Path, mebibytes: u32) {
    let conn = Connection::open(file).unwrap();
    let fill = "insert into event_rows (seq, id, account, mode, type, object_id, created_at, content) \
        values (1, 'evt_01a400f639ea70008000000149227cfd', 1, 'test', 'invoice.created', 'o', 0, \
            '\"' || hex(zeroblob(?1 << 19)) || '\"')";
    conn.execute(fill, [mebibytes]).unwrap();
}

#[test]
fn failed_backup_of_root_leaves_no_file() {
    let Some(service) = Installed::new() else { return };
    grow(&service.file, 2);
    let path = service.secret_path("new.db");
    let [settings, secret] = [service.scratch.path("default"), service.secret.clone()];
    let script = format!(
        "mount --bind '{}' /etc/default; mount -t tmpfs -o size=1m,mode=0700 none '{secret}'; \
         code=0; \"$@\" || code=$?; ls -A '{secret}'; exit $code",
        settings.display(),
        secret = secret.display()
    );
    let mut command = in_namespace(&script);
    command.arg(env!("CARGO_BIN_EXE_coffer")).args(["backup", &path]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains(&format!("{path}: the disk is full: up to ")), "{errors}");
    assert!(output.stdout.is_empty(), "{output:?}");
    service.assert_all_is_owned();
}

#[test]
fn killed_commands_of_root_leave_nothing_that_looks_whole() {
    let Some(service) = Installed::new() else { return };
    grow(&service.file, 8);
    let copy = service.secret_path("new.db");
    let large = service.secret_path("large.db");
    service.run(&["backup", &large]);
    for round in 0..12 {
        let is_backup = round % 2 == 0;
        let args: &[&str] =
            if is_backup { &["backup", &copy] } else { &["restore", &large, "--force"] };
        let watched = if is_backup {
            service.secret.clone()
        } else {
            service.file.parent().unwrap().to_owned()
        };
        let before = Installed::names_in(&watched);
        let mut command = service.command("", args);
        command.process_group(0);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The first new file shows that the copy has begun.
        let begun = || Installed::names_in(&watched) != before;
        assert!(polling::wait_until(|| begun() || child.try_wait().unwrap().is_some()));
        for _ in 0..round * 2000 {
            std::thread::yield_now();
        }
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        child.wait().unwrap();
        if Path::new(&copy).exists() {
            assert_eq!(account_count(Path::new(&copy)), service.account_count());
            let checked: String = query_value(Path::new(&copy), "pragma integrity_check");
            assert_eq!(checked, "ok");
            std::fs::remove_file(&copy).unwrap();
        }
    }
    // The next command of the kind removes what the killed ones left.
    service.run(&["backup", &copy]);
    assert_eq!(Installed::names_in(&service.secret), ["copy.db", "large.db", "new.db"]);
    assert_eq!(account_count(Path::new(&copy)), service.account_count());
}
