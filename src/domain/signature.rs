//! HMAC-SHA256 signatures of webhooks and checkout links.
//!
//! Invariant: a signature covers the exact bytes that are sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::hint::black_box;

/// Prefix of an endpoint's secret. The base64 text of the key follows (Standard Webhooks).
const STANDARD_PREFIX: &str = "whsec_";

/// Returns the `X-Service-Signature` header: `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret.
///
/// The signed text is `<t>.<raw body>`. The key is the text of the secret.
pub fn service_signature(unix_seconds: i64, body: &[u8], secrets: &[&str]) -> String {
    let signed = [unix_seconds.to_string().as_bytes(), b".", body].concat();
    let mut header = format!("t={unix_seconds}");
    for secret in secrets {
        header.push_str(",v1=");
        header.push_str(&hex(&hmac_sha256(secret.as_bytes(), &signed)));
    }
    header
}

/// Returns the `webhook-signature` header of Standard Webhooks: `v1,<base64>` for each secret, separated by spaces.
///
/// The signed text is `<id>.<t>.<raw body>`. The key is the base64-decoded text after `whsec_`. A secret of any other
/// form is the key itself.
pub fn standard_webhooks_signature(
    id: &str,
    unix_seconds: i64,
    body: &[u8],
    secrets: &[&str],
) -> String {
    let signed = [id.as_bytes(), b".", unix_seconds.to_string().as_bytes(), b".", body].concat();
    let sign = |secret: &&str| {
        format!("v1,{}", STANDARD.encode(hmac_sha256(&standard_webhooks_key(secret), &signed)))
    };
    secrets.iter().map(sign).collect::<Vec<_>>().join(" ")
}

/// Returns `true` if the key in the secret is not empty. Anybody could forge a signature with an empty key.
pub fn has_signing_key(secret: &str) -> bool {
    !standard_webhooks_key(secret).is_empty()
}

/// Returns the token of an invoice's checkout link, as 32 hex digits. With the token, a client can read the invoice
/// and select its coin.
pub fn checkout_token(file_secret: &[u8], invoice_id: &str) -> String {
    let mac = hmac_sha256(file_secret, invoice_id.as_bytes());
    hex(mac.get(..16).unwrap_or_default())
}

/// Returns `true` if `presented` is the token of this invoice's checkout.
pub fn is_checkout_token(file_secret: &[u8], invoice_id: &str, presented: &str) -> bool {
    let token = checkout_token(file_secret, invoice_id);
    is_equal_constant_time(token.as_bytes(), presented.as_bytes())
}

/// Compares two texts in constant time: the duration does not depend on the position of the first difference.
pub fn is_equal_constant_time(one: &[u8], other: &[u8]) -> bool {
    let pairs = one.iter().zip(other);
    let difference = pairs.fold(0, |found, (one, other)| black_box(found | (one ^ other)));
    one.len() == other.len() && difference == 0
}

/// Returns the HMAC key in an endpoint's secret, by the rule of Standard Webhooks.
fn standard_webhooks_key(secret: &str) -> Vec<u8> {
    let encoded = secret.strip_prefix(STANDARD_PREFIX);
    encoded
        .and_then(|text| STANDARD.decode(text).ok())
        .unwrap_or_else(|| secret.as_bytes().to_vec())
}

/// Computes HMAC-SHA256 (RFC 2104) with a key of any length.
fn hmac_sha256(key: &[u8], text: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// Encodes as base64 with padding (RFC 4648, section 4).
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Encodes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

#[cfg(test)]
mod tests {
    use super::{
        checkout_token, hex, hmac_sha256, is_checkout_token, service_signature,
        standard_webhooks_signature,
    };

    #[test]
    fn hmac_matches_rfc_4231() {
        let mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn service_signature_covers_time_and_body() {
        let one = service_signature(1_700_000_000, b"{}", &["secret"]);
        assert_eq!(
            one,
            "t=1700000000,v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163"
        );
        let two = service_signature(1_700_000_000, b"{}", &["secret", "older"]);
        assert!(two.starts_with(&one) && two.matches(",v1=").count() == 2, "{two}");
    }

    #[test]
    fn standard_signature_matches_official_libraries() {
        // This is the example of the Standard Webhooks specification.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signature = standard_webhooks_signature(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
            &[secret],
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let plain = standard_webhooks_signature("id", 1, b"{}", &["no prefix", secret]);
        assert_eq!(plain.split(' ').count(), 2);
    }

    #[test]
    fn checkout_token_depends_on_invoice_and_file() {
        let token = checkout_token(&[7; 32], "a");
        assert_eq!(token.len(), 32);
        assert_ne!(token, checkout_token(&[7; 32], "b"));
        assert_ne!(token, checkout_token(&[8; 32], "a"));
        assert!(is_checkout_token(&[7; 32], "a", &token));
        let almost = format!("{}x", &token[..31]);
        for wrong in ["", &token[..31], &format!("{token}0"), &almost] {
            assert!(!is_checkout_token(&[7; 32], "a", wrong), "{wrong}");
        }
        assert!(!is_checkout_token(&[7; 32], "b", &token));
    }
}
