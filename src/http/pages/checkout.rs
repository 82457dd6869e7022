//! The checkout page: first a choice of coins, then the amount and the address, then the result.
//!
//! What does not live here: what stands on it (`view`). What always holds: it is complete without a script, and who has not
//! the invoice's token sees nothing of it.

mod phrases;
mod view;

use super::form::Form;
use super::{LANG, Speech, of_shop, reply, see_other, too_fast};
use crate::domain::asset::Mode;
use crate::domain::invoice::draft::PaymentCase;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::status::InvoiceStatus;
use crate::domain::url::Site;
use crate::http::front::sandbox::ClockStep;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{CHECKOUT_PAGE, Handler, Resource, Route};
use crate::service::checkout::Checkout;
use crate::service::{Error, Service};
use crate::web::templates::{Frame, Live};
use askama::Template;
use hyper::StatusCode;
use view::View;

/// Seconds after which a page on which a coin is to be chosen looks whether there is still time.
const CHOOSING_SECONDS: u32 = 60;

/// Seconds after which a page that waits for a payment looks again.
const WAITING_SECONDS: u32 = 10;

/// Seconds after which a page looks again on which nothing is left to do: what is on a chain can still change.
const SETTLED_SECONDS: u32 = 60;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "checkoutPage",
            path: "/checkout/{id}",
            summary: "The page on which an invoice is paid.",
            query: &[
                Param {
                    name: "token",
                    about: "Token of the checkout.",
                    kind: ParamKind::Any,
                },
                LANG,
                Param {
                    name: "parent",
                    about: "The origin of the page around it, which is told what happens where the account lists it, or \
                            lists none.",
                    kind: ParamKind::Any,
                },
            ],
            handler: Handler::Open(|call| Box::pin(show(call))),
            ..CHECKOUT_PAGE
        },
        Route {
            operation: "checkoutSelect",
            method: "POST",
            path: "/checkout/{id}/select",
            summary: "Picks the coin on that page.",
            handler: Handler::Open(|call| Box::pin(select(call))),
            ..CHECKOUT_PAGE
        },
        Route {
            operation: "checkoutSimulate",
            method: "POST",
            path: "/checkout/{id}/simulate",
            summary: "Pays a test invoice on that page.",
            handler: Handler::Open(|call| Box::pin(simulate(call))),
            ..CHECKOUT_PAGE
        },
    ],
};

/// GET /checkout/{id}
async fn show(call: Call) -> Result<Reply, Error> {
    let token = call.query.text("token").unwrap_or_default();
    let checkout = call.front.service.checkout(call.now, call.id(), token)?;
    let (invoice, account) = (&checkout.invoice, &checkout.account);
    let speech = Speech::new(call.query.text("lang"), account, &call.headers);
    let has_controls = call.front.sandbox.is_some();
    let parent = call.query.text("parent").and_then(origin);
    let mut view = View::new(&checkout, token, speech, call.now, has_controls);
    view.parent = parent.filter(|parent| account.admits(Some(parent)));
    match (invoice.status, &invoice.coin) {
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, _) if view.is_over() => {
            let state = invoice.status.as_str();
            page(&call, &view, state, Some(WAITING_SECONDS), view.over())
        }
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, None) => {
            let state = invoice.status.as_str();
            page(&call, &view, state, Some(CHOOSING_SECONDS), view.choose())
        }
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, Some(coin)) => {
            let state = invoice.status.as_str();
            page(&call, &view, state, Some(WAITING_SECONDS), view.pay(coin))
        }
        (InvoiceStatus::Underpaid, Some(coin)) if let Some(rest) = checkout.rest => {
            let top_up = view.top_up(coin, rest);
            page(&call, &view, "more", Some(WAITING_SECONDS), top_up)
        }
        (InvoiceStatus::Detected, Some(coin)) if let Some(rest) = checkout.rest => {
            let top_up = view.top_up(coin, rest);
            let state = invoice.status.as_str();
            page(&call, &view, state, Some(WAITING_SECONDS), top_up)
        }
        (
            InvoiceStatus::Detected
            | InvoiceStatus::Underpaid
            | InvoiceStatus::Confirmed
            | InvoiceStatus::Overpaid
            | InvoiceStatus::PaidLate
            | InvoiceStatus::Expired
            | InvoiceStatus::Cancelled
            | InvoiceStatus::Failed,
            _,
        ) => {
            let state = invoice.status.as_str();
            let again = view.waits().then_some(WAITING_SECONDS);
            page(&call, &view, state, again, view.state())
        }
    }
}

