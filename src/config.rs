//! The one table of settings, and where their values come from.
//!
//! What lives here: every flag with its environment name, default and help, and reading them. What does not: what a
//! setting means to the program. What always holds: a flag beats the environment, the environment beats the default.

mod keyed;

use clap::{Arg, ArgAction, ArgMatches};
use std::ffi::OsString;

/// A setting.
pub struct Setting {
    /// The flag, without dashes; `COFFER_` and its upper case is its name in the environment.
    pub flag: &'static str,
    /// What its value is called in the help; nothing: a switch.
    pub value: Option<&'static str>,
    /// What it is where nobody says.
    pub default: Option<&'static str>,
    /// One line for the help.
    pub help: &'static str,
    /// The commands that have it.
    pub commands: &'static [&'static str],
}

/// The commands that run a server.
const SERVERS: &[&str] = &["serve", "sandbox"];

/// Every setting.
pub static SETTINGS: &[Setting] = &[
    Setting {
        flag: "listen",
        value: Some("ADDR"),
        default: Some("127.0.0.1:8080"),
        help: "Address to listen on; port 0 picks a free one",
        commands: &["serve", "sandbox", "doctor"],
    },
    Setting {
        flag: "metrics-listen",
        value: Some("ADDR"),
        default: None,
        help: "Address that serves /metrics and nothing else; it is served there only",
        commands: &["serve", "sandbox", "doctor"],
    },
    Setting {
        flag: "metrics-token",
        value: Some("TOKEN"),
        default: None,
        help: "Token that /metrics requires, as Authorization: Bearer; best given in the environment",
        commands: &["serve", "sandbox", "doctor"],
    },
    Setting {
        flag: "public-url",
        value: Some("URL"),
        default: None,
        help: "Beginning of every url in answers; the listening address if not given",
        commands: &["serve", "sandbox", "doctor"],
    },
    Setting {
        flag: "file",
        value: Some("PATH"),
        default: Some("coffer.db"),
        help: "The file that holds everything; made on first use",
        commands: &[
            "serve", "account", "key", "user", "wallet", "rescan", "backup", "restore", "audit",
            "doctor",
        ],
    },
    Setting {
        flag: "file",
        value: Some("PATH"),
        default: None,
        help: "Keep everything in this file; a temporary one is removed at exit if not given",
        commands: &["sandbox"],
    },
    Setting {
        flag: "sandbox",
        value: None,
        default: None,
        help: "Allow it to change a sandbox's file",
        commands: &["account", "key", "user", "wallet"],
    },
    Setting {
        flag: "log",
        value: Some("FILTER"),
        default: Some("info"),
        help: "What is logged to standard error: error, warn, info, debug or trace",
        commands: &[
            "serve", "sandbox", "account", "key", "user", "wallet", "rescan", "backup", "restore",
            "audit", "doctor",
        ],
    },
    Setting {
        flag: "rate-limit",
        value: Some("N"),
        default: Some("600"),
        help: "Invoices a key may create in a minute, 100 of them at once; 0 for no limit",
        commands: &["serve"],
    },
    Setting {
        flag: "trusted-proxy",
        value: Some("CIDR"),
        default: None,
        help: "Proxies whose X-Forwarded-For says who the client is; several with commas",
        commands: SERVERS,
    },
    Setting {
        flag: "connections-max",
        value: Some("N"),
        default: Some("4096"),
        help: "Connections at once, at least 16; one client has a quarter of them at most",
        commands: &["serve", "sandbox", "doctor"],
    },
    Setting {
        flag: "webhook-allow",
        value: Some("CIDR"),
        default: None,
        help: "Ranges that webhooks may reach, http too, although not public; several with commas",
        commands: SERVERS,
    },
    Setting {
        flag: "rates",
        value: Some("SOURCES"),
        default: Some("kraken,coinbase,binance,coingecko"),
        help: "Who is asked what coins cost, at least two, each with =URL of a mirror if need be; or fixed:FILE",
        commands: &["serve", "doctor"],
    },
    Setting {
        flag: "node",
        value: Some("CHAIN=URL"),
        default: None,
        help: "Node that a chain is followed through, repeated for each; several urls with commas, best in the environment",
        commands: &["serve", "doctor"],
    },
    Setting {
        flag: "node-header",
        value: Some("CHAIN=HEADER"),
        default: None,
        help: "Header that a chain's node is sent, like 'base=X-Api-Key: 123'; best given in the environment",
        commands: &["serve", "doctor"],
    },
    Setting {
        flag: "test-networks",
        value: None,
        default: None,
        help: "Take nodes of test networks, whose coins are worth nothing",
        commands: &["serve", "doctor"],
    },
    Setting {
        flag: "token",
        value: Some("COIN=CONTRACT"),
        default: None,
        help: "Contract of a token, like USDC-BASE, on a test network",
        commands: &["serve", "doctor"],
    },
    Setting {
        flag: "password-file",
        value: Some("PATH"),
        default: None,
        help: "Where a user's password is read from; standard input if not given",
        commands: &["user"],
    },
    Setting {
        flag: "server-cpu-max",
        value: Some("N"),
        default: Some("32"),
        help: "Most processors of a server that a reseller orders",
        commands: SERVERS,
    },
    Setting {
        flag: "server-ram-mb-max",
        value: Some("N"),
        default: Some("131072"),
        help: "Most memory of a server that a reseller orders, in MB; at least 256",
        commands: SERVERS,
    },
    Setting {
        flag: "server-disk-gb-max",
        value: Some("N"),
        default: Some("2048"),
        help: "Largest disk of a server that a reseller orders, in GB",
        commands: SERVERS,
    },
    Setting {
        flag: "provisioner",
        value: Some("COMMAND"),
        default: None,
        help: "Program that makes and removes ordered servers: its path, or a JSON array of path and arguments",
        commands: &["serve"],
    },
    Setting {
        flag: "signer",
        value: Some("COMMAND"),
        default: None,
        help: "Program that sends approved payouts and refunds: its path, or a JSON array of path and arguments",
        commands: &["serve"],
    },
    Setting {
        flag: "command-timeout",
        value: Some("SPAN"),
        default: Some("5m"),
        help: "How long a provisioner or signer may take, like 90s; past that its outcome is unknown",
        commands: &["serve"],
    },
    Setting {
        flag: "allow-remote",
        value: None,
        default: None,
        help: "Allow the sandbox to listen beyond loopback",
        commands: &["sandbox"],
    },
    Setting {
        flag: "allow-host",
        value: Some("NAME"),
        default: None,
        help: "Further host names that the sandbox answers to; .NAME for those under it too; several with commas",
        commands: &["sandbox"],
    },
    Setting {
        flag: "json",
        value: None,
        default: None,
        help: "Print the ready line as one JSON object with url, file and every key",
        commands: &["sandbox"],
    },
    Setting {
        flag: "ready-file",
        value: Some("PATH"),
        default: None,
        help: "Write the ready line to this file too",
        commands: SERVERS,
    },
    Setting {
        flag: "exit-with-parent",
        value: None,
        default: None,
        help: "End when standard input closes",
        commands: SERVERS,
    },
];

