//! Deserializes JSON-RPC responses while they arrive: one response, or the responses of a batch in any order.
//!
//! Invariant: unused fields are skipped and take no memory.

use super::MethodError;
use serde::de::value::UnitDeserializer;
use serde::de::{
    DeserializeSeed, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, Deserializer};
use std::fmt;

pub(super) struct RpcResponse<V> {
    /// Id of the call; `None` if the node could not read the id.
    pub id: Option<u64>,
    pub outcome: Result<V, MethodError>,
}

/// Seed that reads one response. The wrapped seed reads the result in the response.
pub(super) struct ResponseSeed<S>(pub S);

/// Seed that reads the responses of a batch, or one response for the whole batch.
pub(super) struct BatchSeed<S> {
    pub seed: S,
    /// Number of calls in the batch. A larger number of responses is an error.
    pub calls: usize,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum ResponseKey {
    Id,
    Result,
    Error,
    #[serde(other)]
    Other,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ResponseSeed<S> {
    type Value = RpcResponse<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for ResponseSeed<S> {
    type Value = RpcResponse<S::Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an answer of JSON-RPC")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut seed, mut result, mut error, mut id) = (Some(self.0), None, None, None);
        let mut is_null = false;
        while let Some(key) = map.next_key()? {
            match key {
                ResponseKey::Id => id = map.next_value()?,
                ResponseKey::Error => error = map.next_value::<Option<ErrorObject>>()?,
                ResponseKey::Result => {
                    let unused = seed.take().filter(|_| !is_null);
                    let unused = unused.ok_or_else(|| A::Error::custom("two results"))?;
                    match map.next_value_seed(NullableSeed(unused))? {
                        Nullable::Value(value) => result = Some(value),
                        Nullable::Null(unused) => (seed, is_null) = (Some(unused), true),
                    }
                }
                ResponseKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let outcome = match (error, result, seed.filter(|_| is_null)) {
            (Some(ErrorObject(error)), ..) => Err(error),
            (None, Some(result), _) => Ok(result),
            // The caller's type decides whether `null` is valid.
            (None, None, Some(seed)) => {
                let nothing: UnitDeserializer<A::Error> = ().into_deserializer();
                Ok(seed.deserialize(nothing)?)
            }
            (None, None, None) => return Err(A::Error::custom("neither a result nor an error")),
        };
        Ok(RpcResponse { id, outcome })
    }
}

impl<'de, S: DeserializeSeed<'de> + Clone> DeserializeSeed<'de> for BatchSeed<S> {
    type Value = Vec<RpcResponse<S::Value>>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Clone> Visitor<'de> for BatchSeed<S> {
    type Value = Vec<RpcResponse<S::Value>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the answers of a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::with_capacity(self.calls.min(1024));
        while let Some(answer) = list.next_element_seed(ResponseSeed(self.seed.clone()))? {
            if answers.len() >= self.calls {
                return Err(A::Error::custom("more answers than calls"));
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok(vec![ResponseSeed(self.seed).visit_map(map)?])
    }
}

/// Seed that reads a value. For `null`, returns the wrapped seed unused.
struct NullableSeed<S>(S);

enum Nullable<S, V> {
    Null(S),
    Value(V),
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for NullableSeed<S> {
    type Value = Nullable<S, S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for NullableSeed<S> {
    type Value = Nullable<S, S::Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a result")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Nullable::Null(self.0))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(from).map(Nullable::Value)
    }
}

/// Error in a response: an object or a string.
struct ErrorObject(MethodError);

impl<'de> Deserialize<'de> for ErrorObject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ErrorVisitor;

        impl<'de> Visitor<'de> for ErrorVisitor {
            type Value = ErrorObject;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an error of JSON-RPC")
            }

            fn visit_str<E: Error>(self, message: &str) -> Result<ErrorObject, E> {
                Ok(ErrorObject(MethodError { code: 0, message: message.to_owned() }))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ErrorObject, A::Error> {
                #[derive(Deserialize)]
                #[serde(field_identifier, rename_all = "lowercase")]
                enum ErrorKey {
                    Code,
                    Message,
                    #[serde(other)]
                    Other,
                }

                let (mut code, mut message) = (0, String::new());
                while let Some(key) = map.next_key()? {
                    match key {
                        ErrorKey::Code => code = map.next_value()?,
                        ErrorKey::Message => {
                            message = map.next_value::<Option<String>>()?.unwrap_or_default();
                        }
                        ErrorKey::Other => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(ErrorObject(MethodError { code, message }))
            }
        }

        from.deserialize_any(ErrorVisitor)
    }
}
