//! Reads a value apart from its response, so that a value that is not what was asked spoils no other answer of a batch.

use super::super::NodeError;
use super::{ResultText, Rpc};
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer};

/// Seed that reads a value with another seed. An error of that seed becomes a part of the value.
#[derive(Clone, Copy)]
pub(in crate::chain) struct ApartSeed<S>(pub S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ApartSeed<S> {
    type Value = Result<S::Value, serde_json::Error>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        let text = ResultText::deserialize(from)?;
        let text = text.as_ref().map_or("null", |text| text.get());
        let mut json = serde_json::Deserializer::from_reader(text.as_bytes());
        Ok(self.0.deserialize(&mut json))
    }
}

impl Rpc {
    /// Returns the error for a value that [`ApartSeed`] could not read.
    pub(in crate::chain) fn unreadable_value(&self, error: &serde_json::Error) -> NodeError {
        let text = format!("its answer is not what was asked: {error}");
        NodeError::Lied(self.redact_text(text))
    }
}
