//! The pages in a browser, and what a browser keeps of them; the reference.

mod browser;
mod docs;
