//! Backup and restore: copies that are proved right before they count.
//!
//! What always holds: a copy in which anything is wrong never gets its name, and a restored file neither pays nor
//! hands out anything a second time.

use super::operator::wallets;
use super::{Error, audit};
use crate::domain::history::LogHead;
use crate::domain::progress::ProgressSink;
use crate::domain::time::Time;
use crate::store::audit_log::NewEntry;
use crate::store::backup::{HeldCopy, NextIndex, copy};
use crate::store::history;
use std::path::Path;

/// Actor of the audit log for a restore.
const ACTOR: &str = "restore";

/// A restore that is wanted.
#[derive(Clone, Debug)]
pub struct Restoring<'a> {
    /// Copy to go back to.
    pub from: &'a Path,
    /// File to put it in the place of.
    pub to: &'a Path,
    /// `true` if a file that has the name is replaced, and a copy with findings restored.
    pub replace: bool,
    /// `true` if nothing is put in place.
    pub dry_run: bool,
    /// Indexes that a person names.
    pub next: &'a [NextIndex],
    /// Time of the restore.
    pub now: Time,
}

/// What was done to a file so that a server can go on from it.
#[derive(Debug)]
pub struct Restored {
    /// What was put on hold and moved.
    pub held: HeldCopy,
    /// The id of each wallet, and how many unused addresses in a row its owner's program has to look past from now on,
    /// with those that were passed over.
    pub gap_limits: Vec<(String, u32)>,
}

/// Copies a file, also one in use, and checks the copy, which stays of the file's version. Returns the heads of its history. `tell` hears how far it is, and
/// where the file cannot be read as it stands.
///
/// # Errors
/// A text for a person: the file is not there, the copy's name is taken and `replace` was not said, or the copy is not
/// whole.
pub fn backup(
    from: &Path,
    to: &Path,
    replace: bool,
    tell: &mut ProgressSink<'_>,
) -> Result<Vec<LogHead>, Error> {
    check_name(to, replace)?;
    let copy = copy(from, to, tell)?;
    copy.check_replaced()?;
    let mut findings = Vec::new();
    let heads = copy.read(|db| {
        let mut report = |finding| findings.push(finding);
        crate::store::audit::check_whole(db, &mut report, tell)?;
        Ok::<_, Error>(history::heads(db)?)
    })?;
    if let Some(first) = findings.first() {
        return Err(Error::Failed(format!(
            "the copy is damaged or incomplete: {first}"
        )));
    }
    copy.put_in_place(replace)?;
    Ok(heads)
}

/// Goes back to a copy: what it does not know of is not done a second time. With `dry_run` everything is tried, and
/// nothing put in place.
///
/// # Errors
/// A text for a person; [`audit::Finding`]s are told through `report` and refuse the copy unless `replace` was said.
pub fn restore(
    wanted: &Restoring<'_>,
    tell: &mut ProgressSink<'_>,
    report: &mut dyn FnMut(audit::Finding),
) -> Result<Restored, Error> {
    if !wanted.dry_run {
        check_name(wanted.to, wanted.replace)?;
    }
    let copy = copy(wanted.from, wanted.to, tell)?;
    copy.check_replaced()?;
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
    let (of_copy, replaced) = (copy.read(history::heads)?, copy.replaced_heads()?);
    let held = copy.hold(wanted.now, wanted.next, tell)?;
    let noted = NewEntry {
        actor: ACTOR,
        action: audit::history::RESTORE,
        account: None,
        object_id: None,
        detail: &audit::history::restore_detail(&of_copy, &replaced).to_string(),
    };
    copy.note(&noted, wanted.now)?;
    let gap_limits = copy.read(wallets::gap_limits)?;
    if !wanted.dry_run {
        copy.put_in_place(wanted.replace)?;
    }
    Ok(Restored { held, gap_limits })
}

/// Is the name free, or may what has it be replaced?
fn check_name(to: &Path, replace: bool) -> Result<(), Error> {
    if to.exists() && !replace {
        let message = format!("{} exists already; --force replaces it", to.display());
        return Err(Error::Failed(message));
    }
    Ok(())
}
