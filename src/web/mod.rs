//! What a browser gets: pages, their style, the files that they load; real files, built into the binary.
//!
//! What lives here: the files beside this one, and the table of those that are sent as they are: all of `assets`, which
//! the build packs (`build.rs`). What does not: where the pages' contents come from (`http`). What always holds: only
//! the files here have markup.

pub mod guides;
pub mod packed;
pub mod reference;
pub mod templates;
pub mod words;

use packed::Packed;

/// A file that is sent as it is. It is found at `/assets/{VERSION}/{folder}/{name}`.
pub struct Asset {
    /// The folder that it is in: what it is for.
    pub folder: &'static str,
    /// What it is called there; its end says what it is.
    pub name: &'static str,
    /// What is in it.
    pub packed: Packed,
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The style that is written into every page, so that one request makes it readable.
pub const STYLE: &str = include_str!("style.css");

/// The file of this name in this folder.
#[must_use]
pub fn asset(folder: &str, name: &str) -> Option<&'static Asset> {
    ASSETS
        .iter()
        .find(|asset| asset.folder == folder && asset.name == name)
}

impl Asset {
    /// What it is, by the end of its name; `tests` knows that each has one.
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
    use super::{ASSETS, VERSION, asset};

    #[test]
    fn every_file_is_there_with_a_type_and_its_own_place() {
        assert_eq!(VERSION.len(), 16);
        for found in &ASSETS {
            let (folder, name) = (found.folder, found.name);
            assert!(found.content_type().is_some(), "{folder}/{name}");
            let path = format!(
                "{}/src/web/assets/{folder}/{name}",
                env!("CARGO_MANIFEST_DIR")
            );
            let file = std::fs::read(path).unwrap_or_default();
            assert!(
                found.packed.bytes() == file && !file.is_empty(),
                "{folder}/{name}"
            );
            assert!(asset(folder, name).is_some_and(|other| std::ptr::eq(other, found)));
        }
        assert!(asset("widget", "style.css").is_none());
    }
}
