//! JSON forms of the Tron HTTP API: blocks, transactions and receipts. The node omits fields that are zero, empty or
//! `false`.
//!
//! Source: `docs/api/http` in <https://github.com/tronprotocol/documentation-en>.

use super::hex::{TronAccount, TronId, split_words, word_to_account};
use crate::chain::evm::hex;
use crate::chain::rpc::ErrorBody;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// Result text of a successful transaction or contract call.
const SUCCESS: &str = "SUCCESS";
/// Function selector of `transfer(address,uint256)`.
const TRANSFER: &str = "a9059cbb";
/// Function selector of `transferFrom(address,address,uint256)`.
const TRANSFER_FROM: &str = "23b872dd";
const FUNCTION_DIGITS: usize = 8;

/// A block, whose transactions are of type `T`. The response has no id if the node has no such block.
#[derive(Debug, Deserialize)]
#[serde(bound = "T: Default + Deserialize<'de>")]
pub struct TronBlockResponse<T> {
    #[serde(rename = "Error", default)]
    error: Option<String>,
    #[serde(rename = "blockID", default)]
    pub id: Option<TronId>,
    #[serde(default)]
    pub block_header: BlockHeader,
    #[serde(default)]
    pub transactions: T,
}

pub type HeaderResponse = TronBlockResponse<IgnoredAny>;
pub type FullBlockResponse = TronBlockResponse<Vec<TronTransaction>>;

#[derive(Debug, Default, Deserialize)]
pub struct BlockHeader {
    pub raw_data: HeaderData,
}

/// Signed part of a block header.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderData {
    #[serde(default)]
    pub number: u32,
    pub parent_hash: Option<TronId>,
    /// Unix time, in milliseconds.
    #[serde(default)]
    pub timestamp: i64,
}

#[derive(Debug, Deserialize)]
pub struct BlockRangeResponse {
    #[serde(rename = "Error", default)]
    error: Option<String>,
    #[serde(default)]
    pub block: Vec<FullBlockResponse>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawTransaction")]
pub struct TronTransaction {
    pub id: TronId,
    /// `false` if the transaction failed and transferred nothing.
    pub is_done: bool,
    /// Sender; `None` for transactions whose kind is not parsed.
    pub sender: Option<hex::Account>,
    pub action: TronAction,
}

/// Action of a transaction. Tron calls the action a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TronAction {
    /// A transfer of native coins.
    Transfer {
        to: hex::Account,
        /// Amount, in sun.
        amount: u64,
    },
    /// A call or a creation of a smart contract.
    Call {
        /// Token contract and recipient of a token transfer. `None` if the call data is not a token transfer.
        transfers: Option<(hex::Account, hex::Account)>,
    },
    Other,
}

#[derive(Deserialize)]
struct RawTransaction {
    #[serde(rename = "txID")]
    id: TronId,
    #[serde(default)]
    ret: Vec<RawResult>,
    raw_data: RawData,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawResult {
    #[serde(default)]
    contract_ret: Option<String>,
}

/// Signed data of a transaction. The list of contracts has exactly one entry.
#[derive(Deserialize)]
struct RawData {
    #[serde(default)]
    contract: Vec<RawContract>,
}

#[derive(Deserialize)]
struct RawContract {
    #[serde(rename = "type")]
    kind: String,
    parameter: RawParameter,
}

#[derive(Deserialize)]
struct RawParameter {
    value: Box<RawValue>,
}

#[derive(Deserialize)]
struct TransferValue {
    owner_address: TronAccount,
    to_address: TronAccount,
    #[serde(default)]
    amount: u64,
}

#[derive(Deserialize)]
struct TriggerValue {
    #[serde(default, deserialize_with = "optional_account")]
    owner_address: Option<TronAccount>,
    #[serde(default, deserialize_with = "optional_account")]
    contract_address: Option<TronAccount>,
    #[serde(default)]
    data: Option<String>,
}

impl TronTransaction {
    pub fn runs_contract(&self) -> bool {
        matches!(self.action, TronAction::Call { .. })
    }
}

impl TryFrom<RawTransaction> for TronTransaction {
    type Error = serde_json::Error;

