//! Parses form bodies: `application/x-www-form-urlencoded`.

use crate::domain::{Refusal, RefusalCode};
use crate::http::request::url_decode;

pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Parses the body of a form.
    ///
    /// # Errors
    /// `invalid_request` if the body is not UTF-8.
    pub(super) fn parse(body: &[u8]) -> Result<FormFields, Refusal> {
        let wrong = || Refusal::new(RefusalCode::InvalidRequest, "the form must be sent as UTF-8");
        let text = str::from_utf8(body).map_err(|_| wrong())?;
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((url_decode(name)?, url_decode(value)?))
        };
        let fields = pairs.map(pair).collect::<Option<_>>().ok_or_else(wrong)?;
        Ok(FormFields(fields))
    }

    /// Returns a field's value, trimmed, or an empty text if the field is missing.
    ///
    /// # Errors
    /// `invalid_request` if the field was sent twice.
    pub(super) fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.untrimmed(name).map(str::trim)
    }

    /// Returns a field's value as sent, or an empty text if the field is missing.
    ///
    /// # Errors
    /// `invalid_request` if the field was sent twice.
    pub(super) fn untrimmed(&self, name: &str) -> Result<&str, Refusal> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        let value = found.next().map_or("", |(_, value)| value.as_str());
        match found.next() {
            None => Ok(value),
            Some(_) => Err(Refusal::field(name, "must be given once")),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::FormFields;

    #[test]
    fn fields_are_decoded() {
        let form = FormFields::parse(b"a=1+2&b=%C3%A4%26&&c&d=x=y").unwrap();
        for (name, value) in [("a", "1 2"), ("b", "ä&"), ("c", ""), ("d", "x=y"), ("e", "")] {
            assert_eq!(form.text(name).unwrap(), value, "{name}");
        }
        assert!(FormFields::parse(b"a=1&a=2").unwrap().text("a").is_err());
        for wrong in [&b"a=%ff"[..], b"\xff=1"] {
            assert!(FormFields::parse(wrong).is_err());
        }
    }
}
