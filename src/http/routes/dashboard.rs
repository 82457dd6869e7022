//! The operator interface: operations under `/dashboard/api`.

use super::{Answer, Body, Content, PLAIN, Route};
use crate::domain::refusal::Code;
use crate::domain::user::Role;
use crate::http::auth::Auth;
use crate::http::dashboard::session;

/// A route for everybody who is signed in.
const MEMBER: Route = Route {
    auth: Auth::Session(Role::Merchant),
    ..PLAIN
};

/// The list.
pub(super) static ROUTES: [Route; 3] = [
    Route {
        operation: "signIn",
        method: "POST",
        path: "/dashboard/api/session",
        summary: "Signs in: sets the cookie that every other operation here asks for.",
        body: Some(Body {
            schema: "SignIn",
            required: true,
        }),
        answers: &[Answer {
            status: 201,
            about: "Signed in, for twelve hours.",
            content: Content::Json("Session"),
        }],
        refusals: &[Code::InvalidCredentials, Code::TooManyAttempts],
        handler: |call| Box::pin(session::sign_in(call)),
        ..PLAIN
    },
    Route {
        operation: "getSession",
        path: "/dashboard/api/session",
        summary: "Says who is signed in.",
        answers: &[Answer {
            status: 200,
            about: "Who is signed in.",
            content: Content::Json("Session"),
        }],
        handler: |call| Box::pin(session::read(call)),
        ..MEMBER
    },
    Route {
        operation: "signOut",
        method: "DELETE",
        path: "/dashboard/api/session",
        summary: "Signs out.",
        answers: &[Answer {
            status: 204,
            about: "Signed out.",
            content: Content::Empty,
        }],
        handler: |call| Box::pin(session::sign_out(call)),
        ..MEMBER
    },
];
