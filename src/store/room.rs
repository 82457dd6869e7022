//! Room on a disk: the message of one that is full.

use super::StoreError;
use super::health::Refusing;
use rustix::fs::statvfs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the error of a full disk: file, disk, and how many of `needed` bytes are missing. `written` bytes will be
/// freed.
pub(super) fn missing(path: &Path, needed: u64, written: u64) -> StoreError {
    let folder = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder.parent().unwrap_or(&folder);
    let disk = mount_point(folder);
    let free = statvfs(folder).map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    let free = free.map(|free| free.saturating_add(written));
    let bytes = match free {
        Ok(free) if free < needed => format!(
            "{free} are free, {} are missing",
            needed.saturating_sub(free)
        ),
        Ok(free) => format!("{free} are free"),
        Err(_) => "how many are free is not known".to_owned(),
    };
    StoreError::Failed(format!(
        "{}: the disk is full: up to {needed} bytes are needed at {}, {bytes}. Make room, then try again",
        path.display(),
        disk.display()
    ))
}

/// Replaces the error of a full disk by [`missing`]. The file `like` has the needed size, and the file `begun`, which
/// will be removed, has the written bytes.
pub(super) fn named(error: StoreError, path: &Path, like: &Path, begun: &Path) -> StoreError {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    match error {
        StoreError::Refusing(Refusing::DiskFull) => missing(path, bytes(like), bytes(begun)),
        error => error,
    }
}

/// Returns the highest folder on the same disk.
fn mount_point(folder: &Path) -> PathBuf {
    let device = |folder: &Path| std::fs::metadata(folder).ok().map(|found| found.dev());
    let here = device(folder);
    let same = folder.ancestors().take_while(|above| device(above) == here);
    same.last().unwrap_or(folder).to_owned()
}
