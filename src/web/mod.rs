//! The files that browsers receive: pages, styles, scripts and images. They are built into the binary.
//!
//! Invariant: only files in this directory contain markup. `http` fills the pages.

pub mod guides;
pub mod packed;
pub mod reference;
pub mod templates;
pub mod words;

use packed::Packed;

/// A static file, served at `/assets/{VERSION}/{folder}/{name}`.
pub struct StaticFile {
    /// Directory in `assets`, named for its purpose.
    pub folder: &'static str,
    /// File name. Its extension determines the content type.
    pub name: &'static str,
    /// Content of the file, compressed.
    pub packed: Packed,
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Style sheet that is inserted into every page, so that a page needs no second request for its styles.
pub const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/style.css"));

/// Returns the static file with this name in this directory of `assets`.
#[must_use]
pub fn static_file(folder: &str, name: &str) -> Option<&'static StaticFile> {
    ASSETS.iter().find(|asset| asset.folder == folder && asset.name == name)
}

impl StaticFile {
    /// Returns the content type for the file extension. A test checks that every file has a content type.
    #[must_use]
    pub fn content_type(&self) -> Option<&'static str> {
        match self.name.rsplit_once('.')?.1 {
            "css" => Some("text/css; charset=utf-8"),
            "js" => Some("text/javascript; charset=utf-8"),
            "svg" => Some("image/svg+xml"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ASSETS, VERSION, static_file};

    /// Asserts that each line of a script is sent from its first code on, so that line numbers stay the same.
    #[track_caller]
    fn assert_is_script_without_comments(sent: &[u8], file: &[u8]) {
        let (sent, file) = (String::from_utf8_lossy(sent), String::from_utf8_lossy(file));
        assert_eq!(sent.lines().count(), file.lines().count());
        for (line, whole) in sent.lines().zip(file.lines()) {
            assert!(whole.ends_with(line) && !line.trim_start().starts_with("//"), "{whole}");
        }
        assert!(!sent.contains("@param") && !sent.contains("\n/*"));
    }

    /// Returns a style sheet without comments, white space and the last semicolon of each block.
    fn compact(style: &[u8]) -> String {
        let style = String::from_utf8_lossy(style);
        let mut parts = style.split("/*");
        let first = parts.next().unwrap_or_default();
        let rest = parts.map(|part| part.split_once("*/").map_or("", |(_, rest)| rest));
        let style: String = std::iter::once(first).chain(rest).collect();
        style.split_whitespace().collect::<String>().replace(";}", "}")
    }

    #[test]
    fn every_file_is_built_in_with_a_content_type() {
        assert_eq!(VERSION.len(), 16);
        for found in &ASSETS {
            let (folder, name) = (found.folder, found.name);
            assert!(found.content_type().is_some(), "{folder}/{name}");
            let path = format!("{}/src/web/assets/{folder}/{name}", env!("CARGO_MANIFEST_DIR"));
            let file = std::fs::read(path).unwrap_or_default();
            let sent = found.packed.bytes();
            assert!(!sent.is_empty(), "{folder}/{name}");
            if name.ends_with(".js") && folder != "widget" {
                assert_is_script_without_comments(&sent, &file);
            } else if name.ends_with(".css") {
                assert_eq!(compact(&sent), compact(&file), "{folder}/{name}");
                assert!(!String::from_utf8_lossy(&sent).contains("/*"), "{folder}/{name}");
            } else {
                assert!(sent == file, "{folder}/{name}");
            }
            assert!(static_file(folder, name).is_some_and(|other| std::ptr::eq(other, found)));
        }
        assert!(static_file("widget", "style.css").is_none());
    }
}
