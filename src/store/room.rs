//! Free space on the disk, and the error message of a full disk.

use super::StoreError;
use super::health::WriteRefusal;
use rustix::fs::statvfs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the number of free bytes on the disk of a file or folder. `None` if the system does not tell.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let found = statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Returns the error of a full disk. The message names the file and the disk, and says how many bytes of `needed` are
/// missing. The `written` bytes count as free, because the caller will free them.
pub(super) fn disk_full_error(path: &Path, needed: u64, written: u64) -> StoreError {
    let folder = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder.parent().unwrap_or(&folder);
    let disk = mount_point(folder);
    let free = free_bytes(folder).map(|free| free.saturating_add(written));
    let bytes = match free {
        Some(free) if free < needed => {
            format!("{free} are free, {} are missing", needed.saturating_sub(free))
        }
        Some(free) => format!("{free} are free"),
        None => "how many are free is not known".to_owned(),
    };
    StoreError::Failed(format!(
        "{}: the disk is full: up to {needed} bytes are needed at {}, {bytes}. Make room, then try again",
        path.display(),
        disk.display()
    ))
}

/// Replaces an error of a full disk by [`disk_full_error`]. The needed size is the size of the file `like`. The file
/// `begun` will be removed, so its bytes count as free.
pub(super) fn explain_disk_full(
    error: StoreError,
    path: &Path,
    like: &Path,
    begun: &Path,
) -> StoreError {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    match error {
        StoreError::Refusing(WriteRefusal::DiskFull) => {
            disk_full_error(path, bytes(like), bytes(begun))
        }
        error => error,
    }
}

/// Returns the mount point of a folder: its highest ancestor on the same device.
fn mount_point(folder: &Path) -> PathBuf {
    let device = |folder: &Path| std::fs::metadata(folder).ok().map(|found| found.dev());
    let here = device(folder);
    let same = folder.ancestors().take_while(|above| device(above) == here);
    same.last().unwrap_or(folder).to_owned()
}
