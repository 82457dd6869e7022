//! What `examples/deploy` has, with what it is for: real nodes, a real proxy, real disks, real machines.

mod nginx;
mod provisioner;
mod signer;

use std::path::{Path, PathBuf};

/// A file of the example.
fn example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/deploy");
    folder.join(name)
}

/// The text of a file of the example, with these changes, each of which there is something for.
#[track_caller]
fn changed(name: &str, changes: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(example(name)).unwrap();
    changes.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old} is not in {name}");
        text.replace(old, new)
    })
}
