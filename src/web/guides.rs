//! The guides, `/docs/{guide}`. The build script renders them from the Markdown in `web/guides`.
//!
//! Invariant: README.md lists each guide.
//! not: what they say, and what is around it (`docs/guide.html`). What always holds: each is listed in README.md, too.

use super::packed::Packed;

/// A guide.
pub struct Guide {
    /// Name in the URL, and file name without extension.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Rendered page. Its links are relative to `/docs/`.
    pub page: Packed,
}

include!(concat!(env!("OUT_DIR"), "/guides.rs"));

/// Returns the guide with this name.
#[must_use]
pub fn guide(name: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.name == name)
}
