//! The page of a payment link: a description of the purchase, and the form that creates the invoice.
//!
//! The pages `/l/{id}/qr` and `/l/{id}/qr.svg` are for merchants, who print the QR code. They show nothing but what the
//! URL of the link shows, so they need no session.

use super::form::FormFields;
use super::{
    CustomerLanguage, LANG, count_creation, format_moment, non_empty, page_reply, redirect,
    shop_frame, with_policy,
};
use crate::domain::qr::Qr;
use crate::domain::{Cents, LinkState, PaymentLink, Refusal, RefusalCode};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{AnswerPolicy, Handler, LINK_PAGE, Resource, Route};
use crate::service::Error;
use crate::service::links::{LinkOutcome, PublicLink};
use crate::web::templates::{
    ClosedLinkPage, Frame, LinkPage, LinkPicture, LinkQrPage, LinkSvg, Price,
};
use crate::web::words::{Words, fill};
use askama::Template;
use hyper::StatusCode;
use hyper::header::CACHE_CONTROL;

/// Amount that shows customers the expected format.
const EXAMPLE: &str = "19.99";
/// `Cache-Control` for a picture. Its URL contains the hash of its bytes.
const PICTURE_CACHE: &str = "public, max-age=31536000, immutable";

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "linkPage",
            path: "/l/{id}",
            summary: "The page of a payment link.",
            query: &[LANG],
            handler: Handler::Open(|call| Box::pin(show_link(call))),
            ..LINK_PAGE
        },
        Route {
            operation: "linkPay",
            method: "POST",
            path: "/l/{id}",
            summary: "Makes the invoice of a payment link.",
            handler: Handler::Open(|call| Box::pin(create_invoice(call))),
            ..LINK_PAGE
        },
        Route {
            operation: "linkCode",
            path: "/l/{id}/qr",
            summary: "The QR code of a payment link, to be printed.",
            query: &[LANG],
            handler: Handler::Open(|call| Box::pin(show_qr(call))),
            ..LINK_PAGE
        },
        Route {
            operation: "linkPicture",
            path: "/l/{id}/qr.svg",
            summary: "The QR code of a payment link, as a picture.",
            handler: Handler::Open(|call| Box::pin(show_qr_image(call))),
            ..LINK_PAGE
        },
        Route {
            operation: "linkUploadedPicture",
            path: "/l/{id}/picture/{hash}",
            summary: "The picture of a payment link.",
            // Caches may keep the picture, so its answers are not private.
            form: AnswerPolicy { is_private: false, ..LINK_PAGE.form },
            handler: Handler::Open(|call| Box::pin(show_picture(call))),
            ..LINK_PAGE
        },
    ],
};

/// GET /l/{id}
async fn show_link(call: Call) -> Result<Reply, Error> {
    let opened = call.http.service.public_link(call.now, call.first_param())?;
    let speech = CustomerLanguage::new(call.query.text("lang"), &opened.account, &call.headers);
    match opened.state {
        LinkState::Open => render_page(&call, &opened, speech, "", None),
        closed => render_closed_page(&call, &opened, speech, closed, StatusCode::OK),
    }
}

/// GET /l/{id}/qr
async fn show_qr(call: Call) -> Result<Reply, Error> {
    let opened = call.http.service.public_link(call.now, call.first_param())?;
    let (link, account) = (&opened.link, &opened.account);
    let speech = CustomerLanguage::new(call.query.text("lang"), account, &call.headers);
    let price = link.amount.map(|amount| format_price(speech.words, link, amount));
    let body = LinkQrPage {
        words: speech.words,
        lang: speech.picked,
        id: &link.id,
        name: &link.name,
        price,
        qr: Qr::encode(&opened.url),
        qr_label: format!("{}: {}", speech.words.link_scan, link.name),
        url: opened.url.clone(),
    };
    let title = format!("{} · {}", link.name, account.name);
    let frame = Frame {
        root: "../../".to_owned(),
        script: Some("link/print.js"),
        ..shop_frame(account, opened.is_for_tests, speech, "", title)
    };
    page_reply(StatusCode::OK, call.policy, frame, body)
}

/// GET /l/{id}/qr.svg
async fn show_qr_image(call: Call) -> Result<Reply, Error> {
    let opened = call.http.service.public_link(call.now, call.first_param())?;
    let too_long = || Error::Failed("the public url is longer than a QR code can be".to_owned());
    let qr = Qr::encode(&opened.url).ok_or_else(too_long)?;
    let svg = LinkSvg { qr }.render();
    let svg = svg.map_err(|error| Error::Failed(error.to_string()))?;
    let reply = Reply::text(StatusCode::OK, "image/svg+xml", svg);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}

/// GET /l/{id}/picture/{hash}
async fn show_picture(call: Call) -> Result<Reply, Error> {
    let found = call.http.service.link_picture(call.first_param(), call.second_param())?;
    let reply = Reply::text(StatusCode::OK, found.format.media_type(), found.bytes);
    let reply = reply.with_static_header(CACHE_CONTROL, PICTURE_CACHE);
    Ok(with_policy(reply, call.policy, &call.policy.header_value(None, None)))
}

fn format_price(words: &Words, link: &PaymentLink, amount: Cents) -> String {
    words.format_amount(&amount.to_string(), link.currency.as_str())
}

