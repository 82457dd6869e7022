//! Files that the build script compressed (`build.rs`).
//!
//! Invariant: the binary contains each file once, compressed. Most files are sent in this form, and the others are read
//! rarely.

use flate2::read::GzDecoder;
use std::io::Read as _;

/// The bytes of a file, compressed with gzip.
pub struct Packed(pub &'static [u8]);

impl Packed {
    /// Returns the original bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // The build script's output is valid. `tests` reads every packed file.
        let _ = GzDecoder::new(self.0).read_to_end(&mut bytes);
        bytes
    }

    /// Returns the original text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap_or_default()
    }
}
