//! A folder of a test's own, gone when the test is.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many there have been in this process.
static MADE: AtomicU32 = AtomicU32::new(0);

/// An empty folder; dropping it removes it and what is in it.
pub struct Scratch(PathBuf);

impl Scratch {
    #[track_caller]
    pub fn new() -> Scratch {
        loop {
            let (process, made) = (std::process::id(), MADE.fetch_add(1, Ordering::SeqCst));
            let path = std::env::temp_dir().join(format!("coffer-it-{process}-{made}"));
            match std::fs::create_dir(&path) {
                // Numbers of processes come again, and one that was killed has left its folders.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made.unwrap();
                    return Scratch(path);
                }
            }
        }
    }

    /// A copy, under this name, of the file that an older version made: the one in the repository is never opened, which
    /// would leave files beside it.
    #[track_caller]
    pub fn old_file(&self, version: &str, name: &str) -> PathBuf {
        let files = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/files");
        let file = self.path(name);
        std::fs::copy(format!("{files}/{version}.db"), &file).unwrap();
        file
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the system's folder for temporary files is removed by the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
