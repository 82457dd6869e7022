//! `/v1/merchant`, `/v1/balances` and `/v1/ledger`.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Caller;
use crate::service::Error;
use crate::service::accounts::LedgerWanted;
use std::sync::Arc;

/// `limit` of the ledger where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// GET /v1/merchant
pub(in crate::http) async fn merchant(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    call.front.service.merchant(&caller).map(Reply::ok)
}

/// GET /v1/balances
pub(in crate::http) async fn balances(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    Reply::list(&call.front.service.balances(&caller)?)
}

/// GET /v1/ledger
pub(in crate::http) async fn ledger(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = wanted(&call)?;
    Reply::page(&call.front.service.ledger(&caller, &wanted)?)
}

/// Which page of a ledger a query asks for.
pub(in crate::http) fn wanted(call: &Call) -> Result<LedgerWanted, Error> {
    Ok(LedgerWanted {
        before: call.query.text("before").map(str::to_owned),
        currency: call.query.choice("currency")?,
        limit: call.query.limit(LIMIT_DEFAULT),
    })
}
