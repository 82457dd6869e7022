//! Compressed files: those that the build script (`build.rs`) compressed, and pages that are made once by the server.
//!
//! Invariant: the binary contains each file once, compressed. Most files are sent compressed, and all other files are
//! rarely needed.

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use std::io::Read as _;

/// Returns the bytes compressed with gzip.
///
/// # Errors
/// None in practice, because nothing is read from outside.
pub fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::default()).read_to_end(&mut packed)?;
    Ok(packed)
}

/// Returns the decompressed bytes of valid gzip.
#[must_use]
pub fn decompress(gzip: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The callers compressed the bytes themselves. Tests decompress every file.
    let _ = GzDecoder::new(gzip).read_to_end(&mut bytes);
    bytes
}

/// Content of a file, compressed with gzip.
pub struct Packed(pub &'static [u8]);

impl Packed {
    /// Returns the decompressed bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        decompress(self.0)
    }

    /// Returns the decompressed text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap_or_default()
    }
}
