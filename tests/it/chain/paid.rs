//! Real money, as far as a test has any: a served shop, a node, a wallet of public keys, and invoices that are paid on the
//! chain.

use crate::file::audit::findings;
use crate::operator::wallets::{EVM, done, wallet};
use crate::support::anvil::Node;
use crate::support::litecoind::Litecoind;
use crate::support::receiver::{Does, Message, Receiver};
use crate::support::served::{Running, Served};
use crate::support::{agent, send};
use coffer::domain::asset::Chain;
use coffer::domain::wallet::{Said, Script, WalletNetwork, read};
use serde_json::{Value, json};
use std::process::Command;

/// An account's key of regtest, and its first address, as litecoind itself derives it.
const TPUB: &str = "tpubDC8msFGeGuwnKG9Upg7DM2b4DaRqg3CUZa5g8v2SRQ6K4NSkxUgd7HsL2XVWbVm39yBA4LAxysQAm397zwQSQoQgewGiYZqrA9DsP4zbQ1M";
const FIRST_ADDRESS: &str = "rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg";
const RATES: &str = r#"{"LTC": {"EUR": "80", "USD": "90"}, "ETH": {"EUR": "2000", "USD": "2200"},
    "USDC": {"EUR": "1", "USD": "1"}}"#;

/// A shop on test networks, and who hears of its invoices.
struct Till {
    served: Served,
    settings: Vec<String>,
    receiver: Receiver,
}

impl Till {
    /// With these settings besides.
    fn new(settings: &[&str]) -> Till {
        let served = Served::new();
        let rates = served.path("rates.json");
        std::fs::write(&rates, RATES).unwrap();
        let rates = format!("fixed:{}", rates.display());
        let common = [
            "--rates",
            &rates,
            "--test-networks",
            "--webhook-allow",
            "127.0.0.0/8",
        ];
        let settings = settings.iter().chain(&common);
        Till {
            settings: settings.map(|text| (*text).to_owned()).collect(),
            receiver: Receiver::that(Does::Answer(200)),
            served,
        }
    }

    fn settings(&self) -> Vec<&str> {
        self.settings.iter().map(String::as_str).collect()
    }

    #[track_caller]
    fn start(&self) -> Running {
        self.served.start(&self.settings())
    }

    /// Waits until a coin is known to be followed, and has a rate.
    #[track_caller]
    fn until_known(&self, chain: &str, symbol: &str) {
        let known = format!(
            "select exists (select 1 from chain_cursors where chain = '{chain}') || \
                exists (select 1 from rate_figures where coin = '{symbol}')"
        );
        self.served.until(&known, &["11"]);
    }

    /// An invoice of 20 EUR in this coin.
    #[track_caller]
    fn invoice(&self, running: &Running, asset: &str) -> Value {
        let body = json!({
            "amount": "20.00", "currency": "EUR", "asset": asset, "webhookUrl": self.receiver.url(),
        });
        let made = self.call(running, "POST", "/v1/invoices", &body.to_string());
        assert_eq!(made["warnings"], Value::Null, "{made}");
        made
    }

    #[track_caller]
    fn call(&self, running: &Running, method: &str, path: &str, body: &str) -> Value {
        let url = format!("{}{path}", running.url);
        let answer = send(
            &agent(),
            method,
            &url,
            &[("X-API-Key", self.served.key.as_str())],
            body,
        );
        assert!(answer.status < 300, "{path}: {}", answer.text);
        answer.json()
    }

    /// Waits for an event of an invoice.
    #[track_caller]
    fn hears(&self, kind: &str, invoice: &Value) -> Message {
        let is_it = |message: &&Message| {
            let told = message.json();
            told["type"] == kind && told["data"]["object"]["id"] == invoice["id"]
        };
        (1..)
            .find_map(|count| self.receiver.wait(count).iter().find(is_it).cloned())
            .unwrap()
    }