/// The settings of one command.
pub fn of_command(command: &str) -> impl Iterator<Item = &'static Setting> {
    SETTINGS
        .iter()
        .filter(move |setting| setting.commands.contains(&command))
}

impl Setting {
    /// The name in the environment; nothing where the environment is not asked: a sandbox that takes over the file of
    /// a configured server would be a surprise.
    pub fn env_name(&self) -> Option<String> {
        if self.is_keyed() {
            return self.keyed_env_name();
        }
        let is_file_of_sandbox = self.flag == "file" && self.commands.contains(&"sandbox");
        (!is_file_of_sandbox).then(|| format!("COFFER_{}", keyed::in_environment(self.flag)))
    }

    /// The argument for the command line.
    pub fn arg(&self) -> Arg {
        let default = self
            .default
            .map_or(String::new(), |default| format!(" [default: {default}]"));
        let env = self
            .env_name()
            .map_or(String::new(), |name| format!(" [env: {name}]"));
        // Global, so that it may stand after the verb of a command that has verbs.
        let arg = Arg::new(self.flag)
            .long(self.flag)
            .help(format!("{}{env}{default}", self.help))
            .global(true);
        match self.value {
            Some(value) if self.is_keyed() => arg.value_name(value).action(ArgAction::Append),
            Some(value) => arg.value_name(value).action(ArgAction::Set),
            None => arg.action(ArgAction::SetTrue),
        }
    }
}

