//! CSV exports in the operator interface.

use crate::api::params::{FROM, MODE, TO};
use crate::domain::export::{ExportKind, csv_header};
use crate::domain::refusal::Refusal;
use crate::http::long_reads;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Content, Handler, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::http::stream::{PieceSender, ReplyBody};
use crate::service::operator::exports::ExportLinesQuery;
use crate::service::{Error, Member, Scope, Service};
use hyper::header::CONTENT_DISPOSITION;
use std::sync::Arc;

/// Route of the CSV exports.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "export",
        tag: Some(Tag::OperatorBooks),
        path: "/dashboard/api/accounts/{account}/exports/{file}",
        summary: "Exports invoices.csv, payments.csv, ledger.csv, payouts.csv, refunds.csv or deposits.csv, oldest first, without a limit.",
        query: &[MODE, FROM, TO],
        answers: &[RouteAnswer {
            status: 200,
            about: "Rows as CSV, with a header line.",
            content: Content::Csv,
        }],
        handler: Handler::Session(|call, member| Box::pin(export(call, member))),
        ..PRIVATE
    }],
};

/// GET /dashboard/api/accounts/{account}/exports/{file}
async fn export(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let name = call.second_param().strip_suffix(".csv");
    let export: Option<ExportKind> = name.and_then(|name| name.parse().ok());
    let wanted = ExportLinesQuery {
        export: export.ok_or_else(|| Refusal::not_found("export"))?,
        from: call.query.moment("from")?,
        to: call.query.moment("to")?,
    };
    let file = format!("attachment; filename={}-{}.csv", wanted.export, scope.mode());
    let service = Arc::clone(&call.front.service);
    let place = call.front.long_reads.take_export_permit(member.quota_owner())?;
    let body =
        ReplyBody::stream(move |pieces| stream_export(service, place, scope, wanted, pieces));
    Ok(Reply::stream("text/csv; charset=utf-8", body).with_header(CONTENT_DISPOSITION, &file))
}

/// Streams an export until the export is complete or the client disconnects. Between two pieces, only the position in
/// the list is in memory.
async fn stream_export(
    service: Arc<Service>,
    mut place: long_reads::ExportPermit,
    scope: Scope,
    wanted: ExportLinesQuery,
    pieces: PieceSender,
) -> Result<(), Error> {
    let mut taken = pieces.send(csv_header(wanted.export)).await;
    let mut after = 0;
    while taken {
        let (service, wanted) = (Arc::clone(&service), wanted.clone());
        let read = move || service.next_export_lines(&scope, &wanted, after);
        let (kept, next) = place.read_piece(read).await?;
        place = kept;
        let Some((lines, last)) = next else { break };
        after = last;
        taken = pieces.send(lines).await;
    }
    Ok(())
}
