//! The command line: parses the arguments, runs one command and prints its result.
//!
//! Invariant: standard output receives only the command's result.

mod acme;
mod checks;
mod doctor;
mod installed;
mod keeping;
mod live_check;
mod logging;
mod mail;
mod named_file;
mod nodes;
mod operator;
mod output;
mod pools;
mod progress;
mod rates;
mod restore;
mod server;
mod setup;
mod signer;
mod size;
mod terminal;
mod users;
mod wallets;

use crate::config::settings_of_command;
use crate::http::{self, DocumentKind};
use crate::service::Error;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use output::print_text;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use terminal::{Stream, Tone};

/// Text of `coffer changelog`, which is also a guide.
const CHANGELOG: &str = include_str!("web/guides/changelog.md");

/// Runs the command that the arguments name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(refused) = wallets::find_private_argument(&args) {
        logging::flush_and_print(Some(problem_line(&refused.to_string())));
        return ExitCode::from(2);
    }
    let matches = match root_command().try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(error) => return print_argument_error(&error),
    };
    let outcome = match installed::continue_as_service(&matches, &args) {
        Ok(Some(ended)) => return ended,
        Ok(None) => run_command(&matches),
        Err(error) => Err(error),
    };
    progress::remove_progress_line();
    let error = outcome.as_ref().err();
    logging::flush_and_print(error.map(|error| problem_line(&error.to_string())));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns the line that tells the user why a command failed.
fn problem_line(why: &str) -> String {
    format!("{} {why}", Stream::Err.paint(Tone::Bad, "coffer:"))
}

/// Prints help or an argument error. Help goes to standard output with exit code 0. An error goes to standard error
/// with exit code 2.
fn print_argument_error(said: &clap::Error) -> ExitCode {
    let text = |stream: Stream| match stream.has_colours() {
        true => said.render().ansi().to_string(),
        false => said.render().to_string(),
    };
    // A failed write of the message is ignored, because the exit code also reports the problem.
    if said.use_stderr() {
        let _ = write!(std::io::stderr(), "{}", text(Stream::Err));
        return ExitCode::from(2);
    }
    let _ = print_text(&text(Stream::Out));
    ExitCode::SUCCESS
}

/// Returns the definition of all commands with their settings.
fn root_command() -> Command {
    let with_settings = |name: &'static str, about: &'static str| {
        settings_of_command(name).fold(Command::new(name).about(about), |command, setting| {
            command.arg(setting.to_clap_arg())
        })
    };
    Command::new("coffer")
        .about("A crypto payment service in one binary and one SQLite file")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(with_settings("sandbox", "Runs a throwaway service for development and CI"))
        .subcommand(with_settings("serve", "Runs the service"))
        .subcommand(setup::setup_command(
            Command::new("setup").about("Sets up the installed service: domain, HTTPS, chains"),
        ))
        .subcommand(operator::account_command(with_settings(
            "account",
            "Creates, lists and decides on accounts",
        )))
        .subcommand(operator::key_command(with_settings(
            "key",
            "Creates, lists and revokes API keys",
        )))
        .subcommand(users::user_command(with_settings(
            "user",
            "Creates, lists and changes the users who may sign in",
        )))
        .subcommand(wallets::wallet_command(with_settings(
            "wallet",
            "Adds, lists and retires the public keys that live addresses are derived from",
        )))
        .subcommand(pools::pool_command(with_settings(
            "pool",
            "Imports and lists the addresses of chains whose keys derive none",
        )))
        .subcommand(nodes::rescan_command(with_settings(
            "rescan",
            "Has the blocks of a chain read again, by the server that follows it",
        )))
        .subcommand(keeping::backup_command(with_settings(
            "backup",
            "Copies the file, also while it is in use, and checks the copy",
        )))
        .subcommand(restore::restore_command(with_settings(
            "restore",
            "Restores a copy, so that nothing is paid or handed out a second time",
        )))
        .subcommand(keeping::audit_command(with_settings(
            "audit",
            "Checks the whole file, and lists what is wrong in it",
        )))
        .subcommand(doctor::doctor_command(with_settings(
            "doctor",
            "Lists what is misconfigured, unreachable or stale, and how to fix it",
        )))
        .subcommand(openapi_command())
        .subcommand(Command::new("changelog").about("Prints what changed in each version"))
        .subcommand(completions_command())
}

/// Returns the definition of `coffer openapi`.
fn openapi_command() -> Command {
    Command::new("openapi")
        .about("Prints the OpenAPI document")
        .arg(
            Arg::new("sandbox")
                .long("sandbox")
                .help("Print the document of the sandbox's controls instead")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("merchant")
                .long("merchant")
                .help("Print only the operations that a shop's server calls")
                .conflicts_with("sandbox")
                .action(ArgAction::SetTrue),
        )
}

/// Returns the definition of `coffer completions`.
fn completions_command() -> Command {
    let shell = Arg::new("shell").value_name("SHELL").required(true);
    Command::new("completions")
        .about("Prints what has a shell complete commands and flags")
        .arg(shell.value_parser(value_parser!(Shell)).help("The shell"))
}

fn run_command(matches: &ArgMatches) -> Result<(), Error> {
    match matches.subcommand() {
        Some(("sandbox", matches)) => server::run_sandbox(matches),
        Some(("serve", matches)) => server::run_server(matches),
        Some(("setup", matches)) => setup::run_setup(matches),
        Some(("account", matches)) => operator::run_account(matches),
        Some(("key", matches)) => operator::run_key(matches),
        Some(("user", matches)) => users::run_user(matches),
        Some(("wallet", matches)) => wallets::run_wallet(matches),
        Some(("pool", matches)) => pools::run_pool(matches),
        Some(("rescan", matches)) => nodes::run_rescan(matches),
        Some(("backup", matches)) => keeping::run_backup(matches),
        Some(("restore", matches)) => restore::run_restore(matches),
        Some(("audit", matches)) => keeping::run_audit(matches),
        Some(("doctor", matches)) => doctor::run_doctor(matches),
        Some(("openapi", matches)) => {
            let subject = match (matches.get_flag("sandbox"), matches.get_flag("merchant")) {
                (true, _) => DocumentKind::Sandbox,
                (false, true) => DocumentKind::Merchant,
                (false, false) => DocumentKind::Interface,
            };
            let document = http::document("http://127.0.0.1:8080", subject);
            print_text(&format!("{document}\n")).map(drop)
        }
        Some(("changelog", _)) => print_text(CHANGELOG).map(drop),
        Some(("completions", matches)) => print_completions(matches),
        Some(_) | None => Err(Error::Failed("no such command".to_owned())),
    }
}

/// Prints the completion script for one shell.
fn print_completions(matches: &ArgMatches) -> Result<(), Error> {
    let mut script = Vec::new();
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut root_command(), "coffer", &mut script);
    }
    print_text(&String::from_utf8_lossy(&script)).map(drop)
}
