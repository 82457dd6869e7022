//! A shop on a UTXO chain, its wallet with private keys, its payer, and the comparison of its ledger with the chain.
//!
//! Invariant: every expected payment is sent before the server starts, so its first poll finds the payment.

use super::till::TestnetShop;
use crate::chain::till::deposit_address;
use crate::operator::wallets::run_wallet_command;
use crate::support::audit_log::record_direct_writes;
use crate::support::installation::RunningServer;
use crate::support::payer::{Coin, Payer, format_units, outpoint, parse_units};
use crate::support::regtest::Regtest;
use bitcoin::NetworkKind;
use bitcoin::bip32::{ChildNumber, DerivationPath, Xpriv, Xpub};
use bitcoin::secp256k1::{Secp256k1, SecretKey};
use coffer::domain::{Cents, ConfirmationTiers, Depth, address};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

/// Price of every invoice, in cents.
const PRICE: Cents = Cents(2_000);
/// Number of unspent outputs that the payer starts with.
pub const COINS: usize = 40;

/// A shop on a UTXO chain, with the private key of its wallet.
pub struct UtxoShop<'a> {
    pub till: TestnetShop,
    pub node: &'a Regtest,
    pub payer: Payer<'a>,
    coin: &'static str,
    /// Script type of the wallet: `wpkh` or `tr`.
    script: &'static str,
    /// Private key of the wallet, which the server never has.
    account: Xpriv,
    /// Number of indexes above the next index at which the server still detects payments.
    ahead: u32,
    /// Paid addresses of the wallet that the server has not assigned.
    strays: Vec<String>,
}

/// An invoice with its deposit address and amount.
pub struct PayableInvoice {
    pub invoice: Value,
    pub address: String,
    pub amount: u64,
}

/// Outputs on the chain or in the ledger, each with its address and its amount in base units.
type OutputsById = BTreeMap<OutputId, (String, u64)>;

/// Id of an output: transaction id, and position in the transaction.
type OutputId = (String, u32);

impl<'a> UtxoShop<'a> {
    /// Opens a shop on a fresh node.
    #[track_caller]
    pub fn open(node: &'a Regtest, coin: &'static str, script: &'static str) -> UtxoShop<'a> {
        let payer = Payer::with_coins(node, COINS);
        UtxoShop::open_with_url(payer, node, &node.url(), 900, coin, script)
    }

    /// Opens a shop that reads the node at this URL. The server detects payments up to `ahead` indexes above the next
    /// index.
    #[track_caller]
    pub fn open_with_url(
        payer: Payer<'a>,
        node: &'a Regtest,
        url: &str,
        ahead: u32,
        coin: &'static str,
        script: &'static str,
    ) -> UtxoShop<'a> {
        let till = TestnetShop::new(&["--node", &format!("{}={url}", node.chain)]);
        let customers = "update accounts set customers_enabled = 1";
        till.served.open_file().execute(customers, []).unwrap();
        record_direct_writes(&till.served.file);
        let secp = Secp256k1::new();
        let purpose = if script == "tr" { 86 } else { 84 };
        let path: DerivationPath = format!("m/{purpose}'/1'/0'").parse().unwrap();
        let master = Xpriv::new_master(NetworkKind::Test, &[7; 32]).unwrap();
        let account = master.derive_priv(&secp, &path).unwrap();
        let public = Xpub::from_priv(&secp, &account).to_string();
        let chain = node.chain.to_string();
        let add = ["add", &chain, "--yes", "--script", script, "--network", "regtest"];
        let added = run_wallet_command(&till.served.file, &add, &public).json_lines();
        let counter =
            UtxoShop { till, node, payer, coin, script, account, ahead, strays: Vec::new() };
        counter.assert_addresses_match_node(&added[0], &public);
        let running = counter.till.start();
        counter.till.wait_for_rate(&chain, coin);
        assert_eq!(counter.till.offered_assets(&running), [coin]);
        counter
    }

    /// Asserts that the first wallet addresses, as `coffer wallet add` prints them, are those that the node derives.
    #[track_caller]
    fn assert_addresses_match_node(&self, added: &Value, public: &str) {
        let descriptor = format!("{}({public}/0/*)", self.script);
        let read = self.node.try_call("getdescriptorinfo", json!([descriptor]));
        // `getdescriptorinfo` fails on Litecoin nodes if the key has the prefix of another network.
        let read = read.unwrap();
        let derived = self.node.call("deriveaddresses", json!([read["descriptor"], 2]));
        assert_eq!(added["addresses"], derived, "{added}");
    }

    /// Creates invoices of the same price.
    #[track_caller]
    pub fn create_invoices(&self, count: usize) -> Vec<PayableInvoice> {
        let running = self.start_synced();
        let made = (0..count).map(|_| {
            let invoice = self.till.create_invoice(&running, self.coin);
            PayableInvoice {
                address: deposit_address(&invoice),
                amount: parse_units(&invoice["amountExpected"]),
                invoice,
            }
        });
        made.collect()
    }

