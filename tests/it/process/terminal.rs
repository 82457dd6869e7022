//! Output on a terminal contains progress and colors. Output to a pipe contains neither.

use crate::support::database::execute_sql;
use crate::support::pty::Terminal;
use crate::support::receiver::Receiver;
use crate::support::sandbox_file::start_on_file;
use crate::support::scratch::{Scratch, path_text};
use crate::support::{TEST, agent, send};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const COFFER: &str = env!("CARGO_BIN_EXE_coffer");
/// Number of invoices in the file.
const INVOICE_COUNT: usize = 12;
/// Start of every color or cursor sequence.
const ESCAPE: char = '\x1b';

/// Creates the file of a stopped sandbox with some invoices.
fn create_shop_file(scratch: &Scratch) -> PathBuf {
    let file = scratch.path("shop.db");
    let (mut process, url) = start_on_file(&file);
    for _ in 0..INVOICE_COUNT {
        let body = r#"{"amount": "20.00", "currency": "EUR", "asset": "BTC"}"#;
        let url = format!("{url}/v1/invoices");
        send(&agent(), "POST", &url, &[("X-API-Key", TEST)], body).expect(201);
    }
    assert!(process.close_input_and_wait());
    file
}

/// Changes an amount in the file, so that the audit has a finding.
fn damage_invoice(file: &Path) {
    execute_sql(file, "update invoices set amount_received = '7' where seq = 1");
}

/// Runs a command whose output is a pipe.
pub fn run_piped(args: &[&str]) -> Output {
    let mut coffer = Command::new(COFFER);
    // No setting makes colors appear in a pipe.
    coffer.env("TERM", "xterm").env("CLICOLOR_FORCE", "1").env("FORCE_COLOR", "1");
    coffer.args(args).output().unwrap()
}

#[test]
fn terminal_shows_progress_and_keeps_the_result() {
    let scratch = Scratch::new();
    let file = create_shop_file(&scratch);
    let (file, copy) = (path_text(&file), scratch.path("copy.db"));
    let invoices = format!("] {INVOICE_COUNT}/{INVOICE_COUNT} ");
    let all = [
        (
            vec!["audit", "--file", file],
            vec!["checks made [", "] 0/", "invoices judged [", &invoices],
        ),
        (
            vec!["backup", "--file", file, path_text(&copy)],
            vec!["pages copied [", "checks made [", "] 2/2 "],
        ),
        (
            vec!["restore", "--file", file, path_text(&copy), "--dry-run"],
            vec!["pages copied [", "checks made [", &invoices],
        ),
    ];
    for (args, parts) in all {
        let Some(shown) = Terminal::standard().run(&[&[COFFER][..], &args].concat()) else {
            return;
        };
        assert_eq!(shown.code, 0, "{shown:?}");
        for part in parts {
            assert!(shown.sent.contains(part), "{part}: {shown:?}");
        }
        let left = shown.visible_lines().join("\n");
        assert!(!left.contains('['), "{args:?} leaves {left:?}");
        let is_whole = ["nothing found in", "is whole", "can be restored"];
        assert!(is_whole.iter().any(|end| left.contains(end)), "{left:?}");
    }
}

