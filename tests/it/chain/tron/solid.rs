//! A Tron node whose `/walletsolidity` fails. What `/wallet` gives is read, and only what needs a final block waits.
//!
//! Invariant: no payment is confirmed before `/walletsolidity` gave its block, and finality never moves back.

use super::shop::{ASSET, assert_agrees_with_node, open_shop};
use crate::chain::till::{TestnetShop, deposit_address};
use crate::support::polling;
use crate::support::step_follower::StepFollower;
use crate::support::tron::{Action, Fault, Node, PAYER, TOKEN, decode_address, encode_address};
use coffer::domain::asset::Chain;
use rusqlite::Connection;
use serde_json::{Value, json};

/// Number of blocks after which a block is final, and of those by which final blocks are read in steps.
const FINAL: u32 = 24;
const HEAD: &str = "/walletsolidity/getnowblock";
const RANGE: &str = "/walletsolidity/getblockbylimitnext";
const RECEIPTS: &str = "/walletsolidity/gettransactioninfobyblocknum";
/// Time limit of a request to a node that never answers, and to any other node, in milliseconds.
const HANG_MS: u64 = 250;
const TIMEOUT_MS: u64 = 30_000;

/// A shop whose chain is followed step by step.
struct Scene {
    node: Node,
    till: TestnetShop,
    follower: StepFollower,
    file: Connection,
    to: String,
    payments: u64,
    /// Height of the newest final block that was read.
    complete: u32,
    /// The node at the second url.
    _honest: Node,
}

impl Scene {
    /// Starts a shop on the node. With `has_honest_second`, another node of the chain is at the second url.
    #[track_caller]
    fn start(has_honest_second: bool) -> Scene {
        let node = Node::start();
        let honest = node.start_another();
        let till = open_shop(&node.url());
        let mut running = till.start();
        till.wait_for_rate("tron", "USDT");
        let to = deposit_address(&till.create_invoice(&running, ASSET));
        running.process.kill();
        let urls = match has_honest_second {
            true => format!("{},{}", node.url(), honest.url()),
            false => node.url(),
        };
        let token = encode_address(TOKEN);
        let follower =
            StepFollower::open(&till.served.file, Chain::Tron, &urls, &[(ASSET, &token)]);
        let file = till.served.open_file();
        Scene { node, till, follower, file, to, payments: 0, complete: 0, _honest: honest }
    }

    /// Pays the shop in the next block, by coin and by token.
    fn pay(&mut self) {
        self.node.pay(&self.to, 1_000_000 + self.payments);
        self.node.pay_token(&self.to, 2_000_000 + self.payments);
        self.node.mine(1);
        self.payments += 2;
    }

    fn count(&self, condition: &str) -> u64 {
        let sql = format!("select count(*) from observations where {condition}");
        let count: u32 = self.file.query_row(&sql, [], |row| row.get(0)).unwrap();
        count.into()
    }

    /// Makes one step, which must succeed and not move finality back.
    #[track_caller]
    fn step(&mut self, about: &str) {
        if let Err(problem) = self.follower.step() {
            unreachable!("{about}: {problem}");
        }
        let sql = "select complete_height from chain_cursors";
        let complete = self.file.query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(complete >= self.complete, "{about}: finality moves back to {complete}");
        self.complete = complete;
    }

    /// Makes steps until all payments fulfil a condition.
    #[track_caller]
    fn step_until(&mut self, condition: &str, about: &str) {
        for _ in 0..60 {
            self.step(about);
            if self.count(condition) == self.payments {
                return;
            }
        }
        unreachable!("{about}: {} of {} {condition}", self.count(condition), self.payments);
    }

    /// Asserts that the operator is told what the node does not give, and why.
    #[track_caller]
    fn assert_told(&self, path: &str, why: &str, about: &str) {
        let told = self.follower.final_problem().unwrap_or_default();
        let asked = format!("{path} at {}", self.node.url());
        for part in [&asked, why, "Payments are seen"] {
            assert!(told.contains(part), "{about}: {part} in {told:?}");
        }
    }
}

