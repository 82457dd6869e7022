//! Answers of Tron's HTTP interface, as far as they are used: blocks, transactions, and what came of transactions.
//!
//! Shapes: the pages of `docs/api/http` in <https://github.com/tronprotocol/documentation-en>. A field whose value is zero,
//! empty or `false` is left out of an answer.

use super::hex::{Account, Id, account_of, words};
use crate::chain::evm::hex;
use crate::chain::rpc::Answered;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// Result of a transaction or of a contract that did what it should.
const SUCCESS: &str = "SUCCESS";
/// Digits that begin a call of `transfer(address,uint256)`.
const TRANSFER: &str = "a9059cbb";
/// Digits that begin a call of `transferFrom(address,address,uint256)`.
const TRANSFER_FROM: &str = "23b872dd";
/// Digits of the name of a function.
const FUNCTION_DIGITS: usize = 8;

/// A block, with what is read of its transactions; without an id where the node has none.
#[derive(Debug, Deserialize)]
#[serde(bound = "T: Default + Deserialize<'de>")]
pub struct BlockAnswer<T> {
    #[serde(rename = "Error", default)]
    error: Option<String>,
    #[serde(rename = "blockID", default)]
    pub id: Option<Id>,
    #[serde(default)]
    pub block_header: BlockHeader,
    #[serde(default)]
    pub transactions: T,
}

/// A block without its transactions.
pub type HeaderAnswer = BlockAnswer<IgnoredAny>;
/// A block with its transactions.
pub type FullAnswer = BlockAnswer<Vec<Transaction>>;

/// Header of a block.
#[derive(Debug, Default, Deserialize)]
pub struct BlockHeader {
    pub raw_data: HeaderData,
}

/// Signed part of a header.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderData {
    #[serde(default)]
    pub number: u32,
    pub parent_hash: Option<Id>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

/// Blocks of a range.
#[derive(Debug, Deserialize)]
pub struct BlocksAnswer {
    #[serde(rename = "Error", default)]
    error: Option<String>,
    #[serde(default)]
    pub block: Vec<FullAnswer>,
}

/// A transaction in a block.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawTransaction")]
pub struct Transaction {
    pub id: Id,
    /// `false`: it moved nothing.
    pub is_done: bool,
    /// `None` for kinds that are not read.
    pub sender: Option<hex::Account>,
    pub act: Act,
}

/// Action of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends native coin.
    Transfer {
        to: hex::Account,
        /// In sun.
        amount: u64,
    },
    /// Calls or makes a contract.
    Call {
        /// Contract and recipient, where the call's own words say that it transfers a token.
        transfers: Option<(hex::Account, hex::Account)>,
    },
    /// Any other.
    Other,
}

#[derive(Deserialize)]
struct RawTransaction {
    #[serde(rename = "txID")]
    id: Id,
    #[serde(default)]
    ret: Vec<Ret>,
    raw_data: RawData,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ret {
    #[serde(default)]
    contract_ret: Option<String>,
}

/// Each transaction has one entry in its list.
#[derive(Deserialize)]
struct RawData {
    #[serde(default)]
    contract: Vec<RawAct>,
}

#[derive(Deserialize)]
struct RawAct {
    #[serde(rename = "type")]
    kind: String,
    parameter: Parameter,
}

#[derive(Deserialize)]
struct Parameter {
    value: Box<RawValue>,
}

#[derive(Deserialize)]
struct TransferValue {
    owner_address: Account,
    to_address: Account,
    #[serde(default)]
    amount: u64,
}

#[derive(Deserialize)]
struct CallValue {
    #[serde(default, deserialize_with = "account_if_any")]
    owner_address: Option<Account>,
    #[serde(default, deserialize_with = "account_if_any")]
    contract_address: Option<Account>,
    #[serde(default)]
    data: Option<String>,
}

impl Transaction {
    /// Returns `true` if it calls or makes a contract.
    pub fn is_contract(&self) -> bool {
        matches!(self.act, Act::Call { .. })
    }
}

impl TryFrom<RawTransaction> for Transaction {
    type Error = serde_json::Error;

