//! The documentation pages: the reference, `/docs` with a page for each topic, and the guides, `/docs/{guide}`.
//!
//! Invariant: all pages are complete without a script. The pages of the reference are rendered once, at the first
//! request. The build script renders the guides.

use super::with_policy;
use crate::domain::Refusal;
use crate::http::files::{gzip_reply, packed_reply};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Handler, PAGE, Resource, Route};
use crate::http::state::{HttpState, ReferencePages};
use crate::service::Error;
use crate::web::guides::guide;
use crate::web::packed::compress;
use crate::web::reference::{ReferenceIndex, TopicPage};
use askama::Template;
use hyper::body::Bytes;

const HTML: &str = "text/html; charset=utf-8";
/// Name of the first page of the reference among its pages. No topic has an empty name.
const INDEX: &str = "";

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "docsPage",
            path: "/docs",
            summary: "The reference: every operation, webhook and error.",
            handler: Handler::Open(|call| Box::pin(async move { show_reference(&call, INDEX) })),
            ..PAGE
        },
        Route {
            operation: "referencePage",
            path: "/docs/reference/{topic}",
            summary: "The reference of one topic.",
            handler: Handler::Open(|call| {
                Box::pin(async move { show_reference(&call, call.first_param()) })
            }),
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

/// GET /docs, GET /docs/reference/{topic}
fn show_reference(call: &Call, name: &str) -> Result<Reply, Error> {
    let page = call.http.reference_page(name, render_reference)?;
    let page = page.ok_or_else(|| Refusal::not_found("topic"))?;
    let reply = gzip_reply(page, HTML, &call.headers);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}

/// GET /docs/{guide}
async fn show_guide(call: Call) -> Result<Reply, Error> {
    let guide = guide(call.first_param()).ok_or_else(|| Refusal::not_found("guide"))?;
    let reply = packed_reply(&guide.page, HTML, &call.headers);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}

fn render_reference(http: &HttpState) -> Result<ReferencePages, Error> {
    let is_sandbox = http.sandbox.is_some();
    let topics = http.reference_topics();
    let url = &http.public_url;
    let mut pages = ReferencePages::new();
    let index = ReferenceIndex { url, is_sandbox, topics: &topics };
    pages.insert(INDEX.to_owned(), render_compressed(&index)?);
    for topic in &topics {
        let page = TopicPage { is_sandbox, topics: &topics, topic };
        pages.insert(topic.id.clone(), render_compressed(&page)?);
    }
    Ok(pages)
}

fn render_compressed(page: &impl Template) -> Result<Bytes, Error> {
    let page = page.render().map_err(|error| Error::Failed(error.to_string()))?;
    let gzip = compress(page.as_bytes()).map_err(|error| Error::Failed(error.to_string()))?;
    Ok(Bytes::from(gzip))
}
