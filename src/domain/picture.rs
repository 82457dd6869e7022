//! Pictures that merchants upload: PNG, JPEG and WebP, recognized by their content.
//!
//! Invariant: a picture is one still image within the limits. It contains nothing else of the uploaded file: comments,
//! locations and bytes behind the image are removed.

mod jpeg;
mod png;
mod webp;

use super::refusal::Refusal;
use super::signature::hex;
use super::text_enum::text_enum;
use sha2::{Digest as _, Sha256};

/// Largest size of an uploaded picture, in bytes.
pub const PICTURE_BYTES_MAX: usize = 100 * 1024;
/// Largest width and height of a picture, in pixels.
pub const PICTURE_SIDE_MAX: u32 = 2048;

/// Message for a file that ends early or breaks the rules of its format.
const DAMAGED: &str = "is damaged or incomplete: save it again as PNG, JPEG or WebP";
/// Message for a file with several images.
const ANIMATED: &str = "must be a still picture, not an animation";

text_enum! {
    /// Format of a picture.
    pub enum PictureFormat {
        /// Portable Network Graphics.
        Png = "png",
        /// JPEG, baseline or progressive.
        Jpeg = "jpeg",
        /// WebP, with or without loss.
        Webp = "webp",
    }
}

impl PictureFormat {
    /// Returns the media type of the format.
    pub const fn media_type(self) -> &'static str {
        match self {
            PictureFormat::Png => "image/png",
            PictureFormat::Jpeg => "image/jpeg",
            PictureFormat::Webp => "image/webp",
        }
    }
}

/// A checked picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Format of the bytes.
    pub format: PictureFormat,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// File that contains only the image.
    pub bytes: Vec<u8>,
}

/// Data of a stored picture without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureInfo {
    /// SHA-256 of the bytes, in lower-case hex digits.
    pub hash: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

struct FoundImage {
    /// Width and height in pixels.
    size: (u32, u32),
    bytes: Vec<u8>,
}

impl Picture {
    /// Reads an uploaded file.
    ///
    /// # Errors
    /// `invalid_request` that names `picture`, if the file is too large, or is no still PNG, JPEG or WebP image of at
    /// most 2048 pixels on each side.
    pub fn read(file: &[u8]) -> Result<Picture, Refusal> {
        let wrong = |problem: String| Refusal::field("picture", problem);
        if file.len() > PICTURE_BYTES_MAX {
            return Err(wrong(format!("must be at most {PICTURE_BYTES_MAX} bytes")));
        }
        let (format, found) = if file.starts_with(png::SIGNATURE) {
            (PictureFormat::Png, png::read(file))
        } else if file.starts_with(jpeg::SIGNATURE) {
            (PictureFormat::Jpeg, jpeg::read(file))
        } else if webp::is_webp(file) {
            (PictureFormat::Webp, webp::read(file))
        } else {
            return Err(wrong("must be a PNG, JPEG or WebP file".to_owned()));
        };
        let FoundImage { size: (width, height), bytes } =
            found.map_err(|problem| wrong(problem.to_owned()))?;
        let is_allowed = |side: u32| (1..=PICTURE_SIDE_MAX).contains(&side);
        if !is_allowed(width) || !is_allowed(height) {
            let side = PICTURE_SIDE_MAX;
            return Err(wrong(format!(
                "must be at most {side} pixels wide and {side} pixels high, and is {width} by {height}"
            )));
        }
        Ok(Picture { format, width, height, bytes })
    }

    /// Returns the data of the picture without its bytes.
    pub fn info(&self) -> PictureInfo {
        let hash = hex(&Sha256::digest(&self.bytes));
        PictureInfo { hash, width: self.width, height: self.height }
    }
}

/// Takes this many bytes from the front of `rest`. Returns `None` if there are not so many.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

/// Takes a fixed number of bytes from the front of `rest`. Returns `None` if there are not so many.
fn take_array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]
mod tests;
