//! The guide *Taking real money*, followed from an empty folder. The test runs the commands of the guide unchanged,
//! except for ports and the path of the receiver.
//!
//! Invariant: the node that the guide starts is stopped when the test ends.

use super::{guide_blocks, path_variable};
use crate::operator::wallets::EVM_XPUB;
use crate::support::anvil::Node;
use crate::support::audit::assert_audit_clean;
use crate::support::ports::free_port;
use crate::support::process::{Process, example_path};
use crate::support::receiver::Receiver;
use crate::support::scratch::Scratch;
use crate::support::{agent, polling, send, tools};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SKIPPED_TEST_NAME: &str = "taking real money as its page says";
/// Chain id of Base.
const BASE_CHAIN_ID: u64 = 8453;
/// Contract of the token USDC on Base.
const USDC_CONTRACT: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/// A simulated reader of the guide, with two terminals and a folder.
struct GuideReader {
    scratch: Scratch,
    /// Blocks of the guide that the test has not run yet, each with its label.
    blocks: VecDeque<(String, String)>,
    /// Replacements in the commands: text in the guide, and text used by the test.
    changes: Vec<(&'static str, String)>,
    /// The first terminal.
    terminal: Process,
    /// The second terminal, which runs Coffer.
    serve: Option<Process>,
    url: String,
}

impl GuideReader {
    /// Prepares an empty folder. Returns `None` if a required program is not installed.
    #[track_caller]
    fn new(base: &str) -> Option<GuideReader> {
        for (tool, argument) in [
            ("litecoind", "-version"),
            ("litecoin-cli", "-version"),
            ("jq", "--version"),
            ("openssl", "version"),
            ("curl", "--version"),
        ] {
            tools::tool_output(tool, &[argument], SKIPPED_TEST_NAME)?;
        }
        let scratch = Scratch::new();
        let mut command = Command::new("sh");
        command.args(["-eu"]).current_dir(scratch.path(""));
        let terminal =
            Process::start_with_stderr(command.env("PATH", path_variable()), Stdio::inherit());
        let (coffer, shop) = (Receiver::unused_address(), Receiver::unused_address());
        let receiver = format!("exec {} --listen {shop}", example_path("receiver").display());
        Some(GuideReader {
            scratch,
            blocks: guide_blocks().into(),
            changes: vec![
                ("127.0.0.1:8080", coffer.to_string()),
                ("127.0.0.1:8081", shop.to_string()),
                ("19443", free_port().to_string()),
                ("https://mainnet.base.org", base.to_owned()),
                ("/path/to/coffer/target/release/examples/receiver", receiver),
                // Ctrl-C ends Coffer itself, because `exec` replaces the shell.
                ("\ncoffer serve\n", "\nexec coffer serve\n".to_owned()),
            ],
            terminal,
            serve: None,
            url: format!("http://{coffer}"),
        })
    }

    /// Returns the next block, which must have this label.
    #[track_caller]
    fn next_shell_block(&mut self, kind: &str) -> String {
        let (found, block) = self.blocks.pop_front().unwrap();
        assert_eq!(found, kind, "{block}");
        self.changes.iter().fold(block, |block, (old, new)| block.replace(old, new))
    }

    /// Runs the next block in the first terminal and returns its output.
    #[track_caller]
    fn run_next_shell_block(&mut self, kind: &str) -> String {
        let block = self.next_shell_block(kind);
        self.terminal.write_input(&format!("{block}\necho; echo DONE\n"));
        let lines = std::iter::repeat_with(|| self.terminal.read_line());
        let lines: Vec<String> = lines.take_while(|line| line != "DONE").collect();
        lines.join("\n")
    }

    /// Runs a block in another terminal.
    #[track_caller]
    fn start_terminal(&self, block: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-euc", block]).current_dir(self.path(""));
        Process::start(command.env("PATH", path_variable()))
    }

