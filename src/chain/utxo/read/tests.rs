//! Tests recorded responses of litecoind 0.21, and of Bitcoin Core 22, which has other fields for addresses.

use super::{BlockDeserializer, OutputScanner, TxSeed};
use crate::chain::WatchTargets;
use crate::domain::{Asset, InputSource};
use serde::de::DeserializeSeed;
use serde_json::Deserializer;

/// Scripts to watch. The output that the tested transaction spends is also watched.
struct WatchedScripts(&'static [&'static str]);

const SPENT: &str = "9fb5f52556717de87f91de7b51e9d5274f21fd5f5675f3045da559b7239f201b";
const TXID: &str = "3e629240a254aee2da1f9c2bd9b39b4f232296e7073f6cbe0db048ee4949aeab";

impl WatchTargets for WatchedScripts {
    fn has_script(&self, script: &[u8]) -> bool {
        let hex: String = script.iter().map(|byte| format!("{byte:02x}")).collect();
        self.0.contains(&hex.as_str())
    }

    fn has_account(&self, _: &[u8; 20]) -> bool {
        false
    }

    fn has_output(&self, txid: &str, position: u32) -> bool {
        txid == SPENT && position == 0
    }

    fn queried_accounts(&self, _: usize) -> Option<Vec<[u8; 20]>> {
        None
    }
}

/// Transaction of litecoind 0.21 on regtest.
const OLD: &str = r#"{"txid":"3e629240a254aee2da1f9c2bd9b39b4f232296e7073f6cbe0db048ee4949aeab",
"hash":"848840e67e177a417fff834ec35de52fadbb6b3b9431c0a1d7a6c2ee52c63e3a","version":2,"size":222,"vsize":141,"weight":561,
"locktime":101,"vin":[{"ismweb":false,"txid":"9fb5f52556717de87f91de7b51e9d5274f21fd5f5675f3045da559b7239f201b","vout":0,
"scriptSig":{"asm":"","hex":""},"txinwitness":["3044"],"sequence":4294967294},
{"ismweb":true,"output_id":"aa00000000000000000000000000000000000000000000000000000000000000"}],
"vout":[{"ismweb":false,"value":48.49998590,"n":0,"scriptPubKey":{"asm":"0 26be5b76172d2ba366ffea2f8500f38cb5a0306b",
"hex":"001426be5b76172d2ba366ffea2f8500f38cb5a0306b","reqSigs":1,"type":"witness_v0_keyhash",
"addresses":["rltc1qy6l9kash9546xehlaghc2q8n3j66qvrty3es2p"]}},
{"ismweb":false,"value":1.50000000,"n":1,"scriptPubKey":{"asm":"0 b017a9b2fd0afd2a57b6effb17bd955b5eeff902",
"hex":"0014b017a9b2fd0afd2a57b6effb17bd955b5eeff902","reqSigs":1,"type":"witness_v0_keyhash",
"addresses":["rltc1qkqt6nvhapt7j54akala300v4td0wl7gzrnwyhj"]}},
{"ismweb":true,"output_id":"bb00000000000000000000000000000000000000000000000000000000000000"}],"hex":"0200"}"#;

const OURS: &str = "0014b017a9b2fd0afd2a57b6effb17bd955b5eeff902";

fn scanner<'a>(
    asset: &str,
    network: &'a str,
    watched: &'a WatchedScripts,
) -> Option<OutputScanner<'a>> {
    Asset::find(asset).map(|asset| OutputScanner { asset, network, watched })
}

/// Returns the payments of a transaction as text: position, address and amount.
fn scan_payments(
    text: &str,
    asset: &str,
    network: &str,
    scripts: &'static [&'static str],
) -> Vec<String> {
    let watch = WatchedScripts(scripts);
    let read = scanner(asset, network, &watch).map(|scanner| {
        let mut json = Deserializer::from_str(text);
        TxSeed(scanner).deserialize(&mut json)
    });
    let Some(Ok(read)) = read else {
        return vec!["unread".to_owned()];
    };
    let received = read.received.iter();
    received.map(|one| format!("{} {} {}", one.position, one.address, one.amount.0)).collect()
}

