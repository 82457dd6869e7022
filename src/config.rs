//! Defines and reads settings.
//!
//! Invariant: a flag takes precedence over the environment, and the environment over the default.

pub mod env_file;
mod keyed;
mod settings;
mod terminal;

pub use keyed::keyed_variable;
pub use settings::{LETS_ENCRYPT, SERVERS, SETTINGS};
pub use terminal::{TerminalFeatures, terminal_features};

use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// A setting of the command line or the environment.
pub struct Setting {
    /// Name of the flag, without dashes. The environment variable is `COFFER_` and this name in upper case.
    pub flag: &'static str,
    /// Placeholder of the value in the help; `None` for a switch.
    pub value: Option<&'static str>,
    /// Value if neither the flag nor the environment variable is set.
    pub default: Option<&'static str>,
    /// Description in the help, one line.
    pub help: &'static str,
    /// Names of the commands that accept this setting.
    pub commands: &'static [&'static str],
}

/// Problem of a setting's value, as text for the operator.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingError(pub String);

/// Environment variable with the path of a file that root has opened as standard input.
pub const PASSED_FILE: &str = "COFFER_PASSED_FILE";

/// Returns the path of the file that root has opened as standard input.
pub fn passed_path() -> Option<PathBuf> {
    std::env::var_os(PASSED_FILE).map(PathBuf::from)
}

/// Returns the settings of a command.
pub fn settings_of_command(command: &str) -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(move |setting| setting.commands.contains(&command))
}

impl Setting {
    /// Returns the name of the environment variable; `None` for settings that only a flag can set.
    ///
    /// Some settings have no variable. An inherited variable could make a sandbox use the file of a server, or change
    /// the output format of a list.
    pub fn env_name(&self) -> Option<String> {
        if self.is_keyed() {
            return self.keyed_env_name();
        }
        let is_of_sandbox = self.commands.contains(&"sandbox");
        let is_flag_only = match self.flag {
            "file" => is_of_sandbox,
            "json" => !is_of_sandbox,
            _ => false,
        };
        (!is_flag_only).then(|| format!("COFFER_{}", keyed::to_env_name(self.flag)))
    }

    /// Returns the setting as an argument of `clap`.
    pub fn to_clap_arg(&self) -> Arg {
        let default =
            self.default.map_or(String::new(), |default| format!(" [default: {default}]"));
        let env = self.env_name().map_or(String::new(), |name| format!(" [env: {name}]"));
        // The argument is global, so that it may follow a subcommand.
        let arg = Arg::new(self.flag)
            .long(self.flag)
            .help(format!("{}{env}{default}", self.help))
            .global(true);
        let arg = match self.value {
            Some("PATH") => arg.value_hint(ValueHint::FilePath),
            _ => arg,
        };
        match self.value {
            Some(value) if self.is_keyed() => arg.value_name(value).action(ArgAction::Append),
            Some(value) => arg.value_name(value).action(ArgAction::Set),
            None => arg.action(ArgAction::SetTrue),
        }
    }
}

/// Values of the settings of one command.
pub struct SettingValues<'a> {
    command: &'static str,
    matches: &'a ArgMatches,
    env: fn(&str) -> Option<OsString>,
}

