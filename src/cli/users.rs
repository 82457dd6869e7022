//! `coffer user`: manages the users who may sign in. The command also works while a server is running.
//!
//! Invariant: a password comes from standard input or a file, never from arguments, which other users can see.

use super::invocation::{Invocation, choice, option, required, verb};
use super::named_file::open_named;
use super::operator::ACTOR;
use super::output::{print_line, print_list};
use super::server::public_url;
use crate::clock::Clock;
use crate::config::SettingValues;
use crate::domain::fields::Fields;
use crate::domain::user::{EMAIL_CHARS_MAX, check_password};
use crate::domain::{Role, Time};
use crate::service::Error;
use crate::service::users::passwords::Hasher;
use crate::service::users::{self, NewUser, UserWithAccount, second_factor};
use crate::store::Store;
use clap::{Arg, Command};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::io::Read;
use std::path::Path;

const PASSWORD_BYTES_MAX: u64 = 4096;

pub(super) fn user_command(command: Command) -> Command {
    let email = || required("email", "EMAIL", "Email address of the user");
    let about_role = "operator for everything, or merchant for one account";
    let role = choice("role", Role::TEXTS, about_role).required(true);
    let account = option("account", "ACCOUNT", "The account of a merchant's user");
    let off = Arg::new("state").value_parser(["off"]).required(true);
    let about_create = "Creates a user; the password comes from standard input";
    let about_link = "Prints a link that creates the first operator, valid for an hour";
    let about_second =
        "Turns off the second factor of a user who has lost it, and ends their sessions";
    command.subcommand_required(true).subcommands([
        verb("create", about_create, [email(), role, account]),
        verb("list", "Lists every user", []),
        verb("password", "Sets a password, from standard input", [email()]),
        verb("disable", "Disables a user", [email()]),
        verb("enable", "Enables a user", [email()]),
        verb("setup-link", about_link, [email().required(false)]),
        verb("second-factor", about_second, [off, email()]),
    ])
}

pub(super) fn run_user(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let store = invocation.open_store(false)?;
    let now = Clock::new(0, None).now();
    let email = || {
        let email = invocation.text("email");
        let map = Map::from_iter([("email".to_owned(), Value::from(email.as_str()))]);
        Fields::new(&map).email("email", EMAIL_CHARS_MAX)?;
        Ok::<_, Error>(email)
    };
    let known = match invocation.verb {
        "setup-link" => {
            let email = invocation.optional::<String>("email").map(|_| email()).transpose()?;
            return print_setup_link(&store, &invocation.values, email, now);
        }
        "create" => {
            let hash = Hasher::default().hash(&read_password(&invocation.values)?)?;
            let new = NewUser {
                email: email()?,
                role: invocation.parsed("role")?,
                account: invocation.optional("account"),
            };
            store.write_and_wait(move |tx| users::insert_user(tx, ACTOR, &new, &hash, now))?
        }
        "password" => {
            let (email, hash) =
                (email()?, Hasher::default().hash(&read_password(&invocation.values)?)?);
            store.write_and_wait(move |tx| {
                let user = users::find(tx, &email)?;
                users::change_user(tx, ACTOR, user, None, Some(&hash), now)
            })?
        }
        "disable" | "enable" => {
            let (email, disabled) = (email()?, invocation.verb == "disable");
            store.write_and_wait(move |tx| {
                let user = users::find(tx, &email)?;
                users::change_user(tx, ACTOR, user, Some(disabled), None, now)
            })?
        }
        "second-factor" => {
            let email = email()?;
            store.write_and_wait(move |tx| {
                let user = users::find(tx, &email)?;
                second_factor::turn_off(tx, ACTOR, user, now)
            })?
        }
        _ => {
            let all = store.read(users::list)?;
            return print_list(all.iter().map(|known| Ok(user_view(known))), as_json);
        }
    };
    print_line(&user_view(&known))
}

/// Prints a new set-up link, which replaces the previous one. If an operator exists, prints the page to sign in.
fn print_setup_link(
    store: &Store,
    values: &SettingValues<'_>,
    email: Option<String>,
    now: Time,
) -> Result<(), Error> {
    let url = public_url(values)?.ok_or_else(|| {
        let problem = "--public-url is not set. Pass the URL at which browsers reach the server";
        Error::Failed(problem.to_owned())
    })?;
    let token = store.write_and_wait(move |tx| users::replace_setup_link(tx, now))?;
    let email = email.map_or(String::new(), |email| {
        format!("&email={}", utf8_percent_encode(&email, NON_ALPHANUMERIC))
    });
    print_line(&match token {
        Some(token) => format!("{url}/setup?token={token}{email}"),
        None => format!("{url}/dashboard"),
    })
}

/// Reads the password from a file or standard input, without the line end.
fn read_password(values: &SettingValues<'_>) -> Result<String, Error> {
    let mut text = String::new();
    let read = match values.text_value("password-file")? {
        Some(path) => open_named(Path::new(&path))
            .and_then(|file| {
                let read = file.take(PASSWORD_BYTES_MAX).read_to_string(&mut text);
                read.map_err(|error| format!("{path}: {error}"))
            })
            .map_err(|problem| format!("--password-file {problem}")),
        None => std::io::stdin()
            .lock()
            .take(PASSWORD_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| format!("standard input: {error}")),
    };
    read.map_err(Error::Failed)?;
    let password = text.trim_end_matches(['\r', '\n']);
    check_password(password)?;
    Ok(password.to_owned())
}

fn user_view(known: &UserWithAccount) -> String {
    let UserWithAccount { user, account_id } = known;
    json!({
        "id": user.id, "email": user.email, "role": user.role, "account": account_id, "createdAt": user.created_at,
        "disabledAt": user.disabled_at, "secondFactorAt": user.second_factor_at,
    })
    .to_string()
}