/// POST /l/{id}
async fn create_invoice(call: Call) -> Result<Reply, Error> {
    let service = &call.http.service;
    let opened = service.public_link(call.now, call.first_param())?;
    count_creation(&call)?;
    let form = FormFields::parse(&call.body)?;
    let (named, lang) = (form.text("amount")?, form.text("lang")?);
    let lang = Some(lang).filter(|lang| !lang.is_empty());
    let speech = CustomerLanguage::new(lang, &opened.account, &call.headers);
    let words = speech.words;
    if opened.state != LinkState::Open {
        return render_closed_page(&call, &opened, speech, opened.state, StatusCode::CONFLICT);
    }
    let amount = match opened.link.amount {
        Some(price) => Some(price),
        None => match Cents::parse(&comma_to_point(named)) {
            Ok(amount) => Some(amount),
            Err(_) => {
                let example = words.format_number(EXAMPLE);
                let problem = fill(words.link_wrong, &[("example", &example)]);
                return render_page(&call, &opened, speech, named, Some(&problem));
            }
        },
    };
    match service.create_link_invoice(call.now, call.first_param(), amount).await {
        Ok(LinkOutcome::Closed(closed)) => {
            render_closed_page(&call, &opened, speech, closed, StatusCode::CONFLICT)
        }
        Ok(LinkOutcome::Created(begun)) => {
            let (id, token) = (begun.invoice_id, begun.token);
            let lang = super::lang_query(lang.unwrap_or_default());
            Ok(redirect(&format!("../checkout/{id}?token={token}{lang}")))
        }
        Err(Error::Refused(Refusal { code: RefusalCode::AmountTooLarge, .. })) => {
            let most = format_price(words, &opened.link, opened.account.invoice_max);
            let problem = fill(words.link_most, &[("amount", &most)]);
            render_page(&call, &opened, speech, named, Some(&problem))
        }
        Err(error) => Err(error),
    }
}

/// Replaces a decimal comma by a point. A comma is a decimal comma if exactly two decimals follow.
fn comma_to_point(text: &str) -> String {
    match text.split_once(',') {
        Some((whole, decimals)) if decimals.len() == 2 && !whole.contains('.') => {
            format!("{whole}.{decimals}")
        }
        _ => text.to_owned(),
    }
}

/// Renders the page of a payment link. `named` is the amount that the customer entered, and `problem` an error
/// message about the amount.
fn render_page(
    call: &Call,
    opened: &PublicLink,
    speech: CustomerLanguage,
    named: &str,
    problem: Option<&str>,
) -> Result<Reply, Error> {
    let (link, account, words) = (&opened.link, &opened.account, speech.words);
    let status = match problem {
        None => StatusCode::OK,
        Some(_) => StatusCode::BAD_REQUEST,
    };
    let currency = link.currency.as_str();
    let example = words.format_number(EXAMPLE);
    let body = LinkPage {
        words,
        lang: speech.picked,
        id: &link.id,
        name: &link.name,
        description: non_empty(link.description.as_deref()),
        picture: link_picture(link),
        until: link.expires_at.map(format_moment),
        problem,
        amount_label: fill(words.link_amount, &[("currency", currency)]),
        example: fill(words.link_example, &[("example", &example)]),
        price: match link.amount {
            Some(amount) => Price::Fixed(format_price(words, link, amount)),
            None => Price::Named(named),
        },
    };
    let title = format!("{} · {}", link.name, account.name);
    let frame = shop_frame(account, opened.is_for_tests, speech, "", title);
    page_reply(status, call.policy, frame, body)
}

/// Renders the page of a payment link that creates no invoices. A link that is switched off has no page.
fn render_closed_page(
    call: &Call,
    opened: &PublicLink,
    speech: CustomerLanguage,
    state: LinkState,
    status: StatusCode,
) -> Result<Reply, Error> {
    let (link, account, words) = (&opened.link, &opened.account, speech.words);
    let (heading, message) = match state {
        LinkState::UsedUp => (words.link_used_title, words.link_used_note),
        LinkState::Open | LinkState::Off | LinkState::Expired => {
            (words.link_expired_title, words.link_expired_note)
        }
    };
    let description = Some(&*link.name);
    let body = ClosedLinkPage { heading, message, description, picture: link_picture(link) };
    let title = format!("{} · {}", link.name, account.name);
    let frame = shop_frame(account, opened.is_for_tests, speech, "", title);
    page_reply(status, call.policy, frame, body)
}

/// Returns the picture of a payment link. Its URL is relative to the page of the link.
fn link_picture(link: &PaymentLink) -> Option<LinkPicture> {
    let info = link.picture.as_ref()?;
    let (width, height) = (info.width, info.height);
    Some(LinkPicture { url: format!("{}/picture/{}", link.id, info.hash), width, height })
}

#[cfg(test)]
mod tests {
    use super::comma_to_point;

    #[test]
    fn comma_before_two_decimals_becomes_point() {
        for (text, expected) in [
            ("12,50", "12.50"),
            ("12.50", "12.50"),
            ("1,000", "1,000"),
            ("1.000,00", "1.000,00"),
            ("1,2,34", "1,2,34"),
            (",50", ".50"),
        ] {
            assert_eq!(comma_to_point(text), expected);
        }
    }
}
