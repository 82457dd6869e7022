//! Browser permissions of a page: its Content-Security-Policy and its Cross-Origin-Opener-Policy.
//!
//! Invariant: a page runs only scripts of this service, none of them inline. It connects to no other site, and loads
//! nothing from other sites but the pictures that it names.

use crate::domain::url::Site;
use crate::web::STYLE_HASH;

/// Permissions of one page beyond those of all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy<'a> {
    /// Sites that may frame the page.
    framing: Framing<'a>,
    /// Whether it may frame other pages of this service.
    shows_own: bool,
    /// Whether it shares no window group with pages of other origins. Shops open the checkout as a window, so there
    /// it is `false`.
    pub(super) is_isolated: bool,
}

/// Sites that may frame a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing<'a> {
    Nobodys,
    /// This service, and these origins; all sites if there are none.
    Allowed(&'a [String]),
}

impl Policy<'static> {
    /// A page without frames.
    pub(super) const ALONE: Policy<'static> = Policy {
        framing: Framing::Nobodys,
        shows_own: false,
        is_isolated: true,
    };
    /// A page without frames, for a shop's customers.
    pub(super) const LINK: Policy<'static> = Policy {
        is_isolated: false,
        ..Policy::ALONE
    };
    /// A page that frames other pages of this service.
    pub(super) const APP: Policy<'static> = Policy {
        shows_own: true,
        ..Policy::ALONE
    };
    /// A page that other sites may frame.
    pub(super) const FRAMED: Policy<'static> = Policy {
        framing: Framing::Allowed(&[]),
        ..Policy::LINK
    };
}

impl<'a> Policy<'a> {
    /// Limits framing to these origins, if framing is allowed; all sites if there are none.
    pub(super) fn framed_by(self, origins: &'a [String]) -> Policy<'a> {
        let framing = match self.framing {
            Framing::Nobodys => Framing::Nobodys,
            Framing::Allowed(_) => Framing::Allowed(origins),
        };
        Policy { framing, ..self }
    }

    /// Forbids framing.
    pub(super) fn alone(self) -> Policy<'a> {
        Policy {
            is_isolated: self.is_isolated,
            ..Policy::ALONE
        }
    }

    /// Returns the header's value. `pictures` is another source of pictures, `style` the hash of an inline style of
    /// this page.
    pub(super) fn text(self, pictures: Option<&str>, style: Option<&str>) -> String {
        let style = style.map_or_else(String::new, |source| format!(" {source}"));
        let pictures = pictures.map_or_else(String::new, |origin| format!(" {origin}"));
        let framed_by = match self.framing {
            Framing::Nobodys => "'none'".to_owned(),
            Framing::Allowed([]) => "*".to_owned(),
            Framing::Allowed(origins) => {
                let sites = origins.iter().filter_map(|url| Site::parse(url).ok());
                let own = "'self'".to_owned();
                sites.fold(own, |text, site| format!("{text} {}", site.origin()))
            }
        };
        let frames = if self.shows_own {
            " frame-src 'self';"
        } else {
            ""
        };
        format!(
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' '{STYLE_HASH}'{style}; \
             img-src 'self'{pictures}; form-action 'self';{frames} base-uri 'none'; frame-ancestors {framed_by}"
        )
    }
}
