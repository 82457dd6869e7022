//! An account in numbers, and what waits for an operator, in the operator interface.
//!
//! What always holds: counting never holds up other requests.

use crate::domain::asset::Mode;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use std::sync::Arc;

/// GET /dashboard/api/accounts/{account}/summary
pub(in crate::http) async fn of_account(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, now) = (call.scope(&member)?, call.now);
    let service = Arc::clone(&call.front.service);
    let read = move || service.account_summary(now, &scope);
    call.long_read(&member, read).await.map(Reply::ok)
}

/// GET /dashboard/api/summary
pub(in crate::http) async fn of_all(call: Call, operator: Operator) -> Result<Reply, Error> {
    let mode = call.query.choice("mode")?.unwrap_or(Mode::Live);
    let service = Arc::clone(&call.front.service);
    let read = move || service.summary(mode);
    call.long_read(&operator, read).await.map(Reply::ok)
}
