//! The files that pages load: the table `web::FILES`, sent by one handler.
//!
//! What always holds: a browser that has the present version of a file does not receive it again.

use super::reply::Reply;
use super::request::Call;
use super::route::{Handler, PLAIN, Resource, Route};
use crate::domain::refusal::Refusal;
use crate::service::Error;
use crate::web::{FILES, File};
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS};

/// How long a file may be kept before it is asked for again.
const FILE_CACHE: &str = "public, max-age=300";

/// Its operations.
pub(super) static RESOURCE: Resource = Resource {
    routes: &ROUTES,
    components: "{}",
};

/// One for each file.
static ROUTES: [Route; FILES.len()] = routes();

const fn routes() -> [Route; FILES.len()] {
    let mut routes = [PLAIN; FILES.len()];
    let (mut routes_left, mut files_left): (&mut [Route], &[File]) = (&mut routes, &FILES);
    while let ([route, more_routes @ ..], [file, more_files @ ..]) = (routes_left, files_left) {
        *route = Route {
            operation: file.operation,
            path: file.path,
            summary: file.about,
            handler: Handler::Open(|call| Box::pin(send(call))),
            ..PLAIN
        };
        (routes_left, files_left) = (more_routes, more_files);
    }
    routes
}

/// Sends the file of this path, unless the browser has it.
async fn send(call: Call) -> Result<Reply, Error> {
    let file = FILES.iter().find(|file| file.path == call.route_path);
    let file = file.ok_or_else(|| Refusal::not_found("file"))?;
    let tag = format!("\"{:016x}\"", file.hash);
    let known = call.headers.get_all(IF_NONE_MATCH).iter();
    let known = known.filter_map(|value| value.to_str().ok());
    let is_known = |text: &str| matches!(text.trim(), "*") || text.contains(&tag);
    let reply = if known.into_iter().any(is_known) {
        Reply {
            status: StatusCode::NOT_MODIFIED,
            ..Reply::nothing()
        }
    } else {
        Reply::text(StatusCode::OK, file.content_type, file.bytes)
            .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
    };
    Ok(reply.with(CACHE_CONTROL, FILE_CACHE).with(ETAG, &tag))
}
