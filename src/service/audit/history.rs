//! Verifies the hash chains of the ledger and the audit log. Also verifies the heads (newest links) of these logs
//! that a person has noted.

use super::{AuditFinding, Error};
use crate::domain::history::{ChainedLog, HashLink, InitialRowsHasher, LogHead, VERSION};
use crate::store::{Reader, audit_log, history};
use serde_json::Value;

/// Action of the audit log row that a restore writes.
pub(in crate::service) const RESTORE_ACTION: &str = "file.restore";

/// Checks rule 9 of the audit: each row of the ledger and the audit log links to the row before it. Each noted head
/// is part of its log. Returns the head of each log.
///
/// # Errors
///
/// [`Error`] if the file cannot be read.
pub fn check_history(
    db: &Reader<'_>,
    noted: &[LogHead],
    report: &mut dyn FnMut(AuditFinding),
) -> Result<Vec<LogHead>, Error> {
    let mut heads = Vec::new();
    for &log in ChainedLog::ALL {
        let mut noted: Vec<LogHead> =
            noted.iter().filter(|head| head.log == log).copied().collect();
        let mut walk = LogVerifier::new(db, log)?;
        history::each_row(db, log, |row| {
            for finding in walk.verify_row(&row) {
                report(finding);
            }
            noted.retain(|head| (head.seq, head.link) != (row.seq, walk.link));
        })?;
        walk.verify_older_rows().into_iter().for_each(&mut *report);
        noted.retain(|head| !walk.is_log_start(head));
        for head in noted {
            report(missing_head_finding(db, &head)?);
        }
        heads.push(LogHead { log, seq: walk.seq, link: walk.link });
    }
    Ok(heads)
}

/// Verifier of one log, which reads the log row by row.
struct LogVerifier {
    log: ChainedLog,
    /// State for the rows from before the hash chain: their hash so far, the `seq` of the last such row, and their
    /// stored hash. `None` after the rows are verified.
    start: Option<(InitialRowsHasher, i64, HashLink)>,
    /// `seq` of the last row from before the hash chain (0 if there is none), and the link from which the hash chain
    /// starts.
    first: (i64, HashLink),
    /// `seq` of the last row that was read, 0 before the first.
    seq: i64,
    /// Link of the last row that was read.
    link: HashLink,
}

impl LogVerifier {
    fn new(db: &Reader<'_>, log: ChainedLog) -> Result<LogVerifier, Error> {
        let first = history::hash_chain_start(db, log)?;
        let start = first.map(|(last, link)| (InitialRowsHasher::new(log), last, link));
        let first = first.unwrap_or_else(|| (0, HashLink::before_first_row(log)));
        Ok(LogVerifier { log, start, first, seq: 0, link: first.1 })
    }

    /// Returns `true` if a head is the start of the hash chain.
    fn is_log_start(&self, head: &LogHead) -> bool {
        (head.seq, head.link) == self.first
    }

    /// Verifies the next row, and returns a finding for each problem of the row.
    fn verify_row(&mut self, row: &history::LogRow) -> Vec<AuditFinding> {
        let mut found = Vec::new();
        if let Some((start, last, _)) = &mut self.start
            && row.seq <= *last
        {
            start.add(&row.form);
            self.seq = row.seq;
            return found;
        }
        found.extend(self.verify_older_rows());
        let next = self.seq.max(self.first.0).saturating_add(1);
        if row.seq != next {
            found.push(self.finding_at_row(
                row.seq,
                format!("the row after {}", next.saturating_sub(1)),
                format!("behind row {}: rows were removed", row.seq.saturating_sub(1)),
            ));
        }
        let right = self.link.next_link(self.log, &row.form);
        let problem = match row.link {
            Some(link) if link == right => None,
            Some(link) if link.version != VERSION => Some(format!("of version {}", link.version)),
            Some(_) => Some("edited".to_owned()),
            None => Some("without a link".to_owned()),
        };
        if let Some(problem) = problem {
            let should = "as it was written, behind the row before it".to_owned();
            found.push(self.finding_at_row(row.seq, problem, should));
        }
        (self.seq, self.link) = (row.seq, row.link.unwrap_or(right));
        found
    }

    /// Returns a finding if the rows older than the chain differ from their stored hash.
    fn verify_older_rows(&mut self) -> Option<AuditFinding> {
        let (start, last, link) = self.start.take()?;
        let is_whole = start.into_link() == link;
        self.seq = self.seq.max(last);
        (!is_whole).then(|| AuditFinding {
            rule: 9,
            about: format!("{} up to {last}", self.log),
            is: "edited".to_owned(),
            should: "as it was when the chain was begun behind it".to_owned(),
        })
    }

    fn finding_at_row(&self, seq: i64, is: String, should: String) -> AuditFinding {
        AuditFinding { rule: 9, about: format!("{} {seq}", self.log), is, should }
    }
}

/// Returns the finding for a recorded head that is missing from its log. The finding names the restore that may have
/// removed the head.
fn missing_head_finding(db: &Reader<'_>, head: &LogHead) -> Result<AuditFinding, Error> {
    let mut restored = None;
    for (at, detail) in audit_log::of_action(db, RESTORE_ACTION)? {
        let detail: Value = serde_json::from_str(&detail)?;
        let seq = |of: &str| Some(head_from_detail(&detail, of, head.log)?.seq);
        let is_behind_copy = seq("copy").is_some_and(|copy| copy < head.seq);
        // If the replaced file could not be read, its head is unknown. Any head may then have been in this file.
        let was_replaced = seq("replaced").is_none_or(|replaced| head.seq <= replaced);
        if restored.is_none() && is_behind_copy && was_replaced {
            restored = Some(at);
        }
    }
    let is = match restored {
        Some(at) => format!("of a file that was restored from an older copy on {at}"),
        None => "not part of this history".to_owned(),
    };
    Ok(AuditFinding {
        rule: 9,
        about: format!("head {head}"),
        is,
        should: format!("the link of row {} of {}", head.seq, head.log),
    })
}

/// Returns the head of a log from the detail of a restore's audit log row. `of` selects the file: `copy` or
/// `replaced`.
fn head_from_detail(detail: &Value, of: &str, log: ChainedLog) -> Option<LogHead> {
    let heads = detail.get(of)?.as_array()?;
    let mut heads = heads.iter().filter_map(|head| head.as_str()?.parse::<LogHead>().ok());
    heads.find(|head| head.log == log)
}

/// Returns the detail for the audit log row of a restore: the log heads of the copy and of the replaced file.
pub(in crate::service) fn restore_audit_detail(copy: &[LogHead], replaced: &[LogHead]) -> Value {
    let texts = |heads: &[LogHead]| Value::from_iter(heads.iter().map(LogHead::to_string));
    Value::from_iter([("copy", texts(copy)), ("replaced", texts(replaced))])
}
