//! Coffer with the lying proxy between it and a node of ethereum: nothing is booked wrongly, the operator is told what is wrong,
//! the server stays ready, and its memory stays small.

use super::till::Till;
use crate::file::audit::findings;
use crate::operator::wallets::{EVM, done, wallet};
use crate::support::anvil::Node;
use crate::support::came::{Came, booked};
use crate::support::lying::{Liar, Lie};
use crate::support::served::Running;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The most memory that a server may ever have had: of a build for tests, and with an answer of 100 MB on its way.
const PEAK_KIB_MAX: u64 = 160 * 1024;

/// What a node answers wrongly, and what the operator reads of it in doctor; nothing where that cannot be known.
fn lies(before: &Value) -> Vec<(&'static str, Lie, Option<&'static str>)> {
    let old = before.clone();
    let goes_back = Lie::change(move |params, answer| {
        if params[0] == "latest" {
            answer["result"] = old.clone();
        }
    });
    let is_empty = Lie::change(|_, answer| {
        if answer["result"].is_array() {
            answer["result"] = json!([]);
        }
    });
    let other = "0xabababababababababababababababababababababababababababababababab";
    let another = Lie::change(move |params, answer| {
        if params[0] != "latest" && answer["result"].is_object() {
            answer["result"]["parentHash"] = other.into();
        }
    });
    vec![
        ("eth_getBlockByNumber", goes_back, None),
        ("eth_getLogs", is_empty, None),
        ("eth_getBlockByNumber", another, None),
        ("eth_getBlockByNumber", Lie::Reversed, None),
        ("eth_getLogs", Lie::error(-32005, "limit exceeded"), None),
        ("eth_getBlockByNumber", Lie::Dropped(1), None),
        (
            "eth_chainId",
            Lie::Status(429),
            Some("limits what is asked"),
        ),
        (
            "eth_getBlockByNumber",
            Lie::Truncated(100),
            Some("cannot be asked"),
        ),
        ("eth_chainId", Lie::Body("<html>".to_owned()), None),
        (
            "eth_getBlockByNumber",
            Lie::Huge(100 << 20),
            Some("node of ethereum"),
        ),
        (
            "eth_chainId",
            Lie::result(json!("0x1")),
            Some("is the wrong one"),
        ),
        (
            "eth_chainId",
            Lie::result(json!("0x2105")),
            Some("is the wrong one"),
        ),
    ]
}

/// The most memory that it has had so far, in KiB.
#[track_caller]
fn peak_kib(running: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// Whatever the file knows did come.
#[track_caller]
fn all_came(file: &Connection, truth: &Came, about: &str) {
    let sql = "select txid, position, asset, amount from observations";
    let mut query = file.prepare(sql).unwrap();
    let rows = query.query_map([], |row| {
        let amount: String = row.get(3)?;
        let value = (row.get(2)?, amount.parse().unwrap());
        Ok(((row.get(0)?, row.get(1)?), value))
    });
    let known: Came = rows.unwrap().map(Result::unwrap).collect();
    for (place, value) in &known {
        assert_eq!(truth.get(place), Some(value), "{about}: {place:?}");
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "how much memory it takes is told")]
fn nothing_that_a_node_of_ethereum_says_wrongly_is_booked() {
    let Some(node) = Node::of(11_155_111, "a node of ethereum that lies to Coffer") else {
        return;
    };
    let token = node.token();
    let liar = Liar::before(&node.url);
    let (url, contract) = (
        format!("ethereum={}", liar.url()),
        format!("USDC-ERC20={token}"),
    );
    let till = Till::new(&["--node", &url, "--token", &contract]);
    done(&wallet(&till.served.file, &["add", "evm", "--yes"], EVM));
    let file = till.served.open();
    let mut running = till.start();
    till.until_known("ethereum", "USDC");
    let to: Vec<String> = ["USDC-ERC20", "ETH"]
        .map(|asset| {
            till.invoice(&running, asset)["depositAddress"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .into();
    running.process.kill();
    let ours: BTreeSet<String> = to.iter().cloned().collect();
    let truth = || node.came_to(&ours, ("ETH", ("USDC-ERC20", &token)));
    let before = node.ask("eth_getBlockByNumber", json!(["latest", true]));
    let mut peak = 0;
    for (round, (method, lie, told)) in lies(&before).into_iter().enumerate() {
        let units = 1_000_000 + u128::try_from(round).unwrap();
        node.pay_token(&token, &to[0], units);
        node.pay(&to[1], units * 1_000_000_000);
        node.mine(1);
        liar.lie(method, lie);
        let asked = liar.asked(method);
        let mut running = till.start();
        // It is being lied to.
        while liar.asked(method) == asked {
            std::thread::yield_now();
        }
        running
            .interface("GET", "/readyz", &Value::Null)
            .expect(200);
        let said = till.coffer(&[&["doctor"][..], &till.settings()[..7]].concat());
        assert!(said.contains("node of ethereum"), "{said}");
        if let Some(told) = told {
            assert!(said.contains(told), "{round} {method}: {said}");
        }
        peak = peak.max(peak_kib(&running));
        running.process.kill();
        all_came(&file, &truth(), &format!("{round} {method}"));
        liar.honest();
    }
    node.mine(30);
    let mut running = till.start();
    let rest = format!(
        "select (complete_height = {} and not exists (select 1 from observations where state = 'seen')) || ''
            from chain_cursors",
        node.height() - 8
    );
    till.served.until(&rest, &["1"]);
    peak = peak.max(peak_kib(&running));
    assert!(running.process.close());
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
    assert_eq!(booked(&file), truth());
    eprintln!("the most memory that it has had: {peak} KiB");
    assert!(peak < PEAK_KIB_MAX, "{peak} KiB");
}
