//! Browser requests: pages, forms and redirects.

use super::{Response, Shop, send};

impl Shop {
    /// Gets a page by its path or its URL.
    #[track_caller]
    pub fn get_page(&self, address: &str) -> Page {
        let path = address.strip_prefix(self.url()).unwrap_or(address);
        Page::from_response(self.send("GET", path, &[], ""))
    }

    /// Submits a form without following redirects.
    #[track_caller]
    pub fn submit(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let config = ureq::Agent::config_builder();
        let config = config.http_status_as_error(false).proxy(None);
        let agent: ureq::Agent = config.max_redirects(0).build().into();
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [&[form], headers].concat();
        send(&agent, "POST", &format!("{}{path}", self.url()), &headers, body)
    }
}

/// A complete HTML page.
pub struct Page(pub Response);

impl Page {
    /// Asserts that the response is a complete page that works without scripts and has the security headers.
    #[track_caller]
    pub fn from_response(answer: Response) -> Page {
        let text = &answer.text;
        assert!(text.starts_with("<!doctype html>\n<html lang=\""), "{text}");
        assert!(text.ends_with("</html>\n"), "{text}");
        for (part, times) in [("<title>", 1), ("<h1", 1), ("<main>", 1), ("{{", 0), (" style=", 0)]
        {
            assert_eq!(text.matches(part).count(), times, "{part} in {text}");
        }
        // Scripts are loaded from files, never inline.
        let scripts = text.matches("<script").count();
        let files = text.matches("<script type=\"module\" src=\"").count();
        assert_eq!(scripts, files, "{text}");
        assert!(!text.contains("<title></title>") && !text.contains("<h1></h1>"), "{text}");
        let header = |name: &str| answer.headers[name].as_str();
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        let policy = header("content-security-policy");
        let ours =
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'sha256-";
        assert!(policy.starts_with(ours), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("form-action 'self'"), "{policy}");
        Page(answer)
    }

    /// Asserts the status and that the page contains these texts.
    #[track_caller]
    pub fn assert_contains_texts(self, status: u16, texts: &[&str]) -> Page {
        assert_eq!(self.0.status, status, "{}", self.0.text);
        for text in texts {
            assert!(self.0.text.contains(text), "{text} is not in {}", self.0.text);
        }
        self
    }

    /// Asserts that the page contains none of these texts.
    #[track_caller]
    pub fn assert_lacks_texts(self, texts: &[&str]) -> Page {
        for text in texts {
            assert!(!self.0.text.contains(text), "{text} is in {}", self.0.text);
        }
        self
    }

    /// Asserts that the page is an error page that shows the request id.
    #[track_caller]
    pub fn assert_error(self, status: u16) -> Page {
        let id = self.0.headers["x-request-id"].clone();
        self.assert_contains_texts(status, &[&id])
    }
}
