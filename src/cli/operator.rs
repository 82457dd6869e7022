//! `coffer account` and `coffer key`: commands for operators' scripts. The commands also work while a server is
//! running.

use super::invocation::{Invocation, choice, option, required, switch, verb};
use super::output::{print_line, print_list};
use crate::clock::Clock;
use crate::domain::account::change::SERVER_QUOTA_MAX;
use crate::domain::{Account, AccountStatus, KeyClass, Mode};
use crate::service::keys::{self, OVERLAP_SECONDS_MAX};
use crate::service::{Error, accounts};
use crate::store::{Store, Tx};
use clap::{Arg, Command};
use serde_json::{Value, json};
use std::io::Read;

/// Actor in the audit log for changes from the command line.
pub(super) const ACTOR: &str = "command line";
/// Maximum bytes read from standard input for a key.
const KEY_BYTES_MAX: u64 = 1024;

fn account_argument() -> Arg {
    required("account", "ACCOUNT", "The account's id")
}

pub(super) fn account_command(command: Command) -> Command {
    let name = required("name", "NAME", "The shop's name");
    let active = switch("active", "Activate it at once");
    let decide = |name, about| verb(name, about, [account_argument()]);
    let quota = required("quota", "QUOTA", "Number of servers; 0 for none")
        .value_parser(clap::value_parser!(i64).range(0..=SERVER_QUOTA_MAX));
    command.subcommand_required(true).subcommands([
        verb("create", "Creates an account, pending", [name, active]),
        verb("list", "Lists every account", []),
        decide("approve", "Activates an account"),
        decide("reject", "Rejects an account"),
        decide("suspend", "Suspends an account"),
        decide("reactivate", "Reactivates a suspended account"),
        decide("servers", "Sets an account's quota of servers").arg(quota),
    ])
}

pub(super) fn key_command(command: Command) -> Command {
    let class = choice("class", KeyClass::TEXTS, "Class of the key").default_value("secret");
    let mode = || choice("mode", Mode::TEXTS, "Live or test").required(true);
    let key = || required("key", "KEY", "The key's id");
    let overlap = option("overlap", "SECONDS", "Time for which the old key stays valid")
        .value_parser(clap::value_parser!(i64).range(0..=OVERLAP_SECONDS_MAX))
        .default_value("86400");
    let about_import = "Imports a legacy key from standard input";
    command.subcommand_required(true).subcommands([
        verb("create", "Creates a key and prints it once", [account_argument(), class, mode()]),
        verb("import", about_import, [account_argument(), mode()]),
        verb("list", "Lists every key by its last four characters", []),
        verb("revoke", "Revokes a key", [key()]),
        verb("roll", "Creates the successor of a key and prints it once", [key(), overlap]),
    ])
}

pub(super) fn run_account(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let store = invocation.open_store(invocation.verb == "create")?;
    let now = Clock::new(0, None).now();
    let set_status = |status| {
        change_account(&store, invocation, move |tx, account| match account.status == status {
            // An account that has the status already stays as it is.
            true => Ok(()),
            false => accounts::change_status(tx, ACTOR, account, status, now),
        })
    };
    match invocation.verb {
        "create" => {
            let (name, is_active) = (invocation.text("name"), invocation.has("active"));
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
        "approve" | "reactivate" => set_status(AccountStatus::Active),
        "reject" => set_status(AccountStatus::Rejected),
        "suspend" => set_status(AccountStatus::Suspended),
        "servers" => {
            let quota = invocation.number("quota");
            change_account(&store, invocation, move |tx, account| {
                accounts::set_server_quota(tx, ACTOR, account, quota, now)
            })
        }
        _ => {
            let all = store.read(accounts::list)?;
            let shown = |account| Ok(account_view(account).to_string());
            print_list(all.iter().map(shown), as_json)
        }
    }
}

fn change_account(
    store: &Store,
    invocation: &Invocation<'_>,
    change: impl FnOnce(&Tx<'_>, &mut Account) -> Result<(), Error> + Send + 'static,
) -> Result<(), Error> {
    let id = invocation.text("account");
    let account = store.write_and_wait(move |tx| {
        let mut account = accounts::find(tx, &id)?;
        change(tx, &mut account)?;
        Ok::<_, Error>(account)
    })?;
    print_line(&account_view(&account).to_string())
}

fn account_view(account: &Account) -> Value {
    json!({
        "id": account.id, "name": account.name, "status": account.status, "feeBps": account.fee.0,
        "serverQuota": account.server_quota, "createdAt": account.created_at,
    })
}

pub(super) fn run_key(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let (store, kind) = (invocation.open_store(false)?, invocation.file_kind()?);
    let now = Clock::new(0, None).now();
    match invocation.verb {
        "create" => {
            let account = invocation.text("account");
            let (class, mode) = (invocation.parsed("class")?, invocation.parsed("mode")?);
            let made = store.write_and_wait(move |tx| {
                let account = accounts::find(tx, &account)?;
                keys::create(tx, ACTOR, account.seq, class, mode, now)
            })?;
            print_line(&new_key_view(&made).to_string())
        }
        "import" => {
            let (account, mode) = (invocation.text("account"), invocation.parsed("mode")?);
            let key = read_key()?;
            let id = store.write_and_wait(move |tx| {
                let account = accounts::find(tx, &account)?;
                keys::import(tx, kind, ACTOR, account.seq, mode, &key, now)
            })?;
            print_line(&json!({ "id": id, "class": KeyClass::Legacy, "mode": mode }).to_string())
        }
        "roll" => {
            let id = invocation.text("key");
            let overlap = invocation.number("overlap");
            let made = store.write_and_wait(move |tx| {
                let old = keys::find_valid(tx, None, &id, now)?;
                keys::roll(tx, ACTOR, &old, overlap, now)
            })?;
            print_line(&new_key_view(&made).to_string())
        }
        "revoke" => {
            let id = invocation.text("key");
            let revoked = json!({ "id": id }).to_string();
            store.write_and_wait(move |tx| keys::revoke(tx, ACTOR, None, &id, now))?;
            if as_json { print_line(&revoked) } else { Ok(()) }
        }
        _ => {
            let all = store.read(keys::list)?;
            let shown = |key| {
                let shown = serde_json::to_string(&keys::key_view(key));
                shown.map_err(|error| Error::Failed(error.to_string()))
            };
            print_list(all.iter().map(shown), as_json)
        }
    }
}

fn new_key_view(made: &keys::CreatedKey) -> Value {
    json!({ "id": made.id, "class": made.class, "mode": made.mode, "key": made.text })
}

/// Reads a key from standard input, because arguments are visible to every user of the machine.
fn read_key() -> Result<String, Error> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(KEY_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Error::Failed(format!("standard input: {error}")))?;
    Ok(text.trim().to_owned())
}
