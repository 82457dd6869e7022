//! Scans blocks and transactions while the response arrives, and discards everything that is not watched.
//!
//! Invariant: memory grows with the number of payments, not with the size of the block. An address comes from the
//! script of its output, never from the address in the response.

use super::values::{HashText, ShortScript, parse_amount, unix_time};
use crate::chain::{ReceivedOutput, WatchTargets};
use crate::domain::address::script_address;
use crate::domain::{Asset, InputSource, Time};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Largest number of inputs stored for one transaction. Each payment stores its own list of inputs, and the limit
/// applies to the sum of the lists. Watched inputs are stored first. Only a malicious transaction has more inputs.
const SPENDS_MAX: usize = 100_000;

/// Scanner that finds payments to watched addresses in transaction outputs.
#[derive(Clone, Copy)]
pub(in crate::chain) struct OutputScanner<'a> {
    pub asset: &'static Asset,
    pub network: &'a str,
    pub watched: &'a dyn WatchTargets,
}

/// Payments and watched spends of a transaction.
pub(in crate::chain) struct ScannedTx {
    pub txid: String,
    /// Hash of the transaction's block; `None` if the response does not contain a block hash.
    pub(super) block: Option<HashText>,
    /// Inputs of the transaction; watched inputs come first.
    pub spends: Vec<InputSource>,
    pub received: Vec<ReceivedOutput>,
    pub spent: Vec<(InputSource, String)>,
}

/// Payments and watched spends of a block. Also contains the transaction ids if the node does not return whole
/// transactions.
pub(super) struct ScannedBlock {
    pub hash: String,
    pub height: u32,
    /// Hash of the parent; `None` for the genesis block.
    pub parent: Option<String>,
    pub time: Time,
    /// Number of blocks on the active chain, counted from this block to the tip. Below 1 if this block is not on the
    /// active chain.
    pub confirmations: i64,
    /// Number of transactions in the block, as the node declares it.
    pub declared: Option<usize>,
    /// Number of transactions in the response.
    pub counted: usize,
    pub shown: Vec<ScannedTx>,
    /// Ids of the transactions that the node did not return in full.
    pub ids: Vec<String>,
}

#[derive(Clone, Copy)]
pub(super) struct BlockDeserializer<'a>(pub OutputScanner<'a>);

#[derive(Clone, Copy)]
pub(super) struct TxSeed<'a>(pub OutputScanner<'a>);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum BlockKey {
    Hash,
    Height,
    PreviousBlockHash,
    Time,
    Confirmations,
    #[serde(rename = "nTx")]
    NTx,
    Tx,
    #[serde(other)]
    Other,
}

impl<'de> DeserializeSeed<'de> for BlockDeserializer<'_> {
    type Value = ScannedBlock;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<ScannedBlock, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BlockDeserializer<'_> {
    type Value = ScannedBlock;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ScannedBlock, A::Error> {
        let (mut hash, mut height, mut parent, mut time) = (None, None, None, None);
        let (mut confirmations, mut declared, mut list) = (None, None, None);
        while let Some(key) = map.next_key()? {
            match key {
                BlockKey::Hash => hash = Some(map.next_value::<HashText>()?),
                BlockKey::Height => height = Some(map.next_value()?),
                BlockKey::PreviousBlockHash => parent = Some(map.next_value::<HashText>()?),
                BlockKey::Time => time = unix_time(map.next_value()?),
                BlockKey::Confirmations => confirmations = Some(map.next_value()?),
                BlockKey::NTx => declared = Some(map.next_value()?),
                BlockKey::Tx if list.is_some() => {
                    return Err(A::Error::duplicate_field("tx"));
                }
                BlockKey::Tx => list = Some(map.next_value_seed(TxListSeed(self.0))?),
                BlockKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        let list = list.ok_or_else(|| missing("tx"))?;
        Ok(ScannedBlock {
            hash: hash.ok_or_else(|| missing("hash"))?.0,
            height: height.ok_or_else(|| missing("height"))?,
            parent: parent.map(|HashText(parent)| parent),
            time: time.ok_or_else(|| missing("time"))?,
            confirmations: confirmations.ok_or_else(|| missing("confirmations"))?,
            declared,
            counted: list.counted,
            shown: list.shown,
            ids: list.ids,
        })
    }
}

struct TxList {
    counted: usize,
    shown: Vec<ScannedTx>,
    ids: Vec<String>,
}

struct TxListSeed<'a>(OutputScanner<'a>);

impl<'de> DeserializeSeed<'de> for TxListSeed<'_> {
    type Value = TxList;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<TxList, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TxListSeed<'_> {
    type Value = TxList;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the transactions of a block")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<TxList, A::Error> {
        let mut list = TxList { counted: 0, shown: Vec::new(), ids: Vec::new() };
        while let Some(element) = from.next_element_seed(TxElementSeed(self.0))? {
            list.counted = list.counted.saturating_add(1);
            match element {
                TxElement::Id(id) => list.ids.push(id),
                TxElement::Shown(read) if read.received.is_empty() && read.spent.is_empty() => {}
                TxElement::Shown(read) => list.shown.push(read),
            }
        }
        Ok(list)
    }
}

/// A transaction of a block, or only its id.
enum TxElement {
    Id(String),
    Shown(ScannedTx),
}

struct TxElementSeed<'a>(OutputScanner<'a>);

