//! Compares accounts, keys, users, wallets, pools, payout addresses and settings with the hashes in the audit log.

use super::{AuditFinding, Error};
use crate::store::Reader;
use crate::store::states::{self, ValueKind};
use std::collections::HashMap;

/// Checks rule 10 of the audit: the hash of each value equals the hash in the newest audit log row about the value.
/// Memory grows with the number of values.
pub(super) fn check_value_hashes(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let mut noted: HashMap<String, Option<String>> = HashMap::new();
    states::for_each_recorded_hash(db, |(name, link)| {
        noted.insert(name, link);
    })?;
    for &kind in ValueKind::ALL {
        states::each_value(db, kind, |state| {
            let right = noted.remove(&state.name).flatten();
            compare_hash(&state.name, right, &state.link.to_string(), report);
        })?;
    }
    check_pools(db, &mut noted, report)?;
    let mut gone: Vec<_> = noted.into_iter().filter(|(_, link)| link.is_some()).collect();
    gone.sort();
    for (name, _) in gone {
        report(hash_finding(&name, "not there", "there, by the audit log"));
    }
    Ok(())
}

/// Compares each import of a pool with its hash, and reports pools with addresses that were not imported.
fn check_pools(
    db: &Reader<'_>,
    noted: &mut HashMap<String, Option<String>>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let names = noted.keys().filter(|name| states::parse_pool_import_name(name).is_some());
    let mut ends = Vec::new();
    for name in names.cloned().collect::<Vec<_>>() {
        let right = noted.remove(&name).flatten();
        if let Some((pool, first, last)) = states::parse_pool_import_name(&name) {
            let link = states::pool_hash(db, pool, first, last)?;
            compare_hash(&name, right, &link.to_string(), report);
            ends.push((pool.to_owned(), first, last));
        }
    }
    for (pool, count) in states::pool_counts_outside_ranges(db, &ends)? {
        if count != 0 {
            let is = format!("with {count} addresses that were not imported");
            let should = "with those of its imports in the audit log";
            report(hash_finding(&format!("pool {pool}"), &is, should));
        }
    }
    Ok(())
}

fn compare_hash(
    name: &str,
    right: Option<String>,
    link: &str,
    report: &mut dyn FnMut(AuditFinding),
) {
    match right {
        Some(right) if right == link => {}
        Some(right) => {
            let should = format!("of hash {right}, by the newest row of the audit log about it");
            report(hash_finding(name, &format!("edited: of hash {link}"), &should));
        }
        None => {
            let is = format!("not in the audit log: of hash {link}");
            report(hash_finding(name, &is, "in a row of the audit log"));
        }
    }
}

fn hash_finding(about: &str, is: &str, should: &str) -> AuditFinding {
    AuditFinding { rule: 10, about: about.to_owned(), is: is.to_owned(), should: should.to_owned() }
}
