//! The settings that `coffer setup` writes: which are set, and which the answers change.

use super::answers::{Answers, Question};
use super::node::try_nodes;
use crate::acme::read_terms;
use crate::app::sockets::bind_any;
use crate::cli::acme;
use crate::cli::installed::{InstalledSettings, WORKING_DIRECTORY};
use crate::cli::terminal::print_message;
use crate::config::env_file::EnvFile;
use crate::config::{LETS_ENCRYPT, keyed_variable};
use crate::domain::chain::Chain;
use crate::domain::fields::Fields;
use crate::domain::user::EMAIL_CHARS_MAX;
use crate::domain::{Refusal, SiteUrl};
use crate::service::Error;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::str::FromStr;

/// File of the database, unless the settings name another.
const FILE: &str = "/var/lib/coffer/coffer.db";
pub(super) const LISTEN_BEHIND_PROXY: &str = "127.0.0.1:8080";
pub(super) const LOCAL_PROXY: &str = "127.0.0.1/32,::1/128";
/// First line of a new file of settings.
const HEADER: &str =
    "# Settings of coffer.service, read after /etc/default/coffer. `coffer setup` changes them.\n";

/// The program that speaks TLS.
#[derive(Clone, Copy, PartialEq)]
enum Https {
    Coffer,
    Proxy,
}

pub(super) struct SetupPlan {
    defaults: Option<EnvFile>,
    pub file: EnvFile,
    /// Email address of the first operator.
    pub email: Option<String>,
}

impl SetupPlan {
    /// Asks for the settings and checks each answer.
    ///
    /// # Errors
    /// A message with the name of the answer that is missing or wrong.
    pub(super) fn ask(
        answers: &mut Answers,
        settings: Option<&InstalledSettings>,
        is_running: bool,
    ) -> Result<SetupPlan, Error> {
        let [defaults, file] = settings.map_or([None, None], InstalledSettings::files);
        let file = file.unwrap_or_else(|| EnvFile::parse(HEADER));
        let mut plan = SetupPlan { defaults, file, email: None };
        if plan.value("COFFER_FILE").is_none() {
            plan.file.set("COFFER_FILE", FILE);
        }
        let listened = is_running.then(|| plan.listen().to_owned());
        let domain = plan.ask_domain(answers)?;
        plan.ask_https(answers, &domain)?;
        if listened.as_deref() != Some(plan.listen()) {
            plan.check_port()?;
        }
        plan.ask_chains(answers)?;
        // A file that exists may have an operator already.
        let file = plan.value("COFFER_FILE").unwrap_or(FILE);
        let has_file = Path::new(WORKING_DIRECTORY).join(file).exists();
        if !has_file || !answers.is_terminal() {
            plan.ask_email(answers, has_file)?;
        }
        Ok(plan)
    }

    /// Returns the value of a variable; `None` if it is not set or empty.
    fn value(&self, name: &str) -> Option<&str> {
        let default = || self.defaults.as_ref()?.value(name);
        self.file.value(name).or_else(default).filter(|value| !value.is_empty())
    }

    /// Removes a variable, or sets it to an empty value if the defaults have it.
    fn unset(&mut self, name: &str) {
        self.file.remove(name);
        if self.value(name).is_some() {
            self.file.set(name, "");
        }
    }

    /// Returns `true` if Coffer speaks TLS itself.
    pub(super) fn has_acme(&self) -> bool {
        self.value("COFFER_ACME").is_some()
    }

    pub(super) fn listen(&self) -> &str {
        let default = if self.has_acme() { acme::LISTEN } else { LISTEN_BEHIND_PROXY };
        self.value("COFFER_LISTEN").unwrap_or(default)
    }

    fn ask_domain(&mut self, answers: &mut Answers) -> Result<String, Error> {
        let site = self.value("COFFER_PUBLIC_URL").and_then(|url| SiteUrl::parse(url).ok());
        let site = site.filter(|site| site.is_https() && is_domain(site.host_text()));
        let current = site.map(|site| site.host_text().to_owned());
        let question = Question {
            name: "domain",
            text: "Domain of the checkout pages, for example pay.example.com".to_owned(),
            current: current.clone(),
            is_secret: false,
        };
        let domain = answers.ask(&question, false, check_domain)?;
        if let Some(domain) = domain.filter(|domain| current.as_ref() != Some(domain)) {
            self.file.set("COFFER_PUBLIC_URL", &format!("https://{domain}"));
            return Ok(domain);
        }
        Ok(current.unwrap_or_default())
    }

