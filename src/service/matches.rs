//! Finds the objects of an account that a text names, besides invoices.

use super::{Error, Json, Scope, Service};
use crate::render;
use crate::store::matches;

const MATCHES_MAX: u32 = 50;

impl Service {
    /// Returns the newest objects whose reference, id, address or txid is the text. With `with_unmatched`, unmatched
    /// payments of all accounts are among them.
    pub fn named_objects(
        &self,
        scope: &Scope,
        with_unmatched: bool,
        text: &str,
    ) -> Result<Vec<Json>, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let found = matches::named_by(db, account, mode, text, with_unmatched, MATCHES_MAX)?;
            let json = found.iter().map(|one| {
                let (status, customer) = (one.status.as_deref(), one.customer.as_deref());
                render::matches::named_object(&one.kind, &one.id, status, customer)
            });
            Ok(json.collect::<serde_json::Result<_>>()?)
        })
    }
}
