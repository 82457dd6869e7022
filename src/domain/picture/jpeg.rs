//! Reads JPEG files.
//!
//! Sources: ITU-T T.81, annex B; JFIF 1.02.

use super::{DAMAGED, FoundImage, take, take_array};

/// First bytes of every JPEG file: the start of the image, and the first byte of the next marker.
pub(super) const SIGNATURE: &[u8] = b"\xff\xd8\xff";

/// Start of image.
const SOI: u8 = 0xd8;
/// End of image.
const EOI: u8 = 0xd9;
/// Start of scan.
const SOS: u8 = 0xda;
/// Starts of frames that browsers decode: baseline, extended and progressive.
const FRAMES: [u8; 3] = [0xc0, 0xc1, 0xc2];
/// Segments without which no decoder works: Huffman tables, quantization tables and the restart interval.
const TABLES: [u8; 3] = [0xc4, 0xdb, 0xdd];
/// Application segments that are kept, each with the start of its data: density, colour profile and colour transform.
const APPLICATIONS: [(u8, &[u8]); 3] =
    [(0xe0, b"JFIF\0"), (0xe2, b"ICC_PROFILE\0"), (0xee, b"Adobe")];

/// Returns the image of a file. Bytes behind the image are ignored. Removes comments and application segments that do
/// not change the colours, among them Exif with its location.
pub(super) fn read(file: &[u8]) -> Result<FoundImage, &'static str> {
    let mut rest = file;
    let mut bytes = take(&mut rest, 2).ok_or(DAMAGED)?.to_vec();
    let mut size = None;
    let mut has_scan = false;
    loop {
        let marker = take_marker(&mut rest).ok_or(DAMAGED)?;
        if marker == EOI {
            let size = size.filter(|_| has_scan).ok_or(DAMAGED)?;
            bytes.extend([0xff, EOI]);
            return Ok(FoundImage { size, bytes });
        }
        let data = take_segment(&mut rest).ok_or(DAMAGED)?;
        let is_kept = match marker {
            SOS => size.is_some(),
            _ if FRAMES.contains(&marker) => {
                let is_first = size.is_none();
                size = Some(frame_size(data).ok_or(DAMAGED)?);
                is_first
            }
            _ if TABLES.contains(&marker) => true,
            0xe0..=0xef | 0xfe => {
                let is_known = |(known, start): &(u8, &[u8])| {
                    *known == marker && data.get(2..).is_some_and(|data| data.starts_with(start))
                };
                if !APPLICATIONS.iter().any(is_known) {
                    continue;
                }
                true
            }
            _ => false,
        };
        if !is_kept {
            return Err(DAMAGED);
        }
        bytes.extend([0xff, marker]);
        bytes.extend_from_slice(data);
        if marker == SOS {
            has_scan = true;
            let scan = take_scan(&mut rest).ok_or(DAMAGED)?;
            bytes.extend_from_slice(scan);
        }
    }
}

/// Takes the next marker, with the fill bytes before it. Returns `None` for the start of another image.
fn take_marker(rest: &mut &[u8]) -> Option<u8> {
    let [0xff] = take_array(rest)? else {
        return None;
    };
    loop {
        match take_array(rest)? {
            [0xff] => {}
            [0x00 | SOI] => return None,
            [marker] => return Some(marker),
        }
    }
}

/// Takes the next segment, with its length.
fn take_segment<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u16::from_be_bytes(*rest.first_chunk()?);
    take(rest, usize::from(length)).filter(|data| data.len() >= 2)
}

/// Takes the data of a scan, up to the next marker that does not belong to the scan.
fn take_scan<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let is_end = |pair: &[u8]| matches!(pair, [0xff, next] if !matches!(next, 0x00 | 0xd0..=0xd7));
    let end = rest.windows(2).position(is_end)?;
    take(rest, end)
}

/// Returns the width and the height from a frame header. Returns `None` for a header that no browser decodes.
fn frame_size(mut data: &[u8]) -> Option<(u32, u32)> {
    let [_, _, precision] = take_array(&mut data)?;
    let height = u16::from_be_bytes(take_array(&mut data)?);
    let width = u16::from_be_bytes(take_array(&mut data)?);
    let [components] = take_array(&mut data)?;
    let has_components =
        matches!(components, 1 | 3 | 4) && data.len() == usize::from(components).saturating_mul(3);
    (precision == 8 && has_components).then_some((u32::from(width), u32::from(height)))
}
