//! `coffer backup`, `coffer restore` and `coffer audit`: keeping the file.

use super::logging::log_to_stderr;
use super::print;
use crate::config::Values;
use crate::service::audit::{self, Finding};
use crate::service::{Error, backup as copies};
use crate::store::{StoreError, read_any};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::io::Write;
use std::path::PathBuf;

/// Findings that are printed; a file that is wrong altogether has one for each row.
const FINDINGS_PRINTED_MAX: usize = 1000;

/// `--force`.
fn force(help: &'static str) -> Arg {
    Arg::new("force")
        .long("force")
        .action(ArgAction::SetTrue)
        .help(help)
}

/// `coffer backup` with its arguments.
pub(super) fn backup_command(command: Command) -> Command {
    let to = Arg::new("to").value_name("DEST").required(true);
    command
        .arg(to.help("The copy's name"))
        .arg(force("Replace a file that has this name already"))
}

/// `coffer restore` with its arguments.
pub(super) fn restore_command(command: Command) -> Command {
    let from = Arg::new("from").value_name("SRC").required(true);
    let dry_run = Arg::new("dry-run")
        .long("dry-run")
        .action(ArgAction::SetTrue)
        .help("Verify the copy and say what would be done; change nothing");
    command
        .arg(from.help("The copy to restore"))
        .arg(force(
            "Replace the file, even by a copy that the audit finds something in",
        ))
        .arg(dry_run)
}

/// The file that a command is about.
pub(super) fn file(command: &'static str, matches: &ArgMatches) -> Result<PathBuf, Error> {
    let values = Values::new(command, matches);
    let text = |flag| values.text(flag).map_err(Error::Failed);
    log_to_stderr(&text("log")?.unwrap_or_default());
    Ok(text("file")?.unwrap_or_default().into())
}

/// A path given as an argument.
fn path(matches: &ArgMatches, name: &str) -> PathBuf {
    matches
        .get_one::<String>(name)
        .map(PathBuf::from)
        .unwrap_or_default()
}

/// Says on standard error what is done besides.
pub(super) fn tell(what: &str) {
    // Where nobody reads it, it is done all the same.
    let _ = writeln!(std::io::stderr(), "coffer: {what}");
}

/// Runs `coffer backup`.
pub(super) fn backup(matches: &ArgMatches) -> Result<(), Error> {
    let (from, to) = (file("backup", matches)?, path(matches, "to"));
    copies::backup(&from, &to, matches.get_flag("force"), &mut tell)?;
    let bytes = std::fs::metadata(&to).map_err(StoreError::from)?.len();
    print(&format!("{} has {bytes} bytes and is whole", to.display()))
}

/// Runs `coffer restore`.
pub(super) fn restore(matches: &ArgMatches) -> Result<(), Error> {
    let (to, from) = (file("restore", matches)?, path(matches, "from"));
    let (replace, dry_run) = (matches.get_flag("force"), matches.get_flag("dry-run"));
    let mut printed = Printed::default();
    let mut report = |finding| printed.print(&finding);
    let copies::Restored { held, gap_limits } =
        copies::restore(&from, &to, replace, dry_run, &mut tell, &mut report)?;
    let would = if dry_run { "would be " } else { "" };
    let go = if dry_run { "would go" } else { "go" };
    for (mode, pool, index, id) in &held.indexes {
        let about = format!("{mode} {pool} addresses {go} on from index {index}");
        let limit = gap_limits.iter().find(|(of, _)| Some(of) == id.as_ref());
        print(&match limit {
            Some((id, limit)) => {
                format!("{about} of wallet {id}, which must scan with a gap limit of {limit}")
            }
            None => about,
        })?;
    }
    for (count, about) in [
        (held.retired, "pool addresses {}retired: import fresh ones"),
        (
            held.transfers,
            "payouts and refunds {}held: look whether each was sent, then decide",
        ),
        (
            held.servers,
            "server orders {}held: look whether each was made, then decide",
        ),
        (
            held.deliveries,
            "deliveries {}given up: they can be sent again",
        ),
    ] {
        print(&format!("{count} {}", about.replace("{}", would)))?;
    }
    let done = if dry_run { "can be" } else { "is" };
    print(&format!(
        "{} {done} restored from {}",
        to.display(),
        from.display()
    ))
}

/// Runs `coffer audit`.
pub(super) fn audit(matches: &ArgMatches) -> Result<(), Error> {
    let file = file("audit", matches)?;
    let mut printed = Printed::default();
    let counts = read_any(&file, &mut tell, |db| {
        audit::audit(db, &mut |finding| printed.print(&finding))
    })?;
    if printed.count > 0 {
        return Err(Error::Failed(format!("{} findings", printed.count)));
    }
    print(&format!(
        "nothing found in {} invoices, {} payments, {} deposits, {} payouts and refunds, {} ledger entries, {} events, \
         {} deliveries, {} addresses",
        counts.invoices,
        counts.payments,
        counts.deposits,
        counts.transfers,
        counts.entries,
        counts.events,
        counts.deliveries,
        counts.addresses
    ))
}

/// Prints findings as they come.
#[derive(Default)]
struct Printed {
    count: usize,
}

impl Printed {
    fn print(&mut self, finding: &Finding) {
        self.count = self.count.saturating_add(1);
        if self.count <= FINDINGS_PRINTED_MAX {
            // Where nobody reads any more, the exit code still says it.
            let _ = print(&finding.to_string());
        }
    }
}
