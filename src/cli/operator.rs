//! `coffer account` and `coffer key`: commands for operators' scripts. The commands also work while a server is
//! running.

use super::logging::log_to_stderr;
use super::output::{print_line, print_list, wants_json};
use super::progress::show_progress;
use crate::clock::Clock;
use crate::config::SettingValues;
use crate::domain::account::change::SERVER_QUOTA_MAX;
use crate::domain::account::{Account, AccountStatus};
use crate::domain::apikey::KeyClass;
use crate::domain::asset::Mode;
use crate::domain::text_enum::UnknownText;
use crate::domain::time::Time;
use crate::service::keys::{self, OVERLAP_SECONDS_MAX};
use crate::service::{Error, accounts, open_shared};
use crate::store::{FileKind, Store};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use std::io::Read;
use std::path::PathBuf;

/// Actor in the audit log for changes from the command line.
pub(super) const ACTOR: &str = "command line";
/// Maximum bytes read from standard input for a key.
const KEY_BYTES_MAX: u64 = 1024;

/// Adds the subcommands of `coffer account`.
pub(super) fn account_command(command: Command) -> Command {
    let id = || Arg::new("account").value_name("ACCOUNT").required(true).help("The account's id");
    let decide =
        |name: &'static str, about: &'static str| Command::new(name).about(about).arg(id());
    let name = Arg::new("name").value_name("NAME").required(true).help("The shop's name");
    let active = Arg::new("active").long("active").action(ArgAction::SetTrue);
    let active = active.help("Activate it at once");
    let quota = Arg::new("quota")
        .value_name("QUOTA")
        .required(true)
        .value_parser(clap::value_parser!(i64).range(0..=SERVER_QUOTA_MAX))
        .help("Number of servers; 0 for none");
    command
        .subcommand_required(true)
        .subcommand(
            Command::new("create").about("Creates an account, pending").arg(name).arg(active),
        )
        .subcommand(Command::new("list").about("Lists every account"))
        .subcommand(decide("approve", "Activates an account"))
        .subcommand(decide("reject", "Rejects an account"))
        .subcommand(decide("suspend", "Suspends an account"))
        .subcommand(decide("reactivate", "Reactivates a suspended account"))
        .subcommand(decide("servers", "Sets an account's quota of servers").arg(quota))
}

/// Adds the subcommands of `coffer key`.
pub(super) fn key_command(command: Command) -> Command {
    let account = Arg::new("account").value_name("ACCOUNT").required(true).help("The account's id");
    let class = Arg::new("class")
        .long("class")
        .value_parser(KeyClass::TEXTS.to_vec())
        .default_value("secret");
    let mode = Arg::new("mode").long("mode").value_parser(Mode::TEXTS.to_vec()).required(true);
    let key = || Arg::new("key").value_name("KEY").required(true).help("The key's id");
    let overlap = Arg::new("overlap")
        .long("overlap")
        .value_name("SECONDS")
        .value_parser(clap::value_parser!(i64).range(0..=OVERLAP_SECONDS_MAX))
        .default_value("86400")
        .help("Time for which the old key stays valid");
    let create = Command::new("create").about("Creates a key and prints it once");
    command
        .subcommand_required(true)
        .subcommand(
            create
                .arg(account.clone())
                .arg(class.help("Class of the key"))
                .arg(mode.clone().help("Live or test")),
        )
        .subcommand(
            Command::new("import")
                .about("Imports a legacy key from standard input")
                .arg(account)
                .arg(mode.help("Live or test")),
        )
        .subcommand(Command::new("list").about("Lists every key by its last four characters"))
        .subcommand(Command::new("revoke").about("Revokes a key").arg(key()))
        .subcommand(
            Command::new("roll")
                .about("Creates the successor of a key and prints it once")
                .arg(key())
                .arg(overlap),
        )
}

