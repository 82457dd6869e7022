//! The checkout page: first a choice of coins, then amount and address, then the outcome.
//!
//! Invariant: the page is complete without a script. The page is shown only for the invoice's token.

mod phrases;
#[cfg(test)]
mod tests;
mod view;

use super::form::FormFields;
use super::{CustomerLanguage, LANG, count_creation, page_reply, redirect, shop_frame};
use crate::domain::{
    InvoiceStatus, Language, Mode, Refusal, RefusalCode, SimulatedAmount, SiteUrl,
};
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{CHECKOUT_PAGE, Handler, Resource, Route};
use crate::service::checkout::Checkout;
use crate::service::sandbox::controls::ClockChange;
use crate::service::{Error, Service};
use crate::web::templates::{Frame, LiveCheckout};
use askama::Template;
use hyper::StatusCode;
use view::CheckoutView;

/// Polling interval while the customer chooses a coin, in seconds.
const CHOOSING_SECONDS: u32 = 60;

/// Polling interval while a payment is awaited, in seconds.
const WAITING_SECONDS: u32 = 10;

/// Polling interval when the customer has nothing left to do, in seconds. The status can still change, for example by
/// a reorg.
const SETTLED_SECONDS: u32 = 60;

/// Routes of the checkout page.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "checkoutPage",
            path: "/checkout/{id}",
            summary: "The page on which an invoice is paid.",
            query: &[
                Param { name: "token", about: "Token of the checkout.", kind: ParamKind::Any },
                LANG,
                Param {
                    name: "parent",
                    about: "The origin of the page around it, which is told what happens where the account lists it, or \
                            lists none.",
                    kind: ParamKind::Any,
                },
            ],
            handler: Handler::Open(|call| Box::pin(show_checkout(call))),
            ..CHECKOUT_PAGE
        },
        Route {
            operation: "checkoutSelect",
            method: "POST",
            path: "/checkout/{id}/select",
            summary: "Picks the coin on that page.",
            handler: Handler::Open(|call| Box::pin(select_coin(call))),
            ..CHECKOUT_PAGE
        },
        Route {
            operation: "checkoutSimulate",
            method: "POST",
            path: "/checkout/{id}/simulate",
            summary: "Pays a test invoice on that page.",
            handler: Handler::Open(|call| Box::pin(simulate_payment(call))),
            ..CHECKOUT_PAGE
        },
    ],
};

/// GET /checkout/{id}
async fn show_checkout(call: Call) -> Result<Reply, Error> {
    let token = call.query.text("token").unwrap_or_default();
    let checkout = call.http.service.checkout(call.now, call.first_param(), token)?;
    let (invoice, account) = (&checkout.invoice, &checkout.account);
    let speech = CustomerLanguage::new(call.query.text("lang"), account, &call.headers);
    call.http.service.note_payer_language(
        call.now,
        &checkout.invoice,
        &checkout.account,
        speech.picked.and_then(Language::from_tag),
        speech.language,
    )?;
    let has_controls = call.http.sandbox.is_some();
    let parent = call.query.text("parent").and_then(parse_origin);
    let mut view = CheckoutView::new(&checkout, token, speech, call.now, has_controls);
    view.parent = parent.filter(|parent| account.allows_origin(Some(parent)));
    match (invoice.status, &invoice.coin) {
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, _) if view.is_past_deadline() => {
            let state = invoice.status.as_str();
            render_page(&call, &view, state, Some(WAITING_SECONDS), view.expired_page())
        }
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, None) => {
            let state = invoice.status.as_str();
            render_page(&call, &view, state, Some(CHOOSING_SECONDS), view.coin_choice_page())
        }
        (InvoiceStatus::Created | InvoiceStatus::AwaitingPayment, Some(coin)) => {
            let state = invoice.status.as_str();
            render_page(&call, &view, state, Some(WAITING_SECONDS), view.page_before_payment(coin))
        }
        (InvoiceStatus::Underpaid, Some(coin)) if let Some(rest) = checkout.rest => {
            let top_up = view.top_up_page(coin, rest);
            render_page(&call, &view, "more", Some(WAITING_SECONDS), top_up)
        }
        (InvoiceStatus::Detected, Some(coin)) if let Some(rest) = checkout.rest => {
            let top_up = view.top_up_page(coin, rest);
            let state = invoice.status.as_str();
            render_page(&call, &view, state, Some(WAITING_SECONDS), top_up)
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
            let again = view.is_pending().then_some(WAITING_SECONDS);
            render_page(&call, &view, state, again, view.outcome_page())
        }
    }
}

