//! Tests that restore older copies: no live address is assigned twice, and no transfer is paid twice.

use super::live_addresses::{
    NODES, derive_address, live_customer_addresses, open_shop, set_watched,
};
use crate::file::audit::findings;
use crate::operator::wallets::{EVM_XPUB, XPUB, ZPUB, run_wallet_command};
use crate::process::serve::{ProductionFile, start_server};
use crate::support::audit::assert_audit_clean;
use crate::support::command::{CommandOutput, coffer_output, run_coffer};
use crate::support::database::{execute_sql, text_column};
use crate::support::dice::Dice;
use crate::support::installation::{
    ETHEREUM, Installation, RunningServer, approval_body, signer_settings,
};
use crate::support::object_id;
use crate::support::surfpool::address_without_key;
use coffer::domain::asset::Chain;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Number of times that a copy is restored.
const RESTORES: usize = 20;

/// Query for the state of the newest payout: `sent` when it has a transaction id, otherwise `not sent`.
const SENT: &str =
    "select iif(txid is null, 'not sent', 'sent') from transfers order by seq desc limit 1";

/// SQL that enables customer addresses and stores a cursor for each chain, so that each chain counts as watched.
const WATCHED: &str = "update accounts set customers_enabled = 1;
    insert into chains (mode, chain, scanned_to) values ('live', 'bitcoin', 0), ('live', 'base', 0), ('live', 'solana', 0);
    insert into chain_cursors values ('bitcoin', 'main', 1, 'a', 0, 1, 'a', 1, 0, 0, null),
        ('base', '8453', 1, 'a', 0, 1, 'a', 1, 0, 0, null), ('solana', 'mainnet-beta', 1, 'a', 0, 1, 'a', 1, 0, 0, null);
    insert into chain_blocks values ('bitcoin', 1, 'a'), ('base', 1, 'a'), ('solana', 1, 'a')";

/// Id, status and transaction of a transfer in a file.
type StoredTransfer = (String, String, Option<String>);

/// A shop that is restored repeatedly, with all addresses that it ever assigned.
struct RestoredShop {
    served: Installation,
    dice: Dice,
    handed_out: BTreeSet<String>,
    customers: usize,
    imported: u16,
    signer: String,
}

impl RestoredShop {
    #[track_caller]
    fn new() -> RestoredShop {
        let served = Installation::new();
        for (chain, key) in [("bitcoin", ZPUB), ("evm", EVM_XPUB)] {
            run_wallet_command(&served.file, &["add", chain, "--yes"], key).json_lines();
        }
        served.open_file().execute_batch(WATCHED).unwrap();
        let sent = served.path("sent");
        let script = format!(
            "cat >> {sent}\nprintf '{{\"txid\": \"0x%064x\"}}' $(wc -l < {sent})",
            sent = sent.display()
        );
        RestoredShop {
            signer: served.write_program("signer", &script),
            served,
            dice: Dice::new(21),
            handed_out: BTreeSet::new(),
            customers: 0,
            imported: 0,
        }
    }

    #[track_caller]
    fn start(&self, with: bool) -> RunningServer {
        let [signer, program, node, ethereum] = signer_settings(&self.signer);
        let mut settings = vec![node, ethereum];
        settings.extend(NODES);
        if with {
            settings.extend([signer, program]);
        }
        self.served.start(&settings)
    }

    /// Starts the server without the node of ethereum, which never answers.
    #[track_caller]
    fn start_without_node(&self) -> RunningServer {
        self.served.start(&NODES)
    }

