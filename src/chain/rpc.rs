//! JSON-RPC and plain JSON over HTTP to one node, which may have several urls.
//!
//! What lives here: the calls, and when the next url takes over. What does not: what the methods
//! are, and waiting before a call is made again, which is for whoever has the clock. What always holds: an answer is
//! read as it arrives and no further than a limit, it is the answer to its own call, and no text that comes out of here
//! holds a login, a path, a query or a header.

mod answer;
mod batches;
mod endpoint;
mod exchange;
mod failure;
mod limits;
mod post;
mod text;

pub use endpoint::Endpoint;
pub(super) use failure::lied;
pub use failure::{Failure, MethodError};
pub use limits::Limits;
pub use post::Answered;
pub(super) use text::parse_str;

use super::NodeError;
use answer::{Answer, BatchSeed, OneSeed};
use batches::Batches;
use failure::{is_limit, limited, unread, wrong};
use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::value::RawValue;
use std::marker::PhantomData;
use ureq::Agent;

/// The most characters of what a node says of an error.
const TEXT_CHARS_MAX: usize = 200;

/// A client of one node.
pub struct Rpc {
    agent: Agent,
    endpoints: Vec<Endpoint>,
    /// Sent with every request; a value may be a secret.
    headers: Vec<(String, String)>,
    limits: Limits,
    /// Which of the endpoints is asked.
    current: usize,
    /// Failures in a row.
    failures: u32,
    epoch: u64,
    batches: Batches,
    calls: u64,
}

impl std::fmt::Debug for Rpc {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Rpc({:?})", self.endpoints)
    }
}

#[derive(Serialize)]
struct Call<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

impl Rpc {
    /// A client of the node with these urls, of which the first is asked first; the headers go with every request.
    pub fn new(endpoints: Vec<Endpoint>, headers: Vec<(String, String)>, limits: Limits) -> Rpc {
        Rpc {
            agent: limits.agent(),
            endpoints,
            headers,
            current: 0,
            failures: 0,
            epoch: 0,
            batches: Batches::new(limits.batch_calls_max),
            calls: 0,
            limits,
        }
    }

    /// The scheme, host, port and place of the url that is asked now.
    pub fn shown(&self) -> &str {
        self.endpoint().map_or("no url", Endpoint::shown)
    }

    /// How many calls were made; each of a batch counts, as those who sell them count.
    pub fn requests(&self) -> u64 {
        self.calls
    }

    /// Changes after each failure: what was found out about the node before may be another node's.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Counts a failure that only the caller could see: an answer that cannot be believed.
    pub fn distrust(&mut self) {
        self.failed();
    }

    /// Counts a failure if the answer cannot be believed.
    pub(super) fn distrust_if_lied<T>(
        &mut self,
        outcome: Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        if let Err(NodeError::Lied(_)) = &outcome {
            self.distrust();
        }
        outcome
    }

