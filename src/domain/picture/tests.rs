//! Tests of the readers of pictures with files of other programs, damaged files and files of several formats.

use super::{PICTURE_BYTES_MAX, Picture, PictureFormat};

/// Names of the sample files, each with its format. Each picture has 8 by 6 pixels.
const SAMPLES: [(&str, PictureFormat); 6] = [
    ("small.png", PictureFormat::Png),
    ("small.jpg", PictureFormat::Jpeg),
    ("progressive.jpg", PictureFormat::Jpeg),
    ("lossy.webp", PictureFormat::Webp),
    ("lossless.webp", PictureFormat::Webp),
    ("alpha.webp", PictureFormat::Webp),
];

/// Text that would run in a browser that took the picture for a page.
const HOSTILE: &[u8] = b"<script>alert(1)</script>";

#[track_caller]
fn sample(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/golden/pictures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// Returns the message of the refusal of a file.
#[track_caller]
fn refusal(file: &[u8]) -> String {
    let refusal = Picture::read(file).unwrap_err();
    assert_eq!(refusal.param.as_deref(), Some("picture"));
    refusal.message
}

/// Returns a chunk of a PNG file.
fn png_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let checked = [&kind[..], data].concat();
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [&length[..], &checked, &crc32fast::hash(&checked).to_be_bytes()].concat()
}

/// Returns a PNG file whose header has other values.
fn png_with_header(width: u32, height: u32, rest: [u8; 5]) -> Vec<u8> {
    let file = sample("small.png");
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &rest].concat();
    [&file[..8], &png_chunk(b"IHDR", &header), &file[33..]].concat()
}

/// Returns a segment of a JPEG file.
fn jpeg_segment(marker: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + 2).unwrap().to_be_bytes();
    [&[0xff, marker][..], &length, data].concat()
}

fn contains(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|window| window == part)
}

#[test]
fn pictures_of_each_format_are_read() {
    for (name, format) in SAMPLES {
        let picture = Picture::read(&sample(name)).unwrap();
        assert_eq!((picture.format, picture.width, picture.height), (format, 8, 6), "{name}");
        assert_eq!(Picture::read(&picture.bytes).unwrap(), picture, "{name} is read again");
        let info = picture.info();
        assert_eq!((info.hash.len(), info.width, info.height), (64, 8, 6), "{name}");
    }
}

#[test]
fn truncated_files_are_refused() {
    for (name, _) in SAMPLES {
        let file = sample(name);
        for end in 0..file.len() {
            assert!(Picture::read(&file[..end]).is_err(), "{name}: {end} of {} bytes", file.len());
        }
    }
}

#[test]
fn damaged_files_do_not_break_the_readers() {
    for (name, _) in SAMPLES {
        let file = sample(name);
        for at in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] = value;
                let read = Picture::read(&damaged);
                // Every byte of a PNG file is checked by a CRC or a signature.
                assert!(name != "small.png" || damaged == file || read.is_err(), "{at}");
            }
        }
    }
}

#[test]
fn bytes_behind_the_image_are_removed() {
    for (name, _) in SAMPLES {
        let file = sample(name);
        let whole = Picture::read(&file).unwrap();
        let appended = Picture::read(&[&file[..], HOSTILE, b"PK\x03\x04"].concat()).unwrap();
        assert_eq!(appended, whole, "{name}");
    }
}

