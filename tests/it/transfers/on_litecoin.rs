//! Payouts and refunds that are sent by hand on a real litecoind, and go by its chain.

use crate::chain::till::Till;
use crate::file::audit::findings;
use crate::support::Answer;
use crate::support::litecoind::Litecoind;
use crate::support::looks;
use crate::support::served::{Running, approval};
use serde_json::{Value, json};

const UNTESTED: &str = "payouts and refunds in litecoin";
/// Confirmations of the highest tier.
const CONFIRMATIONS: u32 = 12;
const KINDS: [&str; 2] = ["payouts", "refunds"];

/// A shop whose customer has paid an invoice of 20 EUR, and the node of its chain.
struct Merchant {
    node: Litecoind,
    till: Till,
    running: Running,
    invoice: String,
}

/// A payout or refund in processing.
struct Sent {
    path: String,
    id: String,
    to: String,
    amount: &'static str,
}

impl Merchant {
    /// `None` where the machine has no litecoind.
    #[track_caller]
    fn open() -> Option<Merchant> {
        let node = Litecoind::start(&[], UNTESTED)?;
        node.fund();
        let till = Till::of_outputs("litecoin", &node.url());
        let running = till.start();
        till.until_known("litecoin", "LTC");
        let invoice = till.invoice(&running, "LTC");
        let to = invoice["depositAddress"].as_str().unwrap().to_owned();
        node.pay(&to, "0.25");
        node.mine(3);
        till.hears("invoice.confirmed", &invoice);
        Some(Merchant {
            invoice: invoice["id"].as_str().unwrap().to_owned(),
            node,
            till,
            running,
        })
    }

    /// A payout of 0.199 LTC or a refund of 0.039 LTC in processing, to an address of the node, or to this one.
    #[track_caller]
    fn processing(&self, kind: &str, to: Option<&str>) -> Sent {
        let own = || self.node.address("bech32");
        let to = to.map_or_else(own, str::to_owned);
        let (id, amount) = if kind == "payouts" {
            let payee = ["LTC", "litecoin", &to];
            let id = self.till.served.requested_payout_in(&self.running, payee);
            (id, "0.199")
        } else {
            (self.refund(&to), "0.039")
        };
        let path = format!("/dashboard/api/{kind}/{id}");
        let sent = Sent {
            path,
            id,
            to,
            amount,
        };
        self.act(&sent, &approval()).expect(200);
        self.act(&sent, &json!({ "action": "process" })).expect(200);
        sent
    }

    #[track_caller]
    fn refund(&self, to: &str) -> String {
        let path = format!(
            "/dashboard/api/accounts/{}/refunds",
            self.till.served.account
        );
        let body = json!({ "invoice": self.invoice, "amount": "4.00", "toAddress": to });
        let refund = self.running.interface("POST", &path, &body);
        refund.expect(201).json()["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn act(&self, of: &Sent, body: &Value) -> Answer {
        self.running.interface("POST", &of.path, body)
    }

    #[track_caller]
    fn pay(&self, of: &Sent, txid: &str) -> Answer {
        self.act(of, &json!({ "action": "pay", "txid": txid }))
    }

    #[track_caller]
    fn read(&self, of: &Sent) -> Value {
        let account = &self.till.served.account;
        let path = of
            .path
            .replace("/api/", &format!("/api/accounts/{account}/"));
        let read = self.running.interface("GET", &path, &Value::Null);
        read.expect(200).json()
    }

    /// Mines so many blocks, and waits until all of them are read.
    #[track_caller]
    fn mine(&self, blocks: u32) {
        self.node.mine(blocks);
        let height = self.node.call("getblockcount", json!([])).to_string();
        let read = "select height || '' from chain_cursors where chain = 'litecoin'";
        self.till.served.until(read, &[&height]);
    }

    /// Waits until the status and the state on the chain are these; the transfer.
    #[track_caller]
    fn until(&self, of: &Sent, expected: [&str; 2]) -> Value {
        let mut now = Value::Null;
        let is_so = looks::until(|| {
            now = self.read(of);
            [&now["status"], &now["onChain"]["state"]] == [&json!(expected[0]), &json!(expected[1])]
        });
        assert!(is_so, "never {expected:?}: {now}");
        now
    }

    /// Asserts that a transfer is paid once, by this transaction, and that the file is right.
    #[track_caller]
    fn is_paid(&self, of: &Sent, txid: &str) {
        let paid = self.until(of, ["paid", "settled"]);
        assert_eq!(paid["txid"], txid);
        let told = "select count(*) || '' from events where type in ('payout.paid', 'refund.paid') \
            and object_id = '";
        self.till.served.until(&format!("{told}{}'", of.id), &["1"]);
        assert_eq!(findings(&self.till.served.file), Vec::<String>::new());
    }
}

#[test]
fn invented_txid_waits_until_it_is_corrected() {
    let Some(merchant) = Merchant::open() else {
        return;
    };
    for kind in KINDS {
        let sent = merchant.processing(kind, None);
        for wrong in ["deadbeef", "0x", &"g".repeat(64), &"a".repeat(63)] {
            merchant
                .pay(&sent, wrong)
                .refused(400, "invalid_request", Some("txid"));
        }
        merchant.until(&sent, ["processing", "waiting"]);
        // An id that no transaction has.
        let after = merchant.pay(&sent, &"ab".repeat(32)).expect(200).json();
        assert_eq!(after["status"], "processing");
        merchant.mine(CONFIRMATIONS + 3);
        merchant.until(&sent, ["processing", "waiting"]);
        // It was a slip: another one was sent.
        let txid = merchant.node.pay(&sent.to, sent.amount);
        merchant.pay(&sent, &txid.to_uppercase()).expect(200);
        let seen = merchant.until(&sent, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], txid.as_str());
        merchant.mine(CONFIRMATIONS - 1);
        let seen = merchant.until(&sent, ["processing", "seen"]);
        let on_chain = &seen["onChain"];
        assert_eq!(
            [&on_chain["confirmations"], &on_chain["confirmationsNeeded"]],
            [&json!(11), &json!(12)]
        );
        merchant.mine(1);
        merchant.is_paid(&sent, &txid);
        merchant
            .pay(&sent, &"ab".repeat(32))
            .refused(409, "invalid_transition", Some("action"));
    }
}

