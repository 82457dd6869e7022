//! The page of what is made by a script: the operator pages, and those of a sandbox.
//!
//! What always holds: without a script it says what it is and what it needs.

use askama::Template;

/// A page that its script fills.
#[derive(Template)]
#[template(path = "app.html", config = "src/web/askama.toml")]
pub struct App<'a> {
    /// The page's title.
    pub title: &'a str,
    /// From the page's path back to where all paths begin, like `../`.
    pub root: &'a str,
    /// The script, as `folder/name` among the assets.
    pub script: &'static str,
    /// What somebody reads whose browser runs no scripts.
    pub without_script: &'a str,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::App;
    use askama::Template;

    #[test]
    fn every_field_is_a_text_wherever_it_stands() {
        let hostile = "{{x}}\"'><b>&";
        let page = App {
            title: hostile,
            root: hostile,
            script: hostile,
            without_script: hostile,
        };
        let page = page.render().unwrap();
        let escaped = "{{x}}&#34;&#39;&#62;&#60;b&#62;&#38;";
        assert_eq!(page.matches(escaped).count(), 7, "{page}");
        assert!(!page.replace(escaped, "").contains(['{', '\'', '&']));
        assert!(page.ends_with("/html>\n"), "{page}");
    }
}
