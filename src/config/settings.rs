//! The table of all settings. Flags, environment variables and the help are generated from it.

use super::Setting;

/// Commands that run a server.
pub static SERVERS: &[&str] = &["serve", "sandbox"];

/// The service, and the command that checks its settings.
const CHECKED: &[&str] = &["serve", "doctor"];

/// Commands that use the address of a server.
const LISTENING: &[&str] = &["serve", "sandbox", "doctor"];

/// Commands that change and list what the file holds.
const MANAGING: &[&str] = &["account", "key", "user", "wallet", "pool"];

/// Commands that open the service's file.
const OPENING: &[&str] = &[
    "serve", "account", "key", "user", "wallet", "pool", "rescan", "backup", "restore", "audit",
    "doctor",
];

/// Commands that write a log.
const LOGGING: &[&str] = &[
    "serve", "sandbox", "account", "key", "user", "wallet", "pool", "rescan", "backup", "restore",
    "audit", "doctor",
];

/// Directory of the default certificate authority.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// All settings of all commands.
pub static SETTINGS: &[Setting] = &[
    value("listen", "ADDR", LISTENING)
        .or("127.0.0.1:8080")
        .help("Address to listen on; port 0 picks a free one"),
    value("acme", "DOMAIN", CHECKED)
        .help("Get a certificate for this domain by ACME, and serve HTTPS; --listen then defaults to [::]:443"),
    switch("acme-agree", &["serve"])
        .help("Agree to the terms of the certificate authority; without it, --acme shows their URL and ends"),
    switch("acme-http", &["serve"])
        .help("With --acme, also answer plain HTTP: challenges, and redirects to HTTPS"),
    value("acme-http-listen", "ADDR", &["serve"])
        .help("Address of --acme-http; default: port 80 of the address of --listen"),
    value("acme-directory", "URL", CHECKED)
        .or(LETS_ENCRYPT)
        .help("Directory of the certificate authority"),
    value("acme-ca", "PATH", &["serve"])
        .help("PEM file of the authorities to trust for --acme-directory, for an authority that is not public"),
    value("metrics-listen", "ADDR", LISTENING)
        .help("Address that serves /metrics and nothing else; it is served there only"),
    value("metrics-token", "TOKEN", LISTENING)
        .help("Token that /metrics requires, as Authorization: Bearer; best given in the environment"),
    value("public-url", "URL", &["serve", "sandbox", "user", "restore", "doctor"])
        .help("Base of every URL in responses; default: https:// and the domain of --acme, or the listening address"),
    value("file", "PATH", OPENING)
        .or("coffer.db")
        .help("Database file; created on first use"),
    value("file", "PATH", &["sandbox"])
        .help("Database file; default: a temporary file, removed at exit"),
    switch("sandbox", MANAGING).help("Allow the command to change a sandbox's file"),
    value("log", "FILTER", LOGGING)
        .or("info")
        .help("Log level on standard error: error, warn, info, debug or trace"),
    value("rate-limit", "N", &["serve"])
        .or("600")
        .help("Invoices a key may create in a minute, 100 of them at once; 0 for no limit"),
    value("trusted-proxy", "CIDR", SERVERS)
        .help("Trusted proxies, whose X-Forwarded-For names the client; separated by commas"),
    value("connections-max", "N", LISTENING)
        .or("4096")
        .help("Maximum number of connections, at least 16; one client gets at most a quarter"),
    value("webhook-allow", "CIDR", SERVERS)
        .help("Private address ranges that webhooks may reach, also by http; separated by commas"),
    value("webhook-timeout", "SECONDS", SERVERS)
        .or("10")
        .help("Time limit of one attempt to deliver a webhook, 1 to 30 seconds"),
    value("rates", "SOURCES", CHECKED)
        .or("kraken,coinbase,binance,coingecko")
        .help("Rate sources, at least two, each optionally with =URL of a mirror; or fixed:FILE"),
    value("node", "CHAIN=URL", CHECKED)
        .help("Node of a chain, repeatable; several URLs separated by commas; best given in the environment"),
    value("node-header", "CHAIN=HEADER", CHECKED)
        .help("Header for requests to a chain's node, like 'base=X-Api-Key: 123'; best given in the environment"),
    switch("test-networks", CHECKED)
        .help("Accept nodes of test networks, whose coins have no value"),
    value("token", "COIN=CONTRACT", CHECKED)
        .help("Contract of a token, like USDC-BASE, on a test network"),
    value("password-file", "PATH", &["user"])
        .help("File with the user's password; default: standard input"),
    value("server-cpu-max", "N", SERVERS)
        .or("32")
        .help("Maximum number of processors of an ordered server"),
    value("server-ram-mb-max", "N", SERVERS)
        .or("131072")
        .help("Maximum memory of an ordered server, in MB; at least 256"),
    value("server-disk-gb-max", "N", SERVERS)
        .or("2048")
        .help("Maximum disk of an ordered server, in GB"),
    value("provisioner", "COMMAND", &["serve"])
        .help("Program that creates and deletes ordered servers: its path, or a JSON array of path and arguments"),
    value("signer", "COMMAND", CHECKED)
        .help("Program that sends approved payouts and refunds: its path, or a JSON array of path and arguments"),
    value("command-timeout", "SPAN", &["serve"])
        .or("5m")
        .help("Time limit of a provisioner or signer, like 90s; after that its outcome is unknown"),
    value("keep-attempts", "SPAN", SERVERS)
        .or("30d")
        .help("Time to keep attempts to deliver webhooks, at least 2d; delivered deliveries go with their last attempt"),
    value("smtp", "URL", CHECKED)
        .help("Mail server for e-mail, like smtps://user:password@host; off without it; best given in the environment"),
    value("smtp-from", "ADDRESS", CHECKED)
        .help("Sender of e-mail, like 'Shop <pay@shop.example>'; needed with --smtp"),
    value("smtp-ca", "PATH", CHECKED)
        .help("PEM file of the authorities to trust for --smtp, for an authority that is not public"),
    switch("allow-remote", &["sandbox"]).help("Allow the sandbox to listen beyond loopback"),
    value("allow-host", "NAME", &["sandbox"])
        .help("Further host names of the sandbox; .NAME includes its subdomains; separated by commas"),
    switch("json", &["sandbox"])
        .help("Print the ready line as one JSON object with url, file and every key"),
    switch("json", MANAGING).help("Print one JSON document; a list is {\"data\": [...]}"),
    switch("json", &["audit"])
        .help("Print one JSON document: findings (rule, about, is, should; the first 1000), findingCount, checked, derived (addresses, ms), heads"),
    switch("json", &["doctor"])
        .help("Print one JSON document: {\"data\": [{about, ok, complaints: [{about, mend}]}]}"),
    switch("json", &["backup"]).help("Print one JSON document: file, bytes, heads"),
    switch("json", &["restore"])
        .help("Print one JSON document: file, from, dryRun, findings, and what was moved, held and given up"),
    switch("json", &["rescan"]).help("Print one JSON document: chain, from, done"),
    value("ready-file", "PATH", SERVERS).help("Write the ready line to this file too"),
    switch("exit-with-parent", SERVERS).help("End when standard input closes"),
];

/// Returns a setting with a value. `placeholder` stands for the value in the help.
const fn value(
    flag: &'static str,
    placeholder: &'static str,
    commands: &'static [&'static str],
) -> Setting {
    Setting { flag, value: Some(placeholder), default: None, help: "", commands }
}

const fn switch(flag: &'static str, commands: &'static [&'static str]) -> Setting {
    Setting { flag, value: None, default: None, help: "", commands }
}

impl Setting {
    const fn or(self, default: &'static str) -> Setting {
        Setting { default: Some(default), ..self }
    }

    const fn help(self, help: &'static str) -> Setting {
        Setting { help, ..self }
    }
}