/// Faults of `/walletsolidity`, each with the reason that is told.
fn faults() -> Vec<(&'static str, Fault)> {
    let body = |text: &str| Fault::Status(200, text.to_owned());
    vec![
        ("status 500", Fault::Status(500, String::new())),
        ("status 401", Fault::Status(401, String::new())),
        ("status 429", Fault::Status(429, String::new())),
        ("is not JSON", body("<html><title>Sign in</title></html>")),
        (
            "NullPointerException",
            body(r#"{"Error":"class java.lang.NullPointerException : null"}"#),
        ),
        ("is not what was asked", body("7")),
        ("", body("null")),
        ("", body("{}")),
        ("cannot be asked", Fault::Truncated(30)),
        ("no answer in time", Fault::Hang),
    ]
}

#[test]
fn payments_are_seen_and_wait_while_no_final_block_is_given() {
    let mut scene = Scene::start(false);
    for path in [HEAD, RANGE, RECEIPTS] {
        for (why, fault) in faults() {
            let about = format!("{path}: {why}");
            let is_hang = matches!(fault, Fault::Hang);
            scene.follower.reconnect(if is_hang { HANG_MS } else { TIMEOUT_MS });
            scene.step_until("state = 'confirmed'", &about);
            scene.node.inject(path, fault);
            let confirmed = scene.payments;
            scene.pay();
            scene.step_until("true", &about);
            // The payments would be final by now, and a server that was away would read their blocks late.
            scene.node.mine(FINAL + 2);
            scene.pay();
            scene.node.mine(FINAL + 2);
            scene.step_until("true", &about);
            (0..4).for_each(|_| scene.step(&about));
            assert_eq!(scene.count("state = 'confirmed'"), confirmed, "{about}");
            scene.assert_told(path, why, &about);
            // A restart during the outage changes nothing.
            scene.follower.reconnect(if is_hang { HANG_MS } else { TIMEOUT_MS });
            scene.pay();
            scene.step_until("true", &about);
            (0..4).for_each(|_| scene.step(&about));
            assert_eq!(scene.count("state = 'confirmed'"), confirmed, "{about}");
            scene.assert_told(path, why, &about);
            // A payment by another contract is seen in its final block only.
            let to = [(decode_address(&scene.to), 7)];
            scene.node.send(Action::token_payments(TOKEN, PAYER, &to));
            scene.payments += 1;
            scene.node.mine(1);
            (0..4).for_each(|_| scene.step(&about));
            scene.node.clear_faults();
            scene.node.mine(FINAL);
            scene.step_until("state = 'confirmed'", &about);
            assert_eq!(scene.follower.final_problem(), None, "{about}");
        }
    }
    assert_eq!(scene.count("state = 'dropped'"), 0);
    assert_agrees_with_node(&scene.till, &scene.node, &[scene.to]);
}

#[test]
fn another_url_that_gives_final_blocks_is_used() {
    let mut scene = Scene::start(true);
    for path in [HEAD, RANGE, RECEIPTS] {
        for (why, fault) in faults() {
            let about = format!("{path}: {why}");
            let is_hang = matches!(fault, Fault::Hang);
            scene.follower.reconnect(if is_hang { HANG_MS } else { TIMEOUT_MS });
            scene.node.inject(path, fault);
            scene.pay();
            scene.node.mine(FINAL);
            scene.step_until("state = 'confirmed'", &about);
            scene.node.clear_faults();
        }
    }
    assert_agrees_with_node(&scene.till, &scene.node, &[scene.to]);
}

#[test]
fn rescan_waits_for_final_blocks_and_hides_no_new_block() {
    let mut scene = Scene::start(false);
    for path in [HEAD, RANGE] {
        scene.step_until("state = 'confirmed'", path);
        let from = scene.node.height();
        scene.pay();
        scene.node.mine(FINAL + 60);
        scene.step_until("state = 'confirmed'", path);
        scene.node.inject(path, Fault::Status(500, String::new()));
        let rescan = ["rescan", "tron", "--from", &from.to_string()];
        scene.till.run_coffer(&rescan);
        let rescans = "select count(*) from rescans where ended_at is null";
        let open =
            |scene: &Scene| -> u32 { scene.file.query_row(rescans, [], |row| row.get(0)).unwrap() };
        for _ in 0..4 {
            scene.pay();
            // Every second step belongs to the rescan.
            let problems: Vec<String> =
                (0..6).filter_map(|_| scene.follower.step().err()).collect();
            assert!(
                !problems.is_empty() && problems.iter().all(|told| told.contains(path)),
                "{problems:?}"
            );
            assert_eq!((scene.count("true"), open(&scene)), (scene.payments, 1), "{path}");
        }
        scene.node.clear_faults();
        scene.node.mine(FINAL);
        // A rescan waits for the end of a backoff.
        let is_done = (0..120).any(|_| {
            drop(scene.follower.step());
            open(&scene) == 0 && scene.count("state = 'confirmed'") == scene.payments
        });
        assert!(is_done, "{path}");
    }
    assert_eq!(scene.count("state = 'dropped'"), 0);
    assert_agrees_with_node(&scene.till, &scene.node, &[scene.to]);
}

#[test]
fn coins_stay_on_offer_while_no_final_block_is_given() {
    for fault in [Fault::Status(500, String::new()), Fault::Hang] {
        let node = Node::start();
        let till = open_shop(&node.url());
        let invoice = till.create_invoice_and_kill("tron", "USDT", ASSET);
        let why = if matches!(fault, Fault::Hang) { "no answer in time" } else { "status 500" };
        node.inject(HEAD, fault);
        node.pay_token(&deposit_address(&invoice), 20_000_000);
        node.mine(FINAL);
        let running = till.start();
        till.wait_for_event("invoice.detected", &invoice);
        let problem = || running.first_chain()["problem"].as_str().unwrap_or_default().to_owned();
        let asked = format!("{HEAD} at {}", node.url());
        let is_told = || problem().contains(&asked) && problem().contains(why);
        assert!(polling::wait_until(is_told), "{}", problem());
        let view = running.first_chain();
        assert_eq!((&view["keepsUp"], &view["height"]), (&json!(true), &json!(node.height())));
        assert_eq!(till.offered_assets(&running), ["TRX", ASSET]);
        let ready = running.operator_request("GET", "/readyz?verbose", &Value::Null);
        assert!(ready.expect(200).text.contains(&asked));
        let said = till.run_coffer(&[&["doctor"][..], &till.settings()[..7]].concat());
        assert!(said.contains(&asked) && said.contains(why), "{said}");
        let confirmed = "select count(*) || '' from observations where state = 'confirmed'";
        till.served.wait_for_query_result(confirmed, &["0"]);
        node.clear_faults();
        // The same server goes on by itself.
        till.wait_for_event("invoice.confirmed", &invoice);
        assert!(polling::wait_until(|| running.first_chain()["problem"].is_null()));
        drop(running);
        assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
    }
}

#[test]
fn chain_is_first_followed_once_a_final_block_is_given() {
    let node = Node::start();
    let till = open_shop(&node.url());
    node.inject(HEAD, Fault::Status(500, String::new()));
    let running = till.start();
    let problem = || running.first_chain()["problem"].as_str().unwrap_or_default().to_owned();
    assert!(polling::wait_until(|| problem().contains(HEAD)), "{}", problem());
    assert_eq!(till.offered_assets(&running), Vec::<String>::new());
    node.clear_faults();
    till.wait_for_rate("tron", "USDT");
    let followed =
        format!("select (complete_height <= {}) || '' from chain_cursors", node.height() - 19);
    till.served.wait_for_query_result(&followed, &["1"]);
}
