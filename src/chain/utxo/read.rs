//! Blocks and transactions as nodes answer them, read as a stream: what does not concern us is dropped as it passes.
//!
//! What does not live here: the calls. What always holds: what is kept grows with what is ours, not with the block; a
//! transaction is told by the script of its outputs, never by the address that the node writes beside it.

use super::values::{Hash, Script, moment, units};
use crate::chain::{Received, Watched};
use crate::domain::address::script_address;
use crate::domain::asset::Asset;
use crate::domain::observation::Spent;
use crate::domain::time::Time;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// How many inputs are kept with all outputs of one transaction together: what is ours of them comes first. Only somebody
/// who means harm pays one shop in so many outputs by so many inputs.
const SPENDS_MAX: usize = 100_000;

/// What is looked for, and how its addresses are written.
#[derive(Clone, Copy)]
pub(in crate::chain) struct Looking<'a> {
    pub asset: &'static Asset,
    pub network: &'a str,
    pub watched: &'a dyn Watched,
}

/// What of a transaction concerns us.
pub(in crate::chain) struct TxRead {
    pub txid: String,
    /// Hash of its block, where the answer has it.
    pub(super) block: Option<Hash>,
    /// Its inputs, those that are watched first.
    pub spends: Vec<Spent>,
    pub received: Vec<Received>,
    pub spent: Vec<(Spent, String)>,
}

/// What of a block concerns us, or the ids of its transactions where the node does not show them.
pub(super) struct BlockAnswer {
    pub hash: String,
    pub height: u32,
    /// None in the first block.
    pub parent: Option<String>,
    pub time: Time,
    /// How many blocks the active chain has from this one on; less than one where it is on no active chain.
    pub confirmations: i64,
    /// How many transactions the node says that there are.
    pub declared: Option<usize>,
    /// How many there were.
    pub counted: usize,
    pub shown: Vec<TxRead>,
    /// Those of which only the id is shown.
    pub ids: Vec<String>,
}

/// Reads a block.
#[derive(Clone, Copy)]
pub(super) struct BlockSeed<'a>(pub Looking<'a>);

/// Reads a transaction.
#[derive(Clone, Copy)]
pub(super) struct TxSeed<'a>(pub Looking<'a>);

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

impl<'de> DeserializeSeed<'de> for BlockSeed<'_> {
    type Value = BlockAnswer;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<BlockAnswer, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BlockSeed<'_> {
    type Value = BlockAnswer;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BlockAnswer, A::Error> {
        let (mut hash, mut height, mut parent, mut time) = (None, None, None, None);
        let (mut confirmations, mut declared, mut list) = (None, None, None);
        while let Some(key) = map.next_key()? {
            match key {
                BlockKey::Hash => hash = Some(map.next_value::<Hash>()?),
                BlockKey::Height => height = Some(map.next_value()?),
                BlockKey::PreviousBlockHash => parent = Some(map.next_value::<Hash>()?),
                BlockKey::Time => time = moment(map.next_value()?),
                BlockKey::Confirmations => confirmations = Some(map.next_value()?),
                BlockKey::NTx => declared = Some(map.next_value()?),
                BlockKey::Tx if list.is_some() => {
                    return Err(A::Error::duplicate_field("tx"));
                }
                BlockKey::Tx => list = Some(map.next_value_seed(ListSeed(self.0))?),
                BlockKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        let list = list.ok_or_else(|| missing("tx"))?;
        Ok(BlockAnswer {
            hash: hash.ok_or_else(|| missing("hash"))?.0,
            height: height.ok_or_else(|| missing("height"))?,
            parent: parent.map(|Hash(parent)| parent),
            time: time.ok_or_else(|| missing("time"))?,
            confirmations: confirmations.ok_or_else(|| missing("confirmations"))?,
            declared,
            counted: list.counted,
            shown: list.shown,
            ids: list.ids,
        })
    }
}

/// The transactions of a block.
struct List {
    counted: usize,
    shown: Vec<TxRead>,
    ids: Vec<String>,
}

struct ListSeed<'a>(Looking<'a>);

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = List;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<List, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = List;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the transactions of a block")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<List, A::Error> {
        let mut list = List {
            counted: 0,
            shown: Vec::new(),
            ids: Vec::new(),
        };
        while let Some(element) = from.next_element_seed(ElementSeed(self.0))? {
            list.counted = list.counted.saturating_add(1);
            match element {
                Element::Id(id) => list.ids.push(id),
                Element::Shown(read) if read.received.is_empty() && read.spent.is_empty() => {}
                Element::Shown(read) => list.shown.push(read),
            }
        }
        Ok(list)
    }
}

/// A transaction in a block: the whole of it, or its id.
enum Element {
    Id(String),
    Shown(TxRead),
}

struct ElementSeed<'a>(Looking<'a>);

