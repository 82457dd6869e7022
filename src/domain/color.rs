//! Selects the text color for a shop's background color, and computes the CSP hash of the checkout's style.
//!
//! Invariant: the contrast between the text and the background is at least 4.5 (WCAG 2.2).

#![expect(
    clippy::disallowed_types,
    clippy::float_arithmetic,
    reason = "a contrast is measured, not owed"
)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Possible text colors: black and white.
const TEXTS: [&str; 2] = ["#000000", "#ffffff"];

/// Returns the text color with more contrast on the background color `ground` (`#` and six hex digits); `None` if
/// `ground` is not a color.
pub fn text_color_on(ground: &str) -> Option<&'static str> {
    let ground = luminance(ground)?;
    let contrast = |text: &str| luminance(text).map_or(0.0, |text| contrast(text, ground));
    let [dark, light] = TEXTS;
    Some(if contrast(dark) >= contrast(light) { dark } else { light })
}

/// Returns the contrast of two luminances, from 1 to 21 (WCAG 2.2).
fn contrast(one: f64, other: f64) -> f64 {
    let (lighter, darker) = (one.max(other), one.min(other));
    (lighter + 0.05) / (darker + 0.05)
}

/// Returns the relative luminance of an sRGB color, from 0 to 1 (WCAG 2.2).
fn luminance(color: &str) -> Option<f64> {
    let digits = color.strip_prefix('#').filter(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })?;
    let part = |at: usize| {
        let text = digits.get(at..at.saturating_add(2))?;
        let value = f64::from(u8::from_str_radix(text, 16).ok()?) / 255.0;
        Some(if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) })
    };
    Some(0.2126 * part(0)? + 0.7152 * part(2)? + 0.0722 * part(4)?)
}

/// Returns the Content-Security-Policy source that allows this inline style: its SHA-256.
pub fn csp_style_source(style: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{contrast, csp_style_source, luminance, text_color_on};

    #[test]
    fn text_is_readable_on_every_color() {
        for red in (0..=255).step_by(15) {
            for green in (0..=255).step_by(5) {
                for blue in (0..=255).step_by(15) {
                    let ground = format!("#{red:02x}{green:02x}{blue:02x}");
                    let text = luminance(text_color_on(&ground).unwrap()).unwrap();
                    let contrast = contrast(text, luminance(&ground).unwrap());
                    assert!(contrast >= 4.5, "{ground}: {contrast}");
                }
            }
        }
        assert_eq!(text_color_on("#1a56db"), Some("#ffffff"));
        assert_eq!(text_color_on("#ffd400"), Some("#000000"));
        for wrong in ["", "#fff", "1a56db", "#1a56dg", "#1a56db0", "#\u{e9}\u{e9}\u{e9}"] {
            assert_eq!(text_color_on(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn csp_style_source_is_the_hash_of_the_style() {
        assert_eq!(csp_style_source(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
