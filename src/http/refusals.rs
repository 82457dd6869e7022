//! Error codes with which a route can answer, for the documents and for simulated faults.
//!
//! Invariant: codes for authentication, path, query and body are derived from the route. A route lists only its other
//! codes.

use super::auth::Auth;
use super::error;
use super::route::{RecentPassword, Route};
use crate::domain::{RefusalCode, Role};

impl Route {
    /// Returns every code that this route can answer with, ordered by status and name.
    pub fn error_codes(&self) -> Vec<RefusalCode> {
        let mut codes = vec![RefusalCode::InternalError, RefusalCode::HeadersTooLarge];
        match self.auth() {
            Auth::Open => {}
            Auth::Secret => codes.extend([RefusalCode::Unauthorized, RefusalCode::WrongKeyType]),
            Auth::Public => codes.extend([
                RefusalCode::Unauthorized,
                RefusalCode::WrongKeyType,
                RefusalCode::Forbidden,
                RefusalCode::InvalidRequest,
            ]),
            Auth::Reseller | Auth::Metrics => codes.push(RefusalCode::Unauthorized),
            Auth::Session(role) => {
                codes.push(RefusalCode::Unauthorized);
                // `forbidden` refuses non-operators on operator routes, and changes that pages of other sites
                // request.
                if role == Role::Operator || self.method != "GET" {
                    codes.push(RefusalCode::Forbidden);
                }
            }
            Auth::Sandbox => codes.push(RefusalCode::Forbidden),
        }
        if self.recent_password != RecentPassword::Never {
            codes.push(RefusalCode::ReauthenticationRequired);
        }
        if self.path.contains('{') {
            codes.push(RefusalCode::NotFound);
        }
        if !self.query.is_empty() || self.refuses_unknown_params() {
            codes.push(RefusalCode::InvalidRequest);
        }
        if self.method != "GET" {
            codes.extend([
                RefusalCode::PayloadTooLarge,
                RefusalCode::RequestTimeout,
                RefusalCode::InvalidRequest,
            ]);
        }
        // `overloaded` is sent if the writer's queue is full, if the database file is unreadable, or if the caller
        // has too many large answers in transmission.
        if self.method != "GET" || !matches!(self.auth(), Auth::Open | Auth::Metrics) {
            codes.push(RefusalCode::Overloaded);
        }
        codes.extend(self.refusals);
        codes.sort_by_key(|code| (error::status(*code).as_u16(), code.as_str()));
        codes.dedup();
        codes
    }
}
