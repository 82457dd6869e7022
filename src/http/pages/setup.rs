//! The page of the set-up link: a form for the email and the password of the first operator,
//! and for the name of the shop.
//!
//! Invariant: the form is shown only if the token of the link is valid.

use super::form::FormFields;
use super::{page_reply, redirect, service_frame, to_sentence};
use crate::domain::user::PASSWORD_CHARS_MIN;
use crate::domain::{Refusal, RefusalCode};
use crate::http::operator::own_password::create_first_operator;
use crate::http::operator::session::with_session_cookie;
use crate::http::password;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Handler, PAGE, Resource, Route};
use crate::service::Error;
use crate::web::templates::SetupForm;
use hyper::StatusCode;
use serde_json::{Map, Value};

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "setupPage",
            path: "/setup",
            summary: "The page of the link by which the first operator is made.",
            query: &[
                Param { name: "token", about: "The token of the link.", kind: ParamKind::Any },
                Param {
                    name: "email",
                    about: "Email address to show in the form.",
                    kind: ParamKind::Any,
                },
            ],
            handler: Handler::Open(|call| Box::pin(show_setup_form(call))),
            ..PAGE
        },
        Route {
            operation: "setupFinish",
            method: "POST",
            path: "/setup",
            summary: "Creates the first operator, signs in, and leads to the dashboard.",
            handler: Handler::Open(|call| Box::pin(create_operator(call))),
            ..PAGE
        },
    ],
};

/// Texts of the form that the page shows again after an error.
struct Entered<'a> {
    token: &'a str,
    email: &'a str,
    shop: &'a str,
}

/// GET /setup
async fn show_setup_form(call: Call) -> Result<Reply, Error> {
    let token = call.query.text("token").unwrap_or_default();
    password::check_setup_token(&call, token)?;
    let email = call.query.text("email").unwrap_or_default();
    render_form(&call, &Entered { token, email, shop: "" }, None)
}

/// POST /setup
async fn create_operator(call: Call) -> Result<Reply, Error> {
    let sent = FormFields::parse(&call.body)?;
    let entered = Entered {
        token: sent.text("token")?,
        email: sent.text("email")?,
        shop: sent.text("shop")?,
    };
    let Entered { token, email, shop } = entered;
    password::check_setup_token(&call, token)?;
    let fields = [("token", token), ("email", email), ("password", sent.untrimmed("password")?)];
    let shop = (!shop.is_empty()).then_some(("shop", shop));
    let fields = fields.into_iter().chain(shop);
    let fields = fields.map(|(name, text)| (name.to_owned(), Value::from(text)));
    match create_first_operator(&call, &Map::from_iter(fields)).await {
        Ok(begun) => Ok(with_session_cookie(&call, redirect("dashboard"), &begun)),
        Err(Error::Refused(refusal)) if refusal.code == RefusalCode::InvalidRequest => {
            render_form(&call, &entered, Some(&refusal))
        }
        Err(error) => Err(error),
    }
}

/// Renders the set-up form. `problem` is the error in the form that the user submitted.
fn render_form(
    call: &Call,
    entered: &Entered<'_>,
    problem: Option<&Refusal>,
) -> Result<Reply, Error> {
    let problem = problem.map(|refusal| to_sentence(&refusal.message));
    let status = match problem {
        None => StatusCode::OK,
        Some(_) => StatusCode::BAD_REQUEST,
    };
    let form = SetupForm {
        token: entered.token,
        email: entered.email,
        shop: entered.shop,
        problem: problem.as_deref(),
        password_chars_min: PASSWORD_CHARS_MIN,
    };
    page_reply(status, call.policy, service_frame("Set up Coffer"), form)
}
