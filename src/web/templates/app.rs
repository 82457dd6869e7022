//! The page of the operator interface, whose content a script creates.
//!
//! Invariant: if no script runs, the page says that it needs scripts.

use askama::Template;

/// A page whose content a script creates.
#[derive(Template)]
#[template(path = "app.html", config = "src/web/askama.toml")]
pub struct AppPage<'a> {
    /// `true` in a sandbox, where no money is real.
    pub is_sandbox: bool,
    /// Title of the page.
    pub title: &'a str,
    /// Relative path to the root of the server, for example `../`.
    pub root: &'a str,
    /// Script that creates the content, as `folder/name` in the assets.
    pub script: &'static str,
    /// Text for browsers that do not run scripts.
    pub without_script: &'a str,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::AppPage;
    use askama::Template;

    #[test]
    fn app_page_escapes_every_field() {
        let hostile = "{{x}}\"'><b>&";
        let page = AppPage {
            is_sandbox: true,
            title: hostile,
            root: hostile,
            script: hostile,
            without_script: hostile,
        };
        let page = page.render().unwrap();
        assert!(page.contains("<html lang=\"en\" data-sandbox>"), "{page}");
        let escaped = "{{x}}&#34;&#39;&#62;&#60;b&#62;&#38;";
        assert_eq!(page.matches(escaped).count(), 7, "{page}");
        assert!(!page.replace(escaped, "").contains(['{', '\'', '&']));
        assert!(page.ends_with("/html>\n"), "{page}");
    }
}
