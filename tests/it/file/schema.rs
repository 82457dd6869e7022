//! The SQL files that define the schema.

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// Application id of every file: the letters "COFR".
const APPLICATION_ID: i64 = 0x434f_4652;

/// Returns the path of a file or folder of the project.
fn project_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the files of a folder, sorted by name.
fn list_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns name and SQL of every object in a schema.
fn schema_objects(conn: &Connection) -> Vec<(String, Option<String>)> {
    let mut rows = conn.prepare("select name, sql from sqlite_schema order by name").unwrap();
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Runs every migration, and returns the number of migrations.
fn run_migrations(conn: &Connection) -> i64 {
    let mut migrations = vec![project_path("sql/schema.sql")];
    let later = project_path("sql/migrations");
    // The folder is created with the first migration after the first release.
    if later.exists() {
        migrations.extend(list_files(&later));
    }
    for migration in &migrations {
        conn.execute_batch(&std::fs::read_to_string(migration).unwrap()).unwrap();
    }
    i64::try_from(migrations.len()).unwrap()
}

#[test]
fn template_equals_all_migrations() {
    let folder = std::env::temp_dir().join(format!("coffer-template-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, template) = (folder.join("made.db"), project_path("sql/template.db"));
    let made = Connection::open(&path).unwrap();
    made.pragma_update(None, "journal_mode", "wal").unwrap();
    let version = run_migrations(&made);
    made.pragma_update(None, "user_version", version).unwrap();
    if std::env::var_os("COFFER_BLESS").is_some() {
        made.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
        std::fs::copy(&path, &template).unwrap();
    }
    std::fs::copy(&template, folder.join("template.db")).unwrap();
    let template =
        Connection::open_with_flags(folder.join("template.db"), OpenFlags::SQLITE_OPEN_READ_WRITE)
            .unwrap();
    assert_eq!(
        schema_objects(&template),
        schema_objects(&made),
        "run the tests with COFFER_BLESS=1 to make sql/template.db anew"
    );
    for (pragma, expected) in [("user_version", version), ("application_id", APPLICATION_ID)] {
        let stored = template.pragma_query_value(None, pragma, |row| row.get(0));
        assert_eq!(stored, Ok(expected), "{pragma}");
    }
    let mode: String = template.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn reset_empties_every_table_except_the_file_row() {
    let made = Connection::open_in_memory().unwrap();
    run_migrations(&made);
    let reset = std::fs::read_to_string(project_path("sql/file/reset.sql")).unwrap();
    let mut left = made
        .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name <> 'file'")
        .unwrap();
    let left = left.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let left: Vec<_> = left
        .map(Result::unwrap)
        .filter(|table| !reset.contains(&format!("delete from {table};\n")))
        .collect();
    assert_eq!(left, [""; 0]);
}
