//! Verifies the hash chains of the ledger and the audit log. Also verifies the heads (newest links) of these logs
//! that a person has noted.

use super::{AuditFinding, Error};
use crate::domain::history::VERSION;
use crate::domain::{ChainedLog, HashLink, LogHead};
use crate::store::{Reader, history, restored_logs};
use serde_json::Value;

pub(in crate::service) const RESTORE_ACTION: &str = "file.restore";

/// Checks rule 9 of the audit: each row of the ledger and the audit log links to the row before it. Each noted head
/// is part of its log. Returns the head of each log.
pub fn check_history(
    db: &Reader<'_>,
    noted: &[LogHead],
    report: &mut dyn FnMut(AuditFinding),
) -> Result<Vec<LogHead>, Error> {
    let mut heads = Vec::new();
    for &log in ChainedLog::ALL {
        let mut noted: Vec<LogHead> =
            noted.iter().filter(|head| head.log == log).copied().collect();
        let mut walk = LogVerifier::new(log);
        let start = LogHead { log, seq: walk.seq, link: walk.link };
        history::each_row(db, log, |row| {
            for finding in walk.verify_row(&row) {
                report(finding);
            }
            noted.retain(|head| (head.seq, head.link) != (row.seq, walk.link));
        })?;
        for head in noted.into_iter().filter(|head| *head != start) {
            report(missing_head_finding(db, &head)?);
        }
        heads.push(LogHead { log, seq: walk.seq, link: walk.link });
    }
    Ok(heads)
}

struct LogVerifier {
    log: ChainedLog,
    /// `seq` of the last row that was read, 0 before the first.
    seq: i64,
    /// Link of the last row that was read.
    link: HashLink,
}

impl LogVerifier {
    fn new(log: ChainedLog) -> LogVerifier {
        LogVerifier { log, seq: 0, link: HashLink::before_first_row(log) }
    }

    fn verify_row(&mut self, row: &history::LogRow) -> Vec<AuditFinding> {
        let mut found = Vec::new();
        if row.seq != self.seq.saturating_add(1) {
            found.push(self.finding_at_row(
                row.seq,
                format!("the row after {}", self.seq),
                format!("behind row {}: rows were removed", row.seq.saturating_sub(1)),
            ));
        }
        if row.link != self.link.next_link(self.log, &row.form) {
            let is = match row.link.version {
                VERSION => "edited".to_owned(),
                version => format!("of version {version}"),
            };
            let should = "as it was written, behind the row before it".to_owned();
            found.push(self.finding_at_row(row.seq, is, should));
        }
        (self.seq, self.link) = (row.seq, row.link);
        found
    }

    fn finding_at_row(&self, seq: i64, is: String, should: String) -> AuditFinding {
        AuditFinding { rule: 9, about: format!("{} {seq}", self.log), is, should }
    }
}

/// Returns the finding for a recorded head that is missing from its log. The finding names the restore that may have
/// removed the head.
fn missing_head_finding(db: &Reader<'_>, head: &LogHead) -> Result<AuditFinding, Error> {
    let restores = restored_logs::of_log(db, head.log)?;
    let restored = restores.iter().find(|restored| {
        // If the replaced file could not be read, its head is unknown. Any head may then have been in this file.
        restored.copy_seq < head.seq && restored.replaced_seq.is_none_or(|last| head.seq <= last)
    });
    let is = match restored {
        Some(restored) => {
            format!("of a file that was restored from an older copy on {}", restored.at)
        }
        None => "not part of this history".to_owned(),
    };
    Ok(AuditFinding {
        rule: 9,
        about: format!("head {head}"),
        is,
        should: format!("the link of row {} of {}", head.seq, head.log),
    })
}

/// Returns the detail for the audit log row of a restore: the log heads of the copy and of the replaced file.
pub(in crate::service) fn restore_audit_detail(copy: &[LogHead], replaced: &[LogHead]) -> Value {
    let texts = |heads: &[LogHead]| Value::from_iter(heads.iter().map(LogHead::to_string));
    Value::from_iter([("copy", texts(copy)), ("replaced", texts(replaced))])
}
