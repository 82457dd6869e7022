//! `coffer account` and `coffer key`: what an operator scripts, also beside a running server.

use super::{log_to_stderr, print};
use crate::clock::Clock;
use crate::config::Values;
use crate::domain::account::{Account, AccountStatus};
use crate::domain::apikey::KeyClass;
use crate::domain::asset::Mode;
use crate::domain::time::Time;
use crate::service::{Error, accounts, keys, open_beside};
use crate::store::Store;
use crate::store::keys::KeyRow;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

/// `coffer account` with its verbs.
pub(super) fn account_command(command: Command) -> Command {
    let id = || {
        Arg::new("account")
            .value_name("ACCOUNT")
            .required(true)
            .help("The account's id")
    };
    let decide =
        |name: &'static str, about: &'static str| Command::new(name).about(about).arg(id());
    let name = Arg::new("name")
        .value_name("NAME")
        .required(true)
        .help("The shop's name");
    command
        .subcommand_required(true)
        .subcommand(
            Command::new("create")
                .about("Creates an account, pending")
                .arg(name),
        )
        .subcommand(Command::new("list").about("Lists every account"))
        .subcommand(decide("approve", "Makes an account active"))
        .subcommand(decide("reject", "Rejects an account"))
        .subcommand(decide("suspend", "Suspends an account"))
}

/// `coffer key` with its verbs.
pub(super) fn key_command(command: Command) -> Command {
    let account = Arg::new("account")
        .value_name("ACCOUNT")
        .required(true)
        .help("The account's id");
    let class = Arg::new("class")
        .long("class")
        .value_parser(KeyClass::TEXTS.to_vec())
        .default_value("secret");
    let mode = Arg::new("mode")
        .long("mode")
        .value_parser(Mode::TEXTS.to_vec())
        .required(true);
    let key = Arg::new("key")
        .value_name("KEY")
        .required(true)
        .help("The key's id");
    let create = Command::new("create").about("Creates a key and shows it, once");
    command
        .subcommand_required(true)
        .subcommand(
            create
                .arg(account)
                .arg(class.help("What it opens"))
                .arg(mode.help("Live or test")),
        )
        .subcommand(Command::new("list").about("Lists every key by its last four characters"))
        .subcommand(Command::new("revoke").about("Revokes a key").arg(key))
}

/// The file, open beside whoever else has it open; only a command that begins something makes one.
pub(super) fn open(
    command: &'static str,
    matches: &ArgMatches,
    create: bool,
) -> Result<Store, Error> {
    // Settings may stand before or after the verb: its matches have both.
    let matches = matches.subcommand().map_or(matches, |(_, of_verb)| of_verb);
    let values = Values::new(command, matches);
    log_to_stderr(
        &values
            .text("log")
            .map_err(Error::Failed)?
            .unwrap_or_default(),
    );
    open_beside(
        values
            .text("file")
            .map_err(Error::Failed)?
            .unwrap_or_default()
            .as_ref(),
        create,
    )
}

/// Runs `coffer account …`.
pub(super) fn account(matches: &ArgMatches) -> Result<(), Error> {
    let create = matches.subcommand_name() == Some("create");
    let store = open("account", matches, create)?;
    let now = Clock::new(0, None).now();
    match matches.subcommand() {
        Some(("create", matches)) => {
            let name = text(matches, "name");
            let account = store.write_and_wait(move |tx| accounts::create(tx, &name, now))?;
            let mut view = account_view(&account);
            if let Some(fields) = view.as_object_mut() {
                fields.insert(
                    "legacySecret".to_owned(),
                    Value::from(account.legacy_secret),
                );
            }
            print(&view.to_string())
        }
        Some(("approve", matches)) => decide(&store, matches, AccountStatus::Active, now),
        Some(("reject", matches)) => decide(&store, matches, AccountStatus::Rejected, now),
        Some(("suspend", matches)) => decide(&store, matches, AccountStatus::Suspended, now),
        Some(_) | None => {
            let all = store.read(accounts::list)?;
            all.iter()
                .try_for_each(|account| print(&account_view(account).to_string()))
        }
    }
}

/// Moves an account to a status.
fn decide(
    store: &Store,
    matches: &ArgMatches,
    status: AccountStatus,
    now: Time,
) -> Result<(), Error> {
    let id = text(matches, "account");
    let account = store.write_and_wait(move |tx| {
        let mut account = accounts::find(tx, &id)?;
        let before = std::mem::replace(&mut account.status, status);
        accounts::save(tx, &account, before, now)?;
        Ok::<_, Error>(account)
    })?;
    print(&account_view(&account).to_string())
}

/// An account as the command line shows it.
fn account_view(account: &Account) -> Value {
    json!({
        "id": account.id, "name": account.name, "status": account.status, "feeBps": account.fee.0,
        "createdAt": account.created_at,
    })
}

/// Runs `coffer key …`.
pub(super) fn key(matches: &ArgMatches) -> Result<(), Error> {
    let store = open("key", matches, false)?;
    let now = Clock::new(0, None).now();
    match matches.subcommand() {
        Some(("create", matches)) => {
            let (account, class, mode) = (
                text(matches, "account"),
                text(matches, "class"),
                text(matches, "mode"),
            );
            let unknown =
                |error: crate::domain::text_enum::UnknownText| Error::Failed(error.to_string());
            let (class, mode): (KeyClass, Mode) = (
                class.parse().map_err(unknown)?,
                mode.parse().map_err(unknown)?,
            );
            let (id, key) = store.write_and_wait(move |tx| {
                let account = accounts::find(tx, &account)?;
                keys::create(tx, account.seq, class, mode, now)
            })?;
            print(&json!({ "id": id, "class": class, "mode": mode, "key": key }).to_string())
        }
        Some(("revoke", matches)) => {
            let id = text(matches, "key");
            store.write_and_wait(move |tx| keys::revoke(tx, &id, now))
        }
        Some(_) | None => {
            let all = store.read(keys::list)?;
            all.iter()
                .try_for_each(|key| print(&key_view(key).to_string()))
        }
    }
}

/// A key as the command line shows it.
fn key_view(key: &KeyRow) -> Value {
    json!({
        "id": key.id, "class": key.class, "mode": key.mode, "last4": key.last4, "createdAt": key.created_at,
        "lastUsedAt": key.last_used_at, "revokedAt": key.revoked_at,
    })
}

/// A required argument.
pub(super) fn text(matches: &ArgMatches, name: &str) -> String {
    matches.get_one::<String>(name).cloned().unwrap_or_default()
}
