//! QR codes as SVG paths, with the empty border (quiet zone) that scanners need.

use crate::domain::fields::{schema, view};
use qrcodegen::{QrCode, QrCodeEcc};
use std::fmt::Write as _;

/// Width of the quiet zone on each side, in white modules.
const QUIET: i32 = 4;

view! {
    /// A QR code that a page draws: one SVG path in a square of `size` units.
    pub Qr as "QrCode" {
        /// Width and height in modules, with the white margin.
        size: i32 [schema!({ "type": "integer", "minimum": 29, "maximum": 185 })] = 53;
        /// Path of the dark modules, as in `d` of SVG. The rest is white.
        path: String = "M4 4h7v1h-7z";
    }
}

impl Qr {
    /// Returns the QR code of a text; `None` if the text is too long.
    #[must_use]
    pub fn encode(text: &str) -> Option<Qr> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
        let mut path = String::new();
        for y in 0..code.size() {
            let mut x = 0;
            while x < code.size() {
                let dark = (x..code.size()).take_while(|x| code.get_module(*x, y));
                let width = i32::try_from(dark.count()).unwrap_or(i32::MAX);
                if width > 0 {
                    let (left, top) = (x.saturating_add(QUIET), y.saturating_add(QUIET));
                    // Writing into a `String` cannot fail.
                    let _ = write!(path, "M{left} {top}h{width}v1h-{width}z");
                }
                x = x.saturating_add(width).saturating_add(1);
            }
        }
        let size = code.size().saturating_add(QUIET.saturating_mul(2));
        Some(Qr { size, path })
    }

    /// Returns the upper edges of the dark modules as a path of half the length. A page draws the edges as lines that
    /// are one module wide, half a module lower.
    #[must_use]
    pub fn lines(&self) -> String {
        self.path.split('z').filter_map(|run| run.split_once('v')).map(|(edge, _)| edge).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::Qr;

    #[test]
    fn code_has_a_quiet_zone_and_too_long_text_has_no_code() {
        let code = Qr::encode("https://shop.example").unwrap();
        assert_eq!(code.size, 25 + 8);
        // The path begins with the finder pattern in the corner. Its first row is seven modules wide.
        assert!(code.path.starts_with("M4 4h7v1h-7z"), "{}", code.path);
        assert!(code.lines().starts_with("M4 4h7M"), "{}", code.lines());
        assert_eq!(code.lines().matches('M').count(), code.path.matches('M').count());
        assert!(Qr::encode(&"x".repeat(5_000)).is_none());
    }
}
