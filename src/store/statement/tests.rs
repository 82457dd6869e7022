//! What every statement is held to, and how SQLite runs those that are asked most.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::store::{
    accounts, addresses, balances, chains, customers, deliveries, deposits, endpoints, events,
    file, invoice_steps, invoices, ledger, migrate, observations, own_transfers, payments, quotes,
    transfers, unmatched_payments,
};
use rusqlite::Connection;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The schema of a new file, made once for all tests.
static FRESH: LazyLock<Mutex<Connection>> = LazyLock::new(|| {
    let conn = Connection::open_in_memory().unwrap();
    migrate::replay(&conn, migrate::NEWEST).unwrap();
    Mutex::new(conn)
});

fn fresh() -> MutexGuard<'static, Connection> {
    // Nothing is written, so another test's failure leaves it as it was.
    FRESH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SQLite prepares it against the schema of a new file, and it answers these columns.
pub(in crate::store) fn check(sql: &str, columns: &[&str]) {
    let conn = fresh();
    let statement = conn.prepare(sql);
    let statement = statement
        .map_err(|error| format!("{sql}: {error}"))
        .unwrap();
    assert_eq!(statement.column_names(), columns, "{sql}");
}

#[test]
fn every_statement_of_a_script_is_prepared() {
    let conn = fresh();
    for sql in file::RESET.split_inclusive(";\n") {
        conn.prepare(sql).unwrap();
    }
}

/// How SQLite runs a statement, a line for each table.
fn plan(sql: &str) -> Vec<String> {
    let conn = fresh();
    let mut plan = conn.prepare(&format!("explain query plan {sql}")).unwrap();
    // Without parameters: the plan is the same for each.
    let mut rows = plan.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        lines.push(row.get("detail").unwrap());
    }
    lines
}

/// Fails where a statement reads a whole table.
#[track_caller]
fn reads_no_whole_table(sql: &str) {
    let plan = plan(sql);
    let mut scans = plan.iter().filter(|line| line.starts_with("SCAN "));
    let scan = scans.find(|line| *line != "SCAN CONSTANT ROW");
    assert_eq!(scan, None, "{sql}: {plan:?}");
}

/// Those that run for each output of each transaction that is looked at, or for each step of one.
#[test]
fn no_statement_on_the_watchers_path_reads_a_whole_table() {
    for sql in [
        accounts::BY_SEQ.sql(),
        addresses::OWNER.sql(),
        balances::INSERT.sql(),
        balances::MOVE.sql(),
        chains::SCANNED.sql(),
        customers::BY_SEQ.sql(),
        deliveries::INSERT.sql(),
        deposits::FIX.sql(),
        deposits::INSERT.sql(),
        deposits::OF_OBSERVATION.sql(),
        endpoints::OF_ACCOUNT.sql(),
        events::INSERT.sql(),
        invoice_steps::PAYMENT.sql(),
        invoice_steps::STATUS.sql(),
        invoices::BY_SEQ.sql(),
        invoices::UPDATE.sql(),
        ledger::INSERT.sql(),
        ledger::UNREVERSED.sql(),
        observations::AT.sql(),
        observations::INSERT.sql(),
        observations::OF_TRANSACTION.sql(),
        observations::PUT_IN_BLOCK.sql(),
        observations::SEEN_EARLIER.sql(),
        observations::UPDATE.sql(),
        own_transfers::IS_DECLARED.sql(),
        own_transfers::INSERT.sql(),
        own_transfers::OF_OBSERVATION.sql(),
        payments::CONFIRM.sql(),
        payments::INSERT.sql(),
        payments::JUDGE_AGAIN.sql(),
        payments::OF_INVOICE.sql(),
        payments::OF_OBSERVATION.sql(),
        quotes::OF_INVOICE.sql(),
        unmatched_payments::INSERT.sql(),
        unmatched_payments::OF_OBSERVATION.sql(),
    ] {
        reads_no_whole_table(sql);
    }
    // The address is looked up by all that it is unique by.
    let plan = plan(addresses::OWNER.sql());
    assert!(
        plan.first()
            .unwrap()
            .contains("mode=? AND pool=? AND address=?"),
        "{plan:?}"
    );
}

/// Those that the sender asks with every step.
#[test]
fn what_is_to_be_sent_is_found_by_an_index() {
    let plan = plan(transfers::TO_SEND.sql());
    assert!(
        plan.first().unwrap().contains("transfers_approved"),
        "{plan:?}"
    );
    reads_no_whole_table(transfers::SENDING.sql());
}
