//! *Taking real money*, done as its page says, from an empty folder: its commands are run as they stand there, but for
//! ports and for where the receiver lies.
//!
//! What always holds: the node that the page starts ends with the test.

use super::{blocks, path};
use crate::file::audit::findings;
use crate::operator::wallets::EVM;
use crate::support::anvil::Node;
use crate::support::polling;
use crate::support::process::{Process, example_path};
use crate::support::receiver::Receiver;
use crate::support::scratch::Scratch;
use crate::support::{agent, send, tools};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::VecDeque;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const UNTESTED: &str = "taking real money as its page says";
/// The chain id of Base, and the contract of USDC there.
const BASE: u64 = 8453;
const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/// Somebody who does what the page says.
struct Reader {
    scratch: Scratch,
    /// What is left of the page: each block, and what it is.
    blocks: VecDeque<(String, String)>,
    /// What stands in the page, and what it is here.
    changes: Vec<(&'static str, String)>,
    /// The first terminal.
    terminal: Process,
    /// The second one.
    serve: Option<Process>,
    url: String,
}

impl Reader {
    /// Sits down in an empty folder; nothing where the machine has not what the page asks for.
    #[track_caller]
    fn new(base: &str) -> Option<Reader> {
        for (tool, argument) in [
            ("litecoind", "-version"),
            ("litecoin-cli", "-version"),
            ("jq", "--version"),
            ("openssl", "version"),
            ("curl", "--version"),
        ] {
            tools::probe(tool, &[argument], UNTESTED)?;
        }
        let scratch = Scratch::new();
        let mut command = Command::new("sh");
        command.args(["-eu"]).current_dir(scratch.path(""));
        let terminal = Process::start_with(command.env("PATH", path()), Stdio::inherit());
        let (coffer, shop) = (Receiver::unused_address(), Receiver::unused_address());
        // Nobody else takes it meanwhile: the system gives each free port in turn.
        let rpc = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = rpc.local_addr().unwrap().port().to_string();
        let receiver = format!(
            "exec {} --listen {shop}",
            example_path("receiver").display()
        );
        Some(Reader {
            scratch,
            blocks: blocks().into(),
            changes: vec![
                ("127.0.0.1:8080", coffer.to_string()),
                ("127.0.0.1:8081", shop.to_string()),
                ("19443", port),
                ("https://mainnet.base.org", base.to_owned()),
                ("/path/to/coffer/target/release/examples/receiver", receiver),
                // What is ended is Coffer, not the shell around it.
                ("\ncoffer serve\n", "\nexec coffer serve\n".to_owned()),
            ],
            terminal,
            serve: None,
            url: format!("http://{coffer}"),
        })
    }

    /// The next block of the page, which is of this kind.
    #[track_caller]
    fn next(&mut self, kind: &str) -> String {
        let (found, block) = self.blocks.pop_front().unwrap();
        assert_eq!(found, kind, "{block}");
        self.changes
            .iter()
            .fold(block, |block, (old, new)| block.replace(old, new))
    }

    /// Types the next block into the first terminal, and waits for its end; what it printed.
    #[track_caller]
    fn does(&mut self, kind: &str) -> String {
        let block = self.next(kind);
        self.terminal
            .write_input(&format!("{block}\necho; echo DONE\n"));
        let lines = std::iter::repeat_with(|| self.terminal.line());
        let lines: Vec<String> = lines.take_while(|line| line != "DONE").collect();
        lines.join("\n")
    }

    /// Runs a block in a terminal of its own.
    #[track_caller]
    fn another_terminal(&self, block: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-euc", block]).current_dir(self.path(""));
        Process::start(command.env("PATH", path()))
    }

    /// Starts Coffer in the second terminal, until it is ready.
    #[track_caller]
    fn serves(&mut self, block: &str) {
        let process = self.another_terminal(block);
        assert_eq!(process.url(), self.url);
        self.serve = Some(process);
    }

    /// Presses Ctrl-C there.
    #[track_caller]
    fn ends(&mut self) {
        assert!(self.serve.take().unwrap().interrupt());
    }

    /// A file of the folder that the page makes.
    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path("till").join(name)
    }

    /// A part of a JSON file that the page has written.
    #[track_caller]
    fn told(&self, name: &str, field: &str) -> String {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        file[field].as_str().unwrap().to_owned()
    }

    /// Waits until a coin is on offer.
    #[track_caller]
    fn until_on_offer(&self, asset: &str) {
        let key = self.told("key.json", "key");
        let (agent, url) = (agent(), format!("{}/v1/currencies", self.url));
        let is_offered = || {
            let offered = send(&agent, "GET", &url, &[("X-API-Key", &key)], "").expect(200);
            let offered = offered.json()["data"].clone();
            let mut offered = offered.as_array().unwrap().iter();
            offered.any(|coin| coin["id"] == asset)
        };
        assert!(polling::until(is_offered), "{asset} is never on offer");
    }