/// The values of one command's settings.
pub struct Values<'a> {
    command: &'static str,
    matches: &'a ArgMatches,
    env: fn(&str) -> Option<OsString>,
}

impl<'a> Values<'a> {
    /// Reads from what was parsed, and from the environment.
    pub fn new(command: &'static str, matches: &'a ArgMatches) -> Values<'a> {
        Values {
            command,
            matches,
            env: |name| std::env::var_os(name),
        }
    }

    /// The text of a setting, where it has one.
    ///
    /// # Errors
    /// A text for a person where the environment holds no text.
    pub fn text(&self, flag: &str) -> Result<Option<String>, String> {
        if let Some(given) = self.matches.get_one::<String>(flag) {
            return Ok(Some(given.clone()));
        }
        let Some(setting) = of_command(self.command).find(|setting| setting.flag == flag) else {
            return Ok(None);
        };
        let Some(name) = setting.env_name() else {
            return Ok(setting.default.map(str::to_owned));
        };
        match (self.env)(&name).map(OsString::into_string) {
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(_)) => Err(format!("{name} must be text")),
            None => Ok(setting.default.map(str::to_owned)),
        }
    }

    /// Is a switch on? In the environment `1` and `true` are on, `0`, `false` and nothing are off.
    ///
    /// # Errors
    /// A text for a person where the environment holds anything else.
    pub fn switch(&self, flag: &str) -> Result<bool, String> {
        if self.matches.get_flag(flag) {
            return Ok(true);
        }
        match self.text_of_switch(flag)?.as_deref() {
            None | Some("" | "0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(other) => Err(format!(
                "{flag} is {other:?} in the environment; it must be 1 or 0"
            )),
        }
    }

    /// What the environment says of a switch.
    fn text_of_switch(&self, flag: &str) -> Result<Option<String>, String> {
        let Some(setting) = of_command(self.command).find(|setting| setting.flag == flag) else {
            return Ok(None);
        };
        let Some(name) = setting.env_name() else {
            return Ok(None);
        };
        let text = (self.env)(&name).map(OsString::into_string).transpose();
        text.map_err(|_| format!("{name} must be text"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{SETTINGS, Values, of_command};
    use clap::Command;

    #[test]
    fn a_flag_beats_the_environment_beats_the_default() {
        let command = || {
            of_command("serve").fold(Command::new("serve"), |command, setting| {
                command.arg(setting.arg())
            })
        };
        let matches = command().get_matches_from(["serve", "--listen", "1.2.3.4:5"]);
        let values = Values {
            command: "serve",
            matches: &matches,
            env: |name| (name == "COFFER_FILE").then(|| "env.db".into()),
        };
        assert_eq!(values.text("listen").unwrap().as_deref(), Some("1.2.3.4:5"));
        assert_eq!(values.text("file").unwrap().as_deref(), Some("env.db"));
        assert_eq!(values.text("rate-limit").unwrap().as_deref(), Some("600"));
        assert_eq!(values.switch("exit-with-parent"), Ok(false));
    }

    #[test]
    fn a_sandbox_ignores_the_file_of_the_environment() {
        let command = of_command("sandbox").fold(Command::new("sandbox"), |command, setting| {
            command.arg(setting.arg())
        });
        let matches = command.get_matches_from(["sandbox"]);
        let values = Values {
            command: "sandbox",
            matches: &matches,
            env: |_| Some("1".into()),
        };
        assert_eq!(values.text("file"), Ok(None));
        assert_eq!(values.switch("json"), Ok(true));
    }

    #[test]
    fn no_command_has_a_flag_twice() {
        for command in SETTINGS.iter().flat_map(|setting| setting.commands) {
            let mut flags: Vec<_> = of_command(command).map(|setting| setting.flag).collect();
            flags.sort_unstable();
            let all = flags.len();
            flags.dedup();
            assert_eq!(flags.len(), all, "{command}");
        }
    }
}
