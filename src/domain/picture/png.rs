//! Reads PNG files.
//!
//! Sources: Portable Network Graphics (PNG) Specification, third edition, sections 5 and 11.

use super::{DAMAGED, FoundImage, take, take_array};

/// First bytes of every PNG file.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Chunks that are kept: the image, its colours and its pixel ratio. Other ancillary chunks are removed, among them
/// texts, locations and the further frames of an animation.
const KEPT: [&[u8; 4]; 11] = [
    b"PLTE", b"IDAT", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT", b"bKGD",
    b"pHYs",
];

/// Valid bit depths of each colour type.
const DEPTHS: [(u8, &[u8]); 5] =
    [(0, &[1, 2, 4, 8, 16]), (2, &[8, 16]), (3, &[1, 2, 4, 8]), (4, &[8, 16]), (6, &[8, 16])];

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
    /// Bytes of the chunk with its length and its CRC.
    whole: &'a [u8],
}

/// Returns the image of a file. Bytes behind the image are ignored.
pub(super) fn read(file: &[u8]) -> Result<FoundImage, &'static str> {
    let mut rest = file;
    let mut bytes = take(&mut rest, SIGNATURE.len()).ok_or(DAMAGED)?.to_vec();
    let mut size = None;
    let mut has_data = false;
    loop {
        let chunk = take_chunk(&mut rest).ok_or(DAMAGED)?;
        match (&chunk.kind, size) {
            (b"IHDR", None) => size = Some(header_size(chunk.data).ok_or(DAMAGED)?),
            (b"IEND", Some(size)) if has_data && chunk.data.is_empty() => {
                bytes.extend_from_slice(chunk.whole);
                return Ok(FoundImage { size, bytes });
            }
            (b"IHDR" | b"IEND", _) | (_, None) => return Err(DAMAGED),
            (kind, Some(_)) if KEPT.contains(&kind) => has_data |= kind == b"IDAT",
            // A chunk is ancillary if its first letter is lower case.
            ([first, ..], Some(_)) if first.is_ascii_lowercase() => continue,
            (_, Some(_)) => return Err(DAMAGED),
        }
        bytes.extend_from_slice(chunk.whole);
    }
}

/// Takes the next chunk. Returns `None` if it is incomplete or its CRC is wrong.
fn take_chunk<'a>(rest: &mut &'a [u8]) -> Option<Chunk<'a>> {
    let start = *rest;
    let length = u32::from_be_bytes(take_array(rest)?);
    let checked = *rest;
    let kind = take_array(rest)?;
    let data = take(rest, usize::try_from(length).ok()?)?;
    let crc = u32::from_be_bytes(take_array(rest)?);
    let whole = start.get(..start.len().checked_sub(rest.len())?)?;
    let checked = checked.get(..data.len().checked_add(kind.len())?)?;
    let is_right = kind.iter().all(u8::is_ascii_alphabetic) && crc32fast::hash(checked) == crc;
    is_right.then_some(Chunk { kind, data, whole })
}

/// Returns the width and the height from the data of the header chunk. Returns `None` for a header that no decoder
/// accepts.
fn header_size(mut data: &[u8]) -> Option<(u32, u32)> {
    let width = u32::from_be_bytes(take_array(&mut data)?);
    let height = u32::from_be_bytes(take_array(&mut data)?);
    let [depth, color, compression, filter, interlace] = *<&[u8; 5]>::try_from(data).ok()?;
    let has_depth = DEPTHS.iter().any(|(of, depths)| *of == color && depths.contains(&depth));
    (has_depth && compression == 0 && filter == 0 && interlace <= 1).then_some((width, height))
}
