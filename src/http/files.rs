//! The files that pages load.

use super::reply::Reply;
use super::request::Call;
use super::route::{Handler, PLAIN, Resource, Route};
use crate::service::Error;
use crate::web::{STYLE, WIDGET};
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};

/// How long a file may be kept before it is asked for again.
const FILE_CACHE: &str = "public, max-age=300";

/// Its operations.
pub(super) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "style",
            path: "/style.css",
            summary: "The style of the pages.",
            handler: Handler::Open(|call| Box::pin(style(call))),
            ..PLAIN
        },
        Route {
            operation: "widget",
            path: "/widget.js",
            summary: "The script that opens the checkout from a shop's page.",
            handler: Handler::Open(|call| Box::pin(widget(call))),
            ..PLAIN
        },
    ],
    components: "{}",
};

/// GET /style.css
async fn style(_: Call) -> Result<Reply, Error> {
    Ok(file("text/css; charset=utf-8", STYLE))
}

/// GET /widget.js
async fn widget(_: Call) -> Result<Reply, Error> {
    Ok(file("text/javascript; charset=utf-8", WIDGET))
}

/// A file that is the same for everybody.
fn file(content_type: &'static str, text: &'static str) -> Reply {
    Reply::text(StatusCode::OK, content_type, text)
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(CACHE_CONTROL, FILE_CACHE)
}
