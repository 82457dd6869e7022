//! Outcomes of an invoice on each kind of chain, with the real binary. The status of each invoice is asserted, and
//! the file must agree with the node.
//!
//! The tests in `killed` kill the server while it stores a block.

mod payers;
mod solana;
mod tron;

use super::till::TestnetShop;
use crate::support::audit_log::record_direct_writes;
use crate::support::installation::RunningServer;
use crate::support::received::{ReceivedAmounts, amounts_in_file};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A payer on one chain.
trait ScenarioPayer {
    /// Returns the chain, the id of the asset, and its symbol.
    fn chain_asset_symbol(&self) -> [&'static str; 3];
    /// Returns 20 EUR as an amount of the asset, in base units.
    fn units_worth_twenty_eur(&self) -> u128;
    /// Pays all these addresses in one transaction, which the next block contains, and returns the transaction id.
    fn send_all(&self, to: &[(&str, u128)]) -> String;
    fn mine_empty(&self, blocks: u32);
    fn height(&self) -> u32;
    /// Returns `true` if blocks can be reorganised.
    fn has_forks(&self) -> bool {
        true
    }
    /// Returns `true` if unconfirmed transactions are visible.
    fn has_mempool(&self) -> bool;
    /// Replaces an unconfirmed transaction. On a chain without a visible mempool, reorganises the block of the
    /// transaction first.
    fn replace_transaction(&self, txid: &str, to: &[(&str, u128)]);
    /// Reorganises the newest blocks. Their transactions are confirmed again in another order, except the transaction
    /// `gone`.
    fn reorganise_and_drop_txid(&self, gone: &str);
    /// Sends to this address several payments that the server must ignore.
    fn send_ignored_payments(&self, to: &str);
    /// Returns the payments to these addresses, according to the node. Payments that the node cannot list are copied
    /// from `booked`, and the sums are compared with the balances of the addresses.
    fn received_by(&self, to: &BTreeSet<String>, booked: &ReceivedAmounts) -> ReceivedAmounts;
}

/// A scenario in progress: the shop, the payer, and the invoices by name.
struct Scenario<'a, P> {
    till: &'a TestnetShop,
    payer: &'a P,
    invoices: BTreeMap<&'static str, Value>,
}

