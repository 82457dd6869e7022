//! The files of `examples/deploy`, used with real nodes, a real proxy, real disks and real machines.

mod guide;
mod litestream;
mod provisioner;
mod proxies;
mod services;
pub mod signer;
mod solana_addresses;

use std::path::{Path, PathBuf};

/// Returns the path of a file in `examples/deploy`.
fn deploy_example_path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/deploy");
    folder.join(name)
}

/// Returns the text of a file in `examples/deploy` with replacements, each of which must match.
#[track_caller]
fn example_with_changes(name: &str, changes: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(deploy_example_path(name)).unwrap();
    changes.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old} is not in {name}");
        text.replace(old, new)
    })
}

/// Returns the `sh` blocks of `examples/deploy/README.md`, each with its label. The label is the text after `sh`, and
/// names a terminal or a recovery case.
fn guide_blocks() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(deploy_example_path("README.md")).unwrap();
    let blocks = page.split("\n```sh").skip(1).map(|rest| {
        let (kind, rest) = rest.split_once('\n').unwrap();
        let block = rest.split("```").next().unwrap();
        (kind.trim().to_owned(), block.to_owned())
    });
    blocks.collect()
}

/// Returns a `PATH` that starts with the folder of the tested binary.
fn path_variable() -> String {
    let coffer = Path::new(env!("CARGO_BIN_EXE_coffer")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", coffer.display())
}
