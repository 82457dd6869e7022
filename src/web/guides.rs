//! The guides, `/docs/{guide}`: what a reader is told at length, from the Markdown in the folder `web/guides`.
//!
//! What lives here: the table of them, which the build makes (`build.rs`): each is a whole page, compressed. What does
//! not: what they say, and what is around it (`docs/guide.html`). What always holds: each is listed in README.md, too.

use super::packed::Packed;

/// A guide.
pub struct Guide {
    /// What it is called in its address, and its file without the end.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it is about, in a sentence.
    pub about: &'static str,
    /// Its page. All that it names is named relative to `/docs/`.
    pub page: Packed,
}

include!(concat!(env!("OUT_DIR"), "/guides.rs"));

/// The guide of this name.
#[must_use]
pub fn guide(name: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.name == name)
}