    /// Imports all earlier solana addresses and some new ones, and requests addresses for new customers.
    #[track_caller]
    fn hand_out_addresses(&mut self, running: &RunningServer) {
        self.imported += 6;
        let keys: Vec<String> =
            (1..=self.imported).map(|number| address_without_key(number.into())).collect();
        let body = json!({ "addresses": keys });
        let pool = "/dashboard/api/pools/solana/addresses";
        running.operator_request("POST", pool, &body).expect(200);
        // An account gets only a few imported addresses each minute, so this SQL moves the earlier assignments into
        // the past.
        let minute = "update pool_addresses set assigned_at = 0 where assigned_at is not null";
        self.served.open_file().execute_batch(minute).unwrap();
        for _ in 0..=self.dice.roll(5) {
            self.customers += 1;
            let path = format!("/v1/customers/c{}/addresses", self.customers);
            let made = running.api_request("POST", &path, &Value::Null).expect(201).json();
            let made = made["addresses"].as_array().unwrap();
            assert_eq!(made.len(), 3, "{made:?}");
            for address in made {
                let address = address["address"].as_str().unwrap().to_owned();
                assert!(self.handed_out.insert(address.clone()), "{address} was handed out twice");
            }
        }
    }

    /// Returns the ids of the transfers that were given to the signer.
    fn signer_transfer_ids(&self) -> Vec<String> {
        let sent = std::fs::read_to_string(self.served.path("sent")).unwrap_or_default();
        let orders = sent.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        orders.map(|order| object_id(&order)).collect()
    }

    /// Assigns addresses, requests a payout, and takes a copy of the file. Returns the payout's id, and `true` if the
    /// payout was approved before the copy.
    #[track_caller]
    fn take_copy(&mut self, to: &Path) -> (String, bool) {
        let mut running = self.start(false);
        self.hand_out_addresses(&running);
        let id = self.served.request_payout_to(&running, ETHEREUM);
        let is_approved = self.dice.once_in(2);
        if is_approved {
            self.approve(&running, &id);
        }
        run_coffer(&self.served.file, &["backup", to.to_str().unwrap()]);
        assert!(running.process.close_input_and_wait());
        (id, is_approved)
    }

    #[track_caller]
    fn approve(&self, running: &RunningServer, id: &str) {
        let path = format!("/dashboard/api/payouts/{id}");
        running.operator_request("POST", &path, &approval_body()).expect(200);
        self.served.assign_to_signer(id);
    }

    /// Restores a copy, and asserts that the output names each transfer that differs from the copy.
    #[track_caller]
    fn restore_copy(&self, copy: &Path) {
        let (before, copied) = (stored_transfers(&self.served.file), stored_transfers(copy));
        let said = run_coffer(&self.served.file, &["restore", copy.to_str().unwrap(), "--force"]);
        for (id, status, txid) in &before {
            let line = said.lines().find(|line| line.starts_with(&format!("payout {id} is ")));
            let Some((_, then, _)) = copied.iter().find(|(of, ..)| of == id) else {
                assert!(line.unwrap().contains("and not in the copy: live 20.00 EUR"), "{said}");
                continue;
            };
            assert_eq!(line.is_some(), then != status, "{id}: {said}");
            if let (Some(line), Some(txid)) = (line, txid) {
                let named = format!(
                    "is {status} in the replaced file and {then} in the copy: live 20.00 EUR, 0.199 ETH to {}, txid {txid}",
                    ETHEREUM[2]
                );
                assert!(line.contains(&named), "{line}");
            }
        }
    }

    /// Asserts that a transfer on hold is not sent automatically, then cancels it as an operator.
    #[track_caller]
    fn cancel_held_transfers(&mut self) {
        let sent = self.signer_transfer_ids();
        let mut running = self.start(true);
        self.hand_out_addresses(&running);
        assert!(running.process.close_input_and_wait());
        assert_eq!(self.signer_transfer_ids(), sent);
        let running = self.start_without_node();
        let held = "select id from transfers where status in ('requested', 'approved')";
        for id in text_column(&self.served.file, held) {
            let bodies = [
                json!({ "action": "release", "unverified": true }),
                json!({ "action": "cancel", "reason": "sent" }),
            ];
            for body in bodies {
                let path = format!("/dashboard/api/payouts/{id}");
                running.operator_request("POST", &path, &body).expect(200);
            }
        }
    }
}

