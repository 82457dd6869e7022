//! Client for JSON-RPC, and for JSON over HTTP, to one node with one or more urls.
//!
//! Invariant: a response is parsed as it arrives, up to a size limit, and matched to its call. No message contains a
//! login, path, query or header.

mod answer;
mod apart;
mod batches;
mod endpoint;
mod exchange;
mod failure;
mod limits;
pub(super) mod metadata;
mod post;
mod text;
mod watch;

pub(super) use apart::ApartSeed;
pub use endpoint::Endpoint;
pub(super) use failure::invalid_answer;
pub use failure::{CallFailure, MethodError};
pub use limits::Limits;
pub use post::ErrorBody;
pub(super) use text::deserialize_str;
pub use watch::RequestWatch;

use super::NodeError;
use answer::{BatchSeed, ResponseSeed, RpcResponse};
use batches::BatchSize;
use failure::{is_limit_error, limit_error, response_error, wrong_node_error};
use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::value::RawValue;
use std::marker::PhantomData;
use ureq::Agent;

/// Largest length of a node's error message, in characters. A longer message is cut.
const TEXT_CHARS_MAX: usize = 200;

/// HTTP client of one node.
pub struct Rpc {
    agent: Agent,
    endpoints: Vec<Endpoint>,
    /// Headers of every request; a value may be a secret.
    headers: Vec<(String, String)>,
    limits: Limits,
    /// Index of the url in use.
    current: usize,
    /// Number of failures in a row.
    failures: u32,
    epoch: u64,
    batches: BatchSize,
    calls: u64,
    watch: Option<RequestWatch>,
}

impl std::fmt::Debug for Rpc {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Rpc({:?})", self.endpoints)
    }
}

#[derive(Serialize)]
struct RpcCall<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

impl Rpc {
    /// Creates a client. The first url is used first.
    pub fn new(endpoints: Vec<Endpoint>, headers: Vec<(String, String)>, limits: Limits) -> Rpc {
        Rpc {
            agent: limits.agent(),
            endpoints,
            headers,
            current: 0,
            failures: 0,
            epoch: 0,
            batches: BatchSize::new(limits.batch_calls_max),
            calls: 0,
            watch: None,
            limits,
        }
    }

    /// Sets the callback that learns when a request begins and ends.
    pub fn with_watch(self, watch: Option<RequestWatch>) -> Rpc {
        Rpc { watch, ..self }
    }

    /// Returns scheme, host and port of the url in use, and its number in the list of urls.
    pub fn label(&self) -> &str {
        self.endpoint().map_or("no url", Endpoint::label)
    }

    /// Returns the number of calls made. Each call of a batch counts, because node providers charge by call.
    pub fn call_count(&self) -> u64 {
        self.calls
    }

    /// Returns a number that changes after each failure. A change means that another node may answer, so cached facts
    /// about the node are no longer valid.
    pub fn failure_epoch(&self) -> u64 {
        self.epoch
    }

    /// Counts a failure that only the caller can detect, such as an invalid response.
    pub fn distrust_node(&mut self) {
        self.count_failure();
    }

    /// Counts a failure if the outcome is [`NodeError::Lied`].
    pub(super) fn distrust_if_invalid<T>(
        &mut self,
        outcome: Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        if let Err(NodeError::Lied(_)) = &outcome {
            self.distrust_node();
        }
        outcome
    }

    /// Makes one call.
    pub fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, CallFailure> {
        let params = serialize_params(params)?;
        let text = self.call_with_seed(method, &params, PhantomData::<ResultText>)?;
        Ok(self.track_failures(parse_result(&text))?)
    }

