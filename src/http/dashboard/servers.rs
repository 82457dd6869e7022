//! Servers that resellers ordered, and what an operator decides about them.

use crate::domain::server::outcome::Decision;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// GET /dashboard/api/servers
pub(in crate::http) async fn list_all(call: Call, _: Operator) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    let status = call.query.choice("status")?;
    Reply::list(&call.front.service.all_servers(status, limit)?)
}

/// POST /dashboard/api/servers/{id}
pub(in crate::http) async fn decide(call: Call, operator: Operator) -> Result<Reply, Error> {
    let decision = Decision::parse(&call.object()?)?;
    call.front
        .service
        .decide_server(call.now, &operator, call.id(), decision)
        .await
        .map(Reply::ok)
}

/// GET /dashboard/api/accounts/{account}/servers
pub(in crate::http) async fn list_of_account(call: Call, member: Member) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    Reply::list(&call.front.service.servers(&call.scope(&member)?, limit)?)
}
