//! What a rate follows from, as it is kept and shown: each source's figure and its time.
//!
//! What always holds: it is a JSON array, written once from figures and never taken apart again.

use super::Figure;
use crate::domain::fields::{Schema, Shown};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::sync::Arc;

/// The figures that a rate follows from, as a JSON array; empty where it follows from none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence(Option<Arc<str>>);

impl Shown for Evidence {
    const SCHEMA: Schema = <Vec<Figure> as Shown>::SCHEMA;
}

const NOTHING: &str = "[]";

impl Evidence {
    /// These figures.
    pub fn of<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Evidence {
        let figures: Vec<&Figure> = figures.into_iter().collect();
        // Nothing that a figure holds fails to be written.
        let text = serde_json::to_string(&figures).unwrap_or_else(|_| NOTHING.to_owned());
        Evidence::kept(&text)
    }

    /// As it was kept.
    pub fn kept(text: &str) -> Evidence {
        Evidence((text != NOTHING).then(|| Arc::from(text)))
    }

    /// As it is kept.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or(NOTHING)
    }

    /// As it is shown.
    ///
    /// # Errors
    /// serde_json's, where it was not written by this.
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
