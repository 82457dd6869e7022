//! Progress reports: the counts rise to the total, and reporting does not change the result.

use crate::support::database::query_value;
use crate::support::scratch::Scratch;
use crate::support::{Shop, TEST};
use coffer::domain::Progress;
use coffer::service::{Error, audit, backup};
use coffer::store::read_any_version;
use serde_json::json;
use std::collections::BTreeMap;

/// Reported counts, in order, and the total of each part of the work.
#[derive(Default)]
struct RecordedProgress(BTreeMap<&'static str, (Vec<u64>, u64)>);

impl RecordedProgress {
    #[track_caller]
    fn record(&mut self, said: Progress<'_>) {
        let Progress::Done { part, done, of } = said else {
            return;
        };
        let (told, of_part) = self.0.entry(part).or_insert((Vec::new(), of));
        assert_eq!(*of_part, of, "{part}");
        assert!(done <= of && told.last().is_none_or(|last| *last <= done), "{part}: {told:?}");
        told.push(done);
    }

    /// Asserts that the last reported count of this part equals its total. Returns the reported counts and the total.
    #[track_caller]
    fn assert_complete(&self, part: &str) -> (&[u64], u64) {
        let (told, of) = &self.0[part];
        assert_eq!(told.last(), Some(of), "{part}");
        (told, *of)
    }
}

#[test]
fn audit_reports_progress_of_checks_and_invoices() {
    let shop = Shop::open();
    for _ in 0..3 {
        shop.create_invoice("1.00", json!({}));
    }
    // Each of these invoices causes a finding.
    shop.execute_sql(
        "insert into invoices (id, account, mode, status, amount, currency, waits_for, metadata, under_bps, over_bps,
         created_at, expires_at) with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
         select 'many' || i, account, mode, status, amount, currency, waits_for, metadata, under_bps, over_bps, created_at,
         expires_at from n, (select * from invoices limit 1)",
    );
    let (mut told, mut findings) = (RecordedProgress::default(), 0);
    let counts = read_any_version(shop.file(), &mut |_| {}, |db| {
        audit::audit(db, &[], &mut |_| findings += 1, &mut |said| told.record(said))
    });
    let counts: Result<_, Error> = counts;
    assert_eq!(counts.unwrap().0.invoices, 2503);
    assert!(findings >= 2500, "{findings}");
    // The audit reports its progress before each thousand invoices and at the end.
    let (invoices, of) = told.assert_complete("invoices judged");
    assert_eq!((invoices, of), (&[0, 1000, 1000, 2000, 2000, 2503][..], 2503));
    let (checks, of) = told.assert_complete("checks made");
    assert_eq!(checks.len() as u64, of + 1);
}

#[test]
fn backup_reports_pages_and_is_consistent_during_writes() {
    let shop = Shop::open();
    let scratch = Scratch::new();
    let copy = scratch.path("copy.db");
    shop.create_invoice("1.00", json!({}));
    let ballast = "create table ballast (bytes blob);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 8)
        insert into ballast select zeroblob(1048576) from n";
    shop.execute_sql(ballast);
    let (mut told, mut written) = (RecordedProgress::default(), 0);
    let mut tell = |said: Progress<'_>| {
        told.record(said);
        if matches!(said, Progress::Done { part: "pages copied", .. }) {
            // Writes of the server and of another program do not wait for the backup.
            shop.create_invoice("2.00", json!({}));
            shop.execute_sql("insert into ballast select zeroblob(65536)");
            written += 1;
        }
    };
    backup::backup(shop.file(), &copy, false, &mut tell).unwrap();
    let (pages, of) = told.assert_complete("pages copied");
    assert_eq!(pages.len() as u64, of.div_ceil(256), "the count never restarted");
    assert!(written >= 8, "{written}");
    assert_eq!(told.assert_complete("checks made").1, 2);
    let count = |of: &str| query_value::<i64>(&copy, &format!("select count(*) from {of}"));
    assert_eq!((count("invoices"), count("ballast")), (1, 8));
    let all = shop.get("/v1/invoices?limit=100", Some(TEST)).json();
    assert_eq!(all["data"].as_array().unwrap().len(), written + 1);
}
