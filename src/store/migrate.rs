//! The schema and its migrations.
//!
//! Invariant: `user_version` is the version of a file. An upgrade runs completely or not at all, and a file of a
//! newer version is not changed.

mod indexes;
mod template;

pub(super) use template::template;

use super::StoreError;
use super::connection::create_views;
use super::integrity::FOREIGN_KEYS;
use super::{history, states};
use crate::domain::progress::{Progress, ProgressSink, to_count};
use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::config::DbConfig;

/// Every migration, oldest first. The first one creates version 1.
const MIGRATIONS: [&str; 40] = [
    include_str!("../../sql/migrations/0001_initial.sql"),
    include_str!("../../sql/migrations/0002_out_and_operators.sql"),
    include_str!("../../sql/migrations/0003_repairs.sql"),
    include_str!("../../sql/migrations/0004_intake.sql"),
    include_str!("../../sql/migrations/0005_rates.sql"),
    include_str!("../../sql/migrations/0006_transaction_ids.sql"),
    include_str!("../../sql/migrations/0007_checks.sql"),
    include_str!("../../sql/migrations/0008_unbooked.sql"),
    include_str!("../../sql/migrations/0009_wallets.sql"),
    include_str!("../../sql/migrations/0010_rates_known.sql"),
    include_str!("../../sql/migrations/0011_restored.sql"),
    include_str!("../../sql/migrations/0012_least_index.sql"),
    include_str!("../../sql/migrations/0013_chains.sql"),
    include_str!("../../sql/migrations/0014_unmatched.sql"),
    include_str!("../../sql/migrations/0015_claims.sql"),
    include_str!("../../sql/migrations/0016_confirmations.sql"),
    include_str!("../../sql/migrations/0017_stopped_wallets.sql"),
    include_str!("../../sql/migrations/0018_second_factors.sql"),
    include_str!("../../sql/migrations/0019_used_steps.sql"),
    include_str!("../../sql/migrations/0020_signatures.sql"),
    include_str!("../../sql/migrations/0021_listed_transfers.sql"),
    include_str!("../../sql/migrations/0022_approvals.sql"),
    include_str!("../../sql/migrations/0023_known_clients.sql"),
    include_str!("../../sql/migrations/0024_link_invoices.sql"),
    include_str!("../../sql/migrations/0025_null_is_json.sql"),
    include_str!("../../sql/migrations/0026_history.sql"),
    include_str!("../../sql/migrations/0027_sent_transfers.sql"),
    include_str!("../../sql/migrations/0028_states.sql"),
    include_str!("../../sql/migrations/0029_read_backs.sql"),
    include_str!("../../sql/migrations/0030_event_rows.sql"),
    include_str!("../../sql/migrations/0031_delivery_rows.sql"),
    include_str!("../../sql/migrations/0032_invoice_steps.sql"),
    include_str!("../../sql/migrations/0033_pruned_deliveries.sql"),
    include_str!("../../sql/migrations/0034_chain_nodes.sql"),
    include_str!("../../sql/migrations/0035_checkout_settings.sql"),
    include_str!("../../sql/migrations/0036_link_limits.sql"),
    include_str!("../../sql/migrations/0037_invoice_emails.sql"),
    include_str!("../../sql/migrations/0038_sales_by_hour.sql"),
    include_str!("../../sql/migrations/0039_mail.sql"),
    include_str!("../../sql/migrations/0040_invoice_times.sql"),
];

/// Version of the last migration that edits the text of the schema. An upgrade from an earlier version checks the
/// whole file.
const SCHEMA_EDITED: usize = 29;

/// First version with hash chains of the ledger and the audit log.
const HISTORY_SINCE: usize = 26;
/// First version whose audit log has hashes of accounts, keys, users, wallets, pools and settings.
const STATES_SINCE: usize = 28;