    /// Returns the address of a customer; `None` on chains without customer addresses.
    #[track_caller]
    pub fn customer_address(&self, name: &str) -> Option<String> {
        self.node.chain.row().customer_family?;
        let running = self.start_synced();
        let path = format!("/v1/customers/{name}/addresses");
        let customer = self.till.call_api(&running, "POST", &path, "{}");
        let addresses = customer["addresses"].as_array().unwrap();
        let ours = addresses.iter().find(|entry| entry["family"] == "utxo");
        Some(ours.unwrap()["address"].as_str().unwrap().to_owned())
    }

    /// Returns an address of the wallet that the server has not assigned.
    #[track_caller]
    pub fn unassigned_address(&mut self) -> String {
        let next = "select next_index from wallets";
        let next: u32 = self.till.served.open_file().query_row(next, [], |row| row.get(0)).unwrap();
        let index = next + self.ahead;
        let script = self.payer.script_of_key(&self.wallet_key(index)).to_bytes();
        let stray = address::script_address(self.node.chain, "regtest", &script).unwrap();
        self.strays.push(stray.clone());
        stray
    }

    /// Starts a server and waits until it has read the newest block and the mempool of the node.
    #[track_caller]
    pub fn start_synced(&self) -> RunningServer {
        let chain = self.node.chain;
        let tip = self.node.call_text("getbestblockhash", json!([]));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let running = self.till.start();
        let seen = format!(
            "select coalesce((select c.hash = '{tip}' and s.scanned_to >= {since} \
            from chain_cursors c, chains s \
            where c.chain = '{chain}' and s.chain = '{chain}' and s.mode = 'live'), 0) || ''"
        );
        self.till.served.wait_for_query_result(&seen, &["1"]);
        running
    }

    /// Starts a server, asserts the status and the received amount of these invoices, and kills the server.
    #[track_caller]
    pub fn assert_invoices(&self, expected: &[(&PayableInvoice, &str, u64)]) {
        let running = self.start_synced();
        for (due, status, received) in expected {
            let id = due.invoice["id"].as_str().unwrap();
            let stored = format!("select status from invoices where id = '{id}'");
            self.till.served.wait_for_query_result(&stored, &[status]);
            let read = self.till.call_api(&running, "GET", &format!("/v1/invoices/{id}"), "");
            let received = Some(*received).filter(|received| *received > 0).map(format_units);
            assert_eq!(
                (&read["status"], read["amountReceived"].as_str()),
                (&json!(status), received.as_deref()),
                "{read}"
            );
        }
    }

    /// Starts a server and waits until the query returns the expected value.
    #[track_caller]
    pub fn wait_for_query(&self, query: &str, expected: &str) {
        let _running = self.start_synced();
        self.till.served.wait_for_query_result(query, &[expected]);
    }

    /// Returns the event types of an invoice, in order.
    #[track_caller]
    pub fn event_types(&self, due: &PayableInvoice) -> String {
        let query = "select group_concat(substr(type, 9), ' ') from \
            (select type from events where object_id = ?1 order by seq)";
        let id = due.invoice["id"].as_str().unwrap();
        self.till.served.open_file().query_row(query, [id], |row| row.get(0)).unwrap()
    }

    /// Returns the number of confirmations that an invoice of this price needs.
    pub fn confirmations_needed(&self) -> usize {
        match ConfirmationTiers::default_for(self.node.chain).needed_depth(Some(PRICE)) {
            Depth::Blocks(blocks) => usize::try_from(blocks).unwrap(),
            Depth::Final => unreachable!("chains with outputs have no final blocks"),
        }
    }

    /// Mines until pending transactions are confirmed, and returns the hashes of the mined blocks.
    #[track_caller]
    pub fn mine_until_confirmed(&self) -> Vec<String> {
        self.payer.mine(self.confirmations_needed())
    }

    /// Returns an output at a wallet address, with the private key that spends the output.
    #[track_caller]
    pub fn spendable_coin(&self, txid: &str, position: u32, address: &str, amount: u64) -> Coin {
        let script = self.node.script_of_address(address);
        let mut keys = (0..100).map(|index| self.wallet_key(index));
        let key = keys.find(|key| self.payer.script_of_key(key).to_hex_string() == script);
        Coin { at: outpoint(txid, position), amount, key: key.unwrap() }
    }

    fn wallet_key(&self, index: u32) -> SecretKey {
        let path = [0, index].map(|step| ChildNumber::from_normal_idx(step).unwrap());
        let child = self.account.derive_priv(&Secp256k1::new(), &path);
        child.unwrap().private_key
    }

