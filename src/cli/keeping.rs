//! `coffer backup` and `coffer audit`.

use super::invocation::{Invocation, option, required, switch};
use super::named_file::passed_file;
use super::output::{print_line, print_text};
use super::progress::{self, show_progress};
use super::terminal::{Stream, Tone};
use crate::clock::Stopwatch;
use crate::domain::LogHead;
use crate::domain::chain::Chain;
use crate::service::audit::{self, AuditFinding};
use crate::service::backup::BackupOutcome;
use crate::service::{Error, backup as copies};
use crate::store::{StoreError, read_any_version};
use clap::{ArgAction, Command, ValueHint, value_parser};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Maximum number of findings printed. A corrupt file can have one finding for each row.
const FINDINGS_PRINTED_MAX: usize = 1000;

pub(super) fn backup_command(command: Command) -> Command {
    let to = required("to", "DEST", "File name of the copy").value_hint(ValueHint::FilePath);
    command.args([to, switch("force", "Replace an existing file")])
}

pub(super) fn audit_command(command: Command) -> Command {
    let about_head = "Verify that this earlier head is part of the file's history; repeatable";
    let head = option("head", "HEAD", about_head).action(ArgAction::Append);
    command.args([
        switch("skip-addresses", "Skip deriving the addresses again, which takes longest"),
        head.value_parser(value_parser!(LogHead)),
    ])
}

pub(super) fn run_backup(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let (from, to) = (invocation.database_path()?, PathBuf::from(invocation.text("to")));
    let passed = passed_file(&to).map_err(StoreError::from)?;
    let BackupOutcome { heads, nodes, bytes } = match passed {
        Some(file) => copies::backup_into(&from, &file, &to, &mut show_progress)?,
        None => copies::backup(&from, &to, invocation.has("force"), &mut show_progress)?,
    };
    let to = to.display();
    print_line(&match as_json {
        true => {
            let heads = log_heads_to_json(&heads);
            json!({ "file": to.to_string(), "bytes": bytes, "heads": heads, "nodes": nodes })
                .to_string()
        }
        false => {
            let heads = log_heads_to_text(&heads);
            let nodes = nodes_line(&nodes);
            format!("{heads}{nodes}{to} has {bytes} bytes and is whole")
        }
    })
}

pub(super) fn run_audit(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let file = invocation.database_path()?;
    let mut findings = Findings::new(as_json);
    let mut report = |finding| findings.add(&finding);
    let noted: Vec<LogHead> = invocation.all("head");
    let (counts, heads, derived) = read_any_version(&file, &mut show_progress, |db| {
        let (counts, heads) = audit::audit(db, &noted, &mut report, &mut show_progress)?;
        if invocation.has("skip-addresses") {
            return Ok((counts, heads, None));
        }
        let watch = Stopwatch::start();
        let derived = audit::check_addresses(db, &mut report, &mut show_progress)?;
        Ok::<_, Error>((counts, heads, Some((derived, watch.elapsed_ms()))))
    })?;
    let count = findings.count;
    if as_json {
        let checked = json!({
            "invoices": counts.invoices, "payments": counts.payments, "deposits": counts.deposits,
            "transfers": counts.transfers, "ledgerEntries": counts.entries, "events": counts.events,
            "deliveries": counts.deliveries, "addresses": counts.addresses,
        });
        let derived = derived.map(|(addresses, ms)| json!({ "addresses": addresses, "ms": ms }));
        let document = json!({
            "findings": findings.kept, "findingCount": count, "checked": checked, "derived": derived,
            "heads": log_heads_to_json(&heads),
        });
        print_text(&format!("{document}\n"))?;
    } else {
        progress::remove_progress_line();
        print_text(&format!("{}\n", audit_summary(&counts, count, derived)))?;
        print_text(&log_heads_to_text(&heads))?;
    }
    if count > 0 {
        return Err(Error::Failed(format!("{count} findings")));
    }
    Ok(())
}

/// Renders the line about nodes in the copy. Empty without a node.
fn nodes_line(nodes: &[Chain]) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let chains: Vec<&str> = nodes.iter().map(|chain| chain.as_str()).collect();
    format!("the copy holds the passwords of nodes: {}; keep it secret\n", chains.join(", "))
}

/// Renders the newest hash-chain links for the JSON document.
fn log_heads_to_json(heads: &[LogHead]) -> Vec<String> {
    heads.iter().map(LogHead::to_string).collect()
}

/// Renders the newest hash-chain links as text, one on each line.
fn log_heads_to_text(heads: &[LogHead]) -> String {
    let lines = heads.iter().map(|head| format!("head {head}\n"));
    lines.collect()
}

/// Renders the summary of an audit: the number of findings, the checked rows of each kind, and the addresses derived
/// again.
fn audit_summary(
    counts: &audit::AuditCounts,
    findings: usize,
    derived: Option<(u64, i64)>,
) -> String {
    let found = match findings {
        0 => Stream::Out.paint(Tone::Good, "nothing found"),
        _ => format!("{findings} findings"),
    };
    let derived = match derived {
        Some((derived, ms)) => format!(
            "{derived} addresses derived again in {}.{} s",
            ms.div_euclid(1000),
            ms.rem_euclid(1000).div_euclid(100)
        ),
        None => "addresses not derived again".to_owned(),
    };
    format!(
        "{found} in {} invoices, {} payments, {} deposits, {} payouts and refunds, {} ledger entries, {} events, \
         {} deliveries, {} addresses\n{derived}",
        counts.invoices,
        counts.payments,
        counts.deposits,
        counts.transfers,
        counts.entries,
        counts.events,
        counts.deliveries,
        counts.addresses
    )
}

/// Findings of the audit. They are printed at once, or collected for the JSON document.
pub(super) struct Findings {
    as_json: bool,
    pub(super) count: usize,
    pub(super) kept: Vec<Value>,
}

impl Findings {
    pub(super) fn new(as_json: bool) -> Findings {
        Findings { as_json, count: 0, kept: Vec::new() }
    }

    pub(super) fn add(&mut self, finding: &AuditFinding) {
        self.count = self.count.saturating_add(1);
        if self.count > FINDINGS_PRINTED_MAX {
            return;
        }
        if self.as_json {
            self.kept.push(json!({
                "rule": finding.rule, "about": finding.about, "is": finding.is, "should": finding.should,
            }));
            return;
        }
        let line = Stream::Out.paint_until_colon(Tone::Bad, &finding.to_string());
        // A failed write of a finding is ignored, because the exit code also reports the findings.
        let _ = print_text(&format!("{line}\n"));
    }
}