/// The page of an invoice in this state. It looks again after so many seconds; where there are none, only its script does,
/// and seldom.
fn page(
    call: &Call,
    view: &View<'_>,
    state: &'static str,
    again: Option<u32>,
    body: impl Template,
) -> Result<Reply, Error> {
    let account = &view.checkout.account;
    let query = format!("&token={}{}", view.token, of_parent(view.parent.as_deref()));
    let is_for_tests = view.checkout.is_for_tests;
    let frame = Frame {
        refresh_seconds: again,
        script: Some("checkout/checkout.js"),
        parent: view.parent.clone(),
        ..of_shop(account, is_for_tests, view.speech, &query, view.title())
    };
    let live = Live {
        words: view.speech.words,
        state,
        live: view.updates(again.unwrap_or(SETTLED_SECONDS)),
        hidden: view.hidden(),
        trial: view.trial(),
        body,
    };
    let policy = call.policy.framed_by(&account.allowed_origins);
    reply(StatusCode::OK, policy, frame, live)
}

/// POST /checkout/{id}/select
async fn select(call: Call) -> Result<Reply, Error> {
    let form = Form::parse(&call.body)?;
    let (token, asset) = (form.text("token")?, form.text("asset")?);
    let service = &call.front.service;
    let picked = service
        .select_at_checkout(call.now, call.id(), token, asset.to_owned())
        .await;
    let is_over =
        |refusal: &Refusal| matches!(refusal.code, Code::PaymentInFlight | Code::InvoiceClosed);
    match picked {
        // Where it is too late for a coin, the page says what became of the invoice.
        Err(Error::Refused(refusal)) if is_over(&refusal) => {}
        picked => picked?,
    }
    back_to_page(&call, &form)
}

/// POST /checkout/{id}/simulate
async fn simulate(call: Call) -> Result<Reply, Error> {
    let form = Form::parse(&call.body)?;
    let (token, case) = (form.text("token")?, form.text("case")?);
    let service = &call.front.service;
    let (now, id) = (call.now, call.id());
    let checkout = service.checkout(now, id, token)?;
    // Anybody may make a test invoice by a payment link, and needs no key to pay it: as many as such invoices.
    if call.front.sandbox.is_none() {
        too_fast(&call)?;
    }
    let deadline = checkout.invoice.terms().deadline();
    let wrong = |problem: &str| Refusal::field("case", problem).into();
    let case = match case {
        "clock" => {
            return pass_deadline(&call, &form, &checkout).await;
        }
        "late" if now < deadline => return Err(wrong("late is possible after the time to pay")),
        "late" => PaymentCase::Exact,
        case => case
            .parse()
            .map_err(|_| wrong("must be exact, under, over, late or clock"))?,
    };
    service.simulate_at_checkout(now, id, token, case).await?;
    back_to_page(&call, &form)
}

/// Moves a sandbox's clock to the end of the time to pay.
async fn pass_deadline(call: &Call, form: &Form, checkout: &Checkout) -> Result<Reply, Error> {
    let sandbox = call.front.sandbox.as_ref();
    let is_test = checkout.invoice.mode == Mode::Test;
    let sandbox = sandbox.filter(|_| is_test).ok_or_else(|| {
        let message = "only the clock of a sandbox is moved, for a test invoice";
        Refusal::new(Code::Forbidden, message)
    })?;
    sandbox.admit_form(&call.headers)?;
    let deadline = checkout.invoice.terms().deadline();
    if call.now < deadline {
        sandbox.control.advance(ClockStep::Set(deadline)).await?;
    }
    back_to_page(call, form)
}

/// 303: back to the invoice's page.
fn back_to_page(call: &Call, form: &Form) -> Result<Reply, Error> {
    let back = address(call.id(), form)?;
    Ok(see_other(&format!("../{back}")))
}

/// The way back to an invoice's page, as it is seen from the pages of all invoices, for who has sent a form of it.
pub(super) fn way_back(service: &Service, id: &str, body: &[u8]) -> Option<String> {
    let form = Form::parse(body).ok()?;
    let is_opened = service.opens_checkout(id, form.text("token").ok()?);
    is_opened.then(|| address(id, &form).ok()).flatten()
}

/// The invoice's page among those of all invoices, in the language that was picked and in the page that is around it.
fn address(id: &str, form: &Form) -> Result<String, Refusal> {
    let token = form.text("token")?;
    let lang = super::picked(form.text("lang")?);
    let parent = origin(form.text("parent")?);
    let parent = of_parent(parent.as_deref());
    Ok(format!("{id}?token={token}{lang}{parent}"))
}

/// The origin that a text is, exactly as browsers write it; nothing where it is none.
fn origin(text: &str) -> Option<String> {
    let origin = Site::parse(text).ok()?.origin();
    (origin == text && text.is_ascii()).then_some(origin)
}

/// What of a page's address names the page around it.
fn of_parent(parent: Option<&str>) -> String {
    parent.map_or_else(String::new, |parent| format!("&parent={parent}"))
}
