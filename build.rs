//! Tells the linker in which order the functions of the program stand.
//!
//! What always holds: it changes where a function is and never what it does. Where it is not known that the linker
//! understands such a script, the order is the linker's own.

use std::env;

/// The functions that a server runs until it is idle; made by `.ci/start_order.py`.
const START: &str = "src/main.ld";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
