//! Files that the build script (`build.rs`) compressed.
//!
//! Invariant: the binary contains each file once, compressed. Most files are sent compressed, and all other files are
//! rarely needed.

use flate2::read::GzDecoder;
use std::io::Read as _;

/// Content of a file, compressed with gzip.
pub struct Packed(pub &'static [u8]);

impl Packed {
    /// Returns the decompressed bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // The build script writes valid gzip. Tests decompress every file.
        let _ = GzDecoder::new(self.0).read_to_end(&mut bytes);
        bytes
    }

    /// Returns the decompressed text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap_or_default()
    }
}
