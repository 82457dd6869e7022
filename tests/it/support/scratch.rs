//! A temporary folder that is deleted after the test.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of folders created by this process so far.
static FOLDER_COUNT: AtomicU32 = AtomicU32::new(0);

/// An empty folder, deleted with its contents on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    #[track_caller]
    pub fn new() -> Scratch {
        loop {
            let (process, made) = (std::process::id(), FOLDER_COUNT.fetch_add(1, Ordering::SeqCst));
            let path = std::env::temp_dir().join(format!("coffer-it-{process}-{made}"));
            match std::fs::create_dir(&path) {
                // A killed process with the same process id may have left a folder with this name.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made.unwrap();
                    return Scratch(path);
                }
            }
        }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If the removal fails, the system cleans its temporary folder later.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}