#[test]
fn progress_is_hidden_without_a_capable_terminal() {
    let scratch = Scratch::new();
    let file = create_shop_file(&scratch);
    let audit = [COFFER, "audit", "--file", path_text(&file)];
    let output = run_piped(&audit[1..]);
    let (plain, errors) = (output.stdout, output.stderr);
    assert!(!plain.contains(&(ESCAPE as u8)) && errors.is_empty());
    let plain = String::from_utf8(plain).unwrap().replace('\n', "\r\n");
    let usual = Terminal::standard;
    let quiet = |terminal: Terminal<'_>, more: &[&str]| {
        let shown = terminal.run(&[&audit, more].concat())?;
        assert!(!shown.sent.contains('['), "{shown:?}");
        assert!(!shown.sent.contains(ESCAPE), "{shown:?}");
        Some(shown.sent)
    };
    let dumb = quiet(Terminal { environment: &[("TERM", "dumb")], ..usual() }, &[]);
    let Some(dumb) = dumb else {
        return;
    };
    assert_eq!(dumb, plain);
    let unnamed = Terminal { environment: &[("TERM", "")], ..usual() };
    assert_eq!(quiet(unnamed, &[]).unwrap(), plain);
    let narrow = Terminal { columns: 1, environment: &[("NO_COLOR", "1")], ..usual() };
    assert_eq!(quiet(narrow, &[]).unwrap(), plain);
    let shown = usual().run(&[&audit[..], &["--json"]].concat()).unwrap();
    assert!(shown.sent.starts_with(r#"{"findings":[],"#), "{shown:?}");
    // Another program, such as a pager, reads standard output and uses the terminal.
    let shown = usual().run(&[&["sh", "-c", "\"$@\" | cat", "sh"], &audit[..]].concat());
    assert_eq!(shown.unwrap().sent, plain);
    // In this case, standard error is a file.
    let errors = scratch.path("errors");
    let shell = format!("\"$@\" 2>{}", path_text(&errors));
    let shown = usual().run(&[&["sh", "-c", &shell, "sh"], &audit[..]].concat());
    assert!(!shown.unwrap().sent.contains("checks made"));
    assert_eq!(std::fs::read_to_string(errors).unwrap(), "");
}

#[test]
fn no_color_keeps_progress_without_colors() {
    let scratch = Scratch::new();
    let file = create_shop_file(&scratch);
    damage_invoice(&file);
    let audit = [COFFER, "audit", "--file", path_text(&file)];
    let Some(coloured) = Terminal::standard().run(&audit) else {
        return;
    };
    assert_eq!(coloured.code, 1);
    for text in ["\x1b[1m\x1b[31mrule 3:\x1b[0m invoice", "31mcoffer:\x1b[0m 1 findings"] {
        assert!(coloured.sent.contains(text), "{text}: {coloured:?}");
    }
    let plain = Terminal { environment: &[("NO_COLOR", "1")], ..Terminal::standard() };
    let plain = plain.run(&audit).unwrap();
    assert!(!plain.sent.contains("\x1b[1m") && plain.sent.contains("] 0/"), "{plain:?}");
    // A finding does not break a progress bar, and the final text equals the text that a pipe receives.
    let output = run_piped(&audit[1..]);
    let printed = [output.stdout, output.stderr].concat();
    let printed: Vec<String> =
        String::from_utf8(printed).unwrap().lines().map(str::to_owned).collect();
    for shown in [coloured, plain] {
        let left = shown.visible_lines().into_iter().filter(|line| !line.is_empty());
        assert_eq!(left.collect::<Vec<_>>(), printed);
    }
}

#[test]
fn colors_are_shown_on_a_terminal_only() {
    let scratch = Scratch::new();
    let file = scratch.path("none.db");
    let doctor = ["doctor", "--file", path_text(&file)];
    for (args, coloured) in [
        (&doctor[..], "\x1b[1m\x1b[31mwrong:\x1b[0m no public url"),
        (&doctor, "\x1b[1m\x1b[32mok:\x1b[0m folder"),
        (&["--help"], "\x1b[1m\x1b[4mUsage:\x1b[0m"),
        (&["bakcup"], "\x1b[31merror:\x1b[0m"),
    ] {
        let plain = run_piped(args);
        let both = [plain.stdout, plain.stderr].concat();
        assert!(!both.contains(&(ESCAPE as u8)), "{args:?}");
        let Some(shown) = Terminal::standard().run(&[&[COFFER], args].concat()) else {
            return;
        };
        assert!(shown.sent.contains(coloured), "{shown:?}");
        assert_eq!(Some(shown.code), plain.status.code());
    }
    let said = String::from_utf8(run_piped(&["bakcup"]).stderr).unwrap();
    assert!(said.contains("a similar subcommand exists: 'backup'"), "{said}");
}

#[test]
fn ctrl_c_ends_a_command_and_restores_the_terminal() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let made = run_piped(&["account", "create", "Shop", "--file", path_text(&file)]);
    assert!(made.status.success());
    // This node accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let node = format!("ethereum=http://{}", silent.local_addr().unwrap());
    let nowhere = format!("http://{}", Receiver::unused_address());
    let rates = format!("kraken={nowhere},coinbase={nowhere}");
    let doctor = [COFFER, "doctor", "--file", path_text(&file), "--node", &node, "--rates", &rates];
    let terminal = Terminal {
        // The test presses Ctrl-C after the whole progress line, because Ctrl-C discards terminal input that has not
        // been read.
        interrupted_at: "] 0/1 ",
        ..Terminal::standard()
    };
    let Some(shown) = terminal.run(&doctor) else {
        return;
    };
    // The process ends by the signal of Ctrl-C, so that its parent process sees the cause.
    assert_eq!(shown.code, -2, "{shown:?}");
    assert!(shown.sent.contains("nodes asked ["), "{shown:?}");
}

#[test]
fn closed_pipe_is_no_error() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for name in ["One", "Two"] {
        assert!(
            run_piped(&["account", "create", name, "--file", path_text(&file)]).status.success()
        );
    }
    for args in [
        &["account", "list", "--file", path_text(&file)][..],
        &["account", "list", "--json", "--file", path_text(&file)],
        &["wallet", "addresses", "--file", path_text(&file)],
        &["openapi"],
        &["changelog"],
        &["completions", "zsh"],
        &["audit", "--file", path_text(&file)],
        &["--help"],
    ] {
        let mut coffer = Command::new(COFFER);
        let coffer = coffer.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = coffer.stdout(writer).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
    // This command prints its output only once, so a closed pipe is an error.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut coffer = Command::new(COFFER);
    let output = coffer
        .args(["account", "create", "Three", "--file", path_text(&file)])
        .stdout(writer)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && said.contains("standard output: Broken pipe"),
        "{said}"
    );
    // A full disk behind standard output is an error as well.
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut coffer = Command::new(COFFER);
    let output = coffer.arg("openapi").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn terminal_codes_in_names_are_escaped() {
    let scratch = Scratch::new();
    let file = create_shop_file(&scratch);
    let fault = "pragma ignore_check_constraints = 1; update invoices set id = char(27) || '[2J' where seq = 1";
    execute_sql(&file, fault);
    let audit = [COFFER, "audit", "--file", path_text(&file)];
    let Some(shown) = Terminal::standard().run(&audit) else {
        return;
    };
    assert!(!shown.sent.contains("\x1b[2J"), "{shown:?}");
    assert!(shown.sent.contains("\u{fffd}[2J"), "{shown:?}");
    // Output to a pipe contains the escape sequence unchanged.
    let piped = String::from_utf8(run_piped(&audit[1..]).stdout).unwrap();
    assert!(piped.contains("\x1b[2J"), "{piped}");
}
