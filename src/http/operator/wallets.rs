//! Streams the addresses of a wallet as CSV.

use crate::http::auth::Operator;
use crate::http::long_reads::ReadPermit;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Content, Handler, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::http::stream::{PieceSender, ReplyBody};
use crate::service::wallets::addresses::ADDRESSES_HEADER;
use crate::service::{Error, Service};
use hyper::header::CONTENT_DISPOSITION;
use std::sync::Arc;

/// Route of the address list.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "exportWalletAddresses",
        tag: Some(Tag::OperatorService),
        path: "/dashboard/api/wallets/{id}/addresses.csv",
        summary: "Exports the assigned addresses of a wallet: path, address, coin, amount received, wallet.",
        query: &[FUNDED],
        answers: &[RouteAnswer {
            status: 200,
            about: "Rows as CSV, with a header line.",
            content: Content::Csv,
        }],
        handler: Handler::Operator(|call, operator| Box::pin(export_addresses(call, operator))),
        ..PRIVATE
    }],
};

/// Query parameter that selects addresses with payments.
const FUNDED: Param = Param {
    name: "funded",
    about: "Only addresses with payments; default all.",
    kind: ParamKind::OneOf(&["true", "false"]),
};

/// GET /dashboard/api/wallets/{id}/addresses.csv
async fn export_addresses(call: Call, operator: Operator) -> Result<Reply, Error> {
    let id = call.uuid("wallet")?;
    let funded = call.query.text("funded") == Some("true");
    let service = Arc::clone(&call.http.service);
    let permit = call.http.long_reads.take_export_permit(operator.quota_owner())?;
    // The first piece is read before the stream starts, because a missing wallet changes the HTTP status.
    let first = {
        let (service, id) = (Arc::clone(&service), id.clone());
        permit.read(move || service.wallet_addresses(&id, funded, 0)).await?
    };
    let file = format!("attachment; filename=addresses-{id}.csv");
    let body = ReplyBody::stream(move |pieces| {
        stream_addresses(service, permit, id, funded, first, pieces)
    });
    Ok(Reply::stream("text/csv; charset=utf-8", body).with_header(CONTENT_DISPOSITION, &file))
}

/// Streams the addresses of a wallet until all addresses are sent or the client disconnects.
async fn stream_addresses(
    service: Arc<Service>,
    permit: ReadPermit,
    id: String,
    funded: bool,
    mut next: Option<(String, u32)>,
    pieces: PieceSender,
) -> Result<(), Error> {
    let mut taken = pieces.send(ADDRESSES_HEADER.to_owned()).await;
    while let Some((lines, from)) = next.take().filter(|_| taken) {
        taken = pieces.send(lines).await;
        let (service, id) = (Arc::clone(&service), id.clone());
        let read = move || service.wallet_addresses(&id, funded, from);
        next = permit.read(read).await?;
    }
    Ok(())
}