#[test]
fn sent_amount_without_a_txid_settles() {
    let Some(merchant) = Merchant::open() else {
        return;
    };
    for kind in KINDS {
        let sent = merchant.processing(kind, None);
        let txid = merchant.node.pay(&sent.to, sent.amount);
        let seen = merchant.until(&sent, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], txid.as_str());
        merchant.mine(CONFIRMATIONS + 3);
        merchant.is_paid(&sent, &txid);
    }
}

#[test]
fn transaction_that_pays_too_little_is_reviewed_until_the_right_one_is_entered() {
    let Some(merchant) = Merchant::open() else {
        return;
    };
    for kind in KINDS {
        let sent = merchant.processing(kind, None);
        let short = merchant.node.pay(&sent.to, "0.001");
        merchant.pay(&sent, &short).expect(200);
        let problem = format!("transaction {short} pays 0.001 of {} LTC", sent.amount);
        for _ in 0..2 {
            let reviewed = merchant.until(&sent, ["processing", "needs_review"]);
            assert_eq!(reviewed["onChain"]["problem"], problem);
            assert_eq!(reviewed["onChain"]["amountSeen"], "0.001");
            merchant.mine(CONFIRMATIONS);
        }
        let other = merchant
            .node
            .pay(&merchant.node.address("bech32"), sent.amount);
        merchant.pay(&sent, &other).expect(200);
        merchant.until(&sent, ["processing", "needs_review"]);
        let right = merchant.node.pay(&sent.to, sent.amount);
        merchant.pay(&sent, &right).expect(200);
        merchant.mine(CONFIRMATIONS);
        merchant.is_paid(&sent, &right);
    }
}

#[test]
fn transaction_pays_as_many_transfers_as_it_has_outputs() {
    let Some(merchant) = Merchant::open() else {
        return;
    };
    let first = merchant.processing("refunds", None);
    let second = merchant.processing("refunds", Some(&first.to));
    let txid = merchant.node.pay(&first.to, first.amount);
    merchant.pay(&first, &txid).expect(200);
    merchant.until(&first, ["processing", "seen"]);
    for _ in 0..2 {
        merchant
            .pay(&second, &txid)
            .refused(409, "invalid_transition", Some("txid"));
        merchant.until(&second, ["processing", "waiting"]);
        merchant.mine(CONFIRMATIONS);
        merchant.is_paid(&first, &txid);
    }
    // Its own is taken, as no id was entered for it.
    let own = merchant.node.pay(&second.to, second.amount);
    merchant.mine(CONFIRMATIONS);
    merchant.is_paid(&second, &own);
}
