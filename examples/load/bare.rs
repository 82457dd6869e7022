//! A server without application work: hyper as in Coffer's `http::server`, with a JSON response of 900 bytes. Its
//! settings are shared by all compared servers.

use crate::Failure;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Argument that starts this server.
pub const COMMAND: &str = "--bare-server";
/// Length of the response, about that of an invoice.
const ANSWER_BYTES: usize = 900;

/// Serves until the process is killed.
pub fn serve() -> Result<(), Failure> {
    let filler = "x".repeat(ANSWER_BYTES - r#"{"data":""}"#.len());
    let body = Bytes::from(format!(r#"{{"data":"{filler}"}}"#));
    listen(move |_| std::future::ready(json(body.clone())))
}

/// Returns the body, or status 500 with the error.
pub fn json_or_error<E: Display>(body: Result<Bytes, E>) -> Response<Full<Bytes>> {
    body.map_or_else(
        |error| {
            let mut response = json(Bytes::from(error.to_string()));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        },
        json,
    )
}

fn json(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let value = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, value);
    response
}

/// Listens on a free port, prints it, and responds to every request with `answer`.
pub fn listen<F>(
    answer: impl Fn(Request<Incoming>) -> F + Send + Sync + 'static,
) -> Result<(), Failure>
where
    F: Future<Output = Response<Full<Bytes>>> + Send,
{
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let answer = Arc::new(answer);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("ready url=http://{}", listener.local_addr()?);
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(30))
            .max_buf_size(32 * 1024);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let answer = Arc::clone(&answer);
            let service = service_fn(move |request| {
                let answer = Arc::clone(&answer);
                async move { Ok::<_, Infallible>(answer(request).await) }
            });
            tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
        }
    })
}