    /// Waits until the file answers a query so.
    #[track_caller]
    fn until_file_says(&self, query: &str, answer: i64) {
        let file = Connection::open(self.path("coffer.db")).unwrap();
        let says = || {
            let said: i64 = file.query_row(query, [], |row| row.get(0)).unwrap();
            said == answer
        };
        assert!(polling::until(says), "{query}");
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Some builds of litecoind name it as bitcoind does. Where it was not started, or has ended, there is none to end.
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
fn hears(receiver: &Process, kind: &str, invoice: &str) {
    let (start, about) = (
        format!("verified invoice.{kind} "),
        format!("object={invoice} "),
    );
    let is_it = |line: &String| line.starts_with(&start) && line.contains(&about);
    std::iter::repeat_with(|| receiver.line())
        .find(is_it)
        .unwrap();
}

#[test]
fn the_first_real_payment_from_an_empty_folder() {
    let Some(base) = Node::start(BASE, UNTESTED) else {
        return;
    };
    base.deploy_token_at(USDC);
    let Some(mut reader) = Reader::new(&base.url) else {
        return;
    };
    reader.does("");
    reader.does("");
    let mode = |name: &str| {
        let found = std::fs::metadata(reader.path(name)).unwrap();
        found.permissions().mode() & 0o777
    };
    assert_eq!(
        ["coffer.env", "litecoin/litecoin.conf"].map(mode),
        [0o600; 2]
    );
    let shown = reader.does("");
    assert!(
        shown.contains("rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg"),
        "{shown}"
    );
    let added = reader.does("");
    assert!(
        added.contains("rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg"),
        "{added}"
    );
    let found = reader.does("");
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
    let serve = reader.next("serve");
    reader.serves(&serve);
    reader.until_on_offer("LTC");
    let chains = reader.does("");
    assert!(chains.contains("\"keepsUp\": true"), "{chains}");
    reader.does("");
    let receiver = reader.next("receiver");
    let receiver = reader.another_terminal(&receiver);
    receiver.line();
    litecoin_is_paid(&mut reader, &serve, &receiver);
    usdc_is_paid(&mut reader, &serve, &receiver, &base);
    what_came_is_collected(&mut reader);
    a_copy_is_gone_back_to(&mut reader, &serve);
    let left: Vec<&str> = reader
        .blocks
        .iter()
        .map(|(kind, _)| kind.as_str())
        .collect();
    assert_eq!(left, ["lost", "back"], "another test does that");
}

#[track_caller]
fn litecoin_is_paid(reader: &mut Reader, serve: &str, receiver: &Process) {
    reader.does("");
    let invoice = reader.told("invoice.json", "id");
    hears(receiver, "detected", &invoice);
    reader.does("");
    hears(receiver, "confirmed", &invoice);
    let told = reader.does("");
    for part in [
        "\"status\": \"confirmed\"",
        "\"paid\": true",
        "\"available\": \"19.80\"",
    ] {
        assert!(told.contains(part), "{told}");
    }
    reader.does("");
    reader.ends();
    reader.does("down");
    reader.serves(serve);
    hears(receiver, "confirmed", &reader.told("second.json", "id"));
}

#[track_caller]
fn usdc_is_paid(reader: &mut Reader, serve: &str, receiver: &Process, base: &Node) {
    std::fs::write(reader.path("evm.key"), format!("{EVM}\n")).unwrap();
    reader.does("base");
    let found = reader.does("base");
    assert!(
        found.contains("ok: node of base at http://127.0.0.1:") && found.contains(": 8453, block "),
        "{found}"
    );
    reader.ends();
    reader.serves(serve);
    reader.until_on_offer("USDC-BASE");
    reader.does("invoice");
    // Somebody pulls the plug, and the customer pays.
    reader.serve.take().unwrap().kill();
    let amount = reader.told("third.json", "amountExpected");
    assert_eq!(amount, "1.111112");
    let units = amount.replace('.', "").parse().unwrap();
    base.pay_token(USDC, &reader.told("third.json", "depositAddress"), units);
    base.mine(10);
    reader.serves(serve);
    hears(receiver, "confirmed", &reader.told("third.json", "id"));
}

#[track_caller]
fn what_came_is_collected(reader: &mut Reader) {
    let list = reader.does("");
    for line in [
        "m/0/0,rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg,LTC,0.25,",
        ",LTC,0.5,",
        "m/0/0,0x9858EfFD232B4033E47d90003D41EC34EcaEda94,USDC-BASE,1.111112,",
    ] {
        assert!(list.contains(line), "{list}");
    }
    reader.does("");
}

#[track_caller]
fn a_copy_is_gone_back_to(reader: &mut Reader, serve: &str) {
    reader.does("");
    reader.ends();
    let told = reader.does("down");
    for part in [
        "live litecoin addresses go on from index 1002 of wallet ",
        "which must scan with a gap limit of 10",
        "nothing found in 3 invoices, 3 payments, ",
        "\"nextIndex\": 1002,",
    ] {
        assert!(told.contains(part), "{told}");
    }
    reader.does("down");
    reader.serves(serve);
    reader.until_file_says("select count(*) from rescans where ended_at is not null", 1);
    reader.until_file_says(
        "select count(*) from observations where state = 'confirmed'",
        3,
    );
    reader.until_file_says("select count(*) from unmatched_payments", 0);
    reader.ends();
    assert_eq!(findings(&reader.path("coffer.db")), Vec::<String>::new());
}