    fn ask_https(&mut self, answers: &mut Answers, domain: &str) -> Result<(), Error> {
        let has_proxy = !self.has_acme() && self.value("COFFER_TRUSTED_PROXY").is_some();
        let current = if has_proxy { Https::Proxy } else { Https::Coffer };
        let question = Question {
            name: "https",
            text: "HTTPS by Coffer itself, or by a proxy in front of it: coffer or proxy"
                .to_owned(),
            current: Some(if has_proxy { "proxy" } else { "coffer" }.to_owned()),
            is_secret: false,
        };
        let https = answers.ask(&question, true, |text| match text {
            "coffer" => Ok(Https::Coffer),
            "proxy" => Ok(Https::Proxy),
            _ => Err("must be coffer or proxy".to_owned()),
        })?;
        match https.unwrap_or(current) {
            Https::Coffer => {
                self.ask_agreement(answers)?;
                self.file.set("COFFER_ACME", domain);
                self.file.set("COFFER_LISTEN", acme::LISTEN);
                self.unset("COFFER_TRUSTED_PROXY");
            }
            Https::Proxy => {
                for name in ["", "_AGREE", "_HTTP", "_HTTP_LISTEN"] {
                    self.unset(&format!("COFFER_ACME{name}"));
                }
                if self.value("COFFER_LISTEN").is_none_or(|listen| listen == acme::LISTEN) {
                    self.file.set("COFFER_LISTEN", LISTEN_BEHIND_PROXY);
                }
                if self.value("COFFER_TRUSTED_PROXY").is_none() {
                    self.file.set("COFFER_TRUSTED_PROXY", LOCAL_PROXY);
                }
            }
        }
        Ok(())
    }

    fn ask_agreement(&mut self, answers: &mut Answers) -> Result<(), Error> {
        if self.value("COFFER_ACME_AGREE").is_some() {
            return Ok(());
        }
        let terms =
            self.read_terms().map_err(|problem| Error::Failed(format!("agree: {problem}")))?;
        let question = Question {
            name: "agree",
            text: format!(
                "Do you agree to the terms of the certificate authority, {terms}: yes or no"
            ),
            current: None,
            is_secret: false,
        };
        let problem = "must be yes, or choose https=proxy";
        answers.ask(&question, false, |text| accept_yes(text, problem))?;
        self.file.set("COFFER_ACME_AGREE", "1");
        Ok(())
    }

    /// Asks the certificate authority for the URL of its terms.
    fn read_terms(&self) -> Result<String, String> {
        let directory = self.value("COFFER_ACME_DIRECTORY").unwrap_or(LETS_ENCRYPT);
        let roots = self.value("COFFER_ACME_CA").map(|path| {
            std::fs::read(path).map_err(|error| format!("COFFER_ACME_CA {path}: {error}"))
        });
        let terms = read_terms(directory, roots.transpose()?.as_deref())?;
        Ok(terms.unwrap_or_else(|| directory.to_owned()))
    }

    /// Checks that no other program listens at the address.
    fn check_port(&self) -> Result<(), Error> {
        let listen = self.listen();
        let found = listen.to_socket_addrs().and_then(|mut found| {
            let address = found.next();
            bind_any(address.ok_or(ErrorKind::AddrNotAvailable)?)
        });
        found.map(drop).map_err(|error| {
            Error::Failed(format!(
                "https: Coffer cannot listen on {listen}: {error}. Stop the program that uses the port, or set \
                 COFFER_LISTEN in /etc/default/coffer"
            ))
        })
    }

    /// Asks for the nodes of chains: on a terminal for one chain after another, otherwise for each chain that is
    /// answered.
    fn ask_chains(&mut self, answers: &mut Answers) -> Result<(), Error> {
        let chains = Chain::TEXTS.join(", ");
        if !answers.is_terminal() {
            return Chain::ALL.iter().try_for_each(|chain| self.ask_node(answers, *chain, true));
        }
        loop {
            let set: Vec<&str> = Chain::TEXTS
                .iter()
                .copied()
                .filter(|chain| self.value(&node_variable(chain)).is_some())
                .collect();
            let set = if set.is_empty() { "none".to_owned() } else { set.join(", ") };
            let question = Question {
                name: "chain",
                text: format!("Chain to set up, one of {chains}; empty to go on. Set up: {set}"),
                current: None,
                is_secret: false,
            };
            let chain = answers.ask(&question, true, |text| {
                Chain::from_str(text).map_err(|problem| problem.to_string())
            })?;
            let Some(chain) = chain else { return Ok(()) };
            self.ask_node(answers, chain, false)?;
        }
    }

