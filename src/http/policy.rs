//! Permissions of a page in browsers: its Content-Security-Policy and its Cross-Origin-Opener-Policy.
//!
//! What always holds: a page runs scripts of this service only, none of them written into the page; it talks to nobody
//! else, and loads nothing from other sites but the pictures that it names.

use crate::domain::url::Site;
use crate::web::STYLE_HASH;

/// What one page may do that others may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy<'a> {
    /// Whose pages may show it inside themselves.
    framing: Framing<'a>,
    /// May it show other pages of this service inside itself?
    shows_own: bool,
    /// `true` if it shares no window group with pages of other origins. Shops open what their customers pay at as a window,
    /// so it is `false` there.
    pub(super) is_isolated: bool,
}

/// Whose pages may show a page inside themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing<'a> {
    /// None.
    Nobodys,
    /// Those of these origins, and those of this service; of all, where there is none.
    Allowed(&'a [String]),
}

impl Policy<'static> {
    /// Shown by itself only.
    pub(super) const ALONE: Policy<'static> = Policy {
        framing: Framing::Nobodys,
        shows_own: false,
        is_isolated: true,
    };
    /// Shown by itself only, for a shop's customers.
    pub(super) const LINK: Policy<'static> = Policy {
        is_isolated: false,
        ..Policy::ALONE
    };
    /// Shown by itself only, and shows other pages of this service inside itself.
    pub(super) const APP: Policy<'static> = Policy {
        shows_own: true,
        ..Policy::ALONE
    };
    /// Shown inside pages of other sites too.
    pub(super) const FRAMED: Policy<'static> = Policy {
        framing: Framing::Allowed(&[]),
        ..Policy::LINK
    };
}

impl<'a> Policy<'a> {
    /// The same, where it may be shown inside other pages, of these origins only; of all, where there is none.
    pub(super) fn framed_by(self, origins: &'a [String]) -> Policy<'a> {
        let framing = match self.framing {
            Framing::Nobodys => Framing::Nobodys,
            Framing::Allowed(_) => Framing::Allowed(origins),
        };
        Policy { framing, ..self }
    }

    /// The same for a page that is shown by itself only.
    pub(super) fn alone(self) -> Policy<'a> {
        Policy {
            is_isolated: self.is_isolated,
            ..Policy::ALONE
        }
    }

    /// The header's value; `pictures` is where pictures come from besides this service, `style` names one that is written into
    /// this page alone.
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