    /// What a command says of the file.
    #[track_caller]
    fn coffer(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        let output = command
            .args(args)
            .arg("--file")
            .arg(&self.served.file)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    #[track_caller]
    fn offers(&self, running: &Running) -> Vec<String> {
        let listed = self.call(running, "GET", "/v1/currencies", "");
        let listed = listed["data"].as_array().unwrap().iter();
        listed
            .map(|coin| coin["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[test]
fn litecoin_that_came_while_nobody_looked_pays_an_invoice_and_is_confirmed_by_its_blocks() {
    let Some(node) = Litecoind::start(&[], "paying an invoice in litecoin") else {
        return;
    };
    node.mine(101);
    let till = Till::new(&["--node", &format!("litecoin={}", node.url())]);
    let add = [
        "add",
        "litecoin",
        "--yes",
        "--script",
        "wpkh",
        "--network",
        "regtest",
    ];
    done(&wallet(&till.served.file, &add, TPUB));
    let mut running = till.start();
    till.until_known("litecoin", "LTC");
    assert_eq!(till.offers(&running), ["LTC"]);
    let invoice = till.invoice(&running, "LTC");
    assert_eq!(invoice["depositAddress"], FIRST_ADDRESS);
    assert_eq!(invoice["amountExpected"], "0.25");
    till.hears("invoice.created", &invoice);
    running.process.kill();
    drop(running);
    let txid = node.pay(FIRST_ADDRESS, "0.25");
    let running = till.start();
    till.hears("invoice.detected", &invoice);
    let chains = running.interface("GET", "/dashboard/api/chains", &Value::Null);
    let chains = chains.expect(200).json()["data"].clone();
    assert_eq!(
        [
            &chains[0]["chain"],
            &chains[0]["network"],
            &chains[0]["keepsUp"],
            &chains[0]["problem"]
        ],
        [
            &json!("litecoin"),
            &json!("regtest"),
            &json!(true),
            &Value::Null
        ]
    );
    assert_eq!(chains[0]["node"], "http://127.0.0.1");
    assert_eq!(chains[0]["height"], 101);
    let ready = running.interface("GET", "/readyz?verbose", &Value::Null);
    assert!(
        ready.text.contains("chains: litecoin ok\n"),
        "{}",
        ready.text
    );
    node.mine(3);
    till.hears("invoice.confirmed", &invoice);
    let path = format!("/v1/invoices/{}", invoice["id"].as_str().unwrap());
    let paid = till.call(&running, "GET", &path, "");
    assert_eq!(
        (&paid["status"], &paid["amountReceived"]),
        (&json!("confirmed"), &json!("0.25"))
    );
    drop(running);
    let seen = "select group_concat(txid || ' ' || state) from observations";
    till.served.until(seen, &[&format!("{txid} confirmed")]);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
    comes_to_nobody_and_is_read_again(&till, &node, &txid, seen);
}

#[track_caller]
fn comes_to_nobody_and_is_read_again(till: &Till, node: &Litecoind, txid: &str, seen: &str) {
    // What comes to an address that this file has handed out to nobody is kept for a person to look at.
    let said = Said {
        script: Some(Script::Wpkh),
        network: Some(WalletNetwork::Regtest),
    };
    let later = read(Chain::Litecoin, TPUB, &said).unwrap().receiving();
    let later = later.unwrap().derive(900).unwrap().address;
    let stray = node.pay(&later, "0.5");
    let running = till.start();
    let unmatched = "select coalesce((select txid from observations \
        where seq in (select observation from unmatched_payments)), '')";
    till.served.until(unmatched, &[&stray]);
    drop(running);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
    let seen = format!("{seen} where address = '{FIRST_ADDRESS}'");
    // Read again from the first block on: the same.
    let said = till.coffer(&["rescan", "litecoin", "--from", "1"]);
    assert!(
        said.contains("litecoin is read again from block 1 on"),
        "{said}"
    );
    let running = till.start();
    till.served.until(
        "select count(*) || '' from rescans where ended_at is not null",
        &["1"],
    );
    till.served.until(&seen, &[&format!("{txid} confirmed")]);
    drop(running);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
    let doctor = [&["doctor"][..], &till.settings()[..5]].concat();
    let said = till.coffer(&doctor);
    assert!(
        said.contains("ok: node of litecoin at http://127.0.0.1: regtest, block 104 of "),
        "{said}"
    );
    assert!(!said.contains("coffer:regtest"), "{said}");
}

#[test]
fn a_coin_and_a_token_of_one_chain_pay_an_invoice_each() {
    let Some(node) = Node::of(11_155_111, "paying an invoice on ethereum") else {
        return;
    };
    let token = node.token();
    let (url, contract) = (
        format!("ethereum={}", node.url),
        format!("USDC-ERC20={token}"),
    );
    let till = Till::new(&["--node", &url, "--token", &contract]);
    done(&wallet(&till.served.file, &["add", "evm", "--yes"], EVM));
    let mut running = till.start();
    till.until_known("ethereum", "USDC");
    // Tether has no contract there.
    assert_eq!(till.offers(&running), ["ETH", "USDC-ERC20"]);
    let invoices = ["ETH", "USDC-ERC20"].map(|asset| till.invoice(&running, asset));
    let [coin, tokens] = &invoices;
    assert_ne!(coin["depositAddress"], tokens["depositAddress"]);
    running.process.kill();
    drop(running);
    let to = |invoice: &Value| invoice["depositAddress"].as_str().unwrap().to_owned();
    node.pay(&to(coin), 10_u128.pow(16));
    node.pay_token(&token, &to(tokens), 20_000_000);
    let mut running = till.start();
    for invoice in &invoices {
        till.hears("invoice.detected", invoice);
    }
    running.process.kill();
    drop(running);
    node.mine(6);
    let running = till.start();
    for invoice in &invoices {
        till.hears("invoice.confirmed", invoice);
    }
    drop(running);
    let booked = "select group_concat(state) from (select state from observations)";
    till.served.until(booked, &["confirmed,confirmed"]);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
}

#[test]
fn the_next_url_takes_over_from_one_that_fails() {
    let Some(node) = Node::of(84_532, "a node that fails") else {
        return;
    };
    let urls = format!("base=http://{},{}", Receiver::nobody(), node.url);
    let till = Till::new(&["--node", &urls]);
    let _running = till.start();
    let network = "select coalesce((select chain || ' ' || network from chain_cursors), '')";
    till.served.until(network, &["base 84532"]);
}
