//! Sessions of the operator interface.

use super::{Response, Shop, agent, body_text, send};
use serde_json::json;

/// Path at which sessions begin and end.
pub const SESSION: &str = "/dashboard/api/session";

/// Signs in at a server.
#[track_caller]
pub fn sign_in(url: &str, email: &str, password: &str) -> Response {
    let body = json!({ "email": email, "password": password }).to_string();
    send(&agent(), "POST", &format!("{url}{SESSION}"), &[], &body)
}

impl Shop {
    /// Signs in with the operator's password, and returns the session cookie.
    #[track_caller]
    pub fn sign_in(&self, email: &str) -> String {
        sign_in(self.url(), email, "sandbox").expect(201).session_cookie()
    }

    /// Signs in the sandbox operator, and returns the session cookie.
    #[track_caller]
    pub fn sign_in_operator(&self) -> String {
        self.sign_in("operator@sandbox.test")
    }

    /// Sends a request with this session cookie.
    #[track_caller]
    pub fn session_request(
        &self,
        cookie: &str,
        method: &str,
        path: &str,
        body: &serde_json::Value,
    ) -> Response {
        self.send(method, path, &[("cookie", cookie)], &body_text(body))
    }
}
