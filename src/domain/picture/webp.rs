//! Reads WebP files.
//!
//! Sources: RFC 9649, sections 2 and 3; RFC 6386, section 9.1.

use super::{ANIMATED, DAMAGED, FoundImage, take, take_array};

/// Flag of an extended header: the file has a colour profile.
const HAS_PROFILE: u8 = 0x20;
/// Flag of an extended header: the image has transparent pixels.
const HAS_ALPHA: u8 = 0x10;
/// Flag of an extended header: the file is an animation.
const IS_ANIMATION: u8 = 0x02;

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
}

/// Returns `true` if the file starts as every WebP file does.
pub(super) fn is_webp(file: &[u8]) -> bool {
    file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP")
}

/// Returns the image of a file. Bytes behind the image are ignored. Removes Exif and XMP.
pub(super) fn read(file: &[u8]) -> Result<FoundImage, &'static str> {
    let mut rest = file.get(4..).ok_or(DAMAGED)?;
    let length = take_array(&mut rest).map(u32::from_le_bytes).ok_or(DAMAGED)?;
    let length = usize::try_from(length).map_err(|_| DAMAGED)?;
    let mut rest = rest.get(4..length).ok_or(DAMAGED)?;
    let first = take_chunk(&mut rest).ok_or(DAMAGED)?;
    let (size, chunks) = match &first.kind {
        b"VP8X" => read_extended(first.data, rest)?,
        _ => (image_size(&first).ok_or(DAMAGED)?, chunk_bytes(&first)),
    };
    let mut bytes = b"RIFF".to_vec();
    let length = chunks.len().saturating_add(4);
    bytes.extend(u32::try_from(length).map_err(|_| DAMAGED)?.to_le_bytes());
    bytes.extend_from_slice(b"WEBP");
    bytes.extend(chunks);
    Ok(FoundImage { size, bytes })
}

/// Reads the chunks behind an extended header. Returns the size of the image, and the header with the chunks that are
/// kept.
fn read_extended(header: &[u8], mut rest: &[u8]) -> Result<((u32, u32), Vec<u8>), &'static str> {
    let header = <&[u8; 10]>::try_from(header).map_err(|_| DAMAGED)?;
    let [flags, _, _, _, canvas @ ..] = header;
    if flags & IS_ANIMATION != 0 {
        return Err(ANIMATED);
    }
    let mut kept = Vec::new();
    let mut kept_flags = flags & HAS_ALPHA;
    loop {
        let chunk = take_chunk(&mut rest).ok_or(DAMAGED)?;
        let is_image = matches!(&chunk.kind, b"VP8 " | b"VP8L");
        match &chunk.kind {
            b"ICCP" => kept_flags |= HAS_PROFILE,
            b"ALPH" => {}
            b"ANIM" | b"ANMF" => return Err(ANIMATED),
            _ if is_image => {}
            _ => continue,
        }
        kept.extend(chunk_bytes(&chunk));
        if is_image {
            let size = image_size(&chunk).filter(|size| canvas_size(canvas) == Some(*size));
            let head = [&[kept_flags, 0, 0, 0][..], canvas].concat();
            let head = Chunk { kind: *b"VP8X", data: &head };
            return Ok((size.ok_or(DAMAGED)?, [chunk_bytes(&head), kept].concat()));
        }
    }
}

/// Takes the next chunk, with the byte that fills an odd length.
fn take_chunk<'a>(rest: &mut &'a [u8]) -> Option<Chunk<'a>> {
    let kind = take_array(rest)?;
    let length = usize::try_from(u32::from_le_bytes(take_array(rest)?)).ok()?;
    let data = take(rest, length)?;
    if data.len() % 2 == 1 {
        // Some programs omit the byte at the end of the file.
        let _ = take(rest, 1);
    }
    Some(Chunk { kind, data })
}

/// Returns the bytes of a chunk, with its length.
fn chunk_bytes(chunk: &Chunk<'_>) -> Vec<u8> {
    // Every chunk is smaller than the file, whose size is limited.
    let length = u32::try_from(chunk.data.len()).unwrap_or(u32::MAX);
    let fill: &[u8] = if chunk.data.len() % 2 == 1 { &[0] } else { &[] };
    [&chunk.kind[..], &length.to_le_bytes(), chunk.data, fill].concat()
}

/// Returns the size of the image in a chunk. Returns `None` if the chunk has no image.
fn image_size(chunk: &Chunk<'_>) -> Option<(u32, u32)> {
    let mut data = chunk.data;
    match &chunk.kind {
        b"VP8 " => {
            let [tag, _, _, 0x9d, 0x01, 0x2a] = take_array(&mut data)? else {
                return None;
            };
            let side = |bytes| u32::from(u16::from_le_bytes(bytes) & 0x3fff);
            let size = (side(take_array(&mut data)?), side(take_array(&mut data)?));
            (tag & 1 == 0).then_some(size)
        }
        b"VP8L" => {
            let [0x2f] = take_array(&mut data)? else {
                return None;
            };
            let bits = u32::from_le_bytes(take_array(&mut data)?);
            let side = |bits: u32| (bits & 0x3fff).saturating_add(1);
            (bits >> 29 == 0).then(|| (side(bits), side(bits >> 14)))
        }
        _ => None,
    }
}

/// Returns the width and the height of the canvas in an extended header.
fn canvas_size(mut canvas: &[u8]) -> Option<(u32, u32)> {
    let mut side = || {
        let [low, middle, high] = take_array(&mut canvas)?;
        u32::from_le_bytes([low, middle, high, 0]).checked_add(1)
    };
    Some((side()?, side()?))
}