/// Renders the page of an invoice. With scripts, the page polls every `again` seconds, or every `SETTLED_SECONDS` if
/// `again` is `None`. Without scripts, the page reloads every `again` seconds, or never if `again` is `None`.
fn render_page(
    call: &Call,
    view: &CheckoutView<'_>,
    state: &'static str,
    again: Option<u32>,
    body: impl Template,
) -> Result<Reply, Error> {
    let account = &view.checkout.account;
    let query = format!("&token={}{}", view.token, parent_query(view.parent.as_deref()));
    let is_for_tests = view.checkout.is_for_tests;
    let frame = Frame {
        refresh_seconds: again,
        script: Some("checkout/checkout.js"),
        parent: view.parent.clone(),
        ..shop_frame(account, is_for_tests, view.speech, &query, view.title())
    };
    let live = LiveCheckout {
        words: view.speech.words,
        state,
        live: view.page_updates(again.unwrap_or(SETTLED_SECONDS)),
        hidden: view.hidden_fields(),
        trial: view.simulation_buttons(),
        body,
    };
    let policy = call.policy.restrict_framing(&account.allowed_origins);
    page_reply(StatusCode::OK, policy, frame, live)
}

/// POST /checkout/{id}/select
async fn select_coin(call: Call) -> Result<Reply, Error> {
    let form = FormFields::parse(&call.body)?;
    let (token, asset) = (form.text("token")?, form.text("asset")?);
    let service = &call.http.service;
    let picked =
        service.select_checkout_coin(call.now, call.first_param(), token, asset.to_owned()).await;
    let is_over = |refusal: &Refusal| {
        matches!(refusal.code, RefusalCode::PaymentInFlight | RefusalCode::InvoiceClosed)
    };
    match picked {
        // It is too late to choose a coin. The page shows the outcome of the invoice.
        Err(Error::Refused(refusal)) if is_over(&refusal) => {}
        picked => picked?,
    }
    redirect_to_page(&call, &form)
}

/// POST /checkout/{id}/simulate
async fn simulate_payment(call: Call) -> Result<Reply, Error> {
    let form = FormFields::parse(&call.body)?;
    let (token, case) = (form.text("token")?, form.text("case")?);
    let service = &call.http.service;
    let (now, id) = (call.now, call.first_param());
    let checkout = service.checkout(now, id, token)?;
    // Anyone may create a test invoice through a payment link and pay the invoice without a key. Therefore simulated
    // payments have the same rate limit as the creation of such invoices.
    if call.http.sandbox.is_none() {
        count_creation(&call)?;
    }
    let deadline = checkout.invoice.terms().deadline();
    let wrong = |problem: &str| Refusal::field("case", problem).into();
    let case = match case {
        "clock" => {
            return move_clock_to_deadline(&call, &form, &checkout).await;
        }
        "late" if now < deadline => return Err(wrong("late is possible after the time to pay")),
        "late" => SimulatedAmount::Exact,
        case => case.parse().map_err(|_| wrong("must be exact, under, over, late or clock"))?,
    };
    service.simulate_checkout_payment(now, id, token, case).await?;
    redirect_to_page(&call, &form)
}

/// Moves a sandbox's clock to the invoice's deadline.
async fn move_clock_to_deadline(
    call: &Call,
    form: &FormFields,
    checkout: &Checkout,
) -> Result<Reply, Error> {
    let sandbox = call.http.sandbox.as_ref();
    let is_test = checkout.invoice.mode == Mode::Test;
    let sandbox = sandbox.filter(|_| is_test).ok_or_else(|| {
        let message = "only the clock of a sandbox is moved, for a test invoice";
        Refusal::new(RefusalCode::Forbidden, message)
    })?;
    sandbox.admit_form(&call.headers)?;
    let deadline = checkout.invoice.terms().deadline();
    if call.now < deadline {
        sandbox.control.move_clock(ClockChange::Set(deadline)).await?;
    }
    redirect_to_page(call, form)
}

/// Redirects to the heading of the invoice's page with status 303. The browser moves the focus there, so that a customer
/// with a keyboard or a screen reader goes on at the next step.
fn redirect_to_page(call: &Call, form: &FormFields) -> Result<Reply, Error> {
    let back = page_path(call.first_param(), form)?;
    Ok(redirect(&format!("../{back}#heading")))
}

/// Returns the path of the invoice's page, relative to `/checkout/`. `body` is a form that the page sent. Returns
/// `None` if the token in the form does not open the checkout.
pub(super) fn page_path_from_form(service: &Service, id: &str, body: &[u8]) -> Option<String> {
    let form = FormFields::parse(body).ok()?;
    let is_opened = service.token_opens_checkout(id, form.text("token").ok()?);
    is_opened.then(|| page_path(id, &form).ok()).flatten()
}

/// Returns the path of the invoice's page, relative to `/checkout/`. The path includes the chosen language and the
/// origin of the embedding page.
fn page_path(id: &str, form: &FormFields) -> Result<String, Refusal> {
    let token = form.text("token")?;
    let lang = super::lang_query(form.text("lang")?);
    let parent = parse_origin(form.text("parent")?);
    let parent = parent_query(parent.as_deref());
    Ok(format!("{id}?token={token}{lang}{parent}"))
}

/// Returns the origin if the text is an origin in the exact form that browsers send.
fn parse_origin(text: &str) -> Option<String> {
    let origin = SiteUrl::parse(text).ok()?.origin();
    (origin == text && text.is_ascii()).then_some(origin)
}

/// Returns the query parameter that names the origin of the embedding page.
fn parent_query(parent: Option<&str>) -> String {
    parent.map_or_else(String::new, |parent| format!("&parent={parent}"))
}