fn stored_transfers(file: &Path) -> Vec<StoredTransfer> {
    let conn = Connection::open(file).unwrap();
    let mut rows = conn.prepare("select id, status, txid from transfers").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn restored_copies_reuse_no_address_and_pay_no_transfer_twice() {
    let mut shop = RestoredShop::new();
    let mut copies: Vec<PathBuf> = Vec::new();
    for round in 0..RESTORES {
        let copy = shop.served.path(&format!("copy{round}.db"));
        let (id, is_approved) = shop.take_copy(&copy);
        copies.push(copy);
        let mut running = shop.start(true);
        if !is_approved {
            shop.approve(&running, &id);
        }
        shop.served.wait_for_query_result(SENT, &["sent"]);
        shop.hand_out_addresses(&running);
        assert!(running.process.close_input_and_wait());
        let copy = copies[shop.dice.roll(copies.len())].clone();
        shop.restore_copy(&copy);
        shop.cancel_held_transfers();
    }
    let sent = shop.signer_transfer_ids();
    assert_eq!(sent.len(), RESTORES);
    assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), RESTORES, "an order was sent twice");
    let mut found = findings(&shop.served.file);
    // The test wrote these rows directly, so the audit reports them.
    found.retain(|line| {
        !["rule 10: account ", "rule 10: payout_address "]
            .iter()
            .any(|begin| line.starts_with(begin))
    });
    assert_eq!(found, Vec::<String>::new());
}

#[track_caller]
fn add_wallet(file: &Path, args: &[&str], key: &str) -> String {
    let args = [&["add"], args, &["--yes"]].concat();
    let added = run_wallet_command(file, &args, key).json_lines().remove(0);
    added["id"].as_str().unwrap().to_owned()
}

/// Creates a shop with a copy that was taken before the wallet was used. After the copy, the next index of the wallet
/// was moved to 5000.
#[track_caller]
fn shop_with_old_copy() -> (ProductionFile, PathBuf, String) {
    let shop = open_shop();
    let file = shop.file();
    let id = add_wallet(&file, &["bitcoin"], ZPUB);
    set_watched(&shop, "bitcoin");
    let copy = file.with_extension("copy");
    run_coffer(&file, &["backup", copy.to_str().unwrap()]);
    add_wallet(&file, &["bitcoin", "--next", "5000"], ZPUB);
    (shop, copy, id)
}

/// Restores a copy, asserts this exit code, and returns the output.
#[track_caller]
fn run_restore(file: &Path, copy: &Path, args: &[&str], code: i32) -> CommandOutput {
    let restore = ["restore", copy.to_str().unwrap(), "--force"];
    let output = coffer_output(file, &[&restore, args].concat());
    assert_eq!(output.code, Some(code), "{output:?}");
    output
}

#[test]
fn restored_wallet_skips_indexes_of_the_replaced_file() {
    let (shop, copy, id) = shop_with_old_copy();
    let file = shop.file();
    let CommandOutput { printed, errors, .. } = run_restore(&file, &copy, &[], 0);
    let line = format!(
        "live bitcoin addresses go on from index 6000 of wallet {id}, which must scan with a gap limit of 6000 \
         (0 in the copy, 5000 in the replaced file)\n"
    );
    assert!(printed.starts_with(&line), "{printed}");
    assert!(!errors.contains("--next-index"), "{errors}");
    // An index below the minimum has no effect.
    let printed = run_restore(&file, &copy, &["--next-index", "bitcoin=10"], 0).printed;
    assert!(printed.contains("from index 7000 of wallet"), "{printed}");
    // The operator may set a higher index, and correct a mistake by setting a lower index.
    let printed = run_restore(&file, &copy, &["--next-index", "bitcoin=90000"], 0).printed;
    assert!(printed.contains("from index 90000 of wallet"), "{printed}");
    let low = run_wallet_command(&file, &["add", "bitcoin", "--yes", "--next", "7999"], ZPUB);
    assert!(low.errors.contains("next must be at least 8000"), "{}", low.errors);
    add_wallet(&file, &["bitcoin", "--next", "8000"], ZPUB);
    let (_server, url) = start_server(&file, &NODES);
    let made = live_customer_addresses(&shop, &url, "ada");
    assert_eq!(made[0].1, derive_address(Chain::Bitcoin, ZPUB, 8000));
    assert_audit_clean(&file);
}

