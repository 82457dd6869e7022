//! Policy of a page for browsers: its Content-Security-Policy and its Cross-Origin-Opener-Policy.
//!
//! Invariant: a page runs only script files of this service and connects to no other site. The only files from other
//! sites are pictures that the page's policy names.

use crate::domain::SiteUrl;
use crate::web::STYLE_HASH;

/// Permissions of one page, in addition to the rules for all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PagePolicy<'a> {
    /// Sites that may frame the page.
    framing: Framing<'a>,
    /// `true` if this page may frame other pages of the service.
    frames_own_pages: bool,
    /// `true` for the Cross-Origin-Opener-Policy `same-origin`. `false` for the checkout: shops open the checkout as
    /// a window and need access to the window.
    pub(super) is_isolated: bool,
}

/// Sites that may frame a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing<'a> {
    Forbidden,
    /// This service and these origins may frame the page. An empty list allows every site.
    Allowed(&'a [String]),
}

impl PagePolicy<'static> {
    pub(super) const NOT_FRAMED: PagePolicy<'static> =
        PagePolicy { framing: Framing::Forbidden, frames_own_pages: false, is_isolated: true };
    /// Policy of a payment link's page. No site may frame the page.
    pub(super) const LINK: PagePolicy<'static> =
        PagePolicy { is_isolated: false, ..PagePolicy::NOT_FRAMED };
    /// Policy of a page that frames other pages of this service.
    pub(super) const APP: PagePolicy<'static> =
        PagePolicy { frames_own_pages: true, ..PagePolicy::NOT_FRAMED };
    /// Policy of a page that other sites may frame.
    pub(super) const FRAMED: PagePolicy<'static> =
        PagePolicy { framing: Framing::Allowed(&[]), ..PagePolicy::LINK };
}

impl<'a> PagePolicy<'a> {
    /// Restricts framing to these origins. An empty list allows every site. Changes nothing for a page that no site
    /// may frame.
    pub(super) fn restrict_framing(self, origins: &'a [String]) -> PagePolicy<'a> {
        let framing = match self.framing {
            Framing::Forbidden => Framing::Forbidden,
            Framing::Allowed(_) => Framing::Allowed(origins),
        };
        PagePolicy { framing, ..self }
    }

    pub(super) fn forbid_framing(self) -> PagePolicy<'a> {
        PagePolicy { is_isolated: self.is_isolated, ..PagePolicy::NOT_FRAMED }
    }

    /// Returns the value of the Content-Security-Policy header. `pictures` is an additional origin for pictures, and
    /// `style` the hash of an inline style.
    pub(super) fn header_value(self, pictures: Option<&str>, style: Option<&str>) -> String {
        let style = style.map_or_else(String::new, |source| format!(" {source}"));
        let pictures = pictures.map_or_else(String::new, |origin| format!(" {origin}"));
        let framed_by = match self.framing {
            Framing::Forbidden => "'none'".to_owned(),
            Framing::Allowed([]) => "*".to_owned(),
            Framing::Allowed(origins) => {
                let sites = origins.iter().filter_map(|url| SiteUrl::parse(url).ok());
                let own = "'self'".to_owned();
                sites.fold(own, |text, site| format!("{text} {}", site.origin()))
            }
        };
        let frames = if self.frames_own_pages { " frame-src 'self';" } else { "" };
        format!(
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' '{STYLE_HASH}'{style}; \
             img-src 'self'{pictures}; form-action 'self';{frames} base-uri 'none'; frame-ancestors {framed_by}"
        )
    }
}
