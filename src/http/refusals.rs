//! Error codes with which a route can answer, for the documents and for simulated faults.
//!
//! Invariant: codes for authentication, path, query and body are derived from the route. A route lists only its other
//! codes.

use super::auth::Auth;
use super::error;
use super::route::{RecentPassword, Route};
use crate::domain::refusal::Code;
use crate::domain::user::Role;

impl Route {
    /// Returns every code that this route can answer with, ordered by status and name.
    pub fn error_codes(&self) -> Vec<Code> {
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
                // `forbidden` refuses non-operators on operator routes, and changes that pages of other sites
                // request.
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
            codes.extend([Code::PayloadTooLarge, Code::RequestTimeout, Code::InvalidRequest]);
        }
        // `overloaded` is sent if the writer's queue is full, if the database file is unreadable, or if the caller
        // has too many large answers in transmission.
        if self.method != "GET" || !matches!(self.auth(), Auth::Open | Auth::Metrics) {
            codes.push(Code::Overloaded);
        }
        codes.extend(self.refusals);
        codes.sort_by_key(|code| (error::status(*code).as_u16(), code.as_str()));
        codes.dedup();
        codes
    }
}