    /// Starts Coffer in the second terminal and waits until it is ready.
    #[track_caller]
    fn start_coffer(&mut self, block: &str) {
        let process = self.start_terminal(block);
        assert_eq!(process.wait_for_url(), self.url);
        self.serve = Some(process);
    }

    /// Presses Ctrl-C in the second terminal.
    #[track_caller]
    fn stop_coffer(&mut self) {
        assert!(self.serve.take().unwrap().interrupt_and_wait());
    }

    /// Returns the path of a file in the folder that the guide creates.
    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path("till").join(name)
    }

    /// Returns a field of a JSON file that the guide has written.
    #[track_caller]
    fn json_field(&self, name: &str, field: &str) -> String {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        file[field].as_str().unwrap().to_owned()
    }

    /// Waits until the server offers a coin.
    #[track_caller]
    fn wait_until_offered(&self, asset: &str) {
        let key = self.json_field("key.json", "key");
        let (agent, url) = (agent(), format!("{}/v1/currencies", self.url));
        let is_offered = || {
            let offered = send(&agent, "GET", &url, &[("X-API-Key", &key)], "").expect(200);
            let offered = offered.json()["data"].clone();
            let mut offered = offered.as_array().unwrap().iter();
            offered.any(|coin| coin["id"] == asset)
        };
        assert!(polling::wait_until(is_offered), "{asset} is never on offer");
    }

    /// Waits until a query of the file returns this number.
    #[track_caller]
    fn wait_until_query(&self, query: &str, answer: i64) {
        let file = Connection::open(self.path("coffer.db")).unwrap();
        let says = || {
            let said: i64 = file.query_row(query, [], |row| row.get(0)).unwrap();
            said == answer
        };
        assert!(polling::wait_until(says), "{query}");
    }
}

