//! Settings that are given once for each of several things, like a node for each chain: `--node bitcoin=URL`.
//!
//! What lives here: reading them from flags and the environment. What does not: the table of settings. What always holds: a
//! value may be a secret, and is in no error; for the same key a flag beats the environment.

use super::{Setting, Values, of_command};
use crate::domain::asset::Asset;
use crate::domain::chain::Chain;
use std::ffi::OsString;

impl Setting {
    /// Is it given once for each of several things? What its value is called says so.
    pub(super) fn is_keyed(&self) -> bool {
        self.key().is_some()
    }

    /// What such a thing is called.
    fn key(&self) -> Option<&'static str> {
        Some(self.value?.split_once('=')?.0)
    }

    /// Its names in the environment in short: what such a thing is called stands for each of them.
    pub(super) fn keyed_env_name(&self) -> Option<String> {
        let key = self.key()?;
        Some(format!("COFFER_{}_{key}", in_environment(self.flag)))
    }
}

/// A word as names in the environment have it.
pub(super) fn in_environment(word: &str) -> String {
    word.to_ascii_uppercase().replace('-', "_")
}

impl Values<'_> {
    /// What was given of a setting for each key, flags first.
    ///
    /// # Errors
    /// A text for a person, without what was given, where it has no key or is no text.
    pub fn keyed(&self, flag: &str) -> Result<Vec<(String, String)>, String> {
        let mut found: Vec<(String, String)> = Vec::new();
        let setting = of_command(self.command).find(|setting| setting.flag == flag);
        let Some((setting, value)) = setting.and_then(|setting| Some((setting, setting.value?)))
        else {
            return Ok(found);
        };
        for given in self.matches.get_many::<String>(flag).into_iter().flatten() {
            let (key, value) = given
                .split_once('=')
                .ok_or_else(|| format!("--{flag} must be {value}"))?;
            found.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        let by_flag = found.len();
        let keys = match setting.key() {
            Some("CHAIN") => Chain::TEXTS.to_vec(),
            Some(_) | None => Asset::ids(),
        };
        for key in keys {
            let name = format!("COFFER_{}_{}", in_environment(flag), in_environment(key));
            let given = (self.env)(&name).map(OsString::into_string).transpose();
            let given = given.map_err(|_| format!("{name} must be text"))?;
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
    use super::{Values, of_command};
    use clap::Command;

    #[test]
    fn a_flag_beats_the_environment_for_its_own_key() {
        let command = || {
            of_command("serve").fold(Command::new("serve"), |command, setting| {
                command.arg(setting.arg())
            })
        };
        let read = |args: &[&str]| {
            let args = std::iter::once(&"serve").chain(args);
            let matches = command().get_matches_from(args);
            let values = Values {
                command: "serve",
                matches: &matches,
                env: |name| match name {
                    "COFFER_NODE_LITECOIN" => Some("http://of-environment".into()),
                    "COFFER_NODE_BASE" => Some("".into()),
                    "COFFER_TOKEN_USDC_BASE" => Some("0x0".into()),
                    _ => None,
                },
            };
            (values.keyed("node"), values.keyed("token"))
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let ours = pair("litecoin", "http://of-environment");
        assert_eq!(
            read(&[]),
            (Ok(vec![ours.clone()]), Ok(vec![pair("USDC-BASE", "0x0")]))
        );
        let (nodes, _) = read(&["--node", "bitcoin=http://a?b=c", "--node=base=http://d"]);
        let flags = [pair("bitcoin", "http://a?b=c"), pair("base", "http://d")];
        assert_eq!(nodes.unwrap(), [&flags[..], &[ours]].concat());
        let (nodes, _) = read(&["--node", "litecoin=http://e"]);
        assert_eq!(nodes.unwrap(), [pair("litecoin", "http://e")]);
        let (nodes, _) = read(&["--node", "http://secret"]);
        assert_eq!(nodes.unwrap_err(), "--node must be CHAIN=URL");
    }
}
