//! The pages in a browser, and what a browser keeps of them.

mod browser;