impl Drop for GuideReader {
    fn drop(&mut self) {
        // Some builds of litecoind name the process id file after bitcoind. If neither file exists, no node is
        // running.
        for name in ["litecoind.pid", "bitcoind.pid"] {
            let pid = std::fs::read_to_string(self.path("litecoin/regtest").join(name));
            let _ = Command::new("kill")
                .args(["-9", pid.unwrap_or_default().trim()])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Waits until the receiver has verified an event of this invoice.
#[track_caller]
fn wait_for_event(receiver: &Process, kind: &str, invoice: &str) {
    let (start, about) = (format!("verified invoice.{kind} "), format!("object={invoice} "));
    let is_it = |line: &String| line.starts_with(&start) && line.contains(&about);
    std::iter::repeat_with(|| receiver.read_line()).find(is_it).unwrap();
}

#[test]
fn guide_leads_to_the_first_real_payment() {
    let Some(base) = Node::start(BASE_CHAIN_ID, SKIPPED_TEST_NAME) else {
        return;
    };
    base.deploy_token_at(USDC_CONTRACT);
    let Some(mut reader) = GuideReader::new(&base.url) else {
        return;
    };
    reader.run_next_shell_block("");
    reader.run_next_shell_block("");
    let mode = |name: &str| {
        let found = std::fs::metadata(reader.path(name)).unwrap();
        found.permissions().mode() & 0o777
    };
    assert_eq!(["coffer.env", "litecoin/litecoin.conf"].map(mode), [0o600; 2]);
    let shown = reader.run_next_shell_block("");
    assert!(shown.contains("rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg"), "{shown}");
    let added = reader.run_next_shell_block("");
    assert!(added.contains("rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg"), "{added}");
    let found = reader.run_next_shell_block("");
    assert!(
        found.contains("ok: node of litecoin at http://127.0.0.1:")
            && found.contains(": regtest, block 101 "),
        "{found}"
    );
    assert_eq!(found.matches("wrong: ").count(), 2, "{found}");
    assert!(
        found.contains("wrong: the public url is not https")
            && found.contains("no coin is on offer: no node of litecoin was reached yet"),
        "{found}"
    );
    let serve = reader.next_shell_block("serve");
    reader.start_coffer(&serve);
    reader.wait_until_offered("LTC");
    let chains = reader.run_next_shell_block("");
    assert!(chains.contains("\"keepsUp\": true"), "{chains}");
    reader.run_next_shell_block("");
    let receiver = reader.next_shell_block("receiver");
    let receiver = reader.start_terminal(&receiver);
    receiver.read_line();
    pay_litecoin(&mut reader, &serve, &receiver);
    pay_usdc(&mut reader, &serve, &receiver, &base);
    collect_payments(&mut reader);
    restore_backup(&mut reader, &serve);
    let left: Vec<&str> = reader.blocks.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(left, ["lost", "back"], "another test does that");
}

#[track_caller]
fn pay_litecoin(reader: &mut GuideReader, serve: &str, receiver: &Process) {
    reader.run_next_shell_block("");
    let invoice = reader.json_field("invoice.json", "id");
    wait_for_event(receiver, "detected", &invoice);
    reader.run_next_shell_block("");
    wait_for_event(receiver, "confirmed", &invoice);
    let told = reader.run_next_shell_block("");
    for part in ["\"status\": \"confirmed\"", "\"paid\": true", "\"available\": \"19.80\""] {
        assert!(told.contains(part), "{told}");
    }
    reader.run_next_shell_block("");
    reader.stop_coffer();
    reader.run_next_shell_block("down");
    reader.start_coffer(serve);
    wait_for_event(receiver, "confirmed", &reader.json_field("second.json", "id"));
}

#[track_caller]
fn pay_usdc(reader: &mut GuideReader, serve: &str, receiver: &Process, base: &Node) {
    std::fs::write(reader.path("evm.key"), format!("{EVM_XPUB}\n")).unwrap();
    reader.run_next_shell_block("base");
    let found = reader.run_next_shell_block("base");
    assert!(
        found.contains("ok: node of base at http://127.0.0.1:") && found.contains(": 8453, block "),
        "{found}"
    );
    reader.stop_coffer();
    reader.start_coffer(serve);
    reader.wait_until_offered("USDC-BASE");
    reader.run_next_shell_block("invoice");
    // The server is killed, as in a power failure. The customer pays while no server runs.
    reader.serve.take().unwrap().kill();
    let amount = reader.json_field("third.json", "amountExpected");
    assert_eq!(amount, "1.111112");
    let units = amount.replace('.', "").parse().unwrap();
    base.pay_token(USDC_CONTRACT, &reader.json_field("third.json", "depositAddress"), units);
    base.mine(10);
    reader.start_coffer(serve);
    wait_for_event(receiver, "confirmed", &reader.json_field("third.json", "id"));
}

#[track_caller]
fn collect_payments(reader: &mut GuideReader) {
    let list = reader.run_next_shell_block("");
    for line in [
        "m/0/0,rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg,LTC,0.25,",
        ",LTC,0.5,",
        "m/0/0,0x9858EfFD232B4033E47d90003D41EC34EcaEda94,USDC-BASE,1.111112,",
    ] {
        assert!(list.contains(line), "{list}");
    }
    reader.run_next_shell_block("");
}

#[track_caller]
fn restore_backup(reader: &mut GuideReader, serve: &str) {
    reader.run_next_shell_block("");
    reader.stop_coffer();
    let told = reader.run_next_shell_block("down");
    for part in [
        "live litecoin addresses go on from index 1002 of wallet ",
        "which must scan with a gap limit of 10",
        "nothing found in 3 invoices, 3 payments, ",
        "\"nextIndex\": 1002,",
    ] {
        assert!(told.contains(part), "{told}");
    }
    reader.run_next_shell_block("down");
    reader.start_coffer(serve);
    reader.wait_until_query("select count(*) from rescans where ended_at is not null", 1);
    reader.wait_until_query("select count(*) from observations where state = 'confirmed'", 3);
    reader.wait_until_query("select count(*) from unmatched_payments", 0);
    reader.stop_coffer();
    assert_audit_clean(&reader.path("coffer.db"));
}