/// Upgrades a file to the newest version, in one transaction. A reference to a missing row rolls back the
/// transaction. Reports the progress of each step to `tell`, unless the file is up to date.
pub(super) fn migrate(
    conn: &mut Connection,
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let version = user_version(conn)?;
    require_known_version(version)?;
    if version == NEWEST {
        return Ok(create_views(conn)?);
    }
    // Some migrations recreate a referenced table, so foreign keys are checked only at the end. The pragma
    // `foreign_keys` cannot be changed inside a transaction (<https://sqlite.org/lang_altertable.html>, procedure of
    // 12 steps).
    let enforced: bool =
        conn.pragma_query_value(None, "foreign_keys", |row| row.get("foreign_keys"))?;
    conn.pragma_update(None, "foreign_keys", false)?;
    // Some migrations change a CHECK in the schema table, which SQLite protects by default. One reads a view that it
    // has created.
    let protection = [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ];
    for (config, on) in protection {
        conn.set_db_config(config, !on)?;
    }
    let migrated = migrate_in_transaction(conn, tell);
    for (config, on) in protection {
        conn.set_db_config(config, on)?;
    }
    conn.pragma_update(None, "foreign_keys", enforced)?;
    migrated?;
    Ok(create_views(conn)?)
}

/// Runs the missing migrations in one transaction.
fn migrate_in_transaction(
    conn: &mut Connection,
    tell: &mut ProgressSink<'_>,
) -> Result<(), StoreError> {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // The version is read again, as another process may have upgraded the file.
    let version = user_version(&tx)?;
    // The final check of all foreign keys counts as one step.
    let of = to_count(NEWEST.saturating_sub(version)).saturating_add(1);
    let part = "upgrade steps made";
    for (done, migration) in (0..).zip(MIGRATIONS.iter().skip(version)) {
        tell(Progress::Done { part, done, of });
        tx.execute_batch(migration).map_err(explain_edited_row)?;
    }
    let done = of.saturating_sub(1);
    tell(Progress::Done { part, done, of });
    if version < indexes::SINCE {
        indexes::save_wallet_indexes(&tx)?;
    }
    if version < HISTORY_SINCE {
        history::start_hash_chains(&tx)?;
    }
    if version < STATES_SINCE {
        states::insert_hashes_of_all(&tx)?;
    }
    let first = FOREIGN_KEYS.first_on_conn(&tx, &[])?;
    if let Some((about, _, should)) = first {
        return Err(StoreError::Failed(format!(
            "the file was left as it was: {about} refers to {should}, which does not exist"
        )));
    }
    if version < SCHEMA_EDITED {
        check_integrity(&tx)?;
    }
    tx.pragma_update(None, "user_version", i64::try_from(NEWEST).unwrap_or(i64::MAX))?;
    tx.commit()?;
    tell(Progress::Done { part, done: of, of });
    Ok(())
}

/// Returns the error for a row that a migration refuses, which only another program can have written. Any other error is
/// returned as it is.
fn explain_edited_row(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation | ErrorCode::Unknown) => StoreError::Failed(format!(
            "the file was left as it was: it has a row that coffer does not write ({error}). Restore a backup, or go on \
             with the version before"
        )),
        _ => error.into(),
    }
}

/// Checks the pages, rows and indexes of a file against the schema.
///
/// # Errors
/// [`StoreError`] with the first problem.
fn check_integrity(conn: &Connection) -> Result<(), StoreError> {
    let found: String =
        conn.pragma_query_value(None, "integrity_check", |row| row.get("integrity_check"))?;
    if found == "ok" {
        return Ok(());
    }
    Err(StoreError::Failed(format!(
        "the file was left as it was: it is damaged ({found}). Restore a backup, or go on with the version before"
    )))
}

/// Newest version of the schema.
pub(super) const NEWEST: usize = MIGRATIONS.len();

/// Fails if a version is newer than this program. An older version is accepted.
pub(super) fn require_known_version(version: usize) -> Result<(), StoreError> {
    if version <= NEWEST {
        return Ok(());
    }
    let message = format!(
        "the file is of version {version}, this program knows only {NEWEST}: use a newer coffer"
    );
    Err(StoreError::Failed(message))
}

/// Creates the empty schema of a version.
pub(super) fn create_schema(conn: &Connection, version: usize) -> rusqlite::Result<()> {
    let mut migrations = MIGRATIONS.iter().take(version);
    migrations.try_for_each(|migration| conn.execute_batch(migration))
}

