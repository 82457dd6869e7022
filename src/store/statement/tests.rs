//! Tests every statement, and the query plans of the most frequent ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Names, statements, text};
use crate::store::migrate::MIGRATIONS;
use crate::store::{
    accounts, addresses, balances, chains, customers, deliveries, deposits, endpoints, events,
    file, invoice_steps, invoices, ledger, observations, own_transfers, payments,
    pruned_deliveries, quotes, sales_by_hour, transfers, unmatched_payments,
};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, StatementStatus, named_params};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// An empty database with the newest schema, which all tests share.
static FRESH_SCHEMA: LazyLock<Mutex<Connection>> = LazyLock::new(|| {
    let conn = Connection::open_in_memory().unwrap();
    MIGRATIONS.create(&conn, MIGRATIONS.newest()).unwrap();
    Mutex::new(conn)
});

fn fresh_schema() -> MutexGuard<'static, Connection> {
    // Tests do not write to this database, so it stays valid after a failed test.
    FRESH_SCHEMA.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that SQLite prepares a statement against the newest schema, and that the statement has these columns.
pub(in crate::store) fn check(sql: &str, columns: &[&str]) {
    let conn = fresh_schema();
    let mut statements = Batch::new(&conn, sql);
    let statement = statements.next().map_err(|error| format!("{sql}: {error}")).unwrap().unwrap();
    assert!(statements.next().unwrap().is_none(), "two in one: {sql}");
    let columns = columns.iter().map(|column| column.rsplit('.').next().unwrap().trim());
    assert_eq!(statement.column_names(), columns.collect::<Vec<_>>(), "{sql}");
    let numbers = 1..=statement.parameter_count();
    let names: Vec<_> = numbers.map(|number| statement.parameter_name(number).unwrap()).collect();
    assert_eq!(names, Names::parse(sql).all(sql).collect::<Vec<_>>(), "{sql}");
}

#[test]
fn statement_refuses_missing_unknown_and_surplus_parameters() {
    let conn = fresh_schema();
    let refused = |params: &[(&str, &dyn rusqlite::ToSql)]| {
        let outcome: rusqlite::Result<()> = insert_coin().run(&*conn, params);
        outcome.unwrap_err().to_string()
    };
    let count =
        |given: usize| format!("Wrong number of parameters passed to query. Got {given}, needed 2");
    assert_eq!(refused(&[]), count(0));
    assert_eq!(refused(named_params! { ":asset": "BTC" }), count(1));
    let surplus = named_params! { ":asset": "BTC", ":since": 0, ":more": 0 };
    assert_eq!(refused(surplus), count(3));
    let unknown = refused(named_params! { ":asset": "BTC", ":more": 0 });
    assert!(unknown.contains(":more"), "{unknown}");
}

#[test]
fn every_statement_of_the_reset_script_is_prepared() {
    let conn = fresh_schema();
    for sql in file::RESET.split_inclusive(";\n") {
        conn.prepare(sql).unwrap();
    }
}

/// Returns the query plan of a statement, a line for each table.
fn query_plan(sql: &str) -> Vec<String> {
    let conn = fresh_schema();
    let mut plan = conn.prepare(&format!("explain query plan {sql}")).unwrap();
    // The plan is the same for all values of the parameters, so they are not bound.
    let mut rows = plan.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        lines.push(row.get("detail").unwrap());
    }
    lines
}

