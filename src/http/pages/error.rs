//! Error pages. Operators receive the exact message in English. A shop's customer receives a text in the customer's
//! language, without technical details. So does a browser that requests an unknown path.
//!
//! Invariant: the sites that may frame the requested page may frame its error page. If the account is not known, no
//! site may frame the error page.

use super::form::FormFields;
use super::{CustomerLanguage, accept_language, checkout, page_reply, service_frame};
use crate::domain::language::AUTO;
use crate::domain::{Account, Language, Refusal, RefusalCode};
use crate::http::error::reply_with_body;
use crate::http::policy::PagePolicy;
use crate::http::reply::Reply;
use crate::http::route::{self, Payable};
use crate::http::state::{HttpState, RequestId};
use crate::service::Error;
use crate::web::templates::{ErrorPage, Frame};
use crate::web::words::Words;
use hyper::body::Bytes;
use hyper::header::CACHE_CONTROL;
use hyper::{HeaderMap, StatusCode, Uri};

/// The parts of a request that an error page needs.
pub(in crate::http) struct ErrorContext<'a> {
    pub(in crate::http) http: &'a HttpState,
    pub(in crate::http) form: route::AnswerPolicy,
    pub(in crate::http) uri: &'a Uri,
    pub(in crate::http) request_id: RequestId,
    customer: Option<CustomerRequest>,
}

/// The parts of a shop customer's request that an error page needs.
struct CustomerRequest {
    pays: Payable,
    /// The browser's `Accept-Language` header.
    accepted: String,
    /// Request body, empty if no body was read.
    body: Bytes,
}

impl<'a> ErrorContext<'a> {
    pub(in crate::http) fn new(
        http: &'a HttpState,
        request_id: RequestId,
        form: route::AnswerPolicy,
        uri: &'a Uri,
        headers: &HeaderMap,
        body: Option<&Bytes>,
    ) -> ErrorContext<'a> {
        let customer = form.payable.map(|pays| CustomerRequest {
            pays,
            accepted: accept_language(headers),
            body: body.cloned().unwrap_or_default(),
        });
        ErrorContext { http, form, uri, request_id, customer }
    }

    /// Returns the second segment of the path: the id of the invoice or payment link.
    fn id(&self) -> &str {
        self.uri.path().split('/').nth(2).unwrap_or_default()
    }

    /// Returns the relative path from the requested page to the root of the server, for example `../`.
    fn path_to_root(&self) -> String {
        let slashes = self.uri.path().matches('/').count();
        "../".repeat(slashes.saturating_sub(1))
    }
}

impl CustomerRequest {
    /// Returns the account of the shop. No token is needed, because the error page reveals only a language and the
    /// origins that may frame the page.
    fn find_account(&self, context: &ErrorContext<'_>) -> Option<Account> {
        match self.pays {
            Payable::Invoice => context.http.service.account_of_invoice(context.id()),
            Payable::Link => context.http.service.account_of_link(context.id()),
        }
    }

    /// Returns the language for the customer: the language in the query or in the form, else the language of the
    /// account or of the browser.
    fn choose_language(
        &self,
        context: &ErrorContext<'_>,
        account: Option<&Account>,
    ) -> CustomerLanguage {
        let query = FormFields::parse(context.uri.query().unwrap_or_default().as_bytes()).ok();
        let form = FormFields::parse(&self.body).ok();
        let sent = [&query, &form].into_iter().flatten();
        let mut picked = sent.filter_map(|sent| sent.text("lang").ok());
        let picked = picked.find(|lang| Language::from_tag(lang).is_some());
        let setting = account.map_or(AUTO, |account| &account.checkout_lang);
        CustomerLanguage::choose(picked, setting, &self.accepted)
    }

    /// Returns the link back to the checkout page, if the request was a form of that page.
    fn back_link(&self, context: &ErrorContext<'_>) -> Option<String> {
        let back = match self.pays {
            Payable::Invoice => {
                checkout::page_path_from_form(&context.http.service, context.id(), &self.body)?
            }
            Payable::Link => return None,
        };
        Some(format!("{}checkout/{back}", context.path_to_root()))
    }
}

pub(in crate::http) fn error_page(context: &ErrorContext<'_>, error: Error) -> Reply {
    let request_id = &*context.request_id.to_string();
    let customer = context.customer.as_ref();
    let account = customer.and_then(|customer| customer.find_account(context));
    let speech = customer.map(|customer| customer.choose_language(context, account.as_ref()));
    let language = speech.map_or(Language::English, |speech| speech.language);
    let words = Words::for_language(language);
    let policy = match (&account, context.form.page) {
        (Some(account), Some(policy)) => policy.restrict_framing(&account.allowed_origins),
        (None, Some(policy)) => policy.forbid_framing(),
        (_, None) => PagePolicy::NOT_FRAMED,
    };
    reply_with_body(error, request_id, |refusal, status| {
        let (heading, advice) = customer_advice(refusal, status, words);
        let frame = Frame { root: context.path_to_root(), language, ..service_frame(heading) };
        let body = ErrorPage {
            words,
            heading,
            message: match customer {
                Some(_) => advice.to_owned(),
                None => super::to_sentence(&refusal.message),
            },
            request_id,
            back: customer.and_then(|customer| customer.back_link(context)),
        };
        page_reply(status, policy, frame, body)
            .unwrap_or_else(|_| Reply { status, ..Reply::no_content() })
    })
}

/// Renders the error page for a browser that requested an unknown path. The text is in a language of the browser,
/// because the reader may be a customer with a mistyped address.
pub(in crate::http) fn unknown_path_page(context: &ErrorContext<'_>, accepted: &str) -> Reply {
    let CustomerLanguage { language, words, .. } = CustomerLanguage::choose(None, AUTO, accepted);
    let request_id = &*context.request_id.to_string();
    let root = context.path_to_root();
    let reply = reply_with_body(Refusal::not_found("path").into(), request_id, |_, status| {
        let heading = words.error_missing_title;
        let frame = Frame { root, language, ..service_frame(heading) };
        let message = words.error_path_note.to_owned();
        let body = ErrorPage { words, heading, message, request_id, back: None };
        page_reply(status, PagePolicy::NOT_FRAMED, frame, body)
            .unwrap_or_else(|_| Reply { status, ..Reply::no_content() })
    });
    if context.form.is_private {
        return reply;
    }
    reply.with_static_header(CACHE_CONTROL, "no-store")
}

/// Returns the heading and the advice on the error page of a shop's customer.
fn customer_advice(
    refusal: &Refusal,
    status: StatusCode,
    words: &Words,
) -> (&'static str, &'static str) {
    match status {
        StatusCode::NOT_FOUND => (words.error_missing_title, words.error_missing_note),
        StatusCode::TOO_MANY_REQUESTS => (words.error_busy_title, words.error_busy_note),
        StatusCode::SERVICE_UNAVAILABLE => (words.error_later_title, words.error_later_note),
        StatusCode::INTERNAL_SERVER_ERROR => (words.error_broken_title, words.error_broken_note),
        _ => {
            let note = match refusal.code {
                RefusalCode::CoinUnavailable => words.error_coin,
                RefusalCode::AccountNotApproved
                | RefusalCode::AccountSuspended
                | RefusalCode::AccountNotActive => words.error_shop,
                _ => words.error_note,
            };
            (words.error_title, note)
        }
    }
}
