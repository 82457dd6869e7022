//! A node that gives new blocks and no final ones. Payments are seen and counted, and only what needs a final block
//! waits.

use crate::chain::till::{TestnetShop, deposit_address};
use crate::support::anvil::Node;
use crate::support::rpc_proxy::{RpcFault, RpcProxy, set_error};
use crate::support::step_follower::StepFollower;
use coffer::domain::asset::Chain;
use rusqlite::Connection;
use serde_json::{Value, json};

const BLOCKS: &str = "eth_getBlockByNumber";
const RECEIPT: &str = "eth_getTransactionReceipt";

/// A shop whose chain is followed through a proxy, step by step.
struct Scene {
    node: Node,
    liar: RpcProxy,
    till: TestnetShop,
    follower: StepFollower,
    file: Connection,
    token: String,
    to: String,
    payments: u32,
}

impl Scene {
    #[track_caller]
    fn start() -> Option<Scene> {
        let node = Node::start(11_155_111, "a node of ethereum without final blocks")?;
        let token = node.deploy_token();
        node.mine(40);
        let liar = RpcProxy::start(&node.url);
        let till = TestnetShop::with_account_chain("ethereum", &node.url, "USDC-ERC20", &token);
        let invoice = till.create_invoice_and_kill("ethereum", "USDC", "USDC-ERC20");
        let to = deposit_address(&invoice);
        let tokens = [("USDC-ERC20", token.as_str())];
        let follower = StepFollower::open(&till.served.file, Chain::Ethereum, &liar.url(), &tokens);
        let file = till.served.open_file();
        Some(Scene { node, liar, till, follower, file, token, to, payments: 0 })
    }

    fn pay(&mut self) {
        self.node.pay_token(&self.token, &self.to, 1_000_000 + u128::from(self.payments));
        self.node.mine(1);
        self.payments += 1;
    }

    fn count(&self, sql: &str) -> u32 {
        self.file.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Makes steps, all of which must succeed, until all payments are in this state.
    #[track_caller]
    fn step_until(&mut self, state: &str, about: &str) {
        let sql = format!("select count(*) from observations where state = '{state}'");
        for _ in 0..30 {
            if let Err(problem) = self.follower.step() {
                unreachable!("{about}: {problem}");
            }
            if self.count(&sql) == self.payments {
                return;
            }
        }
        unreachable!("{about}: {} of {} are {state}", self.count(&sql), self.payments);
    }

    fn complete_height(&self) -> u32 {
        self.count("select complete_height from chain_cursors")
    }

    /// Pays, and waits until the payment is seen.
    #[track_caller]
    fn pay_and_see(&mut self, about: &str) {
        self.pay();
        let seen = "select count(*) from observations";
        while self.count(seen) < self.payments {
            assert_eq!(self.follower.step().err(), None, "{about}");
        }
    }

    /// Pays, and asserts that the payment is confirmed by depth while no final block is read.
    #[track_caller]
    fn assert_counted_by_depth(&mut self, told: &str, about: &str) {
        self.step_until("confirmed", about);
        self.pay_and_see(about);
        self.assert_seen_payment_is_counted(told, about);
    }

    /// Asserts that the seen payment is confirmed by depth while no final block is read.
    #[track_caller]
    fn assert_seen_payment_is_counted(&mut self, told: &str, about: &str) {
        let complete = self.complete_height();
        self.node.mine(40);
        self.step_until("confirmed", about);
        (0..4).for_each(|_| assert_eq!(self.follower.step().err(), None, "{about}"));
        assert_eq!(self.complete_height(), complete, "{about}");
        let problem = self.follower.final_problem().unwrap_or_default();
        for part in [told, "Payments are seen"] {
            assert!(problem.contains(part), "{about}: {part} in {problem:?}");
        }
        self.liar.clear_faults();
        let step = |scene: &mut Scene| scene.follower.step().map(drop);
        assert!((0..30).any(|_| step(self).is_ok() && self.complete_height() > complete + 30));
        assert_eq!(self.follower.final_problem(), None, "{about}");
    }
}

#[test]
fn payments_are_counted_while_the_tag_of_final_blocks_is_refused() {
    let Some(mut scene) = Scene::start() else {
        return;
    };
    /// A part of the problem, and the bad answer that leads to it.
    type BadAnswer = (&'static str, fn(&mut Value));
    let faults: [BadAnswer; 5] = [
        ("(-32603)", |answer| set_error(answer, -32603, "internal error")),
        ("(-32602)", |answer| set_error(answer, -32602, "invalid argument 0")),
        ("is not what was asked", |answer| answer["result"] = json!({})),
        ("is not what was asked", |answer| answer["result"] = json!("0x7")),
        ("is not what was asked", |answer| answer["result"]["number"] = json!("seven")),
    ];
    for (told, bad) in faults {
        let fault = RpcFault::from_change(move |params, answer| {
            if params[0] == "finalized" {
                bad(answer);
            }
        });
        scene.step_until("confirmed", told);
        scene.liar.inject(BLOCKS, fault);
        scene.assert_counted_by_depth(told, told);
    }
    scene.till.served.assert_audit_clean();
}

#[test]
fn payments_are_counted_while_older_blocks_are_refused() {
    let Some(mut scene) = Scene::start() else {
        return;
    };
    for (told, is_null) in [("(-32603)", false), ("does not have that block yet", true)] {
        scene.step_until("confirmed", told);
        let newest = scene.node.height();
        scene.liar.inject(
            BLOCKS,
            RpcFault::from_change(move |params, answer| {
                let height = params[0].as_str().and_then(|text| text.strip_prefix("0x"));
                let height = height.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                if params[1] == true && height.is_some_and(|height| height <= newest) {
                    match is_null {
                        true => answer["result"] = Value::Null,
                        false => set_error(answer, -32603, "internal error"),
                    }
                }
            }),
        );
        scene.assert_counted_by_depth(told, told);
    }
    scene.till.served.assert_audit_clean();
}

#[test]
fn new_blocks_are_read_while_a_final_block_lacks_a_payment() {
    let Some(mut scene) = Scene::start() else {
        return;
    };
    type BadAnswer = fn(&mut Value);
    let lookups: [(&str, &str, BadAnswer); 3] = [
        ("(-32603)", RECEIPT, |answer| set_error(answer, -32603, "internal error")),
        ("is not what was asked", RECEIPT, |answer| answer["result"] = json!(7)),
        // The node has the transaction, and leaves it out of the list of transfers.
        ("it does not tell of", RECEIPT, |_| {}),
    ];
    for (told, method, bad) in lookups {
        scene.step_until("confirmed", told);
        scene.pay_and_see(told);
        scene.liar.inject("eth_getLogs", RpcFault::result(json!([])));
        scene.liar.inject(method, RpcFault::from_change(move |_, answer| bad(answer)));
        scene.assert_seen_payment_is_counted(told, told);
    }
    // A node that knows nothing of the payment takes it back.
    scene.step_until("confirmed", "absent");
    scene.pay_and_see("absent");
    scene.liar.inject("eth_getLogs", RpcFault::result(json!([])));
    scene.liar.inject(RECEIPT, RpcFault::result(Value::Null));
    scene.node.mine(40);
    let removed = "select count(*) from observations where block_height is null";
    let step = |scene: &mut Scene| assert_eq!(scene.follower.step().err(), None);
    (0..30).for_each(|_| step(&mut scene));
    assert_eq!(scene.count(removed), 1);
    scene.till.served.assert_audit_clean();
}