    fn try_from(raw: RawTransaction) -> Result<Transaction, serde_json::Error> {
        let results = raw.ret.first().and_then(|ret| ret.contract_ret.as_deref());
        let act = raw.raw_data.contract.first();
        let (sender, act) = act.map_or(Ok((None, Act::Other)), read_act)?;
        Ok(Transaction {
            id: raw.id,
            is_done: results == Some(SUCCESS),
            sender,
            act,
        })
    }
}

fn read_act(raw: &RawAct) -> Result<(Option<hex::Account>, Act), serde_json::Error> {
    let value = raw.parameter.value.get();
    Ok(match raw.kind.as_str() {
        "TransferContract" => {
            let value: TransferValue = serde_json::from_str(value)?;
            let (to, amount) = (value.to_address.0, value.amount);
            (Some(value.owner_address.0), Act::Transfer { to, amount })
        }
        "TriggerSmartContract" => {
            let value: CallValue = serde_json::from_str(value)?;
            let to = value.data.as_deref().and_then(recipient);
            let transfers = value.contract_address.map(|contract| contract.0).zip(to);
            let sender = value.owner_address.map(|owner| owner.0);
            (sender, Act::Call { transfers })
        }
        "CreateSmartContract" => (None, Act::Call { transfers: None }),
        _ => (None, Act::Other),
    })
}

/// The account that a call of a token pays.
fn recipient(data: &str) -> Option<hex::Account> {
    let place = match data.get(..FUNCTION_DIGITS)? {
        TRANSFER => 0,
        TRANSFER_FROM => 1,
        _ => return None,
    };
    account_of(words(data, FUNCTION_DIGITS).nth(place)?)
}

/// Outcome of a transaction; without an id where the node does not know it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    #[serde(rename = "Error", default)]
    error: Option<String>,
    #[serde(default)]
    pub id: Option<Id>,
    #[serde(default)]
    pub block_number: u32,
    /// `FAILED`, or left out.
    #[serde(default)]
    result: Option<String>,
    #[serde(default)]
    receipt: InfoReceipt,
    #[serde(default)]
    pub log: Vec<Log>,
    #[serde(rename = "internal_transactions", default)]
    pub internal: Vec<Internal>,
}

#[derive(Debug, Default, Deserialize)]
struct InfoReceipt {
    /// Left out where no contract ran.
    #[serde(default)]
    result: Option<String>,
}

/// A log of a contract.
#[derive(Debug, Deserialize)]
pub struct Log {
    #[serde(default, deserialize_with = "account_if_any")]
    pub address: Option<Account>,
    #[serde(default)]
    pub topics: Vec<String>,
    #[serde(default)]
    pub data: String,
}

/// A step that a contract made.
#[derive(Debug, Deserialize)]
pub struct Internal {
    #[serde(default, deserialize_with = "account_if_any")]
    pub caller_address: Option<Account>,
    #[serde(
        rename = "transferTo_address",
        default,
        deserialize_with = "account_if_any"
    )]
    pub to: Option<Account>,
    /// Native coin, and TRC-10 tokens.
    #[serde(rename = "callValueInfo", default)]
    pub values: Vec<InternalValue>,
    /// Kind of the step, its text in hexadecimal.
    #[serde(default)]
    pub note: String,
    /// `true`: it was taken back.
    #[serde(default)]
    pub rejected: bool,
}

/// An amount that a step moved.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InternalValue {
    #[serde(default)]
    pub call_value: i64,
    /// The TRC-10 token; `None` for native coin.
    #[serde(default)]
    pub token_id: Option<IgnoredAny>,
}

impl Info {
    /// Returns `true` if the transaction did what it should.
    pub fn is_done(&self) -> bool {
        let ran = self.receipt.result.as_deref();
        self.result.is_none() && ran.is_none_or(|result| result == SUCCESS)
    }
}

/// Reads the text of an address that a contract may have chosen: one that is none of an account stops no chain.
fn account_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Account>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.as_deref().and_then(Account::parse))
}

/// Outcomes of the transactions of a block, or an error.
#[derive(Debug, Default)]
pub struct Infos {
    error: Option<String>,
    pub list: Vec<Info>,
}

impl<'de> Deserialize<'de> for Infos {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ListOrError;

        impl<'de> Visitor<'de> for ListOrError {
            type Value = Infos;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of what came of transactions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Infos, A::Error> {
                let mut list = Vec::new();
                while let Some(info) = seq.next_element()? {
                    list.push(info);
                }
                Ok(Infos { error: None, list })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Infos, A::Error> {
                let mut infos = Infos::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key != "Error" {
                        return Err(A::Error::custom(format_args!("expected no `{key}`")));
                    }
                    infos.error = map.next_value()?;
                }
                Ok(infos)
            }
        }

        from.deserialize_any(ListOrError)
    }
}

impl<T> Answered for BlockAnswer<T> {
    fn error(&mut self) -> Option<String> {
        self.error.take()
    }
}

impl Answered for BlocksAnswer {
    fn error(&mut self) -> Option<String> {
        self.error.take()
    }
}

impl Answered for Info {
    fn error(&mut self) -> Option<String> {
        self.error.take()
    }
}

impl Answered for Infos {
    fn error(&mut self) -> Option<String> {
        self.error.take()
    }
}
