//! The operator interface: operations under `/dashboard/api`.

use crate::domain::refusal::Code;
use crate::http::dashboard::{session, users};
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 9] = [
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
        refusals: &[
            Code::InvalidCredentials,
            Code::Forbidden,
            Code::TooManyAttempts,
        ],
        handler: Handler::Open(|call| Box::pin(session::sign_in(call))),
        ..PRIVATE
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
        handler: Handler::Session(|call, member| Box::pin(session::read(call, member))),
        ..PRIVATE
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
        handler: Handler::Session(|call, member| Box::pin(session::sign_out(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "confirmPassword",
        method: "POST",
        path: "/dashboard/api/session/confirm",
        summary: "Gives one's own password again: for the next 15 minutes what is sensitive may be done in this session.",
        body: Some(Body {
            schema: "ConfirmPassword",
            required: true,
        }),
        answers: &[Answer {
            status: 204,
            about: "Confirmed.",
            content: Content::Empty,
        }],
        refusals: &[Code::InvalidCredentials, Code::TooManyAttempts],
        handler: Handler::Session(|call, member| Box::pin(users::confirm_password(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "changeOwnPassword",
        method: "PUT",
        path: "/dashboard/api/session/password",
        summary: "Changes one's own password, which ends all of one's sessions.",
        body: Some(Body {
            schema: "ChangePassword",
            required: true,
        }),
        answers: &[Answer {
            status: 204,
            about: "Changed; sign in again.",
            content: Content::Empty,
        }],
        refusals: &[Code::InvalidCredentials, Code::TooManyAttempts],
        handler: Handler::Session(|call, member| Box::pin(users::own_password(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "setUp",
        method: "POST",
        path: "/dashboard/api/setup",
        summary: "Makes the first operator, with the token of the link that the server printed when it started.",
        body: Some(Body {
            schema: "SetUp",
            required: true,
        }),
        answers: &[Answer {
            status: 201,
            about: "The operator was made; the link is used up.",
            content: Content::Json("User"),
        }],
        refusals: &[Code::Forbidden, Code::TooManyAttempts],
        handler: Handler::Open(|call| Box::pin(users::set_up(call))),
        ..PRIVATE
    },
    Route {
        operation: "listUsers",
        path: "/dashboard/api/users",
        summary: "Lists everybody who may sign in, or might.",
        answers: &[Answer {
            status: 200,
            about: "The users, oldest first.",
            content: Content::Json("UserList"),
        }],
        handler: Handler::Operator(|call, operator| Box::pin(users::list(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "createUser",
        method: "POST",
        path: "/dashboard/api/users",
        summary: "Makes a user: an operator, or one of a merchant's account.",
        body: Some(Body {
            schema: "CreateUser",
            required: true,
        }),
        answers: &[Answer {
            status: 201,
            about: "The user was made.",
            content: Content::Json("User"),
        }],
        refusals: &[Code::TooManyAttempts],
        needs_recent_password: true,
        handler: Handler::Operator(|call, operator| Box::pin(users::create(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "changeUser",
        method: "PATCH",
        path: "/dashboard/api/users/{id}",
        summary: "Disables or enables a user, or sets another password; ends their sessions.",
        body: Some(Body {
            schema: "ChangeUser",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "The user as it is now.",
            content: Content::Json("User"),
        }],
        refusals: &[Code::InvalidTransition, Code::TooManyAttempts],
        needs_recent_password: true,
        handler: Handler::Operator(|call, operator| Box::pin(users::change(call, operator))),
        ..PRIVATE
    },
];
