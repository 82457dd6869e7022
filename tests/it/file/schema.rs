//! The schema and its statements, as files.

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// A file or folder of the project.
fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Every object of a schema, as it was declared.
fn schema(conn: &Connection) -> Vec<(String, Option<String>)> {
    let mut rows = conn
        .prepare("select name, sql from sqlite_schema order by name")
        .unwrap();
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Runs every migration; how many there are.
fn migrate(conn: &Connection) -> i64 {
    let migrations = files(&project("sql/migrations"));
    for migration in &migrations {
        conn.execute_batch(&std::fs::read_to_string(migration).unwrap())
            .unwrap();
    }
    i64::try_from(migrations.len()).unwrap()
}

#[test]
fn the_template_is_what_the_migrations_add_up_to() {
    let folder = std::env::temp_dir().join(format!("coffer-template-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, template) = (folder.join("made.db"), project("sql/template.db"));
    let made = Connection::open(&path).unwrap();
    made.pragma_update(None, "journal_mode", "wal").unwrap();
    let version = migrate(&made);
    made.pragma_update(None, "user_version", version).unwrap();
    if std::env::var_os("COFFER_BLESS").is_some() {
        made.execute_batch("pragma wal_checkpoint(truncate)")
            .unwrap();
        std::fs::copy(&path, &template).unwrap();
    }
    std::fs::copy(&template, folder.join("template.db")).unwrap();
    let template = Connection::open_with_flags(
        folder.join("template.db"),
        OpenFlags::SQLITE_OPEN_READ_WRITE,
    )
    .unwrap();
    assert_eq!(
        schema(&template),
        schema(&made),
        "run the tests with COFFER_BLESS=1 to make sql/template.db anew"
    );
    let stored = |pragma: &str| -> i64 {
        let value = template.pragma_query_value(None, pragma, |row| row.get(0));
        value.unwrap()
    };
    let mode: String = template
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!((stored("user_version"), mode.as_str()), (version, "wal"));
    let ours = i64::from(i32::from_be_bytes(*b"Coff"));
    assert_eq!(stored("application_id"), ours);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_statement_prepares_against_the_fresh_schema() {
    let conn = Connection::open_in_memory().unwrap();
    migrate(&conn);
    let mut prepared = 0;
    for table in files(&project("sql"))
        .into_iter()
        .filter(|path| path.is_dir() && !path.ends_with("migrations"))
    {
        for file in files(&table) {
            for statement in std::fs::read_to_string(&file)
                .unwrap()
                .split_inclusive(";\n")
            {
                conn.prepare(statement)
                    .map_err(|error| format!("{}: {error}", file.display()))
                    .unwrap();
                prepared += 1;
            }
        }
    }
    assert!(prepared > 60, "only {prepared} statements were found");
}

/// Statements that run for each output of each transaction that is looked at, or for each step of one.
const WATCHERS_PATH: [&str; 35] = [
    "accounts/by_seq",
    "addresses/owner",
    "balances/insert",
    "balances/move",
    "chains/scanned",
    "customers/by_seq",
    "deliveries/insert",
    "deposits/fix",
    "deposits/insert",
    "deposits/of_observation",
    "endpoints/of_account",
    "events/insert",
    "invoice_steps/payment",
    "invoice_steps/status",
    "invoices/by_seq",
    "invoices/update",
    "ledger/insert",
    "ledger/unreversed",
    "observations/at",
    "observations/insert",
    "observations/of_transaction",
    "observations/put_in_block",
    "observations/seen_earlier",
    "observations/update",
    "own_addresses/is_own",
    "own_transfers/insert",
    "own_transfers/of_observation",
    "payments/confirm",
    "payments/insert",
    "payments/judge_again",
    "payments/of_invoice",
    "payments/of_observation",
    "quotes/of_invoice",
    "unmatched_payments/insert",
    "unmatched_payments/of_observation",
];

/// How SQLite runs a statement, a line for each table.
fn plan(conn: &Connection, statement: &str) -> Vec<String> {
    let mut plan = conn
        .prepare(&format!("explain query plan {statement}"))
        .unwrap();
    // Without parameters: the plan is the same for each.
    let mut rows = plan.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        lines.push(row.get(3).unwrap());
    }
    lines
}

#[test]
fn no_statement_on_the_watchers_path_reads_a_whole_table() {
    let conn = Connection::open_in_memory().unwrap();
    migrate(&conn);
    for name in WATCHERS_PATH {
        let statement = std::fs::read_to_string(project(&format!("sql/{name}.sql"))).unwrap();
        let plan = plan(&conn, &statement);
        let scan = plan
            .iter()
            .find(|line| line.starts_with("SCAN ") && *line != "SCAN CONSTANT ROW");
        assert_eq!(scan, None, "{name}: {plan:?}");
    }
    // The address is looked up by all that it is unique by.
    let owner = std::fs::read_to_string(project("sql/addresses/owner.sql")).unwrap();
    let plan = plan(&conn, &owner);
    assert!(
        plan[0].contains("mode=? AND pool=? AND address=?"),
        "{plan:?}"
    );
}
