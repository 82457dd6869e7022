//! Backup and restore of the file.
//!
//! Invariant: a copy gets its final name only after its checks pass. A server with a restored file sends no payment
//! twice and hands out no address twice.

use super::{Error, audit, wallets};
use crate::domain::chain::Chain;
use crate::domain::{LogHead, ProgressSink, Time};
use crate::store::audit_log::NewAuditEntry;
use crate::store::backup::{BackupCopy, CopyChanges, NextIndex, copy};
use crate::store::private_copy::{PrivateCopy, copy_beside};
use crate::store::{StoreError, chain_nodes, history, refuse_unreleased_file};
use std::fs::File;
use std::path::Path;

const RESTORE_ACTOR: &str = "restore";

/// Parameters of a restore.
#[derive(Clone, Debug)]
pub struct RestoreRequest<'a> {
    /// Path of the copy to restore.
    pub from: &'a Path,
    /// The copy, if root has opened it because this user may not. Its bytes are copied before they are read.
    pub opened: Option<&'a File>,
    /// Path of the file to replace.
    pub to: &'a Path,
    /// `true` to replace an existing file, and to restore a copy in which the audit finds errors.
    pub replace: bool,
    /// `true` to run all steps without replacing the file.
    pub dry_run: bool,
    /// Public url of the server that goes on from the file. `None` if it is not known.
    pub public_url: Option<&'a str>,
    /// Next indexes of wallets, given by the operator.
    pub next: &'a [NextIndex],
    /// Time of the restore.
    pub now: Time,
}

/// Changes that a restore made to the data, so that a server can continue with the restored file.
#[derive(Debug)]
pub struct RestoreOutcome {
    /// Changes that the restore made to the copy, for example held transfers and new next indexes of wallets.
    pub copy_changes: CopyChanges,
    /// Id of each wallet and its new gap limit.
    ///
    /// The gap limit is the number of consecutive unused addresses, including skipped addresses, that the owner's
    /// wallet program must scan.
    pub gap_limits: Vec<(String, u32)>,
}

/// Facts about a copy.
#[derive(Debug)]
pub struct BackupOutcome {
    /// Newest hash-chain links of the ledger and the audit log.
    pub heads: Vec<LogHead>,
    /// Chains whose node is in the copy, with its login.
    pub nodes: Vec<Chain>,
    /// Size of the copy, in bytes.
    pub bytes: u64,
}

/// Copies a file, which may be in use, and checks the copy. The copy keeps the schema version of the file.
///
/// `tell` receives the progress, and notes about parts that cannot be read.
///
/// # Errors
///
/// A message for the operator if the file does not exist, the copy is damaged, or the copy's name is taken without
/// `replace`.
pub fn backup(
    from: &Path,
    to: &Path,
    replace: bool,
    tell: &mut ProgressSink<'_>,
) -> Result<BackupOutcome, Error> {
    check_paths(from, to, replace)?;
    let copy = copy(from, to, tell)?;
    copy.check_may_replace()?;
    let (heads, nodes) = check_copy(&copy, tell)?;
    copy.put_in_place(replace)?;
    let bytes = std::fs::metadata(to).map_err(StoreError::from)?.len();
    Ok(BackupOutcome { heads, nodes, bytes })
}

/// Copies a file like [`backup`] into an empty file of root's. `to` is the path of that file, for messages.
///
/// # Errors
///
/// Those of [`backup`], and the file cannot be written.
pub fn backup_into(
    from: &Path,
    file: &File,
    to: &Path,
    tell: &mut ProgressSink<'_>,
) -> Result<BackupOutcome, Error> {
    let copy = copy_beside(from, tell)?;
    let (heads, nodes) = check_copy(&copy, tell)?;
    let bytes = copy.write_into(file, to, tell)?;
    Ok(BackupOutcome { heads, nodes, bytes })
}

/// Checks a copy. Returns the heads of its logs, and the chains whose node is in it.
fn check_copy(
    copy: &BackupCopy,
    tell: &mut ProgressSink<'_>,
) -> Result<(Vec<LogHead>, Vec<Chain>), Error> {
    let mut findings = Vec::new();
    let found = copy.read(|db| {
        let mut report = |finding| findings.push(finding);
        crate::store::audit::check_integrity(db, &mut report, tell)?;
        Ok::<_, Error>((history::log_heads(db)?, chain_nodes::chains_with_url(db)?))
    })?;
    match findings.first() {
        Some(first) => Err(Error::Failed(format!("the copy is damaged or incomplete: {first}"))),
        None => Ok(found),
    }
}

/// Restores a copy. Payments that were sent after the copy was made are not sent again.
///
/// With `dry_run`, runs all steps but does not replace the file.
///
/// # Errors
///
/// A message for the operator. Each [`audit::AuditFinding`] goes to `report`. A copy with findings is refused unless
/// `replace` is set.
pub fn restore(
    wanted: &RestoreRequest<'_>,
    tell: &mut ProgressSink<'_>,
    report: &mut dyn FnMut(audit::AuditFinding),
) -> Result<RestoreOutcome, Error> {
    check_paths(wanted.from, wanted.to, wanted.replace || wanted.dry_run)?;
    let private = match wanted.opened {
        Some(file) => Some(PrivateCopy::of_file(file, wanted.from, wanted.to, tell)?),
        None => None,
    };
    let copy = match &private {
        // A message names the file that the operator knows.
        Some(private) => copy(private.path(), wanted.to, tell).map_err(|error| {
            let [private, from] =
                [private.path(), wanted.from].map(|path| path.display().to_string());
            StoreError::Failed(error.to_string().replace(&private, &from))
        })?,
        None => copy(wanted.from, wanted.to, tell)?,
    };
    copy.check_may_replace()?;
    copy.bring_up_to_date(tell)?;
    let mut findings = 0_usize;
    copy.read(|db| {
        let mut report = |finding| {
            findings = findings.saturating_add(1);
            report(finding);
        };
        audit::audit(db, &[], &mut report, tell)?;
        audit::check_addresses(db, &mut report, tell)
    })?;
    if findings > 0 && !wanted.replace {
        let message = format!("{findings} findings in the copy; --force restores it all the same");
        return Err(Error::Failed(message));
    }
    let (of_copy, replaced) = (copy.read(history::log_heads)?, copy.heads_of_replaced_logs()?);
    let held = copy.prepare_for_restore(wanted.now, wanted.next, wanted.public_url, tell)?;
    let noted = NewAuditEntry {
        actor: RESTORE_ACTOR,
        action: audit::history::RESTORE_ACTION,
        account: None,
        object_id: None,
        detail: &audit::history::restore_audit_detail(&of_copy, &replaced).to_string(),
    };
    copy.add_audit_entry(&noted, &of_copy, &replaced, wanted.now)?;
    let gap_limits = copy.read(wallets::gap_limits)?;
    if !wanted.dry_run {
        copy.put_in_place(wanted.replace)?;
    }
    Ok(RestoreOutcome { copy_changes: held, gap_limits })
}

/// Returns an error if one of the files is from before the first release, or if the destination exists and must not
/// be replaced.
fn check_paths(from: &Path, to: &Path, replace: bool) -> Result<(), Error> {
    refuse_unreleased_file(from)?;
    refuse_unreleased_file(to)?;
    if to.exists() && !replace {
        let message = format!("{} exists already; --force replaces it", to.display());
        return Err(Error::Failed(message));
    }
    Ok(())
}