impl<'de> DeserializeSeed<'de> for TxElementSeed<'_> {
    type Value = TxElement;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<TxElement, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TxElementSeed<'_> {
    type Value = TxElement;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a transaction or its id")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TxElement, E> {
        let hash: serde::de::value::StrDeserializer<'_, E> =
            serde::de::IntoDeserializer::into_deserializer(text);
        HashText::deserialize(hash).map(|HashText(id)| TxElement::Id(id))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TxElement, A::Error> {
        TxSeed(self.0).visit_map(map).map(TxElement::Shown)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum TxKey {
    Txid,
    BlockHash,
    Vin,
    Vout,
    #[serde(other)]
    Other,
}

impl<'de> DeserializeSeed<'de> for TxSeed<'_> {
    type Value = ScannedTx;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<ScannedTx, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TxSeed<'_> {
    type Value = ScannedTx;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a transaction")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ScannedTx, A::Error> {
        let (mut txid, mut block, mut spends, mut outputs) = (None, None, None, None);
        while let Some(key) = map.next_key()? {
            match key {
                TxKey::Txid => txid = Some(map.next_value::<HashText>()?),
                TxKey::BlockHash => block = map.next_value::<Option<HashText>>()?,
                TxKey::Vin => spends = Some(map.next_value::<Vec<InputJson>>()?),
                TxKey::Vout if outputs.is_some() => {
                    return Err(A::Error::duplicate_field("vout"));
                }
                TxKey::Vout => outputs = Some(map.next_value_seed(OutputsSeed(self.0))?),
                TxKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        let HashText(txid) = txid.ok_or_else(|| missing("txid"))?;
        let spends = spends.ok_or_else(|| missing("vin"))?;
        let outputs = outputs.ok_or_else(|| missing("vout"))?;
        let spends: Vec<InputSource> =
            spends.into_iter().filter_map(InputJson::into_input_source).collect();
        let read = self.0.scan(txid, spends, outputs);
        Ok(ScannedTx { block, ..read })
    }
}

impl OutputScanner<'_> {
    /// Returns payments and watched spends of a transaction.
    pub(in crate::chain) fn scan(
        &self,
        txid: String,
        spends: Vec<InputSource>,
        outputs: Vec<PaidOutput>,
    ) -> ScannedTx {
        let is_ours = |spent: &InputSource| match spent {
            InputSource::Output(txid, position) => self.watched.has_output(txid, *position),
            InputSource::Address(_) | InputSource::Coinbase => false,
        };
        let (ours, others): (Vec<_>, Vec<_>) = spends.into_iter().partition(is_ours);
        let spent = ours.iter().cloned().map(|ours| (ours, txid.clone()));
        let spent: Vec<_> = spent.collect();
        let kept = SPENDS_MAX.checked_div(outputs.len()).unwrap_or(0).max(1);
        let spends: Vec<InputSource> = ours.into_iter().chain(others).take(kept).collect();
        let received = outputs.into_iter().map(|output| ReceivedOutput {
            asset: self.asset,
            txid: txid.clone(),
            position: output.position,
            address: output.address,
            amount: output.amount,
            first_seen: None,
            spends: spends.clone(),
        });
        let received = received.collect();
        ScannedTx { txid, block: None, spends, received, spent }
    }
}

/// Input of a transaction: the output that it spends, or a coinbase. An input of an extension block is neither.
#[derive(Deserialize)]
struct InputJson {
    txid: Option<HashText>,
    vout: Option<u32>,
    coinbase: Option<IgnoredAny>,
}

impl InputJson {
    fn into_input_source(self) -> Option<InputSource> {
        match (self.coinbase, self.txid, self.vout) {
            (Some(_), ..) => Some(InputSource::Coinbase),
            (None, Some(HashText(txid)), Some(position)) => {
                Some(InputSource::Output(txid, position))
            }
            (None, ..) => None,
        }
    }
}

pub(in crate::chain) struct PaidOutput {
    pub position: u32,
    pub address: String,
    pub amount: crate::domain::Units,
}

#[derive(Deserialize)]
struct OutputJson {
    n: Option<u32>,
    value: Option<serde_json::Number>,
    #[serde(rename = "scriptPubKey")]
    script: Option<ScriptJson>,
}

#[derive(Deserialize)]
struct ScriptJson {
    hex: Option<ShortScript>,
}

struct OutputsSeed<'a>(OutputScanner<'a>);

impl<'de> DeserializeSeed<'de> for OutputsSeed<'_> {
    type Value = Vec<PaidOutput>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OutputsSeed<'_> {
    type Value = Vec<PaidOutput>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the outputs of a transaction")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let (mut outputs, mut last) = (Vec::new(), None);
        while let Some(output) = from.next_element::<OutputJson>()? {
            // Outputs of an extension block have no value or no script.
            let (Some(value), Some(ScriptJson { hex: Some(script) })) =
                (output.value, output.script)
            else {
                continue;
            };
            let position = output.n.ok_or_else(|| A::Error::missing_field("n"))?;
            if last.replace(position).is_some_and(|last| last >= position) {
                return Err(A::Error::custom("outputs are not in their order"));
            }
            let Some(script) = script.bytes().filter(|script| self.0.watched.has_script(script))
            else {
                continue;
            };
            let amount = parse_amount(&value)
                .ok_or_else(|| A::Error::custom("the value of an output is no amount"))?;
            let address = script_address(self.0.asset.chain, self.0.network, script);
            let Some(address) = address.filter(|_| amount.0 > 0) else {
                continue;
            };
            outputs.push(PaidOutput { position, address, amount });
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests;
