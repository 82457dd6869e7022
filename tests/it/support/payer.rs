//! A payer on a chain with transaction outputs. The payer signs its own transactions, so the node needs no wallet.
//!
//! Invariant: each payment spends a separate output, can be replaced, and returns its change to the payer.

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

/// Number of blocks until a coinbase output can be spent.
const MATURITY: usize = 100;
/// Fee of a transaction, in base units. A replacement pays 10 000 more than the transaction that it replaces.
pub const FEE: u64 = 5_000;

/// An unspent output and its private key.
#[derive(Clone)]
pub struct Coin {
    pub at: OutPoint,
    pub amount: u64,
    pub key: SecretKey,
}

/// A signed transaction.
#[derive(Clone)]
pub struct SignedTransaction {
    pub txid: String,
    /// Signed transaction in hexadecimal.
    pub raw: String,
    /// Change output, if the transaction has one.
    pub rest: Option<Coin>,
    spent: Vec<Coin>,
    fee: u64,
}

/// A payer with unspent outputs.
pub struct Payer<'a> {
    node: &'a Regtest,
    secp: Secp256k1<All>,
    key: SecretKey,
    coins: Vec<Coin>,
    version: Version,
}

impl Payer<'_> {
    /// Creates a payer with this many outputs, from the coinbases of the node's next blocks.
    #[track_caller]
    pub fn with_coins(node: &Regtest, coins: usize) -> Payer<'_> {
        let mut payer = Payer {
            node,
            secp: Secp256k1::new(),
            key: SecretKey::from_slice(&[0x51; 32]).unwrap(),
            coins: Vec::new(),
            version: Version::TWO,
        };
        let script = payer.script_of_key(&payer.key).to_hex_string();
        for hash in mine_to_script(node, coins, &script) {
            let block = node.call("getblock", json!([hash, 2]));
            let made = &block["tx"][0];
            payer.coins.push(Coin {
                at: outpoint(made["txid"].as_str().unwrap(), 0),
                amount: parse_units(&made["vout"][0]["value"]),
                key: payer.key,
            });
        }
        // The rewards of these blocks go to a script that no test uses.
        payer.mine(MATURITY);
        payer
    }

    /// Gives version 3 to all later transactions. A version 3 transaction may have no fee if a child transaction pays
    /// for it (BIP 431).
    pub fn use_version_3(&mut self) {
        self.version = Version(3);
    }

    /// Pays these addresses in one transaction. Amounts are in base units.
    #[track_caller]
    pub fn pay(&mut self, to: &[(&str, u64)]) -> SignedTransaction {
        let made = self.sign(to);
        self.send(&made);
        made
    }

    /// Splits the oldest coin into this many equal coins, which can be spent at once.
    #[track_caller]
    pub fn split_oldest_coin(&mut self, coins: usize) {
        let coin = self.coins.remove(0);
        let amount = (coin.amount - FEE * 2) / u64::try_from(coins).unwrap();
        let script = self.script_of_key(&self.key).to_hex_string();
        let own = self.node.call("decodescript", json!([script]));
        let own = own["addresses"][0].as_str().unwrap();
        let made = self.build_transaction(vec![coin], &vec![(own, amount); coins], FEE);
        self.send(&made);
        let (txid, key) = (&made.txid, self.key);
        let new = (0..u32::try_from(coins).unwrap()).map(|position| Coin {
            at: outpoint(txid, position),
            amount,
            key,
        });
        self.coins.extend(new);
    }

    /// Signs the transaction of [`Payer::pay`] without sending it.
    #[track_caller]
    pub fn sign(&mut self, to: &[(&str, u64)]) -> SignedTransaction {
        let coin = self.coins.pop().unwrap();
        self.build_transaction(vec![coin], to, FEE)
    }

    /// Signs a transaction without a fee. A child transaction has to pay for it.
    #[track_caller]
    pub fn sign_without_fee(&mut self, to: &[(&str, u64)]) -> SignedTransaction {
        let coin = self.coins.pop().unwrap();
        self.build_transaction(vec![coin], to, 0)
    }

    /// Replaces a transaction with one that spends the same outputs for a higher fee.
    #[track_caller]
    pub fn replace(&self, old: &SignedTransaction, to: &[(&str, u64)]) -> SignedTransaction {
        let fee = old.fee + 2 * FEE;
        let made = self.build_transaction(old.spent.clone(), to, fee);
        self.send(&made);
        made
    }

    /// Signs a transaction that spends these outputs for the normal fee.
    #[track_caller]
    pub fn sign_with_inputs(&self, coins: Vec<Coin>, to: &[(&str, u64)]) -> SignedTransaction {
        self.build_transaction(coins, to, FEE)
    }

    /// Sends a transaction to the node.
    #[track_caller]
    pub fn send(&self, made: &SignedTransaction) {
        let txid = self.node.call_text("sendrawtransaction", json!([made.raw]));
        assert_eq!(txid, made.txid);
    }

    /// Mines this many blocks with all pending transactions. Returns their hashes.
    #[track_caller]
    pub fn mine(&self, blocks: usize) -> Vec<String> {
        mine_to_script(self.node, blocks, "51")
    }

    /// Mines a block with only these transactions, given by id or in hexadecimal. Returns the hash of the block.
    #[track_caller]
    pub fn mine_only_transactions(&self, transactions: &[&str]) -> String {
        let block = self.node.call("generateblock", json!(["raw(51)", transactions]));
        block["hash"].as_str().unwrap().to_owned()
    }

    /// Returns the P2WPKH script of a key.
    pub fn script_of_key(&self, key: &SecretKey) -> ScriptBuf {
        let public = CompressedPublicKey(key.public_key(&self.secp));
        ScriptBuf::new_p2wpkh(&public.wpubkey_hash())
    }

    #[track_caller]
    fn build_transaction(
        &self,
        spent: Vec<Coin>,
        to: &[(&str, u64)],
        fee: u64,
    ) -> SignedTransaction {
        let output = |(address, amount): &(&str, u64)| TxOut {
            value: Amount::from_sat(*amount),
            script_pubkey: ScriptBuf::from_hex(&self.node.script_of_address(address)).unwrap(),
        };
        let mut output: Vec<TxOut> = to.iter().map(output).collect();
        let available: u64 = spent.iter().map(|coin| coin.amount).sum();
        let paid: u64 = to.iter().map(|(_, amount)| amount).sum();
        let rest = available - paid - fee;
        let has_rest = rest > FEE;
        if has_rest {
            output.push(TxOut {
                value: Amount::from_sat(rest),
                script_pubkey: self.script_of_key(&self.key),
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
            let (script, amount) = (self.script_of_key(&coin.key), Amount::from_sat(coin.amount));
            let hash = hashes.p2wpkh_signature_hash(place, &script, amount, EcdsaSighashType::All);
            let message = Message::from(hash.unwrap());
            let signature = Signature::sighash_all(self.secp.sign_ecdsa(&message, &coin.key));
            let public = coin.key.public_key(&self.secp);
            unsigned.input[place].witness = Witness::p2wpkh(&signature, &public);
        }
        let id = unsigned.compute_txid();
        let last = u32::try_from(to.len()).unwrap();
        SignedTransaction {
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

#[track_caller]
pub fn outpoint(txid: &str, position: u32) -> OutPoint {
    OutPoint::new(txid.parse().unwrap(), position)
}

/// Parses an amount in coins, as a node or Coffer formats it, into base units.
#[track_caller]
pub fn parse_units(amount: &Value) -> u64 {
    let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
    let amount = Amount::from_str_in(&text, bitcoin::Denomination::Bitcoin);
    amount.unwrap().to_sat()
}

/// Formats base units as an amount in coins, as Coffer does.
pub fn format_units(units: u64) -> String {
    let text = format!("{}.{:08}", units / 100_000_000, units % 100_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[track_caller]
fn mine_to_script(node: &Regtest, blocks: usize, script: &str) -> Vec<String> {
    let hashes = node.call("generatetodescriptor", json!([blocks, format!("raw({script})")]));
    serde_json::from_value(hashes).unwrap()
}