impl<P: ScenarioPayer> Scenario<'_, P> {
    fn deposit_address(&self, name: &str) -> &str {
        self.invoices[name]["depositAddress"].as_str().unwrap()
    }

    /// Pays a part of an invoice, in twentieths of its amount, and returns the transaction id.
    fn pay_twentieths(&self, name: &str, twentieths: u128) -> String {
        let units = self.payer.units_worth_twenty_eur() * twentieths / 20;
        self.payer.send_all(&[(self.deposit_address(name), units)])
    }

    /// Runs the server until it has read the newest block and the condition `until` is true. Returns the status of
    /// each invoice.
    #[track_caller]
    fn run_server_until(&self, until: &str) -> BTreeMap<&'static str, String> {
        let mut running = self.till.start();
        let height = self.payer.height();
        let read = format!("select (height = {height} and {until}) || '' from chain_cursors");
        self.till.served.wait_for_query_result(&read, &["1"]);
        let told = self.invoices.iter().map(|(name, invoice)| {
            let path = format!("/v1/invoices/{}", invoice["id"].as_str().unwrap());
            let told = self.till.call_api(&running, "GET", &path, "");
            (*name, told["status"].as_str().unwrap().to_owned())
        });
        let told = told.collect();
        running.process.kill();
        told
    }

    /// Sends the first payments, and returns the number of payments that the server has seen.
    #[track_caller]
    fn make_first_payments(&self, customer: Option<&str>) -> usize {
        let (payer, twenty) = (self.payer, self.payer.units_worth_twenty_eur());
        for (name, twentieths) in [
            ("exact", 20),
            ("topped up", 10),
            ("under", 10),
            ("over", 30),
            ("second", 20),
            ("late", 20),
        ] {
            self.pay_twentieths(name, twentieths);
        }
        payer.send_all(&[
            (self.deposit_address("one"), twenty),
            (self.deposit_address("two"), twenty),
        ]);
        let mut mixed = vec![(self.deposit_address("mixed"), twenty)];
        mixed.extend(customer.map(|to| (to, twenty / 4)));
        payer.send_all(&mixed);
        payer.send_ignored_payments(self.deposit_address("stray"));
        payer.mine_empty(1);
        let strays = usize::from(!payer.has_mempool());
        let count = 6 + 2 + mixed.len() + strays;
        for (name, status) in self.run_server_until(&not_dropped_condition(count)) {
            match name {
                "back" | "gone" | "stray" | "more" | "less" | "else" => {
                    assert_eq!(status, "awaiting_payment", "{name}");
                }
                // On chains with one block for each transaction, the first payments may already be confirmed.
                "late" => assert!(["expired", "paid_late"].contains(&status.as_str()), "{status}"),
                _ if payer.has_mempool() => assert_eq!(status, "detected", "{name}"),
                _ => assert_ne!(status, "awaiting_payment", "{name}"),
            }
        }
        count
    }

    /// Sends more payments for some invoices, then reorganises blocks. Returns the number of payments that the server
    /// has seen.
    #[track_caller]
    fn top_up_and_reorganise(&self, count: usize) -> usize {
        self.pay_twentieths("topped up", 10);
        self.pay_twentieths("second", 5);
        self.pay_twentieths("back", 20);
        if !self.payer.has_forks() {
            self.payer.mine_empty(1);
            let told = self.run_server_until(&not_dropped_condition(count + 3));
            assert_eq!(told["back"], "detected");
            return count + 3;
        }
        let gone = self.pay_twentieths("gone", 20);
        self.payer.mine_empty(1);
        let told = self.run_server_until(&not_dropped_condition(count + 4));
        for name in ["back", "gone"] {
            assert_eq!(told[name], "detected", "{name}");
        }
        self.payer.reorganise_and_drop_txid(&gone);
        let count = count + 3;
        let told = self.run_server_until(&confirmed_condition(count));
        assert_eq!(told["back"], "detected");
        count
    }

    /// Replaces unconfirmed transactions by others that pay more, pay less, or pay another address. Returns the
    /// number of payments that are not dropped.
    #[track_caller]
    fn replace_payments(&self, count: usize) -> usize {
        let (payer, twenty) = (self.payer, self.payer.units_worth_twenty_eur());
        if !payer.has_forks() {
            payer.send_all(&[(self.deposit_address("more"), twenty * 2)]);
            payer.send_all(&[(self.deposit_address("less"), twenty / 2)]);
            payer.mine_empty(1);
            let told = self.run_server_until(&not_dropped_condition(count + 2));
            assert_eq!((&*told["more"], &*told["less"]), ("detected", "detected"));
            return count + 2;
        }
        let waiting = REPLACED.map(|name| (name, self.pay_twentieths(name, 20)));
        let told = self.run_server_until(&self.seen_condition(count + 3));
        for (name, txid) in &waiting {
            assert_eq!(told[name], "detected", "{name}");
            let more = [(self.deposit_address("more"), twenty * 2)];
            let less = [(self.deposit_address("less"), twenty / 2)];
            match *name {
                "more" => payer.replace_transaction(txid, &more),
                "less" => payer.replace_transaction(txid, &less),
                _ => payer.replace_transaction(txid, &[]),
            }
        }
        let count = count + 2;
        let told = self.run_server_until(&self.seen_condition(count));
        assert_eq!((&*told["more"], &*told["less"]), ("detected", "detected"));
        // On a chain without a mempool, the server drops the lost transaction only when a later block is final.
        if payer.has_mempool() {
            assert_eq!(told["else"], "awaiting_payment");
        }
        count
    }

    /// Returns an SQL condition that is true if the server has seen this number of payments. Without a mempool, only
    /// payments in blocks are counted.
    fn seen_condition(&self, count: usize) -> String {
        if self.payer.has_mempool() {
            not_dropped_condition(count)
        } else {
            confirmed_condition(count)
        }
    }
}

/// Returns an SQL condition that is true if this number of payments is in blocks.
fn confirmed_condition(count: usize) -> String {
    format!("{SEEN} and block_height is not null) = {count}")
}

