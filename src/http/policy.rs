//! What browsers let a page do: its Content-Security-Policy.
//!
//! What always holds: a page runs no script, and loads nothing from other sites but the pictures that it names.

/// What one page may do that others may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// Whose pages may show it inside themselves.
    framed_by: &'static str,
}

impl Policy {
    /// Shown by itself only.
    pub(super) const ALONE: Policy = Policy {
        framed_by: "'none'",
    };
    /// Shown inside pages of every site too.
    pub(super) const FRAMED: Policy = Policy { framed_by: "*" };

    /// The header's value; `pictures` is where pictures come from, if there are any.
    pub(super) fn text(self, pictures: Option<&str>) -> String {
        let (pictures, framed_by) = (pictures.unwrap_or("'none'"), self.framed_by);
        format!(
            "default-src 'none'; style-src 'self'; img-src {pictures}; form-action 'self'; base-uri 'none'; \
             frame-ancestors {framed_by}"
        )
    }
}
