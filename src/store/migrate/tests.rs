//! Tests upgrades with migrations that only these tests have.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod killed;
mod opened;

use super::{MIGRATIONS, Migrations, user_version};
use crate::domain::Progress;
use crate::domain::progress::ignore_progress;
use crate::store::identity::schema_objects;
use crate::store::statement::statements;
use rusqlite::Connection;

const SCHEMA: &str = include_str!("../../../sql/schema.sql");
/// Adds a column.
const ADD: &str = "-- adds a column\nalter table customers add column note text;";
/// Recreates a table to which other tables refer. The rename reads the views of the file.
const RECREATE: &str = "-- recreates a table
    create table customers_new (
      seq integer primary key, account integer not null references accounts (seq), mode text not null,
      ref text not null check (ref <> ''), note text, created_at integer not null, unique (account, mode, ref)
    ) strict;
    insert into customers_new (seq, account, mode, ref, note, created_at)
    select seq, account, mode, ref, note, created_at from customers;
    drop table customers;
    alter table customers_new rename to customers;";
/// Changes a CHECK without looking at the rows.
const CHANGE_CHECK: &str = "-- changes a check
    pragma writable_schema = on;
    update sqlite_schema set sql = replace(sql, 'ref <> ''''', 'length(ref) < 300') where name = 'customers';
    pragma writable_schema = reset;";

/// The first version alone.
const FIRST: Migrations = Migrations(&[SCHEMA]);
/// The first version, and three upgrades.
const LONGER: Migrations = Migrations(&[SCHEMA, ADD, RECREATE, CHANGE_CHECK]);

statements! {
    fn customers(conn) -> Vec<(customer: String)> =
        "select group_concat(seq || ' ' || substr(ref, 1, 8), ',' order by seq) as customer from customers";

    /// Reads a view of the file, not the view of the connection.
    fn event_bodies(conn) -> Vec<(body: String)> = "select body from main.events";
}

/// Inserts an account and two customers.
const ROWS: &str = "pragma foreign_keys = on;
    insert into accounts (seq, id, name, status, fee_bps, settlement_enabled, customers_enabled, server_quota, payout_asset,
      payout_min, payout_daily_max, invoice_max, under_bps, over_bps, rate_spread_bps, ttl_seconds, checkout_lang,
      favorite_coins, address_lines, allowed_origins, legacy_secret, created_at)
    values (1, 'a', 'Shop', 'active', 0, 0, 1, 0, 'SOL', 0, 0, 1, 0, 0, 0, 60, 'en', '[]', '[]', '[]', 's', 0);
    insert into customers (seq, account, mode, ref, created_at) values (3, 1, 'test', 'ada', 0), (7, 1, 'test', 'bob', 0);
    insert into addresses (mode, pool, address, customer) values ('test', 'tron', 'T', 7);";

/// Returns a database of the first version with some rows.
fn first_version() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    FIRST.create(&conn, 1).unwrap();
    conn.pragma_update(None, "user_version", 1).unwrap();
    conn.execute_batch(ROWS).unwrap();
    conn
}

/// Asserts that an upgrade fails with this message, and that it changed nothing.
#[track_caller]
fn assert_rolled_back(conn: &mut Connection, migrations: Migrations, why: &str) {
    let before = schema_objects(conn).unwrap();
    let refused = migrations.run(conn, &mut ignore_progress).unwrap_err().to_string();
    assert!(refused.contains(why), "{refused}");
    assert_eq!(user_version(conn).unwrap(), 1);
    assert_eq!(schema_objects(conn).unwrap(), before);
    let enforced: bool =
        conn.pragma_query_value(None, "foreign_keys", |row| row.get("foreign_keys")).unwrap();
    assert!(enforced);
}

#[test]
fn new_file_has_the_newest_version() {
    for migrations in [MIGRATIONS, LONGER] {
        let mut conn = Connection::open_in_memory().unwrap();
        for _ in 0..2 {
            migrations.run(&mut conn, &mut ignore_progress).unwrap();
            assert_eq!(user_version(&conn).unwrap(), migrations.newest());
        }
    }
}

#[test]
fn upgraded_file_has_its_rows_and_the_schema_of_a_new_file() {
    let (mut conn, mut fresh) = (first_version(), Connection::open_in_memory().unwrap());
    LONGER.run(&mut conn, &mut ignore_progress).unwrap();
    LONGER.run(&mut fresh, &mut ignore_progress).unwrap();
    assert_eq!(schema_objects(&conn).unwrap(), schema_objects(&fresh).unwrap());
    assert_eq!(customers(&conn).unwrap(), ["3 ada,7 bob"]);
    // The schema table is protected again, and the views of the file are disabled again.
    let edit = "pragma writable_schema = on; update sqlite_schema set sql = ''";
    assert!(conn.execute_batch(edit).is_err());
    assert!(event_bodies(&conn).is_err());
}

#[test]
fn each_upgrade_step_is_reported_once() {
    let mut conn = first_version();
    for expected in [vec![0, 1, 2, 3, 4], Vec::new()] {
        let mut told = Vec::new();
        let mut tell = |said: Progress<'_>| match said {
            Progress::Done { done, of, .. } => {
                assert_eq!(of, 4);
                told.push(done);
            }
            Progress::Note(note) => assert_eq!(note, ""),
        };
        LONGER.run(&mut conn, &mut tell).unwrap();
        assert_eq!(told, expected);
    }
}

#[test]
fn upgrade_with_a_broken_reference_rolls_back() {
    let mut conn = first_version();
    let edit =
        "pragma foreign_keys = off; delete from customers where seq = 7; pragma foreign_keys = on";
    conn.execute_batch(edit).unwrap();
    assert_rolled_back(&mut conn, LONGER, "refers to a row of customers, which does not exist");
}

#[test]
fn upgrade_with_an_edited_row_rolls_back() {
    let mut conn = first_version();
    let edit = "pragma ignore_check_constraints = on; update customers set ref = '' where seq = 3; \
        pragma ignore_check_constraints = off";
    conn.execute_batch(edit).unwrap();
    assert_rolled_back(&mut conn, LONGER, "it has a row that coffer does not write (CHECK");
}

#[test]
fn upgrade_of_a_damaged_file_rolls_back() {
    let mut conn = first_version();
    let edit =
        "pragma writable_schema = off; update customers set ref = printf('%300d', 1) where seq = 3";
    conn.execute_batch(edit).unwrap();
    let damaged = "it is damaged (CHECK constraint failed in customers)";
    assert_rolled_back(&mut conn, LONGER, damaged);
}

#[test]
fn newer_file_is_refused() {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "user_version", 999).unwrap();
    let refused = MIGRATIONS.run(&mut conn, &mut ignore_progress).unwrap_err().to_string();
    assert!(refused.contains("use a newer coffer"), "{refused}");
    let refused = MIGRATIONS.require_newest(&conn).unwrap_err().to_string();
    assert!(refused.contains("use a newer coffer"), "{refused}");
    assert_eq!(user_version(&conn).unwrap(), 999);
}

#[test]
fn older_file_is_not_read_without_an_upgrade() {
    let refused = LONGER.require_newest(&first_version()).unwrap_err().to_string();
    assert_eq!(refused, "the file is of version 1, and only 4 can be read here");
}
