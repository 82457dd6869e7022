//! Looks how a database is mounted: whether it is mounted without its folder, and whether its disk is of this machine.
//!
//! A container engine can mount one file (`-v ./coffer.db:/data/coffer.db`). SQLite then creates the log beside the file
//! in the container, and the log is removed with the container.

use super::paths::{resolve_links, with_suffix};
use super::{StoreError, doctor::FileProblem};
use rustix::fs::statfs;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Mounts of this process (proc_pid_mountinfo(5)).
const MOUNTS: &str = "/proc/self/mountinfo";
/// Position of the mount point among the fields of a line.
const MOUNT_POINT_FIELD: usize = 4;
/// Suffixes of the files that must not be mounted without their folder.
const TOGETHER: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Types of file systems that other machines or programs serve, as statfs(2) names them. From `linux/magic.h`:
/// `NFS_SUPER_MAGIC`, `SMB_SUPER_MAGIC`, `CIFS_SUPER_MAGIC`, `SMB2_SUPER_MAGIC`, `V9FS_MAGIC`, `FUSE_SUPER_MAGIC`.
const SERVED: [(u32, &str); 6] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
];

/// Fails if the database, or a file of SQLite beside it, is mounted without its folder.
pub(super) fn require_mounted_folder(database: &Path) -> Result<(), StoreError> {
    match lone_mount_problem(database) {
        None => Ok(()),
        Some(FileProblem { about, mend }) => {
            Err(StoreError::Failed(format!("{about}. To mend it, {mend}")))
        }
    }
}

/// Returns the problem of a database that is mounted without its folder.
pub fn lone_mount_problem(database: &Path) -> Option<FileProblem> {
    let mounts = std::fs::read(MOUNTS).ok()?;
    let database = resolve_links(database);
    let names = TOGETHER.map(|suffix| with_suffix(&database, suffix));
    let file = names.into_iter().find(|name| is_mount_point(&mounts, name))?;
    let name = database.file_name().unwrap_or_default().display();
    let folder = database.parent().filter(|folder| folder.parent().is_some());
    let (folder, more) = match folder {
        Some(folder) => (folder, String::new()),
        None => (Path::new("/data"), format!(" and `--file /data/{name}`")),
    };
    Some(FileProblem {
        about: format!(
            "{} is mounted without its folder: what SQLite writes beside it stays in the container and is lost with it, \
             with payments that were acknowledged",
            file.display()
        ),
        mend: format!(
            "put {name} into a folder of its own on the host, for example ./coffer, and mount this folder in the place of \
             the file: `-v ./coffer:{}`{more}",
            folder.display()
        ),
    })
}

/// Returns `true` if a file is a mount point. `mounts` is the content of [`MOUNTS`].
fn is_mount_point(mounts: &[u8], file: &Path) -> bool {
    let lines = mounts.split(|byte| *byte == b'\n');
    let mut points = lines.filter_map(|line| {
        let field = line.split(|byte| *byte == b' ').nth(MOUNT_POINT_FIELD)?;
        Some(unescape(field))
    });
    // A later mount hides an earlier one below it.
    points.rfind(|point| file.starts_with(point)).is_some_and(|point| point == file)
}

/// Replaces the octal escapes of a path, for example `\040` for a space.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// Returns the problem of a database on a file system that another machine or program serves.
pub fn served_disk_problem(database: &Path) -> Option<FileProblem> {
    let database = resolve_links(database);
    let folder = database.parent().filter(|folder| !folder.as_os_str().as_bytes().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let kind = served_kind(u32::try_from(statfs(folder).ok()?.f_type).ok()?)?;
    Some(FileProblem {
        about: format!(
            "{} is on a file system of another machine or program ({kind}): locks may not keep a second server out, the \
             memory that SQLite shares by the -shm file may differ, and a power failure there may take back acknowledged \
             writes",
            folder.display()
        ),
        mend: "put the file on a local disk, and copies of it elsewhere".to_owned(),
    })
}

/// Returns the name of a type of file systems that another machine or program serves.
fn served_kind(type_: u32) -> Option<&'static str> {
    SERVED.iter().find(|(served, _)| *served == type_).map(|(_, name)| *name)
}

/// Logs a warning if another machine or program serves the file system.
pub(super) fn warn_of_served_disk(database: &Path) {
    if let Some(FileProblem { about, .. }) = served_disk_problem(database) {
        log::warn!("file not on a local disk: problem={about:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::{is_mount_point, served_kind, unescape};
    use std::path::Path;

    /// Mounts of a container. In the last lines, a folder is mounted over a folder in which a file is mounted.
    const MOUNTS: &[u8] = b"\
        21 1 0:20 / / rw,relatime - overlay overlay rw\n\
        22 21 0:21 / /proc rw - proc proc rw\n\
        30 21 254:0 /home/me/coffer.db /data/coffer.db rw,relatime - ext4 /dev/vda rw\n\
        31 21 254:0 /home/me/x /with\\040a\\011space\\134/coffer.db rw shared:1 - ext4 /dev/vda rw\n\
        32 21 0:40 / /volume rw - tmpfs tmpfs rw\n\
        33 21 254:0 /a /hidden/coffer.db rw - ext4 /dev/vda rw\n\
        34 21 0:41 / /hidden rw - tmpfs tmpfs rw\n";

    #[test]
    fn only_a_file_that_is_mounted_itself_is_a_mount_point() {
        for (file, expected) in [
            ("/data/coffer.db", true),
            ("/data/coffer.db-wal", false),
            ("/data/other.db", false),
            ("/with a\tspace\\/coffer.db", true),
            ("/volume/coffer.db", false),
            ("/hidden/coffer.db", false),
            ("/coffer.db", false),
        ] {
            assert_eq!(is_mount_point(MOUNTS, Path::new(file)), expected, "{file}");
        }
        assert!(!is_mount_point(b"", Path::new("/data/coffer.db")));
        assert!(!is_mount_point(b"1 2 3\n\n", Path::new("/data/coffer.db")));
    }

    #[test]
    fn octal_escapes_are_replaced() {
        for (escaped, path) in [
            ("/a\\040b", "/a b"),
            ("/a\\043\\012", "/a#\n"),
            ("/a\\04", "/a\\04"),
            ("/a\\999", "/a\\999"),
            ("/a\\777", "/a\\777"),
            ("/a\\", "/a\\"),
        ] {
            assert_eq!(unescape(escaped.as_bytes()), Path::new(path), "{escaped}");
        }
    }

    #[test]
    fn file_systems_of_other_machines_are_recognised() {
        let numbers = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546];
        let names = ["NFS", "SMB", "SMB", "SMB", "9p", "FUSE"];
        assert_eq!(numbers.map(served_kind), names.map(Some));
        // ext4, tmpfs, overlayfs, btrfs and XFS.
        for local in [0xef53, 0x0102_1994, 0x794c_7630, 0x9123_683e, 0x5846_5342] {
            assert_eq!(served_kind(local), None, "{local:x}");
        }
    }
}
