//! What machines ask of the process itself: is it alive, is it ready, how is it doing, what does it offer.

use super::front::Subject;
use super::reply::Reply;
use super::request::Call;
use crate::domain::refusal::{Code, Refusal};
use crate::http::auth::Scraper;
use crate::http::front::sandbox::Sandbox;
use crate::service::Error;
use hyper::StatusCode;
use std::sync::Arc;

/// Alive: the process answers.
pub(super) async fn livez(_: Call) -> Result<Reply, Error> {
    Ok(Reply::text(StatusCode::OK, "text/plain", "ok\n"))
}

/// Ready: it is not stopping, the file can be read, and writes are taken in.
pub(super) async fn readyz(call: Call) -> Result<Reply, Error> {
    if call.front.is_closed() {
        return Err(Refusal::new(Code::Overloaded, "the server is stopping").into());
    }
    call.front.service.check_file()?;
    call.front.service.check_writes()?;
    let page = match call.query.text("verbose") {
        None => "ok\n".to_owned(),
        Some(_) => {
            let doubt = call.front.clock.doubt();
            let clock = doubt.map_or("ok".to_owned(), |doubt| doubt.to_string());
            format!("file: ok\nwrites: ok\nclock: {clock}\n")
        }
    };
    Ok(Reply::text(StatusCode::OK, "text/plain", page))
}

/// Counters for Prometheus.
pub(super) async fn metrics(call: Call, _: Scraper) -> Result<Reply, Error> {
    let service = &call.front.service;
    let page = call
        .front
        .metrics
        .page(service.writes_waiting(), service.check_writes().is_err());
    Ok(Reply::text(
        StatusCode::OK,
        "text/plain; version=0.0.4",
        page,
    ))
}

/// The OpenAPI document.
pub(super) async fn document(call: Call) -> Result<Reply, Error> {
    let document = call.front.document(Subject::Interface);
    Ok(Reply::json(StatusCode::OK, document))
}

/// The OpenAPI document of the sandbox's controls.
pub(super) async fn controls_document(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let document = call.front.document(Subject::Sandbox);
    Ok(Reply::json(StatusCode::OK, document))
}
