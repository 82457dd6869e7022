//! Records of delivery attempts, e-mails and bodies in the activity of a sandbox.

use crate::domain::language::Language;
use crate::domain::mail::{MailKind, MailText};
use crate::domain::time::Time;

/// Maximum size of a stored body, in bytes. Of a longer body, only the length is stored.
const BODY_BYTES_MAX: usize = 128 * 1024;

/// A delivery attempt.
pub struct RecordedAttempt {
    /// Id of the delivery.
    pub delivery: String,
    /// Id of the event.
    pub event: String,
    /// Number of the attempt within the delivery, from 1.
    pub number: u32,
    /// URL that received the request.
    pub url: String,
    /// Request headers, including signatures.
    pub headers: Vec<(&'static str, String)>,
    /// Body of the request.
    pub sent: RecordedBody,
    /// Start time, by the sandbox's clock.
    pub at: Time,
    /// HTTP status of the response, if there was one.
    pub status: Option<u16>,
    /// Duration, in milliseconds.
    pub ms: i64,
    /// Reason why there was no response.
    pub error: Option<String>,
    /// The first bytes of the response body.
    pub answer: Option<String>,
}

/// A message by e-mail that a sandbox has not sent.
pub struct RecordedMail {
    /// Message-ID without its angle brackets.
    pub id: String,
    /// Kind of the message.
    pub kind: MailKind,
    /// Time of the message, by the sandbox's clock.
    pub at: Time,
    /// Address of the recipient.
    pub to: String,
    /// Language of the text.
    pub language: Language,
    /// Subject and text.
    pub text: MailText,
}

/// A request or response body.
#[derive(Default)]
pub struct RecordedBody {
    /// The complete body. Empty if the body is too long to store.
    pub bytes: Vec<u8>,
    /// Length of the body, in bytes.
    pub length: usize,
}

impl RecordedBody {
    /// Returns the length of a body, and its bytes unless the body is too long to store.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> RecordedBody {
        let kept: &[u8] = match bytes.len() {
            ..=BODY_BYTES_MAX => bytes,
            _ => &[],
        };
        RecordedBody { bytes: kept.to_vec(), length: bytes.len() }
    }
}
