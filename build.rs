//! What is done when the program is built: the files that pages load are packed, and the linker is told in which order
//! the functions of the program stand.
//!
//! What always holds: a file of `src/web/assets` has another path as soon as a byte of any of them is different, so that
//! a browser may keep it for ever. The linker's order changes where a function is and never what it does; where it is
//! not known that the linker understands such a script, the order is the linker's own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::{Error, Write as _};
use std::path::Path;
use std::{env, fs};

/// The functions that a server runs until it is idle; made by `.ci/start_order.py`.
const START: &str = "src/main.ld";

/// The files that pages load, in folders.
const ASSETS: &str = "src/web/assets";

/// What is written into every page.
const STYLE: &str = "src/web/style.css";

/// Digits of the version of all files together.
const VERSION_DIGITS: usize = 16;

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    link_order();
    pack()
}

fn link_order() {
    println!("cargo::rerun-if-changed={START}");
    let is = |name: &str, expected: &str| env::var(name).is_ok_and(|value| value == expected);
    let is_usual = is("TARGET", "x86_64-unknown-linux-gnu") && is("PROFILE", "release");
    // Who names a linker, or passes flags of their own, may not have the one that comes with the compiler.
    let is_own = env::var_os("RUSTC_LINKER").is_none() && is("CARGO_ENCODED_RUSTFLAGS", "");
    if is_usual && is_own {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/{START}");
    }
}

/// Writes the table of the files that pages load, each as it is and compressed, to `OUT_DIR/assets.rs`.
fn pack() -> Result<(), Error> {
    println!("cargo::rerun-if-changed={ASSETS}");
    println!("cargo::rerun-if-changed={STYLE}");
    let variable = |name: &str| env::var(name).map_err(Error::other);
    let (root, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    let (root, out) = (Path::new(&root), Path::new(&out));
    let mut version = Sha256::new();
    let mut table = String::new();
    for folder in names(&root.join(ASSETS))? {
        for file in names(&root.join(ASSETS).join(&folder))? {
            let path = root.join(ASSETS).join(&folder).join(&file);
            let bytes = fs::read(&path)?;
            for part in [folder.as_bytes(), file.as_bytes(), &bytes] {
                version.update(part.len().to_le_bytes());
                version.update(part);
            }
            let packed = out.join(format!("{folder}-{file}.gz"));
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&bytes)?;
            fs::write(&packed, encoder.finish()?)?;
            writeln!(
                table,
                "Asset {{ folder: {folder:?}, name: {file:?}, bytes: include_bytes!({path:?}), gzip: include_bytes!({packed:?}) }},"
            )
            .map_err(Error::other)?;
        }
    }
    let version = hex(&version.finalize());
    let version = version.get(..VERSION_DIGITS).unwrap_or_default();
    let count = table.lines().count();
    let style = STANDARD.encode(Sha256::digest(fs::read(root.join(STYLE))?));
    let text = format!(
        "/// What all of them are together.\npub const VERSION: &str = {version:?};\n\
         /// What a policy names the style of every page by.\npub const STYLE_HASH: &str = \"sha256-{style}\";\n\
         /// Every file that pages load.\npub static ASSETS: [Asset; {count}] = [\n{table}];\n"
    );
    fs::write(out.join("assets.rs"), text)
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|name| Error::other(format!("{name:?} is no UTF-8")))?);
    }
    names.sort();
    Ok(names)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
