//! Renders a message: headers by the types of `lettre`, and plain text.
//!
//! Invariant: the same stored message gives the same bytes at every attempt, with one Message-ID.

use super::settings::SmtpSettings;
use lettre::Address;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use std::time::{Duration, UNIX_EPOCH};

/// Content of a message, as stored.
#[derive(Clone, Copy, Debug)]
pub struct MailContent<'a> {
    /// Message-ID without its angle brackets.
    pub id: &'a str,
    /// Address of the recipient.
    pub to: &'a str,
    /// Subject, one line.
    pub subject: &'a str,
    /// Plain text with line feeds.
    pub body: &'a str,
    /// Language of the text, like `en`.
    pub language: &'static str,
    /// Date of the message, in Unix seconds.
    pub date_s: i64,
}

/// A rendered message with its envelope.
#[derive(Clone, Debug)]
pub struct PreparedMail {
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) text: Vec<u8>,
}

impl PreparedMail {
    /// Renders a message.
    ///
    /// # Errors
    /// A short text if the recipient is not one address of e-mail.
    pub fn new(settings: &SmtpSettings, content: &MailContent<'_>) -> Result<PreparedMail, String> {
        let to: Address = match content.to.contains(|c: char| c.is_control() || c.is_whitespace()) {
            true => return Err("the recipient is not an address".to_owned()),
            false => {
                content.to.parse().map_err(|_| "the recipient is not an address".to_owned())?
            }
        };
        let date_s = u64::try_from(content.date_s).unwrap_or_default();
        let date = UNIX_EPOCH.checked_add(Duration::from_secs(date_s)).unwrap_or(UNIX_EPOCH);
        let message = Message::builder()
            .from(settings.from().clone())
            .to(Mailbox::new(None, to.clone()))
            .date(date)
            .message_id(Some(format!("<{}>", content.id)))
            .subject(content.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(content.body.replace('\n', "\r\n"));
        let mut message = message.map_err(|error| error.to_string())?;
        let headers = message.headers_mut();
        // Programs that answer by themselves do not answer this (RFC 3834).
        for (name, value) in
            [("Auto-Submitted", "auto-generated"), ("Content-Language", content.language)]
        {
            let name = HeaderName::new_from_ascii(name.to_owned());
            let name = name.map_err(|error| error.to_string())?;
            headers.insert_raw(HeaderValue::new(name, value.to_owned()));
        }
        let from = settings.sender().clone();
        Ok(PreparedMail { from, to, text: message.formatted() })
    }

    /// Returns `true` if an address has letters beyond ASCII.
    pub(super) fn needs_utf8(&self) -> bool {
        let is_ascii = |address: &Address| AsRef::<str>::as_ref(address).is_ascii();
        !is_ascii(&self.from) || !is_ascii(&self.to)
    }

    /// Returns the whole text of the message.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}
