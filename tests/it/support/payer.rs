//! Who pays on a chain whose money lies in outputs: transactions that a test makes and signs itself, for a node need have
//! no wallet.
//!
//! What always holds: each payment spends an output of its own, may be replaced, and pays the rest back to the payer.

use super::regtest::Regtest;
use bitcoin::absolute::LockTime;
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::ecdsa::Signature;
use bitcoin::secp256k1::{All, Message, Secp256k1, SecretKey};
use bitcoin::sighash::{EcdsaSighashType, SighashCache};
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, CompressedPublicKey, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Witness,
};
use serde_json::{Value, json};

/// Blocks until what is newly made can be spent.
const MATURITY: usize = 100;
/// What a transaction pays to whoever finds its block, in base units; one that takes another's place pays it twice more.
pub const FEE: u64 = 5_000;

/// An output that can be spent with this key.
#[derive(Clone)]
pub struct Coin {
    pub at: OutPoint,
    pub amount: u64,
    pub key: SecretKey,
}

/// A transaction that was made.
#[derive(Clone)]
pub struct Made {
    pub txid: String,
    /// In hexadecimal, signed.
    pub raw: String,
    /// What comes back to the payer, where something does.
    pub rest: Option<Coin>,
    spent: Vec<Coin>,
    fee: u64,
}

/// Who pays.
pub struct Payer<'a> {
    node: &'a Regtest,
    secp: Secp256k1<All>,
    key: SecretKey,
    coins: Vec<Coin>,
    version: Version,
}

