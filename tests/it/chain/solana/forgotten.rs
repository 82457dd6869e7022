//! Payments that a Solana node had and then does not have. They wait, and are asked for again.

use super::fixtures::{Follower, UNTESTED, assert_agrees_with_node, solana_client};
use crate::chain::till::{TestnetShop, deposit_address};
use crate::support::received::amounts_in_file;
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use crate::support::step_follower::StepFollower;
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC, USDT};
use coffer::domain::SetAsideKind;
use coffer::domain::asset::Chain;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Number of steps after which a test fails.
const STEPS_MAX: usize = 80;

/// A shop with an invoice in SOL, whose chain is followed step by step through a proxy.
struct Scene {
    node: Surfpool,
    liar: RpcProxy,
    till: TestnetShop,
    follower: StepFollower,
    file: Connection,
    to: String,
}

impl Scene {
    /// Starts a shop. If `has_honest`, the second url is that of the honest node.
    #[track_caller]
    fn start(has_honest: bool) -> Option<Scene> {
        let node = Surfpool::start(UNTESTED)?;
        let liar = RpcProxy::start(&node.url);
        let till = TestnetShop::with_solana(&node, &node.url);
        let invoice = till.create_invoice_and_kill("solana", SOL, SOL);
        let urls = match has_honest {
            true => format!("{},{}", liar.url(), node.url),
            false => liar.url(),
        };
        let mints = [USDC, USDT].map(|asset| (asset, node.mint_address(asset)));
        let follower = StepFollower::open(&till.served.file, Chain::Solana, &urls, &mints);
        let file = till.served.open_file();
        let to = deposit_address(&invoice);
        Some(Scene { node, liar, till, follower, file, to })
    }

    fn read(&self, sql: &str) -> String {
        self.file.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn states(&self) -> String {
        self.read("select ifnull(group_concat(state), '') from observations")
    }

    /// Makes a step, and then lets slots pass. The step may fail, because an empty history is doubted.
    fn step(&mut self, slots: u32) {
        let _ = self.follower.step();
        self.node.wait_for_slots(slots);
    }

    /// Makes steps until the payment is in this state.
    #[track_caller]
    fn step_until(&mut self, state: &str) {
        for _ in 0..STEPS_MAX {
            self.step(5);
            if self.states() == state {
                return;
            }
        }
        unreachable!("never {state}: {} {:?}", self.states(), self.follower.set_aside());
    }

    /// Pays the invoice, and waits until the payment is seen. Returns its signature.
    #[track_caller]
    fn pay(&mut self) -> String {
        self.step_until("");
        let paid = self.node.pay(SOL, &self.to, 200_000_000);
        self.step_until("seen");
        paid
    }

    /// Starts a shop whose payment the first node had, and then forgets. Returns the signature.
    #[track_caller]
    fn start_with_forgotten_payment(has_honest: bool) -> Option<(Scene, String)> {
        let mut scene = Scene::start(has_honest)?;
        let paid = scene.pay();
        scene.forget(&paid);
        Some((scene, paid))
    }

    /// Makes the node forget a transaction, and makes all slots up to now final.
    fn forget(&self, signature: &str) {
        let (own, listed) = (signature.to_owned(), signature.to_owned());
        let get = RpcFault::from_change(move |params, answer| {
            if params[0] == own.as_str() {
                answer["result"] = Value::Null;
            }
        });
        let list = RpcFault::from_change(move |_, answer| {
            let page = answer["result"].as_array_mut().unwrap();
            page.retain(|one| one["signature"] != listed.as_str());
        });
        self.liar.inject("getTransaction", get);
        self.liar.inject("getSignaturesForAddress", list);
        self.node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    }

    #[track_caller]
    fn assert_booked(&self) {
        assert!(self.follower.set_aside().is_empty());
        assert_eq!(self.read("select group_concat(status) from invoices"), "confirmed");
        let failed = "select count(*) || '' from event_rows where type = 'invoice.failed'";
        assert_eq!(self.read(failed), "0");
        self.till.served.assert_audit_clean();
        let to = BTreeSet::from([self.to.clone()]);
        assert_eq!(amounts_in_file(&self.file), self.node.received_amounts(&to));
    }
}

#[test]
fn forgotten_payment_is_named_and_asked_for_again() {
    let Some((mut scene, paid)) = Scene::start_with_forgotten_payment(false) else {
        return;
    };
    for _ in 0..20 {
        scene.step(200);
        assert_eq!(scene.states(), "seen");
    }
    let aside = scene.follower.set_aside();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert_eq!((aside[0].kind, &aside[0].id), (SetAsideKind::Transaction, &paid));
    scene.liar.clear_faults();
    scene.step_until("confirmed");
    scene.assert_booked();
}

#[test]
fn payment_that_one_of_two_nodes_forgets_is_confirmed_by_the_other() {
    let Some((mut scene, _)) = Scene::start_with_forgotten_payment(true) else {
        return;
    };
    for _ in 0..STEPS_MAX {
        scene.step(200);
        match &*scene.states() {
            "confirmed" => break,
            state => assert_eq!(state, "seen"),
        }
    }
    scene.assert_booked();
}

#[test]
fn forgotten_payment_is_dropped_after_hours_and_comes_back() {
    let Some((mut scene, _)) = Scene::start_with_forgotten_payment(false) else {
        return;
    };
    for _ in 0..6 {
        scene.step(200);
    }
    let hours = 3 * 3_600_000;
    let earlier = "update observations set vanished_at = vanished_at - ?1";
    assert_eq!(scene.file.execute(earlier, [hours]).unwrap(), 1);
    for _ in 0..STEPS_MAX {
        scene.step(650);
        if scene.states() == "dropped" {
            break;
        }
    }
    assert_eq!(scene.states(), "dropped");
    scene.step(1);
    assert!(scene.follower.set_aside().is_empty());
    scene.liar.clear_faults();
    scene.step_until("confirmed");
    scene.assert_booked();
}

#[test]
fn account_that_changed_and_changed_back_is_read() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 1);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    follower.poll();
    // The node shows the new balance before the history has the payment.
    liar.inject("getSignaturesForAddress", RpcFault::result(json!([])));
    let paid = node.pay(SOL, &ours[0], 1_000_000_000);
    assert!(follower.poll().is_empty());
    liar.clear_faults();
    // The owner forwards all of it.
    node.send(Some(0), &json!([["sol", node.payer, 1_000_000_000 - 5_000]]));
    let seen: Vec<String> = follower.poll().into_iter().map(|one| one.txid).collect();
    assert_eq!(seen, [paid]);
    assert_agrees_with_node(&node, &follower, &ours);
}
