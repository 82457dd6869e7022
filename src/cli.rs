//! The command line: parses the arguments, runs one command and prints its result.
//!
//! Invariant: standard output receives only the command's result.

mod acme;
mod checks;
mod doctor;
mod installed;
mod invocation;
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

use crate::config::{Setting, settings_of_command};
use crate::http::{self, DocumentKind};
use crate::service::Error;
use clap::{ArgMatches, Command, value_parser};
use clap_complete::Shell;
use invocation::{Invocation, required, switch};
use output::print_text;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use terminal::{Stream, Tone};

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
    let outcome = run_command(&matches, &args);
    progress::remove_progress_line();
    let error = outcome.as_ref().err();
    logging::flush_and_print(error.map(|error| problem_line(&error.to_string())));
    outcome.unwrap_or(ExitCode::FAILURE)
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

struct CommandEntry {
    name: &'static str,
    about: &'static str,
    /// Adds arguments and subcommands to the command, which has its settings.
    define: fn(Command) -> Command,
    run: fn(&Invocation<'_>) -> Result<(), Error>,
}

/// All commands, in the order of the help.
const COMMANDS: &[CommandEntry] = &[
    entry("sandbox", server::run_sandbox).about("Runs a throwaway service for development and CI"),
    entry("serve", server::run_server).about("Runs the service"),
    entry("setup", setup::run_setup)
        .about("Sets up the installed service: domain, HTTPS, chains")
        .define(setup::setup_command),
    entry("account", operator::run_account)
        .about("Creates, lists and decides on accounts")
        .define(operator::account_command),
    entry("key", operator::run_key)
        .about("Creates, lists and revokes API keys")
        .define(operator::key_command),
    entry("user", users::run_user)
        .about("Creates, lists and changes the users who may sign in")
        .define(users::user_command),
    entry("wallet", wallets::run_wallet)
        .about("Adds, lists and retires the public keys that live addresses are derived from")
        .define(wallets::wallet_command),
    entry("pool", pools::run_pool)
        .about("Imports and lists the addresses of chains whose keys derive none")
        .define(pools::pool_command),
    entry("rescan", nodes::run_rescan)
        .about("Has the blocks of a chain read again, by the server that follows it")
        .define(nodes::rescan_command),
    entry("backup", keeping::run_backup)
        .about("Copies the file, also while it is in use, and checks the copy")
        .define(keeping::backup_command),
    entry("restore", restore::run_restore)
        .about("Restores a copy, so that nothing is paid or handed out a second time")
        .define(restore::restore_command),
    entry("audit", keeping::run_audit)
        .about("Checks the whole file, and lists what is wrong in it")
        .define(keeping::audit_command),
    entry("doctor", doctor::run_doctor)
        .about("Lists what is misconfigured, unreachable or stale, and how to fix it")
        .define(doctor::doctor_command),
    entry("openapi", print_document).about("Prints the OpenAPI document").define(openapi_command),
    entry("changelog", |_| print_text(CHANGELOG).map(drop))
        .about("Prints what changed in each version"),
    entry("completions", print_completions)
        .about("Prints what has a shell complete commands and flags")
        .define(completions_command),
];

/// Returns a command without arguments besides its settings.
const fn entry(name: &'static str, run: fn(&Invocation<'_>) -> Result<(), Error>) -> CommandEntry {
    CommandEntry { name, about: "", define: |command| command, run }
}

impl CommandEntry {
    const fn about(self, about: &'static str) -> CommandEntry {
        CommandEntry { about, ..self }
    }

    const fn define(self, define: fn(Command) -> Command) -> CommandEntry {
        CommandEntry { define, ..self }
    }
}

fn root_command() -> Command {
    let commands = COMMANDS.iter().map(|entry| {
        let settings = settings_of_command(entry.name).map(Setting::to_clap_arg);
        (entry.define)(Command::new(entry.name).about(entry.about).args(settings))
    });
    Command::new("coffer")
        .about("A crypto payment service in one binary and one SQLite file")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(commands)
}

/// Runs a command, which may continue in another process, and returns its exit code.
fn run_command(matches: &ArgMatches, args: &[OsString]) -> Result<ExitCode, Error> {
    let given = matches.subcommand();
    let found = given.and_then(|(name, matches)| {
        let entry = COMMANDS.iter().find(|entry| entry.name == name)?;
        Some((entry.run, Invocation::new(entry.name, matches)))
    });
    let (run, invocation) = found.ok_or_else(|| Error::Failed("no such command".to_owned()))?;
    match installed::continue_as_service(&invocation, args)? {
        Some(ended) => Ok(ended),
        None => run(&invocation).map(|()| ExitCode::SUCCESS),
    }
}

fn openapi_command(command: Command) -> Command {
    let sandbox = switch("sandbox", "Print the document of the sandbox's controls instead");
    let merchant = switch("merchant", "Print only the operations that a shop's server calls");
    command.args([sandbox, merchant.conflicts_with("sandbox")])
}

fn print_document(invocation: &Invocation<'_>) -> Result<(), Error> {
    let subject = match (invocation.has("sandbox"), invocation.has("merchant")) {
        (true, _) => DocumentKind::Sandbox,
        (false, true) => DocumentKind::Merchant,
        (false, false) => DocumentKind::Interface,
    };
    let document = http::document("http://127.0.0.1:8080", subject);
    print_text(&format!("{document}\n")).map(drop)
}

fn completions_command(command: Command) -> Command {
    command.arg(required("shell", "SHELL", "The shell").value_parser(value_parser!(Shell)))
}

fn print_completions(invocation: &Invocation<'_>) -> Result<(), Error> {
    let mut script = Vec::new();
    if let Some(shell) = invocation.optional::<Shell>("shell") {
        clap_complete::generate(shell, &mut root_command(), "coffer", &mut script);
    }
    print_text(&String::from_utf8_lossy(&script)).map(drop)
}