#[test]
fn comments_and_locations_are_removed() {
    let png = sample("small.png");
    let text = [&b"Comment\0"[..], HOSTILE].concat();
    let added =
        [png_chunk(b"tEXt", &text), png_chunk(b"eXIf", HOSTILE), png_chunk(b"acTL", HOSTILE)];
    let png_added = [&png[..33], &added.concat(), &png[33..]].concat();
    let jpeg = sample("small.jpg");
    let exif = [&b"Exif\0\0"[..], HOSTILE].concat();
    let added =
        [jpeg_segment(0xfe, HOSTILE), jpeg_segment(0xe1, &exif), jpeg_segment(0xe2, b"MPF\0")];
    let jpeg_added = [&jpeg[..2], &added.concat(), &jpeg[2..]].concat();
    let webp = sample("alpha.webp");
    // `Exif` has an odd length, so a byte follows it.
    let chunk = [&b"EXIF"[..], &25_u32.to_le_bytes(), HOSTILE, &[0]].concat();
    let length = u32::try_from(webp.len() - 8 + chunk.len()).unwrap();
    let flags = [webp[20] | 0x08];
    let webp_added =
        [&b"RIFF"[..], &length.to_le_bytes(), &webp[8..20], &flags, &webp[21..], &chunk].concat();
    for (plain, added) in [(png, png_added), (jpeg, jpeg_added), (webp, webp_added)] {
        assert!(contains(&added, HOSTILE));
        let read = Picture::read(&added).unwrap();
        assert!(!contains(&read.bytes, HOSTILE));
        assert_eq!(read, Picture::read(&plain).unwrap());
    }
}

#[test]
fn files_of_other_formats_are_refused() {
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>";
    let files: [&[u8]; 8] = [
        b"",
        svg,
        HOSTILE,
        b"GIF89a\x01\0\x01\0",
        b"%PDF-1.4",
        b"BM",
        b"RIFF\x04\0\0\0WAVE",
        b"\x89PNG",
    ];
    for file in files {
        assert_eq!(refusal(file), "picture must be a PNG, JPEG or WebP file", "{file:?}");
    }
}

#[test]
fn sizes_are_limited() {
    let color = [8, 2, 0, 0, 0];
    for (width, height) in [(2049, 6), (8, 2049), (u32::MAX, u32::MAX), (0, 6), (8, 0)] {
        let told = refusal(&png_with_header(width, height, color));
        let is = format!(
            "picture must be at most 2048 pixels wide and 2048 pixels high, and is {width} by {height}"
        );
        assert_eq!(told, is);
    }
    assert_eq!(Picture::read(&png_with_header(2048, 2048, color)).unwrap().width, 2048);
    let mut jpeg = sample("small.jpg");
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5] = 0xff;
    assert!(refusal(&jpeg).contains("is 8 by 65286"), "{}", refusal(&jpeg));
    let mut lossless = sample("lossless.webp");
    lossless[21..24].copy_from_slice(&[0xff, 0xff, 0xff]);
    assert!(refusal(&lossless).contains("pixels high"));
    let large = [&sample("small.png")[..], &vec![0; PICTURE_BYTES_MAX]].concat();
    assert_eq!(refusal(&large), "picture must be at most 102400 bytes");
    assert!(Picture::read(&large[..PICTURE_BYTES_MAX]).is_ok());
}

#[test]
fn contradictory_headers_are_refused() {
    let damaged = "picture is damaged or incomplete: save it again as PNG, JPEG or WebP";
    for rest in
        [[8, 1, 0, 0, 0], [3, 2, 0, 0, 0], [8, 2, 1, 0, 0], [8, 2, 0, 1, 0], [8, 2, 0, 0, 2]]
    {
        assert_eq!(refusal(&png_with_header(8, 6, rest)), damaged, "{rest:?}");
    }
    let png = sample("small.png");
    let twice = [&png[..33], &png[8..33], &png[33..]].concat();
    let unknown = [&png[..33], &png_chunk(b"EVIL", HOSTILE), &png[33..]].concat();
    let empty = [&png[..33], &png_chunk(b"IEND", b"")].concat();
    // The canvas of the extended header is wider than the image.
    let mut canvas = sample("alpha.webp");
    canvas[24] = 9;
    for file in [twice, unknown, empty, canvas] {
        assert_eq!(refusal(&file), damaged);
    }
    let mut animation = sample("alpha.webp");
    animation[20] |= 0x02;
    assert_eq!(refusal(&animation), "picture must be a still picture, not an animation");
}
