//! CSV exports in the operator interface.

use crate::api::params::{CURRENCY, FROM, MODE, TO};
use crate::api::query::{Param, ParamKind};
use crate::domain::customer::REF_CHARS_MAX;
use crate::domain::export::csv_header;
use crate::domain::{ExportKind, InvoiceStatus, Refusal, Time, TransferStatus};
use crate::http::long_reads::ReadPermit;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Content, Handler, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::http::stream::{PieceSender, ReplyBody};
use crate::service::invoices::exports::ExportLinesQuery;
use crate::service::{Error, Member, Scope, Service};
use hyper::header::CONTENT_DISPOSITION;
use std::sync::Arc;

const STATUS: Param = Param {
    name: "status",
    about: "Only invoices, payouts or refunds of this status.",
    kind: ParamKind::Text { chars_max: 40 },
};

const TEXT: Param = Param {
    name: "text",
    about: "Only invoices that a search for this text finds.",
    kind: ParamKind::Text { chars_max: 200 },
};

const CUSTOMER: Param = Param {
    name: "customer",
    about: "Only deposits of the customer with this reference.",
    kind: ParamKind::Text { chars_max: REF_CHARS_MAX },
};

const ON_CHAIN: Param = Param {
    name: "onChain",
    about: "needs_review: only payouts or refunds that an operator has to review.",
    kind: ParamKind::OneOf(&["needs_review"]),
};

/// Filters that only some exports have.
const FILTERS: [(&str, &[ExportKind]); 5] = [
    (STATUS.name, &[ExportKind::Invoices, ExportKind::Payouts, ExportKind::Refunds]),
    (CURRENCY.name, &[ExportKind::Invoices, ExportKind::Ledger]),
    (TEXT.name, &[ExportKind::Invoices]),
    (CUSTOMER.name, &[ExportKind::Deposits]),
    (ON_CHAIN.name, &[ExportKind::Payouts, ExportKind::Refunds]),
];

/// Route of the CSV exports.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "export",
        tag: Some(Tag::OperatorBooks),
        path: "/dashboard/api/accounts/{account}/exports/{file}",
        summary: "Exports invoices.csv, payments.csv, ledger.csv, payouts.csv, refunds.csv or deposits.csv, oldest first, without a limit. The filters are those of the lists.",
        query: &[MODE, FROM, TO, STATUS, CURRENCY, TEXT, CUSTOMER, ON_CHAIN],
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
    let export = export.ok_or_else(|| Refusal::not_found("export"))?;
    let query = &call.query;
    for (name, exports) in FILTERS {
        if query.text(name).is_some() && !exports.contains(&export) {
            return Err(Refusal::field(name, format!("is no filter of {export}.csv")).into());
        }
    }
    let status = match export {
        ExportKind::Invoices => {
            query.enum_value::<InvoiceStatus>("status")?.map(InvoiceStatus::as_str)
        }
        ExportKind::Payouts | ExportKind::Refunds => {
            query.enum_value::<TransferStatus>("status")?.map(TransferStatus::as_str)
        }
        ExportKind::Payments | ExportKind::Ledger | ExportKind::Deposits => None,
    };
    let wanted = ExportLinesQuery {
        export,
        from: query.moment("from")?,
        to: query.moment("to")?,
        status,
        currency: query.enum_value("currency")?,
        text: query.text("text").map(str::to_owned),
        customer: query.text("customer").map(str::to_owned),
        needs_review: query.text("onChain").is_some(),
    };
    let file = format!("attachment; filename={}-{}.csv", wanted.export, scope.mode());
    let (service, now) = (Arc::clone(&call.http.service), call.now);
    let permit = call.http.long_reads.take_export_permit(member.quota_owner())?;
    let body =
        ReplyBody::stream(move |pieces| stream_export(service, permit, now, scope, wanted, pieces));
    Ok(Reply::stream("text/csv; charset=utf-8", body).with_header(CONTENT_DISPOSITION, &file))
}

/// Streams an export until the export is complete or the client disconnects. Between two pieces, only the position in
/// the list is in memory.
async fn stream_export(
    service: Arc<Service>,
    permit: ReadPermit,
    now: Time,
    scope: Scope,
    wanted: ExportLinesQuery,
    pieces: PieceSender,
) -> Result<(), Error> {
    let mut taken = pieces.send(csv_header(wanted.export)).await;
    let mut after = 0;
    while taken {
        let (service, wanted) = (Arc::clone(&service), wanted.clone());
        let read = move || service.next_export_lines(now, &scope, &wanted, after);
        let Some((lines, last)) = permit.read(read).await? else { break };
        after = last;
        taken = lines.is_empty() || pieces.send(lines).await;
    }
    Ok(())
}
