//! A command with its arguments: how arguments are defined, how their values are read, and how the file that the
//! settings name is opened.

use super::logging::log_to_stderr;
use super::progress::{self, show_progress};
use crate::config::{SettingError, SettingValues};
use crate::service::{Error, open_shared};
use crate::store::{FileKind, Store};
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

pub(super) fn verb<const N: usize>(
    name: &'static str,
    about: &'static str,
    args: [Arg; N],
) -> Command {
    Command::new(name).about(about).args(args)
}

/// Returns the definition of a required argument without a flag.
pub(super) fn required(name: &'static str, value_name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value_name).required(true).help(help)
}

pub(super) fn option(
    name: &'static str,
    value_name: &'static str,
    help: impl Into<StyledStr>,
) -> Arg {
    Arg::new(name).long(name).value_name(value_name).help(help)
}

pub(super) fn choice(name: &'static str, texts: &[&'static str], help: &'static str) -> Arg {
    Arg::new(name).long(name).value_parser(texts.to_vec()).help(help)
}

pub(super) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// A command with the values of its arguments and settings.
pub(super) struct Invocation<'a> {
    pub(super) command: &'static str,
    /// Name of the subcommand, or the empty text.
    pub(super) verb: &'a str,
    /// Values of the settings, which the user may write before or after the subcommand.
    pub(super) values: SettingValues<'a>,
    /// Arguments of the subcommand, or of a command without subcommands. They include all settings.
    matches: &'a ArgMatches,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(command: &'static str, matches: &'a ArgMatches) -> Invocation<'a> {
        let (verb, matches) = matches.subcommand().unwrap_or(("", matches));
        Invocation { command, verb, values: SettingValues::new(command, matches), matches }
    }

    pub(super) fn optional<T: Clone + Send + Sync + 'static>(&self, name: &str) -> Option<T> {
        self.matches.get_one::<T>(name).cloned()
    }

    /// Returns the text of a required argument.
    pub(super) fn text(&self, name: &str) -> String {
        self.optional(name).unwrap_or_default()
    }

    /// Parses the text of a required argument, which clap has already accepted.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Error> {
        self.text(name).parse().map_err(|error: T::Err| Error::Failed(error.to_string()))
    }

    /// Returns the number of an argument that is required or has a default.
    pub(super) fn number(&self, name: &str) -> i64 {
        self.optional(name).unwrap_or_default()
    }

    /// Returns the values of a repeatable argument.
    pub(super) fn all<T: Clone + Send + Sync + 'static>(&self, name: &str) -> Vec<T> {
        self.matches.get_many(name).into_iter().flatten().cloned().collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.matches.get_flag(name)
    }

    /// Returns `true` if the result must be one JSON document. In that case, switches the progress line off.
    pub(super) fn wants_json(&self) -> Result<bool, Error> {
        let wants = self.values.is_switch_on("json")?;
        if wants {
            progress::disable_progress();
        }
        Ok(wants)
    }

    /// Returns the path of the database, and starts the log.
    pub(super) fn database_path(&self) -> Result<PathBuf, Error> {
        log_to_stderr(&self.values.text_value("log")?.unwrap_or_default());
        Ok(self.values.text_value("file")?.unwrap_or_default().into())
    }

    pub(super) fn file_kind(&self) -> Result<FileKind, Error> {
        let is_sandbox = self.values.is_switch_on("sandbox")?;
        Ok(if is_sandbox { FileKind::Sandbox } else { FileKind::Production })
    }

    /// Opens the database file, even if other processes use it. If `create` is `true`, creates a missing production
    /// file that the settings name. The default file is not created, because it is in whichever folder the command
    /// runs.
    pub(super) fn open_store(&self, create: bool) -> Result<Store, Error> {
        let kind = self.file_kind()?;
        let path = self.database_path()?;
        let creates = create && kind == FileKind::Production;
        if creates && !self.values.is_given("file") && !path.exists() {
            return Err(Error::Failed(format!(
                "{0} does not exist. Pass --file: `--file {0}` creates it here. Commands of the installed service need root",
                path.display()
            )));
        }
        let changes = self.verb != "list";
        open_shared(&path, changes.then_some(kind), creates, show_progress)
    }
}

impl From<SettingError> for Error {
    fn from(SettingError(problem): SettingError) -> Error {
        Error::Failed(problem)
    }
}
