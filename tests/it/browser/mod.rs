//! Pages in a real browser, and the reference.
//!
//! Tests start in the order of their names. The longest one, `pages::all_browser_tests_pass`, is among the first.

mod docs;
mod pages;
