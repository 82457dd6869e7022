//! Large answers: how many one account may have in transmission.
//!
//! Invariant: large answers that an account's clients do not read are bounded in number, over any number of
//! connections.

use super::long_reads::{Askers, Permit};
use super::reply::Reply;
use super::stream::Outgoing;
use crate::service::{Error, QuotaOwner};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};

/// Size above which an answer is large.
const LARGE_BYTES: u64 = 256 * 1024;
/// Large answers of one caller in transmission. The next one is refused.
const OWN_MAX: usize = 16;

/// Large answers of one server.
pub(super) struct LargeAnswers(Askers);

impl Default for LargeAnswers {
    fn default() -> LargeAnswers {
        LargeAnswers(Askers::new(OWN_MAX, OWN_MAX))
    }
}

/// Bytes of an answer with a permit, which is held until they are sent or dropped.
struct Placed {
    bytes: Bytes,
    _permit: Permit,
}

impl AsRef<[u8]> for Placed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl LargeAnswers {
    /// Returns the answer, with a permit if it is large.
    ///
    /// # Errors
    /// `overloaded` if the caller has too many.
    pub(super) async fn admit(
        &self,
        quota_owner: QuotaOwner,
        reply: Reply,
    ) -> Result<Reply, Error> {
        let body = match reply.body {
            Outgoing::Whole(body) if body.size_hint().lower() > LARGE_BYTES => body,
            body => return Ok(Reply { body, ..reply }),
        };
        let permit = self.0.take(quota_owner)?;
        // The body is in one piece in memory.
        let bytes = body
            .collect()
            .await
            .map_or_else(|never| match never {}, |whole| whole.to_bytes());
        let placed = Placed {
            bytes,
            _permit: permit,
        };
        Ok(Reply {
            body: Outgoing::Whole(Full::new(Bytes::from_owner(placed))),
            ..reply
        })
    }
}
