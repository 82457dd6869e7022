//! Reads the few fields of an X.509 certificate that a renewal needs (RFC 5280, section 4.1).
//!
//! The certificate comes from the authority, so every length is checked.

use crate::domain::{Time, Validity};
use time::{Date, Month, PrimitiveDateTime, Time as TimeOfDay};

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const OBJECT_ID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// Tag of the version of a certificate.
const VERSION: u8 = 0xa0;
/// Tag of the extensions of a certificate.
const EXTENSIONS: u8 = 0xa3;
/// Tag of the key identifier in the extension of the authority's key.
const KEY_IDENTIFIER: u8 = 0x80;

/// Object identifier of the extension that names the authority's key: 2.5.29.35.
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateFields {
    pub(crate) serial: Vec<u8>,
    pub(crate) validity: Validity,
    /// Identifier of the authority's key. `None` if the certificate has none.
    pub(crate) authority_key: Option<Vec<u8>>,
}

/// Unread part of a DER encoding.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Reads the next element. Returns its tag and content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x0f))?;
                let length = bytes
                    .iter()
                    .fold(0_usize, |length, byte| length.wrapping_shl(8) | usize::from(*byte));
                (length, rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Reads the next element, which must have this tag.
    fn read(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }

    fn read_optional(&mut self, tag: u8) -> Option<&'a [u8]> {
        (self.0.first() == Some(&tag)).then(|| self.read(tag)).flatten()
    }
}

impl CertificateFields {
    /// Reads a certificate in DER. Returns `None` if the certificate is malformed.
    pub(crate) fn parse(certificate: &[u8]) -> Option<CertificateFields> {
        let mut signed = Der(Der(certificate).read(SEQUENCE)?);
        let mut fields = Der(signed.read(SEQUENCE)?);
        let _version = fields.read_optional(VERSION);
        let serial = fields.read(INTEGER)?.to_vec();
        let (_algorithm, _issuer) = (fields.read(SEQUENCE)?, fields.read(SEQUENCE)?);
        let mut period = Der(fields.read(SEQUENCE)?);
        let validity =
            Validity { not_before: read_time(&mut period)?, not_after: read_time(&mut period)? };
        let (_subject, _key) = (fields.read(SEQUENCE)?, fields.read(SEQUENCE)?);
        let mut authority_key = None;
        while let Some((tag, content)) = fields.next() {
            if tag == EXTENSIONS {
                authority_key = find_authority_key(Der(content).read(SEQUENCE)?);
            }
        }
        Some(CertificateFields { serial, validity, authority_key })
    }
}

/// Returns the key identifier of the extension that names the authority's key.
fn find_authority_key(extensions: &[u8]) -> Option<Vec<u8>> {
    let mut extensions = Der(extensions);
    while let Some(extension) = extensions.read(SEQUENCE) {
        let mut extension = Der(extension);
        if extension.read(OBJECT_ID)? == AUTHORITY_KEY {
            // The extension is not critical, so its value follows its name.
            let mut value = Der(Der(extension.read(OCTET_STRING)?).read(SEQUENCE)?);
            return value.read_optional(KEY_IDENTIFIER).map(<[u8]>::to_vec);
        }
    }
    None
}

/// Reads a time: `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn read_time(fields: &mut Der<'_>) -> Option<Time> {
    let (tag, text) = fields.next()?;
    let digits = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let digits = match tag {
        // Years from 50 are of the 20th century (RFC 5280, section 4.1.2.5.1).
        UTC_TIME if digits.as_bytes().first()? >= &b'5' => format!("19{digits}"),
        UTC_TIME => format!("20{digits}"),
        GENERALIZED_TIME => digits.to_owned(),
        _ => return None,
    };
    if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year: i32 = digits.get(..4)?.parse().ok()?;
    let pair = |at: usize| -> Option<u8> { digits.get(at..at.checked_add(2)?)?.parse().ok() };
    let date = Date::from_calendar_date(year, Month::try_from(pair(4)?).ok()?, pair(6)?).ok()?;
    let time = TimeOfDay::from_hms(pair(8)?, pair(10)?, pair(12)?).ok()?;
    let seconds = PrimitiveDateTime::new(date, time).assume_utc().unix_timestamp();
    Some(Time(0).plus_ms(seconds.saturating_mul(1_000)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::{CertificateFields, Der, SEQUENCE, read_time};
    use crate::domain::Time;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SerialNumber};

    /// Returns a certificate with a serial number and an authority's key, and the authority's key identifier.
    fn certificate() -> (Vec<u8>, Vec<u8>) {
        let key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let identifier = authority.key_identifier(&key);
        let issuer = Issuer::new(authority, key);
        let mut params = CertificateParams::new(vec!["pay.example.com".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(vec![0x7f, 1, 2, 3]));
        params.use_authority_key_identifier_extension = true;
        params.not_before = rcgen::date_time_ymd(2026, 2, 3);
        params.not_after = rcgen::date_time_ymd(2050, 1, 1);
        let signed = params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap();
        (signed.der().to_vec(), identifier)
    }

    #[test]
    fn fields_of_a_certificate_are_read() {
        let (bytes, identifier) = certificate();
        let fields = CertificateFields::parse(&bytes).unwrap();
        assert_eq!(fields.serial, [0x7f, 1, 2, 3]);
        assert_eq!(fields.authority_key.unwrap(), identifier);
        assert_eq!(fields.validity.not_before.to_string(), "2026-02-03T00:00:00.000Z");
        assert_eq!(fields.validity.not_after.to_string(), "2050-01-01T00:00:00.000Z");
    }

    #[test]
    fn cut_or_changed_certificate_never_panics() {
        let (bytes, _) = certificate();
        for end in 0..bytes.len() {
            assert_eq!(CertificateFields::parse(&bytes[..end]), None, "{end}");
        }
        for at in 0..bytes.len() {
            for value in [0, 0x30, 0x7f, 0x80, 0x81, 0x84, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                // A change inside a name or a key is not noticed.
                let _ = CertificateFields::parse(&changed);
            }
        }
    }

    #[test]
    fn lengths_and_times_are_checked() {
        assert!(Der(&[SEQUENCE, 0x83, 0xff, 0xff, 0xff]).next().is_none());
        assert!(Der(&[SEQUENCE, 0x80]).next().is_none(), "an indefinite length");
        let time = |tag: u8, text: &str| {
            let head = [tag, u8::try_from(text.len()).unwrap()];
            read_time(&mut Der(&[&head, text.as_bytes()].concat()))
        };
        assert_eq!(time(0x17, "700101000001Z"), Some(Time(1_000)));
        assert_eq!(time(0x18, "19700101000001Z"), Some(Time(1_000)));
        for (tag, text) in [
            (0x17, "701301000000Z"),
            (0x17, "700230000000Z"),
            (0x17, "7001010000Z"),
            (0x17, "700101000000+0100"),
            (0x17, "-00101000000Z"),
            (0x18, "19700101240000Z"),
            (0x19, "19700101000000Z"),
        ] {
            assert_eq!(time(tag, text), None, "{text}");
        }
    }
}