    /// Asserts that the ledger has each output that pays the shop, on the chain or in the mempool, exactly once.
    #[track_caller]
    pub fn assert_ledger_matches_chain(&self) {
        self.till.served.assert_audit_clean();
        let scripts = self.addresses_by_script();
        let (on_chain, spent) = self.outputs_on_chain(&scripts);
        let file = self.till.served.open_file();
        let mut booked = OutputsById::new();
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        let query = "select txid, position, address, amount, concat_ws(' ', \
                iif(exists (select 1 from payments where observation = o.seq), 'payment', null), \
                iif(exists (select 1 from deposits where observation = o.seq), 'deposit', null), \
                iif(exists (select 1 from own_transfers where observation = o.seq), 'own', null), \
                iif(exists (select 1 from unmatched_payments where observation = o.seq), 'unmatched', null)) \
            from observations o where mode = 'live' and state <> 'dropped'";
        let mut rows = file.prepare(query).unwrap();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let place = (row.get_unwrap(0), row.get_unwrap(1));
            let amount: u64 = row.get_unwrap::<_, String>(3).parse().unwrap();
            *sums.entry(row.get_unwrap(4)).or_default() += amount;
            booked.insert(place, (row.get_unwrap(2), amount));
        }
        assert_eq!(booked, on_chain);
        let owners: BTreeSet<&str> = sums.keys().map(String::as_str).collect();
        let expected = ["payment", "deposit", "own", "unmatched"];
        assert!(owners.is_subset(&expected.into()), "each output has one owner: {sums:?}");
        let total: u64 = on_chain.values().map(|(_, amount)| amount).sum();
        assert_eq!(sums.values().sum::<u64>(), total);
        self.assert_unspent_matches_node(&scripts, &on_chain, &spent);
        self.print_totals(&sums, total);
    }

    #[expect(clippy::print_stderr, reason = "printed for manual runs")]
    fn print_totals(&self, sums: &BTreeMap<String, u64>, total: u64) {
        let chain = self.node.chain;
        eprintln!("{chain}: the chain says {total}, the books {sums:?}");
    }

    /// Asserts that the unspent amount of these scripts equals the amount that the node reports.
    #[track_caller]
    fn assert_unspent_matches_node(
        &self,
        scripts: &BTreeMap<String, String>,
        on_chain: &OutputsById,
        spent: &BTreeSet<OutputId>,
    ) {
        let waiting = self.node.call("getrawmempool", json!([]));
        assert_eq!(waiting, json!([]), "all outputs are confirmed");
        let wanted: Vec<String> = scripts.keys().map(|script| format!("raw({script})")).collect();
        let held = self.node.call("scantxoutset", json!(["start", wanted]));
        let unspent = on_chain.iter().filter(|(place, _)| !spent.contains(place));
        let unspent: u64 = unspent.map(|(_, (_, amount))| amount).sum();
        assert_eq!(parse_units(&held["total_amount"]), unspent);
    }

    /// Returns each address of the shop by its output script.
    #[track_caller]
    fn addresses_by_script(&self) -> BTreeMap<String, String> {
        let file = self.till.served.open_file();
        let mut rows = file.prepare("select address from addresses where mode = 'live'").unwrap();
        let addresses = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let addresses = addresses.map(Result::unwrap).chain(self.strays.iter().cloned());
        addresses.map(|address| (self.node.script_of_address(&address), address)).collect()
    }

    /// Returns every output that ever paid these scripts, on the active chain and in the mempool, and the ids of all
    /// spent outputs.
    #[track_caller]
    fn outputs_on_chain(
        &self,
        scripts: &BTreeMap<String, String>,
    ) -> (OutputsById, BTreeSet<OutputId>) {
        let (mut found, mut spent) = (OutputsById::new(), BTreeSet::new());
        let mut read = |transaction: &Value| {
            let txid = transaction["txid"].as_str().unwrap();
            for output in transaction["vout"].as_array().unwrap() {
                let script = output["scriptPubKey"]["hex"].as_str().unwrap_or_default();
                let amount = output.get("value").map_or(0, parse_units);
                if let Some(address) = scripts.get(script).filter(|_| amount > 0) {
                    let place = (txid.to_owned(), parse_position(&output["n"]).unwrap());
                    found.insert(place, (address.clone(), amount));
                }
            }
            for input in transaction["vin"].as_array().unwrap() {
                if let (Some(from), Some(at)) =
                    (input["txid"].as_str(), parse_position(&input["vout"]))
                {
                    spent.insert((from.to_owned(), at));
                }
            }
        };
        let tip = self.node.call("getblockcount", json!([])).as_u64().unwrap();
        for height in 1..=tip {
            let hash = self.node.call_text("getblockhash", json!([height]));
            let block = self.node.call("getblock", json!([hash, 2]));
            block["tx"].as_array().unwrap().iter().for_each(&mut read);
        }
        for txid in self.node.call("getrawmempool", json!([])).as_array().unwrap() {
            read(&self.node.call("getrawtransaction", json!([txid, 1])));
        }
        (found, spent)
    }
}

fn parse_position(number: &Value) -> Option<u32> {
    u32::try_from(number.as_u64()?).ok()
}

/// Returns an address that does not belong to the shop.
pub fn foreign_address(node: &Regtest) -> String {
    let script = [&[0x00, 0x14][..], &[0xee; 20]].concat();
    address::script_address(node.chain, "regtest", &script).unwrap()
}
