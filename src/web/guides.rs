//! The guides, `/docs/{guide}`. The build script renders them from the Markdown files in `web/guides`.
//!
//! Invariant: README.md lists every guide.

use super::packed::Packed;

/// A guide, rendered as a page.
pub struct Guide {
    /// Name in the URL, which is also the file name without its extension.
    pub name: &'static str,
    /// Title of the guide.
    pub title: &'static str,
    /// Description of the guide in one sentence.
    pub about: &'static str,
    /// Id and text of each heading below the title.
    pub headings: &'static [(&'static str, &'static str)],
    /// The rendered page. Its links are relative to `/docs/`.
    pub page: Packed,
}

include!(concat!(env!("OUT_DIR"), "/guides.rs"));

/// Returns the guide with this name, `None` if there is none.
#[must_use]
pub fn guide(name: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.name == name)
}
