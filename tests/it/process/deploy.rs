//! The commands of `examples/deploy`, with what they are for: a real Ethereum node, real disks, real machines.

mod provisioner;
mod signer;

use std::path::{Path, PathBuf};

/// A file of the example.
fn example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/deploy");
    folder.join(name)
}