/// Opens the database file, even if other processes use it. If `create` is `true`, creates a missing production file
/// that the settings name. The default file is not created, because it is in whichever folder the command runs.
pub(super) fn open_store(
    command: &'static str,
    matches: &ArgMatches,
    create: bool,
) -> Result<Store, Error> {
    let changes = matches.subcommand_name() != Some("list");
    let kind = file_kind(command, matches)?;
    // The user may write settings before or after the subcommand. The matches of the subcommand include all of them.
    let matches = matches.subcommand().map_or(matches, |(_, of_verb)| of_verb);
    let values = SettingValues::new(command, matches);
    log_to_stderr(&values.text_value("log").map_err(Error::Failed)?.unwrap_or_default());
    let path = PathBuf::from(values.text_value("file").map_err(Error::Failed)?.unwrap_or_default());
    let creates = create && kind == FileKind::Production;
    if creates && !values.is_given("file") && !path.exists() {
        return Err(Error::Failed(format!(
            "{0} does not exist. Pass --file: `--file {0}` creates it here. Commands of the installed service need root",
            path.display()
        )));
    }
    open_shared(&path, changes.then_some(kind), creates, show_progress)
}

/// Returns the kind of file that a command changes.
fn file_kind(command: &'static str, matches: &ArgMatches) -> Result<FileKind, Error> {
    let matches = matches.subcommand().map_or(matches, |(_, of_verb)| of_verb);
    let is_sandbox = SettingValues::new(command, matches).is_switch_on("sandbox");
    Ok(if is_sandbox.map_err(Error::Failed)? { FileKind::Sandbox } else { FileKind::Production })
}

/// Runs `coffer account`.
pub(super) fn run_account(matches: &ArgMatches) -> Result<(), Error> {
    let create = matches.subcommand_name() == Some("create");
    let as_json = wants_json("account", matches)?;
    let store = open_store("account", matches, create)?;
    let now = Clock::new(0, None).now();
    match matches.subcommand() {
        Some(("create", matches)) => {
            let (name, is_active) = (text_argument(matches, "name"), matches.get_flag("active"));
            let account = store.write_and_wait(move |tx| {
                let mut account = accounts::create(tx, &name, now)?;
                if is_active {
                    accounts::change_status(tx, ACTOR, &mut account, AccountStatus::Active, now)?;
                }
                Ok::<_, Error>(account)
            })?;
            let mut view = account_view(&account);
            if let Some(fields) = view.as_object_mut() {
                fields.insert("legacySecret".to_owned(), Value::from(account.legacy_secret));
            }
            print_line(&view.to_string())
        }
        Some(("approve" | "reactivate", matches)) => {
            set_account_status(&store, matches, AccountStatus::Active, now)
        }
        Some(("reject", matches)) => {
            set_account_status(&store, matches, AccountStatus::Rejected, now)
        }
        Some(("servers", matches)) => set_server_quota(&store, matches, now),
        Some(("suspend", matches)) => {
            set_account_status(&store, matches, AccountStatus::Suspended, now)
        }
        Some(_) | None => {
            let all = store.read(accounts::list)?;
            let shown = |account| Ok(account_view(account).to_string());
            print_list(all.iter().map(shown), as_json)
        }
    }
}

/// Changes the status of an account. An account that has the status already stays as it is.
fn set_account_status(
    store: &Store,
    matches: &ArgMatches,
    status: AccountStatus,
    now: Time,
) -> Result<(), Error> {
    let id = text_argument(matches, "account");
    let account = store.write_and_wait(move |tx| {
        let mut account = accounts::find(tx, &id)?;
        if account.status != status {
            accounts::change_status(tx, ACTOR, &mut account, status, now)?;
        }
        Ok::<_, Error>(account)
    })?;
    print_line(&account_view(&account).to_string())
}

