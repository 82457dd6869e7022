//! What a browser shows: the pages, in a real one, and the reference.
//!
//! Tests start in the order of their names: the longest of all, `pages::the_pages`, is among the first.

mod docs;
mod pages;
