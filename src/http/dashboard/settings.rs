//! What concerns the whole service in the operator interface: settings, coins, the audit log.

use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use crate::service::audit_log::Wanted;

/// How many entries of the audit log are answered where nobody says.
pub(in crate::http) const AUDIT_LIMIT_DEFAULT: u32 = 50;

/// GET /dashboard/api/settings
pub(in crate::http) async fn read(call: Call, _: Operator) -> Result<Reply, Error> {
    call.front.service.settings().map(Reply::ok)
}

/// PUT /dashboard/api/settings
pub(in crate::http) async fn change(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (member, body) = (&operator, call.object()?);
    let service = &call.front.service;
    service
        .set_settings(call.now, member, body)
        .await
        .map(Reply::ok)
}

/// GET /dashboard/api/coins
pub(in crate::http) async fn coins(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.coins()?)
}

/// PUT /dashboard/api/coins/{asset}
pub(in crate::http) async fn switch_coin(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (member, body) = (&operator, call.object()?);
    let service = &call.front.service;
    service
        .switch_coin(call.now, member, call.id(), body)
        .await
        .map(Reply::ok)
}

/// GET /dashboard/api/audit-log
pub(in crate::http) async fn audit_log(call: Call, member: Member) -> Result<Reply, Error> {
    let wanted = Wanted {
        account: call.query.text("account").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(AUDIT_LIMIT_DEFAULT),
    };
    let service = &call.front.service;
    Reply::page(&service.audit_log(&member, &wanted)?)
}
