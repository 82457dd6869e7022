//! What the build has compressed (`build.rs`).
//!
//! What always holds: it is in the program once, compressed; most of it is sent just so, and the rest is read rarely.

use flate2::read::GzDecoder;
use std::io::Read as _;

/// The bytes of a file, compressed by gzip.
pub struct Packed(pub &'static [u8]);

impl Packed {
    /// What it was made of.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // What the build wrote is whole: `tests` of all that is packed say so.
        let _ = GzDecoder::new(self.0).read_to_end(&mut bytes);
        bytes
    }

    /// The same where it is a text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap_or_default()
    }
}