    fn try_from(raw: RawTransaction) -> Result<TronTransaction, serde_json::Error> {
        let results = raw.ret.first().and_then(|ret| ret.contract_ret.as_deref());
        let action = raw.raw_data.contract.first();
        let (sender, action) = action.map_or(Ok((None, TronAction::Other)), parse_action)?;
        Ok(TronTransaction { id: raw.id, is_done: results == Some(SUCCESS), sender, action })
    }
}

fn parse_action(
    raw: &RawContract,
) -> Result<(Option<hex::Account>, TronAction), serde_json::Error> {
    let value = raw.parameter.value.get();
    Ok(match raw.kind.as_str() {
        "TransferContract" => {
            let value: TransferValue = serde_json::from_str(value)?;
            let (to, amount) = (value.to_address.0, value.amount);
            (Some(value.owner_address.0), TronAction::Transfer { to, amount })
        }
        "TriggerSmartContract" => {
            let value: TriggerValue = serde_json::from_str(value)?;
            let to = value.data.as_deref().and_then(transfer_recipient);
            let transfers = value.contract_address.map(|contract| contract.0).zip(to);
            let sender = value.owner_address.map(|owner| owner.0);
            (sender, TronAction::Call { transfers })
        }
        "CreateSmartContract" => (None, TronAction::Call { transfers: None }),
        _ => (None, TronAction::Other),
    })
}

fn transfer_recipient(data: &str) -> Option<hex::Account> {
    let place = match data.get(..FUNCTION_DIGITS)? {
        TRANSFER => 0,
        TRANSFER_FROM => 1,
        _ => return None,
    };
    word_to_account(split_words(data, FUNCTION_DIGITS).nth(place)?)
}

/// Receipt of a transaction. The response has no id if the node does not know the transaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionInfo {
    #[serde(rename = "Error", default)]
    error: Option<String>,
    #[serde(default)]
    pub id: Option<TronId>,
    #[serde(default)]
    pub block_number: u32,
    /// `FAILED` if the transaction failed; otherwise omitted.
    #[serde(default)]
    result: Option<String>,
    #[serde(default)]
    receipt: ResourceReceipt,
    #[serde(default)]
    pub log: Vec<TronLog>,
    #[serde(rename = "internal_transactions", default)]
    pub internal: Vec<InternalTransaction>,
}

#[derive(Debug, Default, Deserialize)]
struct ResourceReceipt {
    /// Result of the contract; omitted if no contract ran.
    #[serde(default)]
    result: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct TronLog {
    #[serde(default, deserialize_with = "optional_account")]
    pub address: Option<TronAccount>,
    #[serde(default)]
    pub topics: Vec<String>,
    #[serde(default)]
    pub data: String,
}

/// Call frame of a smart contract.
#[derive(Debug, Deserialize)]
pub struct InternalTransaction {
    #[serde(default, deserialize_with = "optional_account")]
    pub caller_address: Option<TronAccount>,
    #[serde(rename = "transferTo_address", default, deserialize_with = "optional_account")]
    pub to: Option<TronAccount>,
    /// Amounts of native coins and of TRC-10 tokens.
    #[serde(rename = "callValueInfo", default)]
    pub values: Vec<CallValueInfo>,
    /// Kind of the call: the hexadecimal digits of a text such as `call`.
    #[serde(default)]
    pub note: String,
    /// `true` if the call was reverted.
    #[serde(default)]
    pub rejected: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallValueInfo {
    #[serde(default)]
    pub call_value: i64,
    /// Id of a TRC-10 token; `None` for native coins.
    #[serde(default)]
    pub token_id: Option<IgnoredAny>,
}

impl TransactionInfo {
    pub fn has_succeeded(&self) -> bool {
        let ran = self.receipt.result.as_deref();
        self.result.is_none() && ran.is_none_or(|result| result == SUCCESS)
    }
}

/// Parses an address that a contract may have chosen. A malformed address becomes `None`, so that it does not stop
/// the chain.
fn optional_account<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TronAccount>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.as_deref().and_then(TronAccount::parse))
}

#[derive(Debug, Default)]
pub struct TransactionInfos {
    error: Option<String>,
    pub list: Vec<TransactionInfo>,
}

impl<'de> Deserialize<'de> for TransactionInfos {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ListOrError;

        impl<'de> Visitor<'de> for ListOrError {
            type Value = TransactionInfos;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of what came of transactions")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<TransactionInfos, A::Error> {
                let mut list = Vec::new();
                while let Some(info) = seq.next_element()? {
                    list.push(info);
                }
                Ok(TransactionInfos { error: None, list })
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<TransactionInfos, A::Error> {
                let mut infos = TransactionInfos::default();
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

impl<T> ErrorBody for TronBlockResponse<T> {
    fn take_error(&mut self) -> Option<String> {
        self.error.take()
    }
}

impl ErrorBody for BlockRangeResponse {
    fn take_error(&mut self) -> Option<String> {
        self.error.take()
    }
}

impl ErrorBody for TransactionInfo {
    fn take_error(&mut self) -> Option<String> {
        self.error.take()
    }
}

impl ErrorBody for TransactionInfos {
    fn take_error(&mut self) -> Option<String> {
        self.error.take()
    }
}
