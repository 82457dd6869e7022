//! Operations for monitoring: liveness, readiness, metrics, and the OpenAPI documents.

use super::auth::Scraper;
use super::metrics::Gauges;
use super::reply::Reply;
use super::request::{Call, Param, ParamKind};
use super::route::{Content, Handler, PLAIN, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::domain::{Refusal, RefusalCode};
use crate::render::chains::ChainView;
use crate::service::Error;
use crate::service::mail::MailCounts;
use hyper::StatusCode;

pub(super) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "getOpenApi",
            tag: Some(Tag::Process),
            path: "/v1/openapi.json",
            summary: "This document.",
            answers: &[RouteAnswer {
                status: 200,
                about: "The OpenAPI 3.1 document.",
                content: Content::AnyJson,
            }],
            handler: Handler::Open(|call| Box::pin(send_document(call))),
            ..PRIVATE
        },
        Route {
            operation: "livez",
            tag: Some(Tag::Process),
            path: "/livez",
            summary: "Reports whether the process is alive.",
            answers: &[RouteAnswer { status: 200, about: "Alive.", content: Content::Text }],
            handler: Handler::Open(|call| Box::pin(livez(call))),
            ..PLAIN
        },
        Route {
            operation: "readyz",
            tag: Some(Tag::Process),
            path: "/readyz",
            summary: "Reports whether the service is ready for requests.",
            query: &[Param {
                name: "verbose",
                about: "Result of each check on a line, with the rates and chains of live mode and the trust in the wall clock.",
                kind: ParamKind::Any,
            }],
            answers: &[RouteAnswer { status: 200, about: "Ready.", content: Content::Text }],
            refusals: &[RefusalCode::Overloaded],
            handler: Handler::Open(|call| Box::pin(readyz(call))),
            ..PLAIN
        },
        Route {
            operation: "metrics",
            tag: Some(Tag::Process),
            path: "/metrics",
            summary: "Returns counters in Prometheus' text format. With `--metrics-listen` they have a listener of their own.",
            answers: &[RouteAnswer { status: 200, about: "The counters.", content: Content::Text }],
            has_separate_listener: true,
            handler: Handler::Metrics(|call, scraper| Box::pin(send_metrics(call, scraper))),
            ..PLAIN
        },
        Route {
            operation: "getSandboxOpenApi",
            tag: Some(Tag::SandboxState),
            path: "/sandbox/openapi.json",
            summary: "This document: the sandbox's controls.",
            answers: &[RouteAnswer {
                status: 200,
                about: "The OpenAPI 3.1 document.",
                content: Content::AnyJson,
            }],
            handler: Handler::Sandbox(|call, _| Box::pin(send_controls_document(call))),
            ..PLAIN
        },
    ],
};

/// Liveness probe: succeeds while the process answers.
async fn livez(_: Call) -> Result<Reply, Error> {
    Ok(Reply::text(StatusCode::OK, "text/plain", "ok\n"))
}

/// Readiness probe: succeeds if the server is not shutting down, the database is readable, and writes are accepted.
async fn readyz(call: Call) -> Result<Reply, Error> {
    if call.http.is_closed() {
        return Err(Refusal::new(RefusalCode::Overloaded, "the server is stopping").into());
    }
    call.http.service.check_file()?;
    call.http.service.check_writes()?;
    let page = match call.query.text("verbose") {
        None => "ok\n".to_owned(),
        Some(_) => {
            let doubt = call.http.clock.untrusted_wall_clock();
            let clock = doubt.map_or("ok".to_owned(), |doubt| doubt.to_string());
            let rates = call.http.service.rates_summary(call.now)?;
            let chains = call.http.service.chains_summary(call.now)?;
            format!("file: ok\nwrites: ok\nrates: {rates}\nchains: {chains}\nclock: {clock}\n")
        }
    };
    Ok(Reply::text(StatusCode::OK, "text/plain", page))
}

async fn send_metrics(call: Call, _: Scraper) -> Result<Reply, Error> {
    let service = &call.http.service;
    let of_file = read_gauges(&call);
    // The counters tell of a damaged file even if these gauges cannot be read.
    let (rates_missing, chains, mail) = match of_file {
        Err(_) if service.is_damaged() => (0, Vec::new(), None),
        read => read?,
    };
    let page = call.http.metrics.render_page(&Gauges {
        writes_waiting: service.waiting_write_count(),
        writes_refused: service.check_writes().is_err(),
        is_locked: service.is_locked(),
        is_damaged: service.is_damaged(),
        log_bytes: service.wal_bytes(),
        rates_missing,
        chains,
        certificate: service.certificate().map(|watch| watch.figures(call.now)),
        mail,
    });
    Ok(Reply::text(StatusCode::OK, "text/plain; version=0.0.4", page))
}

/// Reads the gauges that are in the file: the missing rates, the chains and the e-mails.
fn read_gauges(call: &Call) -> Result<(usize, Vec<ChainView>, Option<MailCounts>), Error> {
    let service = &call.http.service;
    let has_mail = call.http.sandbox.is_none() && service.has_mail();
    let mail = has_mail.then(|| service.mail_counts()).transpose()?;
    Ok((service.missing_rate_count(call.now)?, service.chain_views(call.now)?, mail))
}

async fn send_document(call: Call) -> Result<Reply, Error> {
    let document = call.http.interface_document();
    Ok(Reply::json(StatusCode::OK, document))
}

async fn send_controls_document(call: Call) -> Result<Reply, Error> {
    let document = call.http.controls_document();
    Ok(Reply::json(StatusCode::OK, document))
}
