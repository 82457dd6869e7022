//! Kills processes while they upgrade a file. Afterwards the file has all rows of one version.
//!
//! The process is this test program. It runs only [`upgrade_in_another_process`], and finds the file's path in a
//! variable. A test kills it once the log of the upgrade has reached a random size.

#![expect(
    clippy::disallowed_methods,
    reason = "the upgrade runs in another process, which gets a path in its environment"
)]

use super::opened::FirstVersionFile;
use super::{CHANGE_CHECK, Migrations, RECREATE, SCHEMA};
use crate::store::paths::with_suffix;
use crate::store::statement::statements;
use rusqlite::Connection;
use std::hash::{BuildHasher, RandomState};
use std::process::{Child, Command, Stdio};

/// Variable with the path of the file to upgrade.
const FILE: &str = "COFFER_TEST_UPGRADE";
/// Number of upgrades that are killed.
const KILL_COUNT: usize = 10;
/// Adds a column. Few pages stay in memory, so that the log grows while the upgrade runs.
const SPILL: &str = "-- adds a column
    pragma cache_size = 20;
    alter table customers add column note text;";
/// The first version, and three upgrades.
const UPGRADES: Migrations = Migrations(&[SCHEMA, SPILL, RECREATE, CHANGE_CHECK]);
/// Inserts customers, so that an upgrade has much to write.
const MANY_ROWS: &str = "pragma foreign_keys = on;
    with recursive n (n) as (select 100 union all select n + 1 from n where n < 8000)
    insert into customers (seq, account, mode, ref, created_at) select n, 1, 'test', printf('%.*c%d', 250, 'x', n), 0 from n";

statements! {
    fn count(conn) -> (count: i64) = "select count(*) as count from customers";

    fn integrity(conn) -> Vec<(found: String)> = "select integrity_check as found from pragma_integrity_check";
}

#[test]
fn upgrade_in_another_process() {
    if let Some(path) = std::env::var_os(FILE) {
        let file = std::mem::ManuallyDrop::new(FirstVersionFile(path.into()));
        drop(file.open(UPGRADES, true).unwrap());
    }
}

fn start_upgrade(file: &FirstVersionFile) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let test = module_path!().split_once("::").unwrap().1;
    command.args(["--exact", &format!("{test}::upgrade_in_another_process")]);
    command.env(FILE, &file.0).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn killed_upgrade_leaves_the_rows_of_one_version() {
    let mut interrupted = 0;
    for _ in 0..KILL_COUNT {
        let file = FirstVersionFile::new();
        Connection::open(&file.0).unwrap().execute_batch(MANY_ROWS).unwrap();
        let (before, count) = (file.content().1, count_customers(&file));
        let bytes = std::fs::metadata(&file.0).unwrap().len();
        let log = with_suffix(&file.0, "-wal");
        let random = RandomState::new().hash_one(());
        let limit = random.checked_rem(bytes).unwrap();
        let mut child = start_upgrade(&file);
        let has_grown = || std::fs::metadata(&log).is_ok_and(|found| found.len() > limit);
        while child.try_wait().unwrap().is_none() && !has_grown() {
            std::thread::yield_now();
        }
        // The process may have ended.
        let _ = child.kill();
        child.wait().unwrap();
        let (version, _) = file.content();
        assert!(version == 1 || version == 4, "{version}");
        interrupted += usize::from(version == 1);
        assert_eq!(count_customers(&file), count);
        // The next start upgrades the file if the killed one has not.
        drop(file.open(UPGRADES, true).unwrap());
        assert_eq!(file.content(), (4, before));
        assert_eq!(count_customers(&file), count);
    }
    assert!(interrupted > 0, "no upgrade was interrupted");
}

/// Returns the number of customers, after a check of the file.
#[track_caller]
fn count_customers(file: &FirstVersionFile) -> i64 {
    let conn = Connection::open(&file.0).unwrap();
    assert_eq!(integrity(&conn).unwrap(), ["ok"]);
    count(&conn).unwrap()
}
