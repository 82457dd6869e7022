//! The limit on open files, which also limits connections.
//!
//! Invariant: the limit is only raised, and never above the system's maximum.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Maximum number of open files that are not connections: the database, webhook requests, pipes of programs.
const OTHER_FILES_MAX: u64 = 1024;

/// Returns a message if the system allows too few open files for this many connections.
#[cfg(feature = "cli")]
pub(crate) fn describe_open_file_shortage(connections: usize) -> Option<String> {
    let most = getrlimit(Resource::Nofile).maximum?;
    let fitting = fitting_connections(connections, most);
    (fitting < connections).then(|| {
        format!(
            "at most {most} files may be open: room for {fitting} connections, not for {connections}"
        )
    })
}

/// Raises this process's limit on open files for this many connections. Returns the number of connections that fit.
pub(super) fn raise_open_file_limit(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = open_files_needed(connections);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let mut open = limit.current.unwrap_or(u64::MAX);
    if open < wanted {
        let raised = Rlimit { current: Some(wanted.min(most)), ..limit };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => open = wanted.min(most),
            Err(error) => {
                log::warn!("open file limit not raised: limit={open} error={error}")
            }
        }
    }
    let fitting = fitting_connections(connections, open);
    if fitting < connections {
        log::warn!(
            "connections limited by open files: open_files={open} connections={fitting} configured={connections}"
        );
    }
    fitting
}

fn open_files_needed(connections: usize) -> u64 {
    u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES_MAX)
}

/// Returns how many of these connections fit into a limit of `open` files. If the limit is very low, connections get
/// half of the files.
fn fitting_connections(connections: usize, open: u64) -> usize {
    let room = open.saturating_sub(OTHER_FILES_MAX).max(open / 2).max(1);
    usize::try_from(room).map_or(connections, |room| connections.min(room))
}

#[cfg(test)]
mod tests {
    use super::fitting_connections;

    #[test]
    fn connections_leave_room_for_other_files() {
        for (open, expected) in
            [(u64::MAX, 4096), (5120, 4096), (5119, 4095), (1024, 512), (600, 300), (1, 1)]
        {
            assert_eq!(fitting_connections(4096, open), expected, "{open}");
        }
    }
}
