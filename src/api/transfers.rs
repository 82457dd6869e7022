//! Operations and query parameters that payouts and refunds share.

use super::operation::{Context, Job, Outcome};
use super::query::{Param, ParamKind};
use crate::domain::{RefusalCode, TransferKind};
use crate::render;
use crate::service::{Caller, Error, transfers};
use crate::store;

pub const LIMIT_DEFAULT: u32 = 25;

/// Query parameter `limit` of a list of payouts or refunds.
pub const LIMIT: Param = Param::limit(100, LIMIT_DEFAULT);

pub const INVOICE_ID: Param = Param {
    name: "invoiceId",
    about: "Only refunds of the invoice with this id.",
    kind: ParamKind::Uuid,
};

/// Error codes of a request for a payout, without the codes for an invalid body.
pub const PAYOUT_REFUSALS: &[RefusalCode] = &[
    RefusalCode::TestMode,
    RefusalCode::AccountNotActive,
    RefusalCode::Maintenance,
    RefusalCode::InvalidAmount,
    RefusalCode::PayoutOpen,
    RefusalCode::NoAddress,
    RefusalCode::BelowMinimum,
    RefusalCode::InsufficientBalance,
    RefusalCode::DailyLimit,
    RefusalCode::IdempotencyConflict,
];

/// Lists the newest payouts or refunds of a shop.
pub fn list(context: &Context<'_>, caller: &Caller, kind: TransferKind) -> Result<Job, Error> {
    let wanted = store::transfers::TransferQuery {
        kind,
        invoice: context.query.text("invoiceId"),
        status: None,
        page: store::PageBounds::newest(context.query.limit(LIMIT_DEFAULT)),
    };
    let (account, mode) = (caller.account(), caller.mode());
    let found =
        context.service.read(|db| Ok(store::transfers::list(db, account, mode, &wanted)?))?;
    let rendered: Result<Vec<_>, _> = found.iter().map(render::transfer).collect();
    Job::list(&rendered?)
}

pub fn get(context: &Context<'_>, caller: &Caller, kind: TransferKind) -> Result<Job, Error> {
    let id = context.first_param();
    let found = context.service.read(|db| transfers::owned_transfer(db, caller, kind, id))?;
    let json = render::transfer(&found)?;
    Ok(Job::Done(Outcome::resource(json)))
}
