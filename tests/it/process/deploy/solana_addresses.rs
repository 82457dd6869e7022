//! Offline derivation of Solana addresses: the addresses equal those that wallets derive, and the seed phrase is not
//! stored.

use super::deploy_example_path;
use crate::support::command::coffer_output_with_input;
use crate::support::scratch::Scratch;
use crate::support::tools;
use std::io::Write;
use std::process::{Command, Output, Stdio};

const SKIPPED_TEST_NAME: &str = "deriving addresses of Solana";
const PHRASE: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
/// First three addresses of the seed phrase, as both Phantom and 15 lines of code with `@solana/web3.js` 1.99 derive
/// them.
const FIRST_ADDRESSES: [&str; 3] = [
    "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk",
    "Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb",
    "7WktogJEd2wQ9eH2oWusmcoFTgeYi6rS632UviTBJ2jm",
];
/// Third address of the phrase with the passphrase TREZOR.
const PASSPHRASE_ADDRESS: &str = "3Xn4TRPPnqg4mRiMwnU55v4uwFUKzBMfgs6GWJ2eD4SK";

/// Runs the derivation script with this standard input. Returns `None` if slip10 is not installed.
#[track_caller]
fn derive_addresses(arguments: &[&str], input: &str) -> Option<Output> {
    let program = "import slip10, sys; print(sys.executable)";
    let python = tools::tool_output("python3", &["-c", program], SKIPPED_TEST_NAME)?;
    let mut command = Command::new(python);
    let command = command.arg(deploy_example_path("solana-addresses.py")).args(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

#[test]
fn derived_addresses_match_wallets_and_are_imported() {
    let Some(output) = derive_addresses(&["--count", "3"], &format!("{PHRASE}\n")) else {
        return;
    };
    let pool = String::from_utf8(output.stdout).unwrap();
    assert_eq!(pool.lines().collect::<Vec<_>>(), FIRST_ADDRESSES);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("abandon"), "{told}");
    let scratch = Scratch::new();
    let (file, import) = (scratch.path("shop.db"), ["pool", "import", "solana", "-"]);
    let imported = coffer_output_with_input(&file, &import, &pool);
    assert_eq!(imported.json_lines()[0]["added"], 3);
    let arguments = ["--count", "1", "--from", "2", "--passphrase"];
    let output = derive_addresses(&arguments, &format!("{PHRASE}\nTREZOR\n")).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), PASSPHRASE_ADDRESS);
}

#[test]
fn invalid_phrase_derives_nothing() {
    for (phrase, problem) in [
        ("abandon about", "this one has 2"),
        ("", "this one has 0"),
        (&PHRASE.replace("about", "abandon"), "checksum"),
    ] {
        let Some(output) = derive_addresses(&["--count", "1"], &format!("{phrase}\n")) else {
            return;
        };
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(problem) && !told.contains("abandon"), "{told}");
        // Without the word list, the script cannot check the words of the phrase, and its output says so.
        let is_told = told.starts_with("not checked: the words");
        assert!(is_told || output.stdout.is_empty() && !output.status.success(), "{told}");
    }
}
