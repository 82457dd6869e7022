//! The page that a script fills: the operator interface, and the sandbox pages.
//!
//! Invariant: without a script the page says what it needs.

use askama::Template;

/// A page that its script fills.
#[derive(Template)]
#[template(path = "app.html", config = "src/web/askama.toml")]
pub struct App<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// Relative path to the root of the server, for example `../`.
    pub root: &'a str,
    /// Script of the page, as `folder/name` in the assets.
    pub script: &'static str,
    /// Text for browsers that run no scripts.
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