impl<'a> SettingValues<'a> {
    /// Reads the values from parsed arguments and the environment.
    pub fn new(command: &'static str, matches: &'a ArgMatches) -> SettingValues<'a> {
        SettingValues { command, matches, env: |name| std::env::var_os(name) }
    }

    /// Returns the definition of a setting; `None` if the command does not have it.
    fn setting(&self, flag: &str) -> Option<&'static Setting> {
        settings_of_command(self.command).find(|setting| setting.flag == flag)
    }

    /// Returns the value of a setting; `None` if the setting has no value.
    ///
    /// # Errors
    /// The environment variable is not Unicode.
    pub fn text_value(&self, flag: &str) -> Result<Option<String>, SettingError> {
        let default = self.setting(flag).and_then(|setting| setting.default);
        Ok(self.given_value(flag)?.or_else(|| default.map(str::to_owned)))
    }

    /// Returns the value of a setting as the flag or the environment gives it, without the default.
    ///
    /// # Errors
    /// The environment variable is not Unicode.
    pub fn given_value(&self, flag: &str) -> Result<Option<String>, SettingError> {
        // Clap panics at the name of an argument that the command does not have.
        let Some(setting) = self.setting(flag) else { return Ok(None) };
        match self.matches.get_one::<String>(flag) {
            Some(given) => Ok(Some(given.clone())),
            None => setting.env_name().map_or(Ok(None), |name| self.env_text(&name)),
        }
    }

    fn env_text(&self, name: &str) -> Result<Option<String>, SettingError> {
        let text = (self.env)(name).map(OsString::into_string).transpose();
        text.map_err(|_| SettingError(format!("{name} must be text")))
    }

    /// Returns `true` if the flag or the environment variable of a setting is set.
    pub fn is_given(&self, flag: &str) -> bool {
        let name = self.setting(flag).and_then(Setting::env_name);
        self.matches.get_one::<String>(flag).is_some()
            || name.is_some_and(|name| self.has_env(&name))
    }

    /// Returns `true` if the environment has this variable.
    pub fn has_env(&self, name: &str) -> bool {
        (self.env)(name).is_some()
    }

    /// Returns the value of a switch. In the environment `1` and `true` are on; `0`, `false` and an empty value are
    /// off.
    ///
    /// # Errors
    /// The environment has another value.
    pub fn is_switch_on(&self, flag: &str) -> Result<bool, SettingError> {
        if self.matches.get_flag(flag) {
            return Ok(true);
        }
        let name = self.setting(flag).and_then(Setting::env_name);
        match name.map_or(Ok(None), |name| self.env_text(&name))?.as_deref() {
            None | Some("" | "0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(other) => Err(SettingError(format!(
                "{flag} is {other:?} in the environment; it must be 1 or 0"
            ))),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{SETTINGS, SettingValues, settings_of_command};
    use clap::Command;

    #[test]
    fn flag_overrides_environment_and_environment_overrides_default() {
        let command = || {
            settings_of_command("serve")
                .fold(Command::new("serve"), |command, setting| command.arg(setting.to_clap_arg()))
        };
        let matches = command().get_matches_from(["serve", "--listen", "1.2.3.4:5"]);
        let values = SettingValues {
            command: "serve",
            matches: &matches,
            env: |name| (name == "COFFER_FILE").then(|| "env.db".into()),
        };
        assert_eq!(values.text_value("listen").unwrap().as_deref(), Some("1.2.3.4:5"));
        assert_eq!(values.text_value("file").unwrap().as_deref(), Some("env.db"));
        assert_eq!(values.text_value("rate-limit").unwrap().as_deref(), Some("600"));
        assert_eq!(values.given_value("rate-limit"), Ok(None));
        assert_eq!(values.is_switch_on("exit-with-parent"), Ok(false));
    }

    #[test]
    fn sandbox_ignores_coffer_file_variable() {
        let command = settings_of_command("sandbox")
            .fold(Command::new("sandbox"), |command, setting| command.arg(setting.to_clap_arg()));
        let matches = command.get_matches_from(["sandbox"]);
        let values =
            SettingValues { command: "sandbox", matches: &matches, env: |_| Some("1".into()) };
        assert_eq!(values.text_value("file"), Ok(None));
        assert_eq!(values.is_switch_on("json"), Ok(true));
    }

    #[test]
    fn no_command_has_a_flag_twice() {
        for command in SETTINGS.iter().flat_map(|setting| setting.commands) {
            let mut flags: Vec<_> =
                settings_of_command(command).map(|setting| setting.flag).collect();
            flags.sort_unstable();
            let all = flags.len();
            flags.dedup();
            assert_eq!(flags.len(), all, "{command}");
        }
    }
}