impl<'de> DeserializeSeed<'de> for ElementSeed<'_> {
    type Value = Element;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Element, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_> {
    type Value = Element;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a transaction or its id")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Element, E> {
        let hash: serde::de::value::StrDeserializer<'_, E> =
            serde::de::IntoDeserializer::into_deserializer(text);
        Hash::deserialize(hash).map(|Hash(id)| Element::Id(id))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Element, A::Error> {
        TxSeed(self.0).visit_map(map).map(Element::Shown)
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
    type Value = TxRead;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<TxRead, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TxSeed<'_> {
    type Value = TxRead;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a transaction")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TxRead, A::Error> {
        let (mut txid, mut block, mut spends, mut outputs) = (None, None, None, None);
        while let Some(key) = map.next_key()? {
            match key {
                TxKey::Txid => txid = Some(map.next_value::<Hash>()?),
                TxKey::BlockHash => block = map.next_value::<Option<Hash>>()?,
                TxKey::Vin => spends = Some(map.next_value::<Vec<Input>>()?),
                TxKey::Vout if outputs.is_some() => {
                    return Err(A::Error::duplicate_field("vout"));
                }
                TxKey::Vout => outputs = Some(map.next_value_seed(OutputsSeed(self.0))?),
                TxKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = A::Error::missing_field;
        let Hash(txid) = txid.ok_or_else(|| missing("txid"))?;
        let spends = spends.ok_or_else(|| missing("vin"))?;
        let outputs = outputs.ok_or_else(|| missing("vout"))?;
        let spends: Vec<Spent> = spends.into_iter().filter_map(Input::spent).collect();
        let read = self.0.found(txid, spends, outputs);
        Ok(TxRead { block, ..read })
    }
}

impl Looking<'_> {
    /// What of a transaction concerns us.
    pub(in crate::chain) fn found(
        &self,
        txid: String,
        spends: Vec<Spent>,
        outputs: Vec<Output>,
    ) -> TxRead {
        let is_ours = |spent: &Spent| match spent {
            Spent::Output(txid, position) => self.watched.has_output(txid, *position),
            Spent::Address(_) | Spent::Coinbase => false,
        };
        let (ours, others): (Vec<_>, Vec<_>) = spends.into_iter().partition(is_ours);
        let spent = ours.iter().cloned().map(|ours| (ours, txid.clone()));
        let spent: Vec<_> = spent.collect();
        let kept = SPENDS_MAX.checked_div(outputs.len()).unwrap_or(0).max(1);
        let spends: Vec<Spent> = ours.into_iter().chain(others).take(kept).collect();
        let received = outputs.into_iter().map(|output| Received {
            asset: self.asset,
            txid: txid.clone(),
            position: output.position,
            address: output.address,
            amount: output.amount,
            first_seen: None,
            spends: spends.clone(),
        });
        let received = received.collect();
        TxRead {
            txid,
            block: None,
            spends,
            received,
            spent,
        }
    }
}

/// An input: of an earlier output, newly made, or of an extension block, where it has neither.
#[derive(Deserialize)]
struct Input {
    txid: Option<Hash>,
    vout: Option<u32>,
    coinbase: Option<IgnoredAny>,
}

impl Input {
    fn spent(self) -> Option<Spent> {
        match (self.coinbase, self.txid, self.vout) {
            (Some(_), ..) => Some(Spent::Coinbase),
            (None, Some(Hash(txid)), Some(position)) => Some(Spent::Output(txid, position)),
            (None, ..) => None,
        }
    }
}

/// An output that is watched.
pub(in crate::chain) struct Output {
    pub position: u32,
    pub address: String,
    pub amount: crate::domain::money::coin::Units,
}

/// Any output.
#[derive(Deserialize)]
struct AnyOutput {
    n: Option<u32>,
    value: Option<serde_json::Number>,
    #[serde(rename = "scriptPubKey")]
    script: Option<ScriptObject>,
}

#[derive(Deserialize)]
struct ScriptObject {
    hex: Option<Script>,
}

struct OutputsSeed<'a>(Looking<'a>);

impl<'de> DeserializeSeed<'de> for OutputsSeed<'_> {
    type Value = Vec<Output>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OutputsSeed<'_> {
    type Value = Vec<Output>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the outputs of a transaction")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let (mut outputs, mut last) = (Vec::new(), None);
        while let Some(output) = from.next_element::<AnyOutput>()? {
            // One that has no value or no script is of an extension block.
            let (Some(value), Some(ScriptObject { hex: Some(script) })) =
                (output.value, output.script)
            else {
                continue;
            };
            let position = output.n.ok_or_else(|| A::Error::missing_field("n"))?;
            if last.replace(position).is_some_and(|last| last >= position) {
                return Err(A::Error::custom("outputs are not in their order"));
            }
            let Some(script) = script
                .bytes()
                .filter(|script| self.0.watched.has_script(script))
            else {
                continue;
            };
            let amount = units(&value)
                .ok_or_else(|| A::Error::custom("the value of an output is no amount"))?;
            let address = script_address(self.0.asset.chain, self.0.network, script);
            let Some(address) = address.filter(|_| amount.0 > 0) else {
                continue;
            };
            outputs.push(Output {
                position,
                address,
                amount,
            });
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests;
