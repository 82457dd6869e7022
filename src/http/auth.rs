//! Who may call a route: said by the route as data, enforced here.

use super::Front;
use super::request::header;
use crate::domain::apikey::KeyClass;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::service::keys::unauthorized;
use crate::service::{Caller, Error};
use hyper::HeaderMap;
use std::sync::Arc;

/// What a route asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Nothing.
    Open,
    /// A secret or legacy key.
    Secret,
    /// No key, but a caller on this machine that is no foreign page; only there under `coffer sandbox`.
    Sandbox,
}

/// Lets a request in or not.
///
/// # Errors
/// `unauthorized`, `wrong_key_type`, `forbidden`.
pub(super) fn admit(
    front: &Front,
    now: Time,
    headers: &HeaderMap,
    auth: Auth,
) -> Result<Option<Arc<Caller>>, Error> {
    match auth {
        Auth::Open => Ok(None),
        Auth::Sandbox => match &front.sandbox {
            Some(sandbox) => sandbox.admit(headers).map(|()| None).map_err(Error::from),
            None => Err(Refusal::not_found("path").into()),
        },
        Auth::Secret => {
            let caller = front.service.authenticate(now, presented(headers)?)?;
            match caller.class() {
                KeyClass::Secret | KeyClass::Legacy => Ok(Some(caller)),
                KeyClass::Public => {
                    let message = "a public key opens /v1/public only; use the secret key here";
                    Err(Refusal::new(Code::WrongKeyType, message).into())
                }
            }
        }
    }
}

/// The key in the request's headers; where both carry one, it must be the same.
fn presented(headers: &HeaderMap) -> Result<&str, Refusal> {
    let by_header = header(headers, "x-api-key")
        .map_err(|_| unauthorized("X-API-Key must be printable ASCII"))?;
    let bearer = header(headers, "authorization")
        .map_err(|_| unauthorized("Authorization must be printable ASCII"))?;
    let bearer = match bearer.map(|text| text.split_once(' ')) {
        None => None,
        Some(Some((scheme, key))) if scheme.eq_ignore_ascii_case("bearer") => Some(key.trim()),
        Some(_) => return Err(unauthorized("Authorization must be \"Bearer <key>\"")),
    };
    match (by_header, bearer) {
        (Some(one), Some(other)) if one != other => Err(unauthorized(
            "X-API-Key and Authorization carry different keys; send one",
        )),
        (Some(key), _) | (None, Some(key)) => Ok(key),
        (None, None) => Err(unauthorized(
            "an API key is needed, in X-API-Key or as Authorization: Bearer",
        )),
    }
}