/// Fails if the query plan of a statement scans a whole table.
#[track_caller]
fn assert_no_table_scan(sql: &str) {
    let plan = query_plan(sql);
    let mut scans = plan.iter().filter(|line| line.starts_with("SCAN "));
    let is_no_table = |line: &str| {
        ["SCAN CONSTANT ROW", "SCAN json_each ", "SCAN (subquery"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let scan = scans.find(|line| !is_no_table(line));
    assert_eq!(scan, None, "{sql}: {plan:?}");
}

// These statements run for each output of each transaction, or each time the state of such an output changes.
#[test]
fn watcher_statements_scan_no_table() {
    for sql in [
        accounts::read_by_seq::SQL,
        addresses::owner_columns::SQL,
        balances::insert_sums::SQL,
        balances::add_to_sums::SQL,
        chains::lagging_rows::SQL,
        customers::by_seq::SQL,
        deliveries::find_queue::SQL,
        deliveries::find_url::SQL,
        deliveries::insert_row::SQL,
        deposits::save_terms::SQL,
        deposits::insert::SQL,
        deposits::of_observation::SQL,
        endpoints::read_of_account::SQL,
        events::first_of_object::SQL,
        events::insert_row::SQL,
        invoice_steps::insert_row::SQL,
        invoices::by_seq::SQL,
        invoices::update_row::SQL,
        ledger::insert_row::SQL,
        ledger::unreversed_entries::SQL,
        observations::by_key::SQL,
        observations::mark_unbookable::SQL,
        observations::move_to_free_position::SQL,
        observations::insert::SQL,
        observations::of_transaction::SQL,
        observations::put_in_block::SQL,
        observations::set_earlier_seen_at::SQL,
        observations::update::SQL,
        own_transfers::is_own_address::SQL,
        own_transfers::insert::SQL,
        own_transfers::of_observation::SQL,
        payments::set_was_confirmed::SQL,
        payments::insert_row::SQL,
        payments::save_terms::SQL,
        payments::of_invoice::SQL,
        payments::of_observation::SQL,
        quotes::of_invoice::SQL,
        sales_by_hour::add::SQL,
        unmatched_payments::insert::SQL,
        unmatched_payments::of_observation::SQL,
    ] {
        assert_no_table_scan(sql);
    }
    // The lookup of an address uses all columns of the unique key.
    let plan = query_plan(addresses::owner_columns::SQL);
    assert!(plan.first().unwrap().contains("mode=? AND pool=? AND address=?"), "{plan:?}");
}

// These statements run at every step of the sender.
#[test]
fn transfers_to_send_are_found_by_index() {
    let plan = query_plan(transfers::list_sendable::SQL);
    assert!(plan.first().unwrap().contains("transfers_approved"), "{plan:?}");
    assert_no_table_scan(transfers::list_with_running_command::SQL);
}

// These statements run at every step of the pruning, in the writer's thread.
#[test]
fn pruning_statements_scan_no_table() {
    for sql in [
        pruned_deliveries::delete_attempts::SQL,
        pruned_deliveries::delete_delivery::SQL,
        pruned_deliveries::save_newest_event::SQL,
    ] {
        assert_no_table_scan(sql);
    }
    let plan = query_plan(pruned_deliveries::delete_attempts::SQL);
    let is_by_age = |line: &String| line.contains("INDEX attempts_by_age (at<?)");
    assert!(plan.iter().any(is_by_age), "{plan:?}");
}

// A file may have millions of attempts.
#[test]
fn audit_finds_the_attempt_with_the_same_answer_by_key() {
    let plan = query_plan(text!(file "sql/audit/deliveries.sql"));
    let is_by_key =
        |line: &String| line.contains("SEARCH f USING PRIMARY KEY (delivery=? AND number=?)");
    assert!(plan.iter().any(is_by_key), "{plan:?}");
}

// An account may have many transfers, so each list needs an index with all its conditions.
#[test]
fn lists_of_transfers_are_read_by_index() {
    for (sql, found) in [
        (transfers::page_of_account::SQL, "account=? AND mode=? AND kind=? AND seq<?"),
        (
            transfers::page_of_account_by_status::SQL,
            "account=? AND mode=? AND kind=? AND status=? AND seq<?",
        ),
        (transfers::page_of_all::SQL, "mode=? AND kind=? AND seq<?"),
        (transfers::page_of_all_by_status::SQL, "mode=? AND kind=? AND status=? AND seq<?"),
        (transfers::count_refunds::SQL, "invoice=?"),
    ] {
        let plan = query_plan(sql);
        let mut lines = plan.iter();
        let of_transfers = lines.find(|line| line.contains(&format!("({found})")));
        assert!(of_transfers.is_some(), "{sql}: {plan:?}");
        assert!(plan.iter().all(|line| line.starts_with("SEARCH ")), "{sql}: {plan:?}");
    }
}

statements! {
    fn insert_coin() -> Statement = "insert into coins_off (asset, since) values (:asset, :since)";

    /// Inserts an open invoice that does not expire until these chains have caught up.
    fn insert_waiting_invoice(conn, number: i64, waits_for: &str) =
        "insert into invoices (id, account, mode, status, amount, currency, metadata, under_bps, over_bps, \
            created_at, expires_at, waits_for) \
            values (:number, 1, 'live', 'created', 1, 'EUR', '{}', 0, 0, 0, 1000 + :number, :waits_for)";
}

/// Returns the number of virtual machine steps of each statement of the expiry worker, in a database with this many
/// open invoices. All of them wait for a chain that lags.
fn expiry_statement_steps(invoices: i64) -> Vec<i32> {
    let conn = Connection::open_in_memory().unwrap();
    MIGRATIONS.create(&conn, MIGRATIONS.newest()).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    for number in 1..=invoices {
        let waits_for = if number % 2 == 0 { "bitcoin" } else { "bitcoin,ethereum" };
        insert_waiting_invoice(&conn, number, waits_for).unwrap();
    }
    let steps = |sql: &&str| {
        let mut statement = conn.prepare(sql).unwrap();
        for name in [":up_to", ":after", ":limit"] {
            if let Some(at) = statement.parameter_index(name).unwrap() {
                statement.raw_bind_parameter(at, 900).unwrap();
            }
        }
        if let Some(at) = statement.parameter_index(":waits_for").unwrap() {
            statement.raw_bind_parameter(at, "bitcoin").unwrap();
        }
        let mut rows = statement.raw_query();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        statement.get_status(StatementStatus::VmStep)
    };
    invoices::EXPIRY.iter().map(steps).collect()
}

#[test]
fn invoices_that_wait_for_a_lagging_chain_are_not_read() {
    for sql in invoices::EXPIRY {
        let plan = query_plan(sql);
        let scan = plan.iter().find(|line| line.contains("SCAN i"));
        assert_eq!(scan, None, "{sql}: {plan:?}");
        let mut lines = plan.iter();
        assert!(lines.any(|line| line.contains("INDEX invoices_open")), "{sql}: {plan:?}");
    }
    let (few, many) = (expiry_statement_steps(10), expiry_statement_steps(3_000));
    assert_eq!(few, many);
    assert!(many.iter().all(|steps| (1..200).contains(steps)), "{many:?}");
}
