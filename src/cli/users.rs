//! `coffer user`: manages the users who may sign in. The command also works while a server is running.
//!
//! Invariant: a password comes from standard input or a file, never from arguments, which other users can see.

use super::named_file::open_named;
use super::operator::{ACTOR, open_store, text_argument};
use super::output::{print_line, print_list, wants_json};
use super::server::normalize_url;
use crate::clock::Clock;
use crate::config::SettingValues;
use crate::domain::fields::Fields;
use crate::domain::time::Time;
use crate::domain::user::{EMAIL_CHARS_MAX, Role, check_password};
use crate::service::Error;
use crate::service::users::passwords::Hasher;
use crate::service::users::{self, NewUser, UserWithAccount, second_factor};
use crate::store::Store;
use clap::{Arg, ArgMatches, Command};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::io::Read;
use std::path::Path;

/// Maximum bytes read for a password.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// Adds the subcommands of `coffer user`.
pub(super) fn user_command(command: Command) -> Command {
    let email =
        || Arg::new("email").value_name("EMAIL").required(true).help("Email address of the user");
    let role = Arg::new("role")
        .long("role")
        .value_parser(Role::TEXTS.to_vec())
        .required(true)
        .help("operator for everything, or merchant for one account");
    let account = Arg::new("account")
        .long("account")
        .value_name("ACCOUNT")
        .help("The account of a merchant's user");
    let about = |name: &'static str, about: &'static str| Command::new(name).about(about);
    command
        .subcommand_required(true)
        .subcommand(
            about("create", "Creates a user; the password comes from standard input")
                .arg(email())
                .arg(role)
                .arg(account),
        )
        .subcommand(about("list", "Lists every user"))
        .subcommand(about("password", "Sets a password, from standard input").arg(email()))
        .subcommand(about("disable", "Disables a user").arg(email()))
        .subcommand(about("enable", "Enables a user").arg(email()))
        .subcommand(
            about("setup-link", "Prints a link that creates the first operator, valid for an hour")
                .arg(email().required(false)),
        )
        .subcommand(
            about(
                "second-factor",
                "Turns off the second factor of a user who has lost it, and ends their sessions",
            )
            .arg(Arg::new("state").value_parser(["off"]).required(true))
            .arg(email()),
        )
}

/// Runs `coffer user`.
pub(super) fn run_user(matches: &ArgMatches) -> Result<(), Error> {
    let as_json = wants_json("user", matches)?;
    let store = open_store("user", matches, false)?;
    let now = Clock::new(0, None).now();
    let (verb, of_verb) = matches.subcommand().unwrap_or(("list", matches));
    let email = || {
        let email = text_argument(of_verb, "email");
        let map = Map::from_iter([("email".to_owned(), Value::from(email.as_str()))]);
        Fields::new(&map).email("email", EMAIL_CHARS_MAX)?;
        Ok::<_, Error>(email)
    };
    let known = match verb {
        "setup-link" => {
            let email = of_verb.get_one::<String>("email").map(|_| email()).transpose()?;
            return print_setup_link(&store, of_verb, email, now);
        }
        "create" => {
            let role = text_argument(of_verb, "role").parse::<Role>();
            let hash = Hasher::default().hash(&read_password(of_verb)?)?;
            let new = NewUser {
                email: email()?,
                role: role.map_err(|error| Error::Failed(error.to_string()))?,
                account: of_verb.get_one::<String>("account").cloned(),
            };
            store.write_and_wait(move |tx| users::insert_user(tx, ACTOR, &new, &hash, now))?
        }
        "password" => {
            let (email, hash) = (email()?, Hasher::default().hash(&read_password(of_verb)?)?);
            store.write_and_wait(move |tx| {
                let user = users::find(tx, &email)?;
                users::change_user(tx, ACTOR, user, None, Some(&hash), now)
            })?
        }
        "disable" | "enable" => {
            let (email, disabled) = (email()?, verb == "disable");
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
    matches: &ArgMatches,
    email: Option<String>,
    now: Time,
) -> Result<(), Error> {
    let url =
        SettingValues::new("user", matches).text_value("public-url").map_err(Error::Failed)?;
    let url = url.ok_or_else(|| {
        let problem = "--public-url is not set. Pass the URL at which browsers reach the server";
        Error::Failed(problem.to_owned())
    })?;
    let url = normalize_url(&url)?;
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
fn read_password(matches: &ArgMatches) -> Result<String, Error> {
    let file = SettingValues::new("user", matches).text_value("password-file");
    let mut text = String::new();
    let read = match file.map_err(Error::Failed)? {
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

/// Renders a user for the command line.
fn user_view((user, account): &UserWithAccount) -> String {
    json!({
        "id": user.id, "email": user.email, "role": user.role, "account": account, "createdAt": user.created_at,
        "disabledAt": user.disabled_at, "secondFactorAt": user.second_factor_at,
    })
    .to_string()
}