#[test]
fn unreadable_replaced_file_is_reported_and_index_can_be_set() {
    let (shop, copy, id) = shop_with_old_copy();
    let file = shop.file();
    for (harm, why) in [("no database", "cannot be read ("), ("", "does not exist")] {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
        }
        if !harm.is_empty() {
            std::fs::write(&file, harm.repeat(1000)).unwrap();
        }
        let CommandOutput { printed, errors, .. } =
            run_restore(&file, &copy, &["--next-index", "bitcoin=6000"], 0);
        let warning = format!("shop.db {why}");
        assert!(errors.contains(&warning) && errors.contains("--next-index CHAIN=N"), "{errors}");
        let line = format!(
            "from index 6000 of wallet {id}, which must scan with a gap limit of 6000 (0 in the copy)\n"
        );
        assert!(printed.contains(&line), "{printed}");
    }
    for (named, why) in [
        ("bitcoin", "must be CHAIN=N, for example bitcoin=5000"),
        ("bitcoin=many", "N must be a whole number from 0 to 2147483647"),
        ("bitcoin=2147483648", "N must be a whole number from 0 to 2147483647"),
        ("moon=1", "must be one of bitcoin"),
        ("evm=5", "the copy has no wallet of evm"),
    ] {
        let said = run_restore(&file, &copy, &["--next-index", named], 1).errors;
        assert!(said.contains(&format!("--next-index {named}: ")) && said.contains(why), "{said}");
    }
    assert_eq!(text_column(&file, "select cast(next_index as text) from wallets"), ["6000"]);
}

#[test]
fn wallet_missing_from_the_copy_continues_when_added_again() {
    let (shop, copy, _) = shop_with_old_copy();
    let file = shop.file();
    let late = add_wallet(&file, &["litecoin", "--script", "wpkh", "--next", "1500"], XPUB);
    let printed = run_restore(&file, &copy, &[], 0).printed;
    let line = format!(
        "live litecoin wallet {late} is not in the copy: it is retired, and goes on from index 2500 once it is added again \
         (1500 in the replaced file)\n"
    );
    assert!(printed.contains(&line), "{printed}");
    let listed = run_wallet_command(&file, &["list"], "").json_lines();
    let late_row = listed.iter().find(|row| row["id"] == late.as_str()).unwrap();
    assert!(late_row["retiredAt"].is_string(), "{late_row}");
    assert_eq!(add_wallet(&file, &["litecoin", "--script", "wpkh"], XPUB), late);
    let next =
        text_column(&file, "select cast(next_index as text) from wallets where pool = 'litecoin'");
    assert_eq!(next, ["2500"]);
    // A wallet that is stopped in the replaced file is also stopped in the restored file. Here a payment to the
    // unassigned index 9000 stopped it.
    let stop = "update wallets set stopped_at = 1, stopped_index = 9000 where pool = 'bitcoin'";
    execute_sql(&file, stop);
    let printed = run_restore(&file, &copy, &[], 0).printed;
    assert!(printed.contains("live bitcoin addresses go on from index 10001 of"), "{printed}");
    let stopped =
        text_column(&file, "select cast(stopped_index as text) from wallets where stopped_at = 1");
    assert_eq!(stopped, ["9000"]);
    assert_audit_clean(&file);
}
