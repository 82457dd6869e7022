//! A webhook receiver to copy: it verifies the signature of each delivery and prints one line per event.
//!
//! Usage: `receiver [--listen ADDR]`. The endpoint secret is `COFFER_WEBHOOK_SECRET`, by default that of the sandbox.
//!
//! Invariant: a body is used only after its signature is verified.

#![expect(clippy::print_stdout, reason = "what was verified is this program's output")]
#![expect(clippy::print_stderr, reason = "what was refused is for the person who runs it")]

use hmac::{Hmac, KeyInit, Mac};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use sha2::Sha256;
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// Default secret of every endpoint in a sandbox.
const SANDBOX_SECRET: &str = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh";
/// Maximum age of a signature, and maximum time ahead of this machine's clock.
const TOLERANCE_SECONDS: u64 = 300;
/// Maximum size of a body.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Maximum time for one request to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secret = std::env::var("COFFER_WEBHOOK_SECRET").unwrap_or(SANDBOX_SECRET.to_owned());
    let secret: Arc<str> = secret.into();
    let listener = TcpListener::bind(listen_address()?).await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let secret = Arc::clone(&secret);
        let service = service_fn(move |request| receive(Arc::clone(&secret), request));
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new());
            if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
                eprintln!("a connection ended: {error}");
            }
        });
    }
}

/// Reads `--listen ADDR`. The default is port 8081 on the loopback address.
fn listen_address() -> Result<String, String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [] => Ok("127.0.0.1:8081".to_owned()),
        [flag, address] if flag == "--listen" => Ok(address.clone()),
        _ => Err("usage: receiver [--listen ADDR]".to_owned()),
    }
}

/// Responds to one delivery: 204 if it is genuine, otherwise 400. Coffer sends a delivery again later unless the status
/// is 2xx.
async fn receive(
    secret: Arc<str>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, text) = match verified_body(&secret, request).await {
        Ok(body) => {
            handle(&body);
            (StatusCode::NO_CONTENT, String::new())
        }
        Err(problem) => {
            eprintln!("refused: {problem}");
            (StatusCode::BAD_REQUEST, problem)
        }
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    Ok(response)
}

/// Handles a genuine event. An event can arrive twice, or after a newer one.
///
/// Store its `id` in the transaction that acts on it. Use `data.object.paid`, not the order of arrival. Act only if
/// `livemode` matches the mode of the shop's key: an endpoint can also get test events with the same `orderId`.
fn handle(body: &[u8]) {
    let event: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
    let flag = |pointer: &str| event.pointer(pointer).and_then(Value::as_bool) == Some(true);
    println!(
        "verified {} {} livemode={} object={} status={} paid={}",
        text("/type"),
        text("/id"),
        flag("/livemode"),
        text("/data/object/id"),
        text("/data/object/status"),
        flag("/data/object/paid")
    );
}

/// Reads a delivery and returns its body if the signature is valid.
async fn verified_body(secret: &str, request: Request<Incoming>) -> Result<Bytes, String> {
    if request.method() != Method::POST {
        return Err("deliveries are POSTs".to_owned());
    }
    let header = request.headers().get("x-service-signature");
    let header = header.and_then(|value| value.to_str().ok());
    let header = header.ok_or("there is no X-Service-Signature")?.to_owned();
    let arriving = Limited::new(request.into_body(), BODY_BYTES_MAX).collect();
    let arrived = tokio::time::timeout(REQUEST_TIMEOUT, arriving).await;
    let body = arrived.map_err(|_| "the body took too long")?;
    let body = body.map_err(|error| format!("the body: {error}"))?;
    let body = body.to_bytes();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(|error| error.to_string())?.as_secs();
    verify(secret, &header, &body, now)?;
    Ok(body)
}

/// Verifies `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`: each `v1` is the HMAC-SHA256 of `<t>.<raw body>` under one secret.
/// While a secret is being replaced there are two. One valid signature is enough.
fn verify(secret: &str, header: &str, body: &[u8], now: u64) -> Result<(), String> {
    let parts = || header.split(',').filter_map(|part| part.split_once('='));
    let (_, time) = parts().find(|(name, _)| *name == "t").ok_or("no t=")?;
    let seconds: u64 = time.parse().map_err(|_| "t is no time")?;
    if now.abs_diff(seconds) > TOLERANCE_SECONDS {
        return Err(format!("signed {} s away from now", now.abs_diff(seconds)));
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .map_err(|error| format!("the secret: {error}"))?;
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    let fits = |signature: &str| {
        // Compares in constant time, so that the duration reveals nothing about the signature.
        unhex(signature).is_some_and(|bytes| mac.clone().verify_slice(&bytes).is_ok())
    };
    if parts().any(|(name, value)| name == "v1" && fits(value)) {
        Ok(())
    } else {
        Err("no v1= fits: the body was changed, or the secret is another".to_owned())
    }
}

/// Decodes hexadecimal bytes.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let digits = std::str::from_utf8(pair).ok()?;
        let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
    };
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}
