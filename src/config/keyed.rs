//! Reads settings with a key, such as `--node bitcoin=URL`.
//!
//! Invariant: values may be secrets, and no error contains one. For the same key, a flag takes precedence over the
//! environment.

use super::{Setting, SettingError, SettingValues};
use crate::domain::Asset;
use crate::domain::chain::Chain;

impl Setting {
    /// Returns `true` if the value of the setting has the form `KEY=value`.
    pub(super) fn is_keyed(&self) -> bool {
        self.key_placeholder().is_some()
    }

    /// Returns the placeholder of the key, for example `CHAIN`.
    fn key_placeholder(&self) -> Option<&'static str> {
        Some(self.value?.split_once('=')?.0)
    }

    /// Returns the pattern of the environment variables of a `KEY=value` flag, with a placeholder for the key.
    pub(super) fn keyed_env_name(&self) -> Option<String> {
        let key = self.key_placeholder()?;
        Some(format!("COFFER_{}_{key}", to_env_name(self.flag)))
    }
}

/// Converts a flag or key to its form in the names of environment variables.
pub(super) fn to_env_name(word: &str) -> String {
    word.to_ascii_uppercase().replace('-', "_")
}

/// Returns the environment variable of a `KEY=value` flag for one key, for example `COFFER_NODE_LITECOIN`.
pub fn keyed_variable(flag: &str, key: &str) -> String {
    format!("COFFER_{}_{}", to_env_name(flag), to_env_name(key))
}

impl SettingValues<'_> {
    /// Returns the values of a setting with their keys, flags first.
    ///
    /// # Errors
    /// There is no key, or the value is not Unicode.
    pub fn keyed_values(&self, flag: &str) -> Result<Vec<(String, String)>, SettingError> {
        let mut found: Vec<(String, String)> = Vec::new();
        let setting = self.setting(flag).and_then(|setting| Some((setting, setting.value?)));
        let Some((setting, value)) = setting else { return Ok(found) };
        for given in self.matches.get_many::<String>(flag).into_iter().flatten() {
            let (key, value) = given
                .split_once('=')
                .ok_or_else(|| SettingError(format!("--{flag} must be {value}")))?;
            found.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        let by_flag = found.len();
        let keys = match setting.key_placeholder() {
            Some("CHAIN") => Chain::TEXTS.to_vec(),
            Some(_) | None => Asset::ids(),
        };
        for key in keys {
            let name = keyed_variable(flag, key);
            let given = self.env_text(&name)?;
            let mut flags = found.iter().take(by_flag);
            if flags.all(|(other, _)| other != key)
                && let Some(value) = given.filter(|value| !value.is_empty())
            {
                found.push((key.to_owned(), value.trim().to_owned()));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::SettingValues;
    use crate::config::settings_of_command;
    use clap::Command;

    #[test]
    fn flag_overrides_the_environment_for_its_key() {
        let command = || {
            settings_of_command("serve")
                .fold(Command::new("serve"), |command, setting| command.arg(setting.to_clap_arg()))
        };
        let read = |args: &[&str]| {
            let args = std::iter::once(&"serve").chain(args);
            let matches = command().get_matches_from(args);
            let values = SettingValues {
                command: "serve",
                matches: &matches,
                env: |name| match name {
                    "COFFER_NODE_LITECOIN" => Some("http://of-environment".into()),
                    "COFFER_NODE_BASE" => Some("".into()),
                    "COFFER_TOKEN_USDC_BASE" => Some("0x0".into()),
                    _ => None,
                },
            };
            (values.keyed_values("node"), values.keyed_values("token"))
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let ours = pair("litecoin", "http://of-environment");
        assert_eq!(read(&[]), (Ok(vec![ours.clone()]), Ok(vec![pair("USDC-BASE", "0x0")])));
        let (nodes, _) = read(&["--node", "bitcoin=http://a?b=c", "--node=base=http://d"]);
        let flags = [pair("bitcoin", "http://a?b=c"), pair("base", "http://d")];
        assert_eq!(nodes.unwrap(), [&flags[..], &[ours]].concat());
        let (nodes, _) = read(&["--node", "litecoin=http://e"]);
        assert_eq!(nodes.unwrap(), [pair("litecoin", "http://e")]);
        let (nodes, _) = read(&["--node", "http://secret"]);
        assert_eq!(nodes.unwrap_err().0, "--node must be CHAIN=URL");
    }
}