#[test]
fn address_comes_from_script_in_every_node_version() {
    let expected = ["1 rltc1qkqt6nvhapt7j54akala300v4td0wl7gzrnwyhj 150000000"];
    assert_eq!(scan_payments(OLD, "LTC", "regtest", &[OURS]), expected);
    // Bitcoin Core since 22 has `address` and `desc` in place of `addresses`. The address in the response is ignored.
    let new = OLD.replace(
        r#""addresses":["rltc1qkqt6nvhapt7j54akala300v4td0wl7gzrnwyhj"]"#,
        r#""address":"bc1qsomebodyelse","desc":"addr(x)#y""#,
    );
    assert_ne!(new, OLD);
    assert_eq!(scan_payments(&new, "LTC", "regtest", &[OURS]), expected);
    let on_main = scan_payments(&new, "BTC", "main", &[OURS]);
    assert!(on_main.iter().all(|one| one.starts_with("1 bc1qkqt6nvhapt7j54akala300v4td0wl7gz")));
    assert_eq!(scan_payments(OLD, "LTC", "regtest", &[]), Vec::<String>::new());
    let both: &[&str] = &["001426be5b76172d2ba366ffea2f8500f38cb5a0306b", OURS];
    assert_eq!(scan_payments(OLD, "LTC", "regtest", both).len(), 2);
    // A zero amount is not a payment.
    let nothing = OLD.replace("1.50000000", "0.00000000");
    assert_eq!(scan_payments(&nothing, "LTC", "regtest", &[OURS]), Vec::<String>::new());
}

#[test]
fn watched_spend_names_the_spending_transaction() {
    let watch = WatchedScripts(&[OURS]);
    let read = scanner("LTC", "regtest", &watch).map(|scanner| {
        let mut json = Deserializer::from_str(OLD);
        TxSeed(scanner).deserialize(&mut json)
    });
    let Some(Ok(read)) = read else { unreachable!("it is a transaction") };
    let output = InputSource::Output(SPENT.to_owned(), 0);
    assert_eq!(read.spent, [(output.clone(), TXID.to_owned())]);
    let spends: Vec<_> = read.received.iter().map(|one| one.spends.clone()).collect();
    assert_eq!(spends, [vec![output]], "the input of an extension block is none");
}

#[test]
fn block_contains_transactions_or_their_ids() {
    let head = r#"{"hash":"569e441acbd62632ff907c9068a3f246e8355256c42b97debfa79cbc869b52d5","confirmations":1,
"height":102,"time":1795335269,"nTx":1,"difficulty":4.656542373906925e-10,
"previousblockhash":"f121cf5af9267da5e40a81bdadd374f510d888e666fe3ad39ee4ea9d2b5c9390","tx":["#;
    let watch = WatchedScripts(&[OURS]);
    let read = |tx: &str| {
        let text = format!("{head}{tx}]}}");
        let scanner = scanner("LTC", "regtest", &watch)?;
        let mut json = Deserializer::from_reader(text.as_bytes());
        BlockDeserializer(scanner).deserialize(&mut json).ok()
    };
    let whole = read(OLD);
    let told = whole.map(|block| (block.counted, block.shown.len(), block.ids.len(), block.height));
    assert_eq!(told, Some((1, 1, 0, 102)));
    let ids = read(&format!("\"{TXID}\",\"{SPENT}\""));
    let told = ids.map(|block| (block.counted, block.declared, block.shown.len(), block.ids));
    let ids = vec![TXID.to_owned(), SPENT.to_owned()];
    assert_eq!(told, Some((2, Some(1), 0, ids)));
    for wrong in ["7", "null", "\"ab\"", "{}", "[]"] {
        assert!(read(wrong).is_none(), "{wrong}");
    }
}
