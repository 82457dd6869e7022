//! Payments that matched nothing: listing them, and noting what came of one.
//!
//! What does not live here: recording them (`intake`).

use crate::domain::refusal::Refusal;
use crate::domain::render;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use crate::service::audit_log::{self, Entry};
use crate::service::events::{Page, unknown_before};
use crate::service::{Error, Json, Member, Service};
use crate::store::unmatched_payments;
use serde_json::json;
use std::sync::Arc;

text_enum! {
    /// Which of them are asked for.
    pub enum Looked {
        /// Those nobody has looked at.
        Open = "open",
        /// All.
        All = "all",
    }
}

/// Which page is asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Only open ones, or all.
    pub looked: Looked,
    /// Only older than the one with this id.
    pub before: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl Service {
    /// A page of payments that matched nothing, newest first; of every account, and of none.
    ///
    /// # Errors
    /// `invalid_request` where `before` names none of them.
    pub fn unmatched_payments(&self, wanted: &Wanted) -> Result<Page, Error> {
        self.read(|db| {
            let before = match &wanted.before {
                None => i64::MAX,
                Some(id) => {
                    unmatched_payments::by_id(db, id)?
                        .ok_or_else(unknown_before)?
                        .seq
                }
            };
            let only_open = wanted.looked == Looked::Open;
            let limit = wanted.limit.saturating_add(1);
            let found = unmatched_payments::page(db, only_open, before, limit)?;
            let rendered = found
                .iter()
                .map(|payment| Ok((payment.id.clone(), render::customer::unmatched(payment)?)));
            Ok(Page::cut(
                rendered.collect::<Result<_, Error>>()?,
                wanted.limit,
            ))
        })
    }

    /// Notes what looking at a payment came to. A second note takes the place of the first.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn resolve_unmatched(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        id: &str,
        note: String,
    ) -> Result<Json, Error> {
        let (actor, id) = (member.user().email.clone(), id.to_owned());
        self.write(move |_, tx| {
            let gone = || Refusal::not_found("unmatched payment");
            if !unmatched_payments::resolve(tx, &id, &note, now)? {
                return Err(gone().into());
            }
            let payment = unmatched_payments::by_id(tx, &id)?.ok_or_else(gone)?;
            let detail = json!({ "note": note });
            let noted = Entry {
                action: "unmatched_payment.resolve",
                account: None,
                object: Some(&id),
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            Ok(render::customer::unmatched(&payment)?)
        })
        .await
    }
}
