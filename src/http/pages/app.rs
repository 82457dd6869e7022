//! The page of the operator interface, which a script fills.
//!
//! Invariant: the page contains no data. It is sent to everyone, and its script requests the data from the operator
//! API.

use super::with_policy;
use crate::http::policy::PagePolicy;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{APP, Handler, Resource, Route};
use crate::service::Error;
use crate::web::templates::app::AppPage;
use askama::Template;
use hyper::StatusCode;

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "operatorPages",
        path: "/dashboard",
        summary: "The page of the operator interface.",
        handler: Handler::Open(|call| Box::pin(operator_pages(call))),
        ..APP
    }],
};

/// GET /dashboard
async fn operator_pages(call: Call) -> Result<Reply, Error> {
    let page = AppPage {
        is_sandbox: call.http.sandbox.is_some(),
        title: "Coffer",
        root: "",
        script: "dashboard/dashboard.js",
        without_script: "These pages are made by a script, and this browser runs none. Allow scripts for this site; \
                         all that the pages do can also be done by the operator interface, /dashboard/api.",
    };
    script_page_reply(call.policy, &page)
}

/// Returns a page that a script fills, with the headers of the page's policy.
fn script_page_reply(policy: PagePolicy<'_>, page: &AppPage<'_>) -> Result<Reply, Error> {
    let page = page.render();
    let page = page.map_err(|error| Error::Failed(error.to_string()))?;
    let reply = Reply::text(StatusCode::OK, "text/html; charset=utf-8", page);
    Ok(with_policy(reply, policy, &policy.header_value(None, None)))
}