    /// Makes one call.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, Failure> {
        let params = raw(params)?;
        let text = self.call_seed(method, &params, PhantomData::<Text>)?;
        Ok(self.counted(parsed(&text))?)
    }

    /// Makes one call; its result is read with this seed as it arrives. What the seed refuses is a lie of the node's.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn call_seed<'de, S: DeserializeSeed<'de>>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        seed: S,
    ) -> Result<S::Value, Failure> {
        let id = self.next_id(1);
        let body = written(&call(id, method, params))?;
        let answer = self.exchange("", &body, OneSeed(seed));
        let answer = answer.map(|exchanged| exchanged.value);
        let answer = answer.and_then(|answer| match (answer.id, &answer.outcome) {
            (Some(said), _) if said == id => Ok(answer),
            // A node that could not read the call does not know its id.
            (None, Err(_)) => Ok(answer),
            _ => Err(lied("an answer to another call")),
        });
        let outcome = answer.and_then(|answer| match answer.outcome {
            Err(error) if is_limit(&error) => Err(limited(&error)),
            outcome => Ok(outcome),
        });
        self.counted(outcome)?
            .map_err(|error| Failure::Method(self.method_error(error)))
    }

    /// Makes these calls, each a method and its parameters, in as few requests as the node takes; the outcomes are in the
    /// order of the calls.
    ///
    /// # Errors
    /// [`NodeError`] where any of them was not answered.
    pub fn batch<T: DeserializeOwned>(
        &mut self,
        calls: &[(&str, impl Serialize)],
    ) -> Result<Vec<Result<T, MethodError>>, NodeError> {
        let seed = PhantomData::<Text>;
        let outcomes = self.batch_seed(calls, seed)?.into_iter();
        let outcomes = outcomes.map(|outcome| match outcome {
            Ok(text) => parsed(&text).map(Ok),
            Err(error) => Ok(Err(error)),
        });
        let outcomes = outcomes.collect();
        self.counted(outcomes)
    }

    /// [`Rpc::batch`], each result read with a copy of this seed as it arrives.
    ///
    /// # Errors
    /// [`NodeError`] where any of them was not answered.
    pub fn batch_seed<'de, S: DeserializeSeed<'de> + Clone>(
        &mut self,
        calls: &[(&str, impl Serialize)],
        seed: S,
    ) -> Result<Vec<Result<S::Value, MethodError>>, NodeError> {
        let calls = calls.iter();
        let calls = calls.map(|(method, params)| Ok((*method, raw(params)?)));
        let calls = calls.collect::<Result<Vec<_>, NodeError>>()?;
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.batches.now().min(rest.len()));
            match now {
                // Alone it is not a batch: some nodes take none.
                [(method, params)] => outcomes.push(self.single(method, params, seed.clone())?),
                _ => match self.batched(now, seed.clone()) {
                    // The same calls again, half as many at once.
                    Err(NodeError::Limited(_)) => continue,
                    answered => outcomes.extend(answered?),
                },
            }
            rest = later;
        }
        Ok(outcomes)
    }

    /// Makes one call of a batch by itself.
    fn single<'de, S: DeserializeSeed<'de>>(
        &mut self,
        method: &str,
        params: &RawValue,
        seed: S,
    ) -> Result<Result<S::Value, MethodError>, NodeError> {
        self.batches.single();
        match self.call_seed(method, &params, seed) {
            Ok(value) => Ok(Ok(value)),
            Err(Failure::Method(error)) => Ok(Err(error)),
            Err(Failure::Node(error)) => Err(error),
        }
    }

    /// Makes these calls in one request.
    fn batched<'de, S: DeserializeSeed<'de> + Clone>(
        &mut self,
        calls: &[(&str, Box<RawValue>)],
        seed: S,
    ) -> Result<Vec<Result<S::Value, MethodError>>, NodeError> {
        let first = self.next_id(calls.len());
        let request: Vec<_> = (first..)
            .zip(calls)
            .map(|(id, (method, params))| call(id, method, params))
            .collect();
        let body = written(&request)?;
        let seed = BatchSeed {
            seed,
            calls: calls.len(),
        };
        let answers = self.exchange("", &body, seed);
        let answers = answers.map(|exchanged| exchanged.value);
        let outcomes = answers.and_then(|answers| in_order(first, calls.len(), answers));
        let outcomes = match outcomes {
            // No failure yet: fewer may be taken.
            Err(limited @ NodeError::Limited(_)) => {
                self.batches.refused(calls.len());
                return Err(self.blotted(limited));
            }
            outcomes => self.counted(outcomes)?,
        };
        self.batches.taken();
        let shown = |outcome: Result<_, _>| outcome.map_err(|error| self.method_error(error));
        Ok(outcomes.into_iter().map(shown).collect())
    }

    /// Keeps count of failures, and turns to the next url after too many.
    fn counted<T>(&mut self, outcome: Result<T, NodeError>) -> Result<T, NodeError> {
        match outcome {
            Ok(value) => {
                self.failures = 0;
                Ok(value)
            }
            Err(error) => {
                let error = self.blotted(error);
                self.failed();
                Err(error)
            }
        }
    }

    fn failed(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.limits.failures_max && self.endpoints.len() > 1 {
            let next = self.current.saturating_add(1);
            self.current = next.checked_rem(self.endpoints.len()).unwrap_or(0);
            self.failures = 0;
            log::warn!(
                "after {} failures {} is asked",
                self.limits.failures_max,
                self.shown()
            );
        }
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoints.get(self.current)
    }

    /// Nothing secret comes back in an error, even if the node repeats it.
    fn blotted(&self, error: NodeError) -> NodeError {
        match error {
            NodeError::Unreachable(text) => NodeError::Unreachable(self.shown_text(text)),
            NodeError::Limited(text) => NodeError::Limited(self.shown_text(text)),
            NodeError::Behind => NodeError::Behind,
            NodeError::Lied(text) => NodeError::Lied(self.shown_text(text)),
            NodeError::Wrong(text) => NodeError::Wrong(self.shown_text(text)),
        }
    }

    fn method_error(&self, error: MethodError) -> MethodError {
        let message = self.shown_text(error.message);
        MethodError { message, ..error }
    }

    /// What of a text may be shown: no secret, and no more than a line of a log. It is cut last, for half a secret is not
    /// found.
    fn shown_text(&self, text: String) -> String {
        let text = match self.endpoint() {
            Some(endpoint) => endpoint.blotted(&text),
            None => text,
        };
        let values = self.headers.iter().map(|(_, value)| value.as_str());
        let values = values.filter(|value| !value.is_empty());
        let text = values.fold(text, |text, value| text.replace(value, "…"));
        let plain = text.chars().map(|one| match one.is_control() {
            true => ' ',
            false => one,
        });
        plain.take(TEXT_CHARS_MAX).collect()
    }

    /// The first of so many ids that were not used before.
    fn next_id(&mut self, calls: usize) -> u64 {
        let first = self.calls;
        let calls = u64::try_from(calls).unwrap_or(u64::MAX);
        self.calls = self.calls.saturating_add(calls);
        first
    }
}

