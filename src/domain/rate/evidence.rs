//! Prices that determined a rate, as stored and returned: the price of each source with its time.
//!
//! Invariant: evidence is a JSON array that is written once and never parsed again.

use super::RateFigure;
use crate::domain::fields::{Schema, ViewField};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::sync::Arc;

/// Prices that determined a rate, as the text of a JSON array; empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence(Option<Arc<str>>);

impl ViewField for Evidence {
    const SCHEMA: Schema = <Vec<RateFigure> as ViewField>::SCHEMA;
}

const NOTHING: &str = "[]";

impl Evidence {
    /// Returns the evidence that consists of these prices.
    pub fn from_figures<'a>(figures: impl IntoIterator<Item = &'a RateFigure>) -> Evidence {
        let figures: Vec<&RateFigure> = figures.into_iter().collect();
        // Serializing a price cannot fail.
        let text = serde_json::to_string(&figures).unwrap_or_else(|_| NOTHING.to_owned());
        Evidence::from_stored(&text)
    }

    /// Returns the evidence with this stored text.
    pub fn from_stored(text: &str) -> Evidence {
        Evidence((text != NOTHING).then(|| Arc::from(text)))
    }

    /// Returns the text to store.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or(NOTHING)
    }

    /// Returns the JSON array.
    ///
    /// # Errors
    /// The error of serde_json if the stored text is not JSON.
    pub fn json(&self) -> Result<Box<RawValue>, serde_json::Error> {
        match &self.0 {
            Some(text) => RawValue::from_string(text.as_ref().to_owned()),
            None => to_raw_value::<[u8; 0]>(&[]),
        }
    }
}

impl Serialize for Evidence {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let json = self.json().map_err(serde::ser::Error::custom)?;
        json.serialize(out)
    }
}
