//! What every statement is held to, and how SQLite runs those that are asked most.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Names, commands};
use crate::store::{
    accounts, addresses, balances, chains, customers, deliveries, deposits, endpoints, events,
    file, invoice_steps, invoices, ledger, migrate, observations, own_transfers, payments, quotes,
    transfers, unmatched_payments,
};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, StatementStatus, named_params};
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
    let mut statements = Batch::new(&conn, sql);
    let statement = statements
        .next()
        .map_err(|error| format!("{sql}: {error}"))
        .unwrap()
        .unwrap();
    assert!(statements.next().unwrap().is_none(), "two in one: {sql}");
    assert_eq!(statement.column_names(), columns, "{sql}");
    let numbers = 1..=statement.parameter_count();
    let names: Vec<_> = numbers
        .map(|number| statement.parameter_name(number).unwrap())
        .collect();
    assert_eq!(names, Names::of(sql).all(sql).collect::<Vec<_>>(), "{sql}");
}

/// [`check`], and its parameters are these.
pub(in crate::store) fn check_function(sql: &str, columns: &[&str], params: &[&str]) {
    check(sql, columns);
    let names = Names::of(sql);
    let mut names: Vec<_> = names.all(sql).collect();
    let mut params = params.to_vec();
    names.sort_unstable();
    params.sort_unstable();
    assert_eq!(names, params, "{sql}");
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
        deposits::insert::SQL,
        deposits::of_observation::SQL,
        endpoints::OF_ACCOUNT.sql(),
        events::INSERT.sql(),
        invoice_steps::PAYMENT.sql(),
        invoice_steps::status::SQL,
        invoices::BY_SEQ.sql(),
        invoices::UPDATE.sql(),
        ledger::INSERT.sql(),
        ledger::UNREVERSED.sql(),
        observations::AT.sql(),
        observations::cannot_be_booked::SQL,
        observations::give_way::SQL,
        observations::INSERT.sql(),
        observations::OF_TRANSACTION.sql(),
        observations::PUT_IN_BLOCK.sql(),
        observations::seen_earlier::SQL,
        observations::UPDATE.sql(),
        own_transfers::is_declared::SQL,
        own_transfers::insert::SQL,
        own_transfers::of_observation::SQL,
        payments::CONFIRM.sql(),
        payments::INSERT.sql(),
        payments::JUDGE_AGAIN.sql(),
        payments::of_invoice::SQL,
        payments::of_observation::SQL,
        quotes::of_invoice::SQL,
        unmatched_payments::insert::SQL,
        unmatched_payments::of_observation::SQL,
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
    let plan = plan(transfers::to_send::SQL);
    assert!(
        plan.first().unwrap().contains("transfers_approved"),
        "{plan:?}"
    );
    reads_no_whole_table(transfers::sending::SQL);
}

/// Those of an account, of which there may be many, and of all.
#[test]
fn transfers_are_listed_without_a_look_at_those_that_do_not_fit() {
    for (sql, found) in [
        (
            transfers::LIST.sql(),
            "account=? AND mode=? AND kind=? AND seq<?",
        ),
        (
            transfers::LIST_BY_STATUS.sql(),
            "account=? AND mode=? AND kind=? AND status=? AND seq<?",
        ),
        (transfers::OF_ALL.sql(), "mode=? AND kind=? AND seq<?"),
        (
            transfers::OF_ALL_BY_STATUS.sql(),
            "mode=? AND kind=? AND status=? AND seq<?",
        ),
        (transfers::refunds::SQL, "invoice=?"),
    ] {
        let plan = plan(sql);
        let mut lines = plan.iter();
        let of_transfers = lines.find(|line| line.contains(&format!("({found})")));
        assert!(of_transfers.is_some(), "{sql}: {plan:?}");
        assert!(
            plan.iter().all(|line| line.starts_with("SEARCH ")),
            "{sql}: {plan:?}"
        );
    }
}

commands! {
    /// An open invoice that waits for chains.
    WAITING = "insert into invoices (id, account, mode, status, amount, currency, metadata, under_bps, over_bps, \
        created_at, expires_at, waits_for) \
        values (:number, 1, 'live', 'created', 1, 'EUR', '{}', 0, 0, 0, 1000 + :number, :waits_for)";
}

/// How many steps of SQLite's machine each of the expiry worker's statements takes, in a file with so many open invoices:
/// all wait for a chain that lags, and nothing is due.
fn steps_of_expiry(invoices: i64) -> Vec<i32> {
    let conn = Connection::open_in_memory().unwrap();
    migrate::replay(&conn, migrate::NEWEST).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    for number in 1..=invoices {
        let waits_for = if number % 2 == 0 {
            "bitcoin"
        } else {
            "bitcoin,ethereum"
        };
        let params = named_params! { ":number": number, ":waits_for": waits_for };
        WAITING.execute(&conn, params).unwrap();
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
    invoices::expiry().iter().map(steps).collect()
}

#[test]
fn what_waits_for_a_chain_that_lags_is_not_read() {
    for sql in invoices::expiry() {
        let plan = plan(sql);
        let scan = plan.iter().find(|line| line.contains("SCAN i"));
        assert_eq!(scan, None, "{sql}: {plan:?}");
        let mut lines = plan.iter();
        assert!(
            lines.any(|line| line.contains("INDEX invoices_open")),
            "{sql}: {plan:?}"
        );
    }
    let (few, many) = (steps_of_expiry(10), steps_of_expiry(3_000));
    assert_eq!(few, many);
    assert!(
        many.iter().all(|steps| (1..200).contains(steps)),
        "{many:?}"
    );
}
