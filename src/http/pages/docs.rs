//! The documentation pages: the reference, `/docs`, and the guides, `/docs/{guide}`.
//!
//! Invariant: all pages are complete without a script. The reference is rendered once, at the first request. The
//! build script renders the guides.

use super::with_policy;
use crate::domain::refusal::Refusal;
use crate::http::files::packed_reply;
use crate::http::front::Front;
use crate::http::reference::reference;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Handler, PAGE, Resource, Route};
use crate::service::Error;
use crate::web::guides::guide;
use askama::Template;
use hyper::StatusCode;
use hyper::body::Bytes;

/// Routes of the documentation pages.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "docsPage",
            path: "/docs",
            summary: "The reference: every operation, webhook and error.",
            handler: Handler::Open(|call| Box::pin(show_reference(call))),
            ..PAGE
        },
        Route {
            operation: "guidePage",
            path: "/docs/{guide}",
            summary: "A guide.",
            handler: Handler::Open(|call| Box::pin(show_guide(call))),
            ..PAGE
        },
    ],
};

/// GET /docs
async fn show_reference(call: Call) -> Result<Reply, Error> {
    let page = call.front.reference_page(render_reference)?;
    let reply = Reply::text(StatusCode::OK, "text/html; charset=utf-8", page);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}

/// GET /docs/{guide}
async fn show_guide(call: Call) -> Result<Reply, Error> {
    let guide = guide(call.first_param()).ok_or_else(|| Refusal::not_found("guide"))?;
    let reply = packed_reply(&guide.page, "text/html; charset=utf-8", &call.headers);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}

/// Renders the API reference of this server.
fn render_reference(front: &Front) -> Result<Bytes, Error> {
    let is_sandbox = front.sandbox.is_some();
    let mut documents = vec![front.interface_document()];
    if is_sandbox {
        documents.push(front.controls_document());
    }
    let documents: Vec<&[u8]> = documents.iter().map(|document| &**document).collect();
    let page = reference(&front.public_url, is_sandbox, &documents)?.render();
    page.map(Bytes::from).map_err(|error| Error::Failed(error.to_string()))
}