    fn ask_node(
        &mut self,
        answers: &mut Answers,
        chain: Chain,
        is_optional: bool,
    ) -> Result<(), Error> {
        let variable = node_variable(chain.as_str());
        let question = Question {
            name: chain.as_str(),
            text: format!("URL of an Electrum server, a node or a provider of {chain}, or none"),
            current: self.value(&variable).map(|_| "keep".to_owned()),
            is_secret: true,
        };
        let header = self.value(&keyed_variable("node-header", chain.as_str()));
        let headers: Vec<(String, String)> = header
            .map(|header| (chain.as_str().to_owned(), header.to_owned()))
            .into_iter()
            .collect();
        let answer = answers.ask(&question, is_optional, |urls| match urls {
            "none" => Ok((urls.to_owned(), false)),
            _ => try_nodes(chain, urls, &headers).map(|is_test| (urls.to_owned(), is_test)),
        })?;
        match answer {
            None => {}
            Some((urls, _)) if urls == "none" => self.unset(&variable),
            Some((urls, is_test)) => {
                if is_test && self.value("COFFER_TEST_NETWORKS").is_none() {
                    self.ask_test_networks(answers, chain)?;
                }
                self.file.set(&variable, &urls);
            }
        }
        Ok(())
    }

    fn ask_test_networks(&mut self, answers: &mut Answers, chain: Chain) -> Result<(), Error> {
        let question = Question {
            name: "test-networks",
            text: format!(
                "The coins of this network of {chain} have no value. Accept it: yes or no"
            ),
            current: None,
            is_secret: false,
        };
        let problem = "must be yes, or name a node of the main network";
        answers.ask(&question, false, |text| accept_yes(text, problem))?;
        self.file.set("COFFER_TEST_NETWORKS", "1");
        Ok(())
    }

    fn ask_email(&mut self, answers: &mut Answers, is_optional: bool) -> Result<(), Error> {
        let question = Question {
            name: "email",
            text: "Email address of the first operator".to_owned(),
            current: None,
            is_secret: false,
        };
        self.email = answers.ask(&question, is_optional, |text| {
            let fields = Map::from_iter([("email".to_owned(), Value::from(text))]);
            let checked = Fields::new(&fields).email("email", EMAIL_CHARS_MAX);
            // The message names its field, as the answer does already.
            let problem =
                |refusal: Refusal| refusal.message.trim_start_matches("email ").to_owned();
            checked.map(|_| text.to_owned()).map_err(problem)
        })?;
        Ok(())
    }

    /// Prints what is left to do beside the link.
    pub(super) fn print_next_step(&self) {
        let url = self.value("COFFER_PUBLIC_URL").unwrap_or_default();
        if !self.has_acme() {
            print_message(&format!(
                "Let your proxy pass {url} on to {}. `coffer setup --print nginx` and `--print caddy` print its settings.",
                self.listen()
            ));
        }
        print_message("Open this link in a browser:");
    }
}

fn node_variable(chain: &str) -> String {
    keyed_variable("node", chain)
}

fn accept_yes(text: &str, problem: &str) -> Result<(), String> {
    if text == "yes" { Ok(()) } else { Err(problem.to_owned()) }
}

/// Returns `true` if a text is a domain with at least two labels.
fn is_domain(text: &str) -> bool {
    text.contains('.') && acme::is_domain(text)
}

/// Checks that a text is a domain that resolves to an address.
fn check_domain(text: &str) -> Result<String, String> {
    let domain = text.to_ascii_lowercase();
    if !is_domain(&domain) {
        return Err(
            "must be a domain without scheme and path, for example pay.example.com".to_owned()
        );
    }
    let found = (domain.as_str(), 443).to_socket_addrs().ok().and_then(|mut found| found.next());
    found.map(|_| domain.clone()).ok_or_else(|| {
        format!(
            "{domain} does not resolve. Create an A or AAAA record with the address of this machine, and try again"
        )
    })
}
