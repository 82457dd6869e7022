//! Limits how many large answers one caller may have in transmission.
//!
//! Invariant: the limit holds for all connections of a caller together.

use super::permits::{Permit, PermitPool};
use super::reply::Reply;
use super::stream::ReplyBody;
use crate::service::{Error, QuotaOwner};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};

/// Size above which an answer counts as large, in bytes.
const LARGE_BYTES: u64 = 256 * 1024;
/// Maximum number of large answers of one caller in transmission. Further large answers are refused.
pub(super) const CALLER_ANSWERS_MAX: usize = 16;

/// Bytes of a large answer with a permit, which is held until the bytes are sent or dropped.
struct PermittedBytes {
    bytes: Bytes,
    _permit: Permit<QuotaOwner>,
}

impl AsRef<[u8]> for PermittedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns the answer. For a large answer, first takes one of the caller's permits, and holds the permit until the
/// bytes are sent or dropped.
///
/// # Errors
/// `overloaded` if the caller has too many large answers in transmission.
pub(super) async fn admit(
    permits: &PermitPool<QuotaOwner>,
    quota_owner: QuotaOwner,
    reply: Reply,
) -> Result<Reply, Error> {
    let body = match reply.body {
        ReplyBody::Whole(body) if body.size_hint().lower() > LARGE_BYTES => body,
        body => return Ok(Reply { body, ..reply }),
    };
    let permit = permits.take_or_refuse(quota_owner)?;
    // The body is a single piece in memory, so collecting the body does not wait.
    let bytes = body.collect().await.map_or_else(|never| match never {}, |whole| whole.to_bytes());
    let placed = PermittedBytes { bytes, _permit: permit };
    Ok(Reply { body: ReplyBody::Whole(Full::new(Bytes::from_owner(placed))), ..reply })
}
