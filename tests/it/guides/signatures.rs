//! The programs of the guide *Events and webhooks* check the signature of a real delivery, each in its own language.

use super::{code_blocks, guide_path};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{Shop, TEST, tools};
use coffer::domain::signature::service_signature;
use serde_json::json;
use std::process::Command;

const SKIPPED_TEST_NAME: &str = "the checkers of signatures";
/// Exit code of a checker for a wrong signature. A program that fails has another one.
const REFUSED: i32 = 3;

/// A language of the guide.
struct Language {
    /// Text behind the fence of the block.
    info: &'static str,
    file: &'static str,
    /// Command that runs the file, or that compiles it to `checker` in the same folder.
    command: &'static [&'static str],
    is_compiled: bool,
    /// Code before and behind the block. It checks the arguments: header, secret, and the file of the body.
    frame: (&'static str, &'static str),
}

const LANGUAGES: &[Language] = &[
    Language {
        info: "js",
        file: "check.mjs",
        command: &["node"],
        is_compiled: false,
        frame: (
            "import { readFileSync } from 'node:fs';\n",
            "const [header, secret, body] = process.argv.slice(2);
            process.exit(isSigned(secret, header, readFileSync(body)) ? 0 : 3);",
        ),
    },
    Language {
        info: "python",
        file: "check.py",
        command: &["python3"],
        is_compiled: false,
        frame: (
            "import sys\n",
            "\nsys.exit(0 if is_signed(sys.argv[2], sys.argv[1], open(sys.argv[3], 'rb').read()) else 3)",
        ),
    },
    Language {
        info: "php",
        file: "check.php",
        command: &["php"],
        is_compiled: false,
        frame: (
            "<?php\n",
            "\nexit(is_signed($argv[2], $argv[1], file_get_contents($argv[3])) ? 0 : 3);",
        ),
    },
    Language {
        info: "ruby",
        file: "check.rb",
        command: &["ruby"],
        is_compiled: false,
        frame: ("", "\nexit signed?(ARGV[1], ARGV[0], File.binread(ARGV[2])) ? 0 : 3"),
    },
    Language {
        info: "go",
        file: "check.go",
        command: &["go", "build", "-o", "checker"],
        is_compiled: true,
        frame: (
            "package main\nimport (\"crypto/hmac\"; \"crypto/sha256\"; \"encoding/hex\"; \"os\"; \"strconv\"; \"strings\"; \"time\")\n",
            "\nfunc main() {
                body, _ := os.ReadFile(os.Args[3])
                if !isSigned(os.Args[2], os.Args[1], body) { os.Exit(3) }
            }",
        ),
    },
    Language {
        info: "sh openssl",
        file: "check.sh",
        command: &["sh"],
        is_compiled: false,
        frame: ("header=$1 secret=$2\ncheck() (\n", "\n)\nif check; then exit 0; else exit 3; fi"),
    },
];

/// Writes the checker of a language to the folder. Returns the command that runs it, or `None` if the language is not
/// installed.
#[track_caller]
fn prepare(language: &Language, block: &str, scratch: &Scratch) -> Option<Vec<String>> {
    let (before, behind) = language.frame;
    let file = scratch.path(language.file);
    std::fs::write(&file, format!("{before}{block}\n{behind}\n")).unwrap();
    let mut command: Vec<String> = language.command.iter().map(|&part| part.to_owned()).collect();
    command.push(path_text(&file).to_owned());
    if !language.is_compiled {
        return Some(command);
    }
    let mut compiler = Command::new(&command[0]);
    compiler.args(&command[1..]).current_dir(scratch.path(""));
    let output = tools::run_tool(&mut compiler, SKIPPED_TEST_NAME)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(vec![path_text(&scratch.path("checker")).to_owned()])
}

#[test]
fn checkers_of_the_guide_verify_signatures_in_every_language() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let state = shop.update_account(json!({ "endpoints": [{ "url": inbox }] })).json();
    let secret = state["account"]["endpoints"][0]["secret"].as_str().unwrap();
    let order = json!({ "amount": "20.00", "currency": "EUR", "description": "Zwölf Äpfel" });
    shop.post("/v1/invoices", Some(TEST), order).expect(201);
    let messages = shop.get("/sandbox/inbox/shop?wait=10s", None).json();
    let message = &messages["data"][0];
    let header = message["headers"]["x-service-signature"].as_str().unwrap();
    let body = message["body"].as_str().unwrap();
    let (at, signed) = header.split_once(',').unwrap();
    let zeros = "0".repeat(64);
    let beside_another = header.replace(",v1=", &format!(",v1={zeros},v1="));
    let now: i64 = at.strip_prefix("t=").unwrap().parse().unwrap();
    let signed_at = |seconds| service_signature(seconds, body.as_bytes(), &[secret]);
    let cases = [
        (header, secret, body.to_owned(), true),
        (&*beside_another, secret, body.to_owned(), true),
        (header, "another", body.to_owned(), false),
        (header, secret, body.replace("20.00", "2.00"), false),
        (&*signed_at(now - 400), secret, body.to_owned(), false),
        (&*signed_at(now - 200), secret, body.to_owned(), true),
        (&*signed_at(now + 400), secret, body.to_owned(), false),
        (&*format!("{at},v1={zeros}"), secret, body.to_owned(), false),
        (&*format!("{at},v1={}", "Ä".repeat(64)), secret, body.to_owned(), false),
        (signed, secret, body.to_owned(), false),
        ("t=1,v1=zz", secret, body.to_owned(), false),
        ("t=,v1=", secret, body.to_owned(), false),
        ("nothing", secret, body.to_owned(), false),
        ("", secret, body.to_owned(), false),
    ];
    let guide = std::fs::read_to_string(guide_path("webhooks.md")).unwrap();
    let blocks = code_blocks(&guide);
    for language in LANGUAGES {
        let block = blocks.iter().find(|block| block.info == language.info);
        let Some(block) = block else { unreachable!("the guide has {}", language.info) };
        let scratch = Scratch::new();
        let Some(command) = prepare(language, &block.text, &scratch) else { continue };
        for (header, secret, body, is_signed) in &cases {
            std::fs::write(scratch.path("body.json"), body).unwrap();
            let mut checker = Command::new(&command[0]);
            checker.args(&command[1..]).args([*header, *secret]);
            checker.arg(scratch.path("body.json")).current_dir(scratch.path(""));
            let Some(output) = tools::run_tool(&mut checker, SKIPPED_TEST_NAME) else { break };
            let code = if *is_signed { 0 } else { REFUSED };
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{} {header}: {said}", language.info);
        }
    }
}