/// Returns an SQL condition that is true if this number of payments is not dropped.
fn not_dropped_condition(count: usize) -> String {
    format!("{SEEN}) = {count}")
}

/// Start of an SQL query for the number of payments that are not dropped. The closing parenthesis is missing, so that
/// conditions can be added.
const SEEN: &str = "(select count(*) from observations where state != 'dropped'";

/// SQL condition that is true if no payment is unconfirmed.
const NONE_UNCONFIRMED: &str = "not exists (select 1 from observations where state = 'seen')";

/// Names of the invoices, created before the first payment.
const NAMES: [&str; 15] = [
    "exact",
    "topped up",
    "under",
    "over",
    "second",
    "one",
    "two",
    "mixed",
    "late",
    "back",
    "gone",
    "stray",
    "more",
    "less",
    "else",
];
/// Invoices whose transactions are replaced.
const REPLACED: [&str; 3] = ["more", "less", "else"];

/// Returns the address of a customer on a chain.
#[track_caller]
fn customer_address(till: &TestnetShop, running: &RunningServer, chain: &str) -> String {
    let family = match chain {
        "tron" | "solana" => chain,
        _ => "evm",
    };
    let made = till.call_api(running, "POST", "/v1/customers/ada/addresses", "");
    let mut addresses = made["addresses"].as_array().unwrap().iter();
    let found = addresses.find(|one| one["family"] == family).unwrap();
    found["address"].as_str().unwrap().to_owned()
}

/// Moves an invoice two hours into the past, so that it expires.
#[track_caller]
fn expire_invoice(file: &Connection, invoice: &Value) {
    let hours = 2 * 3_600_000;
    for sql in [
        format!(
            "update quotes set created_at = created_at - {hours}
                where invoice = (select seq from invoices where id = ?1)"
        ),
        format!(
            "update invoices set created_at = created_at - {hours}, expires_at = expires_at - {hours} where id = ?1"
        ),
    ] {
        file.execute(&sql, [invoice["id"].as_str()]).unwrap();
    }
}

#[track_caller]
fn play_scenario(till: &TestnetShop, payer: &impl ScenarioPayer) {
    let [chain, asset, symbol] = payer.chain_asset_symbol();
    let file = till.served.open_file();
    let enabled = "update accounts set customers_enabled = 1";
    file.execute(enabled, []).unwrap();
    record_direct_writes(&till.served.file);
    let mut running = till.start();
    till.wait_for_rate(chain, symbol);
    // Litecoin and Dogecoin have no customer addresses.
    let customer = (!payer.has_mempool()).then(|| customer_address(till, &running, chain));
    let invoices = NAMES.map(|name| (name, till.create_invoice(&running, asset)));
    let play = Scenario { till, payer, invoices: invoices.into() };
    running.process.kill();
    expire_invoice(&file, &play.invoices["late"]);
    let count = play.make_first_payments(customer.as_deref());
    let count = play.top_up_and_reorganise(count);
    let count = play.replace_payments(count);
    // The chain grows while the server is down.
    payer.mine_empty(50);
    let told = play.run_server_until(NONE_UNCONFIRMED);
    for (name, status) in &told {
        let right = match *name {
            "exact" | "topped up" | "one" | "two" | "mixed" | "back" => "confirmed",
            "over" | "second" | "more" => "overpaid",
            "under" | "less" => "underpaid",
            "late" => "paid_late",
            _ => "awaiting_payment",
        };
        assert_eq!(status, right, "{name}");
    }
    till.served.assert_audit_clean();
    let customers = usize::from(customer.is_some());
    let mut to: BTreeSet<String> =
        NAMES.iter().map(|name| play.deposit_address(name).to_owned()).collect();
    to.extend(customer);
    let booked = amounts_in_file(&file);
    assert_eq!(booked.len(), count);
    assert_eq!(payer.received_by(&to, &booked), booked);
    let owners = "select (select count(*) from deposits) || ' ' || (select count(*) from unmatched_payments)";
    let right = format!("{customers} {}", usize::from(!payer.has_mempool()));
    till.served.wait_for_query_result(owners, &[&right]);
}
