//! The root page, `/`: the sandbox's own page, or a redirect to the operator interface.
//!
//! Invariant: a sandbox shows this page only to clients that may use its controls.

use super::{with_page_headers, with_policy};
use crate::http::auth;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Handler, PAGE, Resource, Route};
use crate::service::{Error, sandbox};
use crate::web::templates::sandbox::SandboxPage;
use askama::Template;
use hyper::StatusCode;
use hyper::header::LOCATION;

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "frontPage",
        path: "/",
        summary: "A sandbox's page; elsewhere the way to the operator pages.",
        handler: Handler::Open(|call| Box::pin(show_root_page(call))),
        ..PAGE
    }],
};

/// GET /
async fn show_root_page(call: Call) -> Result<Reply, Error> {
    if call.http.sandbox.is_none() {
        let reply = Reply { status: StatusCode::FOUND, ..Reply::no_content() };
        return Ok(with_page_headers(reply).with_header(LOCATION, "./dashboard"));
    }
    auth::admit_to_sandbox(&call.http, &call.headers)?;
    let page = SandboxPage {
        url: &call.http.public_url,
        secret_test: sandbox::SECRET_TEST,
        secret_live: sandbox::SECRET_LIVE,
        public_test: sandbox::PUBLIC_TEST,
        public_live: sandbox::PUBLIC_LIVE,
        legacy: sandbox::LEGACY,
        reseller: sandbox::RESELLER_TOKEN,
        webhook_secret: sandbox::ENDPOINT_SECRET,
        operator: sandbox::OPERATOR,
    };
    let page = page.render().map_err(|error| Error::Failed(error.to_string()))?;
    let reply = Reply::text(StatusCode::OK, "text/html; charset=utf-8", page);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}