    /// Makes one call and deserializes the result with a seed while the response arrives. An error of the seed
    /// becomes [`NodeError::Lied`].
    pub fn call_with_seed<'de, S: DeserializeSeed<'de>>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        seed: S,
    ) -> Result<S::Value, CallFailure> {
        let id = self.reserve_ids(1);
        let body = serialize_body(&build_call(id, method, params))?;
        let answer = self.send_request("", &body, ResponseSeed(seed));
        let answer = answer.map(|exchanged| exchanged.value);
        let answer = answer.and_then(|answer| match (answer.id, &answer.outcome) {
            (Some(said), _) if said == id => Ok(answer),
            // A node that cannot parse the call returns an error without an id.
            (None, Err(_)) => Ok(answer),
            _ => Err(invalid_answer("an answer to another call")),
        });
        let outcome = answer.and_then(|answer| match answer.outcome {
            Err(error) if is_limit_error(&error) => Err(limit_error(&error)),
            outcome => Ok(outcome),
        });
        self.track_failures(outcome)?
            .map_err(|error| CallFailure::Method(self.redact_method_error(error)))
    }

    /// Makes several calls in as few requests as the node accepts. Results are in the order of the calls.
    ///
    /// # Errors
    /// [`NodeError`] if a call has no response.
    pub fn batch<T: DeserializeOwned>(
        &mut self,
        calls: &[(&str, impl Serialize)],
    ) -> Result<Vec<Result<T, MethodError>>, NodeError> {
        let seed = PhantomData::<ResultText>;
        let outcomes = self.batch_with_seed(calls, seed)?.into_iter();
        let outcomes = outcomes.map(|outcome| match outcome {
            Ok(text) => parse_result(&text).map(Ok),
            Err(error) => Ok(Err(error)),
        });
        let outcomes = outcomes.collect();
        self.track_failures(outcomes)
    }

    /// Makes several calls as [`Rpc::batch`] does, and reads each result with a copy of the seed.
    ///
    /// # Errors
    /// [`NodeError`] if a call has no response.
    pub fn batch_with_seed<'de, S: DeserializeSeed<'de> + Clone>(
        &mut self,
        calls: &[(&str, impl Serialize)],
        seed: S,
    ) -> Result<Vec<Result<S::Value, MethodError>>, NodeError> {
        let calls = calls.iter();
        let calls = calls.map(|(method, params)| Ok((*method, serialize_params(params)?)));
        let calls = calls.collect::<Result<Vec<_>, NodeError>>()?;
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.batches.current().min(rest.len()));
            match now {
                // A single call is not sent as a batch, because some nodes accept no batches.
                [(method, params)] => outcomes.push(self.call_one(method, params, seed.clone())?),
                _ => match self.send_batch(now, seed.clone()) {
                    // Retries with half as many calls in the batch.
                    Err(NodeError::Limited(_)) => continue,
                    answered => outcomes.extend(answered?),
                },
            }
            rest = later;
        }
        Ok(outcomes)
    }

    /// Makes one call of a batch as a separate request.
    fn call_one<'de, S: DeserializeSeed<'de>>(
        &mut self,
        method: &str,
        params: &RawValue,
        seed: S,
    ) -> Result<Result<S::Value, MethodError>, NodeError> {
        self.batches.count_single_call();
        match self.call_with_seed(method, &params, seed) {
            Ok(value) => Ok(Ok(value)),
            Err(CallFailure::Method(error)) => Ok(Err(error)),
            Err(CallFailure::Node(error)) => Err(error),
        }
    }

    fn send_batch<'de, S: DeserializeSeed<'de> + Clone>(
        &mut self,
        calls: &[(&str, Box<RawValue>)],
        seed: S,
    ) -> Result<Vec<Result<S::Value, MethodError>>, NodeError> {
        let first = self.reserve_ids(calls.len());
        let request: Vec<_> = (first..)
            .zip(calls)
            .map(|(id, (method, params))| build_call(id, method, params))
            .collect();
        let body = serialize_body(&request)?;
        let seed = BatchSeed { seed, calls: calls.len() };
        let answers = self.send_request("", &body, seed);
        let answers = answers.map(|exchanged| exchanged.value);
        let outcomes =
            answers.and_then(|answers| sort_results_by_call(first, calls.len(), answers));
        let outcomes = match outcomes {
            // A refused batch is not counted as a failure, because the node may accept a smaller batch.
            Err(limited @ NodeError::Limited(_)) => {
                self.batches.shrink(calls.len());
                return Err(self.redact_error(limited));
            }
            outcomes => self.track_failures(outcomes)?,
        };
        self.batches.grow();
        let shown =
            |outcome: Result<_, _>| outcome.map_err(|error| self.redact_method_error(error));
        Ok(outcomes.into_iter().map(shown).collect())
    }

    /// Counts consecutive failures. After too many, the next request uses the next url.
    fn track_failures<T>(&mut self, outcome: Result<T, NodeError>) -> Result<T, NodeError> {
        match outcome {
            Ok(value) => {
                self.failures = 0;
                Ok(value)
            }
            Err(error) => {
                let error = self.redact_error(error);
                self.count_failure();
                Err(error)
            }
        }
    }

    fn count_failure(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.failures = self.failures.saturating_add(1);
        if self.failures >= self.limits.failures_max && self.endpoints.len() > 1 {
            let next = self.current.saturating_add(1);
            self.current = next.checked_rem(self.endpoints.len()).unwrap_or(0);
            self.failures = 0;
            log::warn!(
                "node changed after failures: failures={} node={}",
                self.limits.failures_max,
                self.label()
            );
        }
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoints.get(self.current)
    }

    /// Redacts secrets in an error, because a node may repeat them.
    fn redact_error(&self, error: NodeError) -> NodeError {
        match error {
            NodeError::Unreachable(text) => NodeError::Unreachable(self.redact_text(text)),
            NodeError::Limited(text) => NodeError::Limited(self.redact_text(text)),
            NodeError::Behind => NodeError::Behind,
            NodeError::Lied(text) => NodeError::Lied(self.redact_text(text)),
            NodeError::Wrong(text) => NodeError::Wrong(self.redact_text(text)),
        }
    }

    fn redact_method_error(&self, error: MethodError) -> MethodError {
        let message = self.redact_text(error.message);
        MethodError { message, ..error }
    }

    /// Redacts secrets, then limits the length. If the text were cut first, it could end in a part of a secret, which
    /// would not be redacted.
    fn redact_text(&self, text: String) -> String {
        let text = match self.endpoint() {
            Some(endpoint) => endpoint.redact(&text),
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

    /// Reserves ids for this many calls, and returns the first id.
    fn reserve_ids(&mut self, calls: usize) -> u64 {
        let first = self.calls;
        let calls = u64::try_from(calls).unwrap_or(u64::MAX);
        self.calls = self.calls.saturating_add(calls);
        first
    }
}

fn build_call<'a, P>(id: u64, method: &'a str, params: &'a P) -> RpcCall<'a, P> {
    RpcCall { jsonrpc: "2.0", id, method, params }
}

/// JSON text of a result; `None` for `null`. [`parse_result`] deserializes the text, so that the streaming code is
/// compiled only once and not for each type.
type ResultText = Option<Box<RawValue>>;

fn parse_result<T: DeserializeOwned>(text: &ResultText) -> Result<T, NodeError> {
    let text = text.as_ref().map_or("null", |text| text.get());
    serde_json::from_str(text).map_err(response_error)
}

fn serialize_params(params: &impl Serialize) -> Result<Box<RawValue>, NodeError> {
    serde_json::value::to_raw_value(params)
        .map_err(|_| wrong_node_error("a call cannot be written"))
}

fn serialize_body(value: &impl Serialize) -> Result<Vec<u8>, NodeError> {
    serde_json::to_vec(value).map_err(|_| wrong_node_error("a call cannot be written"))
}

fn sort_results_by_call<V>(
    first: u64,
    calls: usize,
    answers: Vec<RpcResponse<V>>,
) -> Result<Vec<Result<V, MethodError>>, NodeError> {
    let mut outcomes: Vec<Option<Result<V, MethodError>>> = Vec::new();
    outcomes.resize_with(calls, || None);
    for answer in answers {
        match answer {
            RpcResponse { outcome: Err(error), .. } if is_limit_error(&error) => {
                return Err(limit_error(&error));
            }
            // The node returned one error for the whole batch. The batch is too large, or the node does not support
            // batches.
            RpcResponse { id: None, outcome: Err(error) } => return Err(limit_error(&error)),
            RpcResponse { id, outcome } => {
                let place = id
                    .and_then(|id| usize::try_from(id.checked_sub(first)?).ok())
                    .and_then(|place| outcomes.get_mut(place))
                    .filter(|place| place.is_none())
                    .ok_or_else(|| invalid_answer("an answer to another call"))?;
                *place = Some(outcome);
            }
        }
    }
    let all: Option<Vec<_>> = outcomes.into_iter().collect();
    all.ok_or_else(|| NodeError::Unreachable("it left out answers of a batch".to_owned()))
}