/// Sets an account's quota of servers.
fn set_server_quota(store: &Store, matches: &ArgMatches, now: Time) -> Result<(), Error> {
    let id = text_argument(matches, "account");
    let quota = matches.get_one::<i64>("quota").copied().unwrap_or_default();
    let account = store.write_and_wait(move |tx| {
        let mut account = accounts::find(tx, &id)?;
        accounts::set_server_quota(tx, ACTOR, &mut account, quota, now)?;
        Ok::<_, Error>(account)
    })?;
    print_line(&account_view(&account).to_string())
}

/// Renders an account as JSON.
fn account_view(account: &Account) -> Value {
    json!({
        "id": account.id, "name": account.name, "status": account.status, "feeBps": account.fee.0,
        "serverQuota": account.server_quota, "createdAt": account.created_at,
    })
}

/// Runs `coffer key`.
pub(super) fn run_key(matches: &ArgMatches) -> Result<(), Error> {
    let as_json = wants_json("key", matches)?;
    let (store, kind) = (open_store("key", matches, false)?, file_kind("key", matches)?);
    let now = Clock::new(0, None).now();
    match matches.subcommand() {
        Some(("create", matches)) => {
            let (account, class, mode) = (
                text_argument(matches, "account"),
                text_argument(matches, "class"),
                mode_argument(matches)?,
            );
            let class: KeyClass = class.parse().map_err(unknown_text_error)?;
            let made = store.write_and_wait(move |tx| {
                let account = accounts::find(tx, &account)?;
                keys::create(tx, ACTOR, account.seq, class, mode, now)
            })?;
            print_line(&new_key_view(&made).to_string())
        }
        Some(("import", matches)) => {
            let (account, mode, key) =
                (text_argument(matches, "account"), mode_argument(matches)?, read_key()?);
            let id = store.write_and_wait(move |tx| {
                let account = accounts::find(tx, &account)?;
                keys::import(tx, kind, ACTOR, account.seq, mode, &key, now)
            })?;
            print_line(&json!({ "id": id, "class": KeyClass::Legacy, "mode": mode }).to_string())
        }
        Some(("roll", matches)) => {
            let id = text_argument(matches, "key");
            let overlap = matches.get_one::<i64>("overlap").copied().unwrap_or_default();
            let made = store.write_and_wait(move |tx| {
                let old = keys::find_valid(tx, None, &id, now)?;
                keys::roll(tx, ACTOR, &old, overlap, now)
            })?;
            print_line(&new_key_view(&made).to_string())
        }
        Some(("revoke", matches)) => {
            let id = text_argument(matches, "key");
            let revoked = json!({ "id": id }).to_string();
            store.write_and_wait(move |tx| keys::revoke(tx, ACTOR, None, &id, now))?;
            if as_json { print_line(&revoked) } else { Ok(()) }
        }
        Some(_) | None => {
            let all = store.read(keys::list)?;
            let shown = |key| {
                let shown = serde_json::to_string(&keys::key_view(key));
                shown.map_err(|error| Error::Failed(error.to_string()))
            };
            print_list(all.iter().map(shown), as_json)
        }
    }
}

/// Renders a new key with its secret text as JSON.
fn new_key_view(made: &keys::CreatedKey) -> Value {
    json!({ "id": made.id, "class": made.class, "mode": made.mode, "key": made.text })
}

/// Returns the mode argument.
fn mode_argument(matches: &ArgMatches) -> Result<Mode, Error> {
    text_argument(matches, "mode").parse().map_err(unknown_text_error)
}

/// Converts a parse error. Such an error should not occur, because clap validates the argument first.
fn unknown_text_error(error: UnknownText) -> Error {
    Error::Failed(error.to_string())
}

/// Reads a key from standard input, because arguments are visible to every user of the machine.
fn read_key() -> Result<String, Error> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(KEY_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Error::Failed(format!("standard input: {error}")))?;
    Ok(text.trim().to_owned())
}

/// Returns the value of a required argument.
pub(super) fn text_argument(matches: &ArgMatches, name: &str) -> String {
    matches.get_one::<String>(name).cloned().unwrap_or_default()
}
