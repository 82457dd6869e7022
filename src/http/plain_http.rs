//! Answers to plain HTTP of a server that has TLS: challenges of a certificate authority, and redirects to HTTPS.
//!
//! Invariant: no other request is served without TLS.

use super::reply::Reply;
use super::stream::ReplyBody;
use hyper::header::LOCATION;
use hyper::{Method, Request, Response, StatusCode};

/// Start of the path of a challenge (RFC 8555, section 8.3). The token follows.
const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";

/// Function that returns the answer to a challenge, by its token.
pub type ChallengeAnswers = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Answers to plain HTTP.
pub struct PlainHttp {
    /// Origin of the HTTPS URLs, without a trailing slash.
    pub origin: String,
    /// Function that returns the answer to a challenge, by its token.
    pub challenge: ChallengeAnswers,
    /// Function that returns `true` once there is a certificate, so that HTTPS works.
    pub has_certificate: Box<dyn Fn() -> bool + Send + Sync>,
}

impl PlainHttp {
    pub(super) fn answer<B>(&self, request: &Request<B>) -> Response<ReplyBody> {
        let path = request.uri().path();
        let reply = match *request.method() {
            Method::GET | Method::HEAD => match path.strip_prefix(CHALLENGE_PATH) {
                Some(token) => match (self.challenge)(token) {
                    Some(answer) => Reply::text(StatusCode::OK, "text/plain", answer),
                    None => text(StatusCode::NOT_FOUND, "no challenge has this token\n".to_owned()),
                },
                None => self.redirect(request.uri()),
            },
            _ => {
                let message = format!("requests need HTTPS: use {}{path}\n", self.origin);
                text(StatusCode::FORBIDDEN, message)
            }
        };
        reply.into_response()
    }

    /// Redirects to the same path with HTTPS, if there is a certificate.
    fn redirect(&self, uri: &hyper::Uri) -> Reply {
        if !(self.has_certificate)() {
            let message = format!(
                "{} has no certificate yet. The log of coffer and `coffer doctor` say why.\n",
                self.origin
            );
            return text(StatusCode::SERVICE_UNAVAILABLE, message);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let to = format!("{}{path}", self.origin);
        text(StatusCode::MOVED_PERMANENTLY, format!("{to}\n")).with_owned_header(LOCATION, to)
    }
}

fn text(status: StatusCode, message: String) -> Reply {
    Reply::text(status, "text/plain; charset=utf-8", message)
}