impl Payer<'_> {
    /// Somebody with so many outputs to spend, which the first blocks of the node's chain make.
    #[track_caller]
    pub fn with_coins(node: &Regtest, coins: usize) -> Payer<'_> {
        let mut payer = Payer {
            node,
            secp: Secp256k1::new(),
            key: SecretKey::from_slice(&[0x51; 32]).unwrap(),
            coins: Vec::new(),
            version: Version::TWO,
        };
        let script = payer.script_of(&payer.key).to_hex_string();
        for hash in mined(node, coins, &script) {
            let block = node.call("getblock", json!([hash, 2]));
            let made = &block["tx"][0];
            payer.coins.push(Coin {
                at: outpoint(made["txid"].as_str().unwrap(), 0),
                amount: units(&made["vout"][0]["value"]),
                key: payer.key,
            });
        }
        // Nobody has the key of what the other blocks make.
        payer.mine(MATURITY);
        payer
    }

    /// What is made from here on may be relayed with a fee of nothing, where another transaction pays for it (BIP 431).
    pub fn with_packages(&mut self) {
        self.version = Version(3);
    }

    /// Pays these addresses these amounts, in base units, in one transaction that is sent.
    #[track_caller]
    pub fn pay(&mut self, to: &[(&str, u64)]) -> Made {
        let made = self.make(to);
        self.send(&made);
        made
    }

    /// [`Payer::pay`] without sending it.
    #[track_caller]
    pub fn make(&mut self, to: &[(&str, u64)]) -> Made {
        let coin = self.coins.pop().unwrap();
        self.signed(vec![coin], to, FEE)
    }

    /// [`Payer::make`] with a fee of nothing: somebody else's transaction has to pay for it.
    #[track_caller]
    pub fn make_free(&mut self, to: &[(&str, u64)]) -> Made {
        let coin = self.coins.pop().unwrap();
        self.signed(vec![coin], to, 0)
    }

    /// Spends what another transaction spends, for more; it is sent.
    #[track_caller]
    pub fn replace(&self, old: &Made, to: &[(&str, u64)]) -> Made {
        let fee = old.fee + 2 * FEE;
        let made = self.signed(old.spent.clone(), to, fee);
        self.send(&made);
        made
    }

    /// Spends these.
    #[track_caller]
    pub fn spend(&self, coins: Vec<Coin>, to: &[(&str, u64)]) -> Made {
        self.signed(coins, to, FEE)
    }

    /// Gives a transaction to the node.
    #[track_caller]
    pub fn send(&self, made: &Made) {
        let txid = self.node.text("sendrawtransaction", json!([made.raw]));
        assert_eq!(txid, made.txid);
    }

    /// Mines so many blocks, with all that waits; their hashes.
    #[track_caller]
    pub fn mine(&self, blocks: usize) -> Vec<String> {
        mined(self.node, blocks, "51")
    }

    /// Mines a block with these transactions only, by id or whole; its hash.
    #[track_caller]
    pub fn mine_only(&self, transactions: &[&str]) -> String {
        let block = self
            .node
            .call("generateblock", json!(["raw(51)", transactions]));
        block["hash"].as_str().unwrap().to_owned()
    }

    /// The script that pays to a key's witness address.
    pub fn script_of(&self, key: &SecretKey) -> ScriptBuf {
        let public = CompressedPublicKey(key.public_key(&self.secp));
        ScriptBuf::new_p2wpkh(&public.wpubkey_hash())
    }

    #[track_caller]
    fn signed(&self, spent: Vec<Coin>, to: &[(&str, u64)], fee: u64) -> Made {
        let output = |(address, amount): &(&str, u64)| TxOut {
            value: Amount::from_sat(*amount),
            script_pubkey: ScriptBuf::from_hex(&self.node.script(address)).unwrap(),
        };
        let mut output: Vec<TxOut> = to.iter().map(output).collect();
        let available: u64 = spent.iter().map(|coin| coin.amount).sum();
        let paid: u64 = to.iter().map(|(_, amount)| amount).sum();
        let rest = available - paid - fee;
        let has_rest = rest > FEE;
        if has_rest {
            output.push(TxOut {
                value: Amount::from_sat(rest),
                script_pubkey: self.script_of(&self.key),
            });
        }
        let input = spent.iter().map(|coin| TxIn {
            previous_output: coin.at,
            script_sig: ScriptBuf::new(),
            sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
            witness: Witness::new(),
        });
        let mut unsigned = Transaction {
            version: self.version,
            lock_time: LockTime::ZERO,
            input: input.collect(),
            output,
        };
        for (place, coin) in spent.iter().enumerate() {
            let mut hashes = SighashCache::new(&mut unsigned);
            let (script, amount) = (self.script_of(&coin.key), Amount::from_sat(coin.amount));
            let hash = hashes.p2wpkh_signature_hash(place, &script, amount, EcdsaSighashType::All);
            let message = Message::from(hash.unwrap());
            let signature = Signature::sighash_all(self.secp.sign_ecdsa(&message, &coin.key));
            let public = coin.key.public_key(&self.secp);
            unsigned.input[place].witness = Witness::p2wpkh(&signature, &public);
        }
        let id = unsigned.compute_txid();
        let last = u32::try_from(to.len()).unwrap();
        Made {
            txid: id.to_string(),
            raw: serialize_hex(&unsigned),
            rest: has_rest.then(|| Coin {
                at: OutPoint::new(id, last),
                amount: rest,
                key: self.key,
            }),
            spent,
            fee,
        }
    }
}

/// An output of a transaction.
#[track_caller]
pub fn outpoint(txid: &str, position: u32) -> OutPoint {
    OutPoint::new(txid.parse().unwrap(), position)
}

/// An amount of coin as a node or Coffer writes it, in base units.
#[track_caller]
pub fn units(amount: &Value) -> u64 {
    let text = amount
        .as_str()
        .map_or_else(|| amount.to_string(), str::to_owned);
    let amount = Amount::from_str_in(&text, bitcoin::Denomination::Bitcoin);
    amount.unwrap().to_sat()
}

/// Base units as Coffer writes them.
pub fn decimal(units: u64) -> String {
    let text = format!("{}.{:08}", units / 100_000_000, units % 100_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[track_caller]
fn mined(node: &Regtest, blocks: usize, script: &str) -> Vec<String> {
    let hashes = node.call(
        "generatetodescriptor",
        json!([blocks, format!("raw({script})")]),
    );
    serde_json::from_value(hashes).unwrap()
}
