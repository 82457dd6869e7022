//! Which refusals a route can answer with: for the document, and for faults that the sandbox pretends.
//!
//! What always holds: a refusal that follows from a route's key, path, query or body is derived from the table of
//! routes; a route itself lists only those of its own.

use super::auth::Auth;
use super::error;
use super::route::{RecentPassword, Route};
use crate::domain::refusal::Code;
use crate::domain::user::Role;

impl Route {
    /// The codes of every refusal that this route can answer with, by status and then by name.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes = vec![Code::InternalError, Code::HeadersTooLarge];
        match self.auth() {
            Auth::Open => {}
            Auth::Secret => codes.extend([Code::Unauthorized, Code::WrongKeyType]),
            Auth::Public => codes.extend([
                Code::Unauthorized,
                Code::WrongKeyType,
                Code::Forbidden,
                Code::InvalidRequest,
            ]),
            Auth::Reseller | Auth::Metrics => codes.push(Code::Unauthorized),
            Auth::Session(role) => {
                codes.push(Code::Unauthorized);
                // Pages of other sites may not change anything; some things are for operators.
                if role == Role::Operator || self.method != "GET" {
                    codes.push(Code::Forbidden);
                }
            }
            Auth::Sandbox => codes.push(Code::Forbidden),
        }
        if self.recent_password != RecentPassword::Never {
            codes.push(Code::ReauthenticationRequired);
        }
        if self.path.contains('{') {
            codes.push(Code::NotFound);
        }
        if !self.query.is_empty() {
            codes.push(Code::InvalidRequest);
        }
        if self.method != "GET" {
            codes.extend([
                Code::PayloadTooLarge,
                Code::RequestTimeout,
                Code::InvalidRequest,
            ]);
        }
        // Work that waits, a file that cannot be read, answers that are not taken.
        if self.method != "GET" || !matches!(self.auth(), Auth::Open | Auth::Metrics) {
            codes.push(Code::Overloaded);
        }
        codes.extend(self.refusals);
        codes.sort_by_key(|code| (error::status(*code).as_u16(), code.as_str()));
        codes.dedup();
        codes
    }
}