fn call<'a, P>(id: u64, method: &'a str, params: &'a P) -> Call<'a, P> {
    Call {
        jsonrpc: "2.0",
        id,
        method,
        params,
    }
}

/// The text of a result; `None` where there is none. What a call asks for is read of it, so that the code which reads
/// answers as they arrive is there once and not for each type.
type Text = Option<Box<RawValue>>;

/// Reads what a call asks for.
fn parsed<T: DeserializeOwned>(text: &Text) -> Result<T, NodeError> {
    let text = text.as_ref().map_or("null", |text| text.get());
    serde_json::from_str(text).map_err(unread)
}

/// Parameters of a call, as text.
fn raw(params: &impl Serialize) -> Result<Box<RawValue>, NodeError> {
    serde_json::value::to_raw_value(params).map_err(|_| wrong("a call cannot be written"))
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, NodeError> {
    serde_json::to_vec(value).map_err(|_| wrong("a call cannot be written"))
}

/// Puts the answers of a batch into the order of the calls.
fn in_order<V>(
    first: u64,
    calls: usize,
    answers: Vec<Answer<V>>,
) -> Result<Vec<Result<V, MethodError>>, NodeError> {
    let mut outcomes: Vec<Option<Result<V, MethodError>>> = Vec::new();
    outcomes.resize_with(calls, || None);
    for answer in answers {
        match answer {
            Answer {
                outcome: Err(error),
                ..
            } if is_limit(&error) => return Err(limited(&error)),
            // One error in place of all: it does not take so many at once, or no batch at all.
            Answer {
                id: None,
                outcome: Err(error),
            } => return Err(limited(&error)),
            Answer { id, outcome } => {
                let place = id
                    .and_then(|id| usize::try_from(id.checked_sub(first)?).ok())
                    .and_then(|place| outcomes.get_mut(place))
                    .filter(|place| place.is_none())
                    .ok_or_else(|| lied("an answer to another call"))?;
                *place = Some(outcome);
            }
        }
    }
    let all: Option<Vec<_>> = outcomes.into_iter().collect();
    all.ok_or_else(|| NodeError::Unreachable("it left out answers of a batch".to_owned()))
}
