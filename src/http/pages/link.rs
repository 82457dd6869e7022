//! A payment link's page: what is paid for, and the form that makes the invoice.

use super::form::Form;
use super::{of_shop, reply, said, see_other, too_fast};
use crate::domain::money::Cents;
use crate::domain::refusal::{Code, Refusal};
use crate::http::client;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Handler, PAGE, Resource, Route};
use crate::service::Error;
use crate::service::links::OpenLink;
use crate::web::templates::{Link, Price};
use hyper::StatusCode;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "linkPage",
            path: "/l/{id}",
            summary: "The page of a payment link.",
            handler: Handler::Open(|call| Box::pin(show(call))),
            ..PAGE
        },
        Route {
            operation: "linkPay",
            method: "POST",
            path: "/l/{id}",
            summary: "Makes the invoice of a payment link.",
            handler: Handler::Open(|call| Box::pin(pay(call))),
            ..PAGE
        },
    ],
    components: "{}",
};

/// GET /l/{id}
async fn show(call: Call) -> Result<Reply, Error> {
    let opened = call.front.service.open_link(call.id())?;
    page(&call, &opened, "", None)
}

/// POST /l/{id}
async fn pay(call: Call) -> Result<Reply, Error> {
    let service = &call.front.service;
    let opened = service.open_link(call.id())?;
    let client = client::limit_key(call.client());
    let now = call.front.clock.uptime();
    if let Some(verdict) = call.front.link_limiter.count(&client, now)
        && !verdict.allowed
    {
        let path = format!("/l/{}", opened.link.id);
        let refusal = verdict.refusal().into();
        return Ok(too_fast(&path, &call, verdict.wait_seconds, refusal));
    }
    let form = Form::parse(&call.body)?;
    let named = form.text("amount")?;
    let amount = match opened.link.amount {
        Some(price) => Some(price),
        None => match Cents::parse(&with_point(named)) {
            Ok(amount) => Some(amount),
            Err(_) => return page(&call, &opened, named, Some("Enter an amount like 19.99.")),
        },
    };
    match service.invoice_of_link(call.now, call.id(), amount).await {
        Ok(begun) => Ok(see_other(&format!(
            "../checkout/{}?token={}",
            begun.invoice_id, begun.token
        ))),
        Err(Error::Refused(Refusal {
            code: Code::AmountTooLarge,
            ..
        })) => {
            let problem = format!(
                "The most is {} {}.",
                opened.account.invoice_max, opened.link.currency
            );
            page(&call, &opened, named, Some(&problem))
        }
        Err(error) => Err(error),
    }
}

/// Many write the decimals after a comma; with two of them nothing else can be meant.
fn with_point(text: &str) -> String {
    match text.split_once(',') {
        Some((whole, decimals)) if decimals.len() == 2 && !whole.contains('.') => {
            format!("{whole}.{decimals}")
        }
        _ => text.to_owned(),
    }
}

/// The page; `named` is the amount that the payer has entered, `problem` what was wrong with it.
fn page(
    call: &Call,
    opened: &OpenLink,
    named: &str,
    problem: Option<&str>,
) -> Result<Reply, Error> {
    let OpenLink {
        account,
        link,
        is_for_tests,
    } = opened;
    let status = match problem {
        None => StatusCode::OK,
        Some(_) => StatusCode::BAD_REQUEST,
    };
    let body = Link {
        id: &link.id,
        name: &link.name,
        description: said(link.description.as_deref()),
        problem,
        currency: link.currency.as_str(),
        price: match link.amount {
            Some(price) => Price::Fixed(price.to_string()),
            None => Price::Named(named),
        },
    };
    let title = format!("{} · {}", link.name, account.name);
    let frame = of_shop(account, *is_for_tests, title);
    reply(status, call.policy, frame, body)
}

#[cfg(test)]
mod tests {
    use super::with_point;

    #[test]
    fn a_comma_before_two_decimals_is_a_point() {
        for (text, expected) in [
            ("12,50", "12.50"),
            ("12.50", "12.50"),
            ("1,000", "1,000"),
            ("1.000,00", "1.000,00"),
            ("1,2,34", "1,2,34"),
            (",50", ".50"),
        ] {
            assert_eq!(with_point(text), expected);
        }
    }
}
