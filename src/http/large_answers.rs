//! Large answers: how many of one account are being sent at once.
//!
//! What lives here: the place that a large answer takes until its last byte is sent. What does not: how fast a
//! client must read it (`connection`). What always holds: the large answers that an account's clients do not read
//! are bounded in number, over however many connections they ask.

use super::long_reads::{Askers, Place};
use super::reply::Reply;
use super::stream::Outgoing;
use crate::service::{Asker, Error};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};

/// An answer of more bytes than this is large.
const LARGE_BYTES: u64 = 256 * 1024;
/// Large answers of one asker that are being sent at once; the next one is refused.
const OWN_MAX: usize = 16;

/// The large answers of one server.
pub(super) struct LargeAnswers(Askers);

impl Default for LargeAnswers {
    fn default() -> LargeAnswers {
        LargeAnswers(Askers::new(OWN_MAX, OWN_MAX))
    }
}

/// The bytes of an answer, and its place until they are sent or given up.
struct Placed {
    bytes: Bytes,
    _place: Place,
}

impl AsRef<[u8]> for Placed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl LargeAnswers {
    /// This answer, with a place where it is large.
    ///
    /// # Errors
    /// `overloaded` where too many of the asker's are being sent already.
    pub(super) async fn admit(&self, asker: Asker, reply: Reply) -> Result<Reply, Error> {
        let body = match reply.body {
            Outgoing::Whole(body) if body.size_hint().lower() > LARGE_BYTES => body,
            body => return Ok(Reply { body, ..reply }),
        };
        let place = self.0.take(asker)?;
        // It is in one piece, and there.
        let bytes = body
            .collect()
            .await
            .map_or_else(|never| match never {}, |whole| whole.to_bytes());
        let placed = Placed {
            bytes,
            _place: place,
        };
        Ok(Reply {
            body: Outgoing::Whole(Full::new(Bytes::from_owner(placed))),
            ..reply
        })
    }
}