/// Fails unless a file is of the newest version. For readers, which cannot upgrade the file.
pub(super) fn require_newest_version(conn: &Connection) -> Result<(), StoreError> {
    let version = user_version(conn)?;
    require_known_version(version)?;
    if version == NEWEST {
        return Ok(create_views(conn)?);
    }
    let message = format!("the file is of version {version}, and only {NEWEST} can be read here");
    Err(StoreError::Failed(message))
}

/// Returns the version of a file.
fn user_version(conn: &Connection) -> Result<usize, StoreError> {
    let version: i64 =
        conn.pragma_query_value(None, "user_version", |row| row.get("user_version"))?;
    usize::try_from(version).map_err(|_| {
        StoreError::Failed(format!("the file has version {version}: not one of coffer's"))
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{MIGRATIONS, NEWEST, create_schema, migrate, user_version};
    use crate::domain::progress::{Progress, ignore_progress};
    use crate::store::statement::{commands, values};
    use rusqlite::{Connection, named_params};

    /// Coins of the versions 5 to 7, each with its chain.
    const COINS_THEN: [(&str, &str); 13] = [
        ("BTC", "bitcoin"),
        ("LTC", "litecoin"),
        ("DOGE", "dogecoin"),
        ("ETH", "ethereum"),
        ("USDT-ERC20", "ethereum"),
        ("USDC-ERC20", "ethereum"),
        ("USDC-BASE", "base"),
        ("USDC-POLYGON", "polygon"),
        ("TRX", "tron"),
        ("USDT-TRC20", "tron"),
        ("SOL", "solana"),
        ("USDC-SPL", "solana"),
        ("USDT-SPL", "solana"),
    ];

    #[test]
    fn file_is_upgraded_once() {
        let mut conn = Connection::open_in_memory().unwrap();
        for _ in 0..2 {
            migrate(&mut conn, &mut ignore_progress).unwrap();
            assert_eq!(user_version(&conn).unwrap(), MIGRATIONS.len());
        }
    }

    #[test]
    fn each_upgrade_step_is_reported_once() {
        let mut conn = Connection::open_in_memory().unwrap();
        create_schema(&conn, 14).unwrap();
        conn.pragma_update(None, "user_version", 14).unwrap();
        for expected in [(0..=NEWEST as u64 - 13).collect(), Vec::new()] {
            let mut told = Vec::new();
            let mut tell = |said: Progress<'_>| match said {
                Progress::Done { done, of, .. } => {
                    assert_eq!(of, NEWEST as u64 - 13);
                    told.push(done);
                }
                Progress::Note(note) => assert_eq!(note, ""),
            };
            migrate(&mut conn, &mut tell).unwrap();
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn upgrade_with_broken_reference_rolls_back() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(MIGRATIONS[0]).unwrap();
        let statement = "pragma foreign_keys = off; insert into quotes (invoice, asset, rate, amount_expected, address, \
             created_at) values (9, 'BTC', '1', '1', 'a', 0)";
        conn.execute_batch(statement).unwrap();
        conn.pragma_update(None, "user_version", 1).unwrap();
        conn.pragma_update(None, "foreign_keys", true).unwrap();
        let refused = migrate(&mut conn, &mut ignore_progress).unwrap_err().to_string();
        assert!(refused.contains("refers to a row of invoices"), "{refused}");
        assert_eq!(user_version(&conn).unwrap(), 1);
        let enforced: bool =
            conn.pragma_query_value(None, "foreign_keys", |row| row.get("foreign_keys")).unwrap();
        assert!(enforced);
    }

    #[test]
    fn upgrade_of_a_file_with_an_edited_event_rolls_back() {
        let id = "evt_01a400f639ea70008000000149227cfd";
        for (id, body) in [("evt_x", "{}"), (&id.replace('1', "2"), "{}"), (id, "no JSON")] {
            let mut conn = Connection::open_in_memory().unwrap();
            create_schema(&conn, 29).unwrap();
            conn.pragma_update(None, "user_version", 29).unwrap();
            conn.execute_batch(&format!(
                "pragma foreign_keys = off;
                 insert into events (seq, id, account, mode, type, object_id, created_at, body)
                 values (1, '{id}', 1, 'test', 'invoice.created', 'a', 0, '{body}')"
            ))
            .unwrap();
            let refused = migrate(&mut conn, &mut ignore_progress).unwrap_err().to_string();
            assert!(refused.contains("it has a row that coffer does not write"), "{refused}");
            assert_eq!(user_version(&conn).unwrap(), 29);
        }
    }

    #[test]
    fn upgrade_of_damaged_file_rolls_back() {
        for version in [24, 26] {
            let mut conn = Connection::open_in_memory().unwrap();
            create_schema(&conn, version).unwrap();
            conn.pragma_update(None, "user_version", version as i64).unwrap();
            conn.execute_batch(
                "pragma ignore_check_constraints = on;
                 insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at, spends)
                 values ('test', 'bitcoin', 't', 0, 'BTC', 'a', '1', 'seen', 0, 'no JSON');
                 pragma ignore_check_constraints = off",
            )
            .unwrap();
            let refused = migrate(&mut conn, &mut ignore_progress).unwrap_err().to_string();
            let damaged = "it is damaged (CHECK constraint failed in observations)";
            assert!(refused.contains(damaged), "{refused}");
            assert_eq!(user_version(&conn).unwrap(), version);
        }
    }

    commands! {
        /// Inserts an invoice in a file from before migration 0008.
        INVOICE = "insert into invoices (seq, id, account, mode, status, amount, currency, metadata, under_bps, over_bps, \
            created_at, expires_at, cancelled_at, asset, rate, amount_expected, deposit_address, picked_quote) \
            values (:seq, :seq, 1, :mode, iif(:cancelled_at is null, 'awaiting_payment', 'cancelled'), 1, 'EUR', '{}', \
            0, 0, 0, 1000, :cancelled_at, 'BTC', '1', '1', 'a', 1)";
        QUOTE = "insert into quotes (invoice, asset, rate, rate_source, rate_at, amount_expected, address, created_at) \
            values (:invoice, :asset, '1', 'fixed', 0, '1', 'a', :at)";
    }

    values! {
        WAITS_FOR(waits_for: String) = "select waits_for from invoices order by seq";
    }

    /// Inserts an invoice with its quotes. `of` is the mode, and the time at which the invoice was cancelled or
    /// `None`.
    fn insert_quoted_invoice(
        conn: &Connection,
        seq: usize,
        of: (&str, Option<i64>),
        quotes: &[(&str, i64)],
    ) {
        let seq = i64::try_from(seq).unwrap();
        let params = named_params! { ":seq": seq, ":mode": of.0, ":cancelled_at": of.1 };
        INVOICE.execute(conn, params).unwrap();
        for (asset, at) in quotes {
            let params = named_params! { ":invoice": seq, ":asset": asset, ":at": at };
            QUOTE.execute(conn, params).unwrap();
        }
    }

    #[test]
    fn old_invoice_waits_for_the_chains_of_its_quotes() {
        for version in [5, 6, 7] {
            let conn = Connection::open_in_memory().unwrap();
            conn.pragma_update(None, "foreign_keys", false).unwrap();
            create_schema(&conn, version).unwrap();
            let mut expected = Vec::new();
            for (id, chain) in COINS_THEN {
                insert_quoted_invoice(&conn, expected.len(), ("live", None), &[(id, 0)]);
                expected.push(chain);
            }
            let asked = ["USDT-TRC20", "BTC", "ETH", "TRX", "USDC-ERC20"].map(|id| (id, 999));
            let late = [&asked[..], &[("SOL", 1000)]].concat();
            let both = [("BTC", 499), ("LTC", 500)];
            for (of, quotes, chains) in [
                (("live", None), &late[..], "bitcoin,ethereum,tron"),
                (("test", None), &late, ""),
                (("live", Some(500)), &both, "bitcoin"),
            ] {
                insert_quoted_invoice(&conn, expected.len(), of, quotes);
                expected.push(chains);
            }
            for migration in MIGRATIONS.iter().skip(version) {
                conn.execute_batch(migration).unwrap();
            }
            let kept = WAITS_FOR.all_on_conn(&conn, &[]).unwrap();
            assert_eq!(kept, expected, "of version {version}");
        }
    }

    #[test]
    fn newer_file_is_refused() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "user_version", 999).unwrap();
        assert!(
            migrate(&mut conn, &mut ignore_progress)
                .unwrap_err()
                .to_string()
                .contains("newer coffer")
        );
    }
}
