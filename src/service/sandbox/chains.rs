//! The sandbox's control over how far its simulated chains have been scanned.
//!
//! What always holds: the transaction that releases a chain also judges the invoices that waited for it.

use crate::domain::asset::{Chain, Mode};
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::render::sandbox::ChainView;
use crate::domain::time::Time;
use crate::service::{Error, Json, Service};
use crate::store::{Reader, chains};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use std::sync::Arc;

impl Service {
    /// Holds a live chain back at this moment, or lets go of it: how far it has been looked at.
    ///
    /// # Errors
    /// `not_found` for no chain, `invalid_request`.
    pub async fn patch_sandbox_chain(
        self: &Arc<Self>,
        now: Time,
        chain: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let chain: Chain = chain.parse().map_err(|_| Refusal::not_found("chain"))?;
        self.write(move |service, tx| {
            let fields = Fields::of(&body);
            fields.only(&["lagging"])?;
            match fields.flag("lagging")? {
                Some(true) => chains::hold(tx, chain, now)?,
                Some(false) => {
                    chains::release(tx, chain)?;
                    while service.expire_batch(tx, now)? > 0 {}
                }
                None => {}
            }
            shown(tx, chain, now)
        })
        .await
    }
}

/// A chain as it is answered.
fn shown(db: &Reader<'_>, chain: Chain, now: Time) -> Result<Json, Error> {
    let to = chains::scanned(db)?.to(chain);
    Ok(to_raw_value(&ChainView {
        chain,
        mode: Mode::Live,
        lagging: to.is_some(),
        scanned_to: to.unwrap_or(now),
    })?)
}
