//! The page of the set-up link: the first operator's email and password.
//!
//! What always holds: nobody sees the form without a link that can still be used.

use super::Page;
use super::form::Form;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::user::PASSWORD_CHARS_MIN;
use crate::http::operator::users::first_operator;
use crate::http::password;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Handler, PAGE, Resource, Route};
use crate::service::Error;
use crate::web::{Filling, Markup, PROBLEM, SETUP, SETUP_DONE};
use hyper::StatusCode;
use serde_json::{Map, Value};

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "setupPage",
            path: "/setup",
            summary: "The page of the link by which the first operator is made.",
            query: &[Param {
                name: "token",
                about: "The token of the link.",
                kind: ParamKind::Any,
            }],
            handler: Handler::Open(|call| Box::pin(show(call))),
            ..PAGE
        },
        Route {
            operation: "setupFinish",
            method: "POST",
            path: "/setup",
            summary: "Makes the first operator.",
            handler: Handler::Open(|call| Box::pin(finish(call))),
            ..PAGE
        },
    ],
    components: "{}",
};

/// GET /setup
async fn show(call: Call) -> Result<Reply, Error> {
    let token = call.query.text("token").unwrap_or_default();
    password::check_set_up(&call, token)?;
    Ok(form(token, "", None).reply(StatusCode::OK, call.policy))
}

/// POST /setup
async fn finish(call: Call) -> Result<Reply, Error> {
    let sent = Form::parse(&call.body)?;
    let (token, email) = (sent.text("token")?, sent.text("email")?);
    password::check_set_up(&call, token)?;
    let fields = [
        ("token", token),
        ("email", email),
        ("password", sent.exact("password")?),
    ];
    let fields = fields.map(|(name, text)| (name.to_owned(), Value::from(text)));
    match first_operator(&call, &Map::from_iter(fields)).await {
        Ok((user, _)) => {
            let done = Filling::of(SETUP_DONE).text("email", &user.email).done();
            Ok(page("Coffer is set up", done).reply(StatusCode::OK, call.policy))
        }
        Err(Error::Refused(refusal)) if refusal.code == Code::InvalidRequest => {
            Ok(form(token, email, Some(&refusal)).reply(StatusCode::BAD_REQUEST, call.policy))
        }
        Err(error) => Err(error),
    }
}

/// The form; `problem` is what was wrong with what was sent.
fn form(token: &str, email: &str, problem: Option<&Refusal>) -> Page {
    let problem = match problem {
        Some(refusal) => {
            let text = super::sentence(&refusal.message);
            Filling::of(PROBLEM).text("text", &text).done()
        }
        None => Markup::none(),
    };
    let form = Filling::of(SETUP)
        .text("token", token)
        .text("email", email)
        .text("min", &PASSWORD_CHARS_MIN.to_string())
        .part("problem", problem);
    page("Set up Coffer", form.done())
}

/// A page of the service itself.
fn page(title: &str, body: Markup) -> Page {
    Page {
        title: title.to_owned(),
        body,
        ..Page::default()
    }
}
