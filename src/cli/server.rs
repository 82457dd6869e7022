//! `coffer sandbox` and `coffer serve`.

use super::invocation::Invocation;
use super::logging::log_to_stderr;
use super::mail::smtp_settings;
use super::nodes::configured_nodes;
use super::output::print_line;
use super::{acme, progress};
use crate::app::{Config, Server};
use crate::chain::rates::RatesOrigin;
use crate::config::SettingValues;
use crate::domain::server::order::RAM_MB_MIN;
use crate::domain::signature::hex;
use crate::domain::time::{DAY_MS, parse_duration_ms};
use crate::domain::{ServerLimits, SiteUrl};
use crate::http::MetricsToken;
use crate::service::{Error, random_bytes, sandbox};
use crate::store::FileKind;
use crate::store::paths::with_suffix;
use crate::worker::command::Program;
use serde_json::json;
use std::fmt::Display;
use std::io::{Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Maximum number of invoices that one client may create in a minute through payment links.
const LINK_INVOICES_PER_MINUTE: u32 = 10;

/// Minimum time for which delivery attempts are kept. A delivery is attempted for about a day, and the checks of failing
/// endpoints read the attempts of the last day.
const KEEP_ATTEMPTS_MIN_MS: i64 = 2 * DAY_MS;

/// Longest time limit of one attempt to deliver a webhook, in seconds.
const WEBHOOK_TIMEOUT_MAX_S: u64 = 30;

/// Possible first bytes of a ready file. The first entry begins the text line, and the second begins the `--json`
/// object.
const READY: [&[u8]; 2] = [b"coffer ready ", b"{\"url\":"];
/// Number of bytes to read from a file to recognise a ready file.
const READY_BYTES: u64 = 13;

/// Runs a sandbox until it is asked to end.
pub(super) fn run_sandbox(invocation: &Invocation<'_>) -> Result<(), Error> {
    let values = &invocation.values;
    let mut config = read_common_settings(values, Config::sandbox())?;
    config.file = values.text_value("file")?.map(Into::into);
    config.allow_remote = values.is_switch_on("allow-remote")?;
    config.allow_host = parse_list(values, "allow-host")?;
    let as_json = values.is_switch_on("json")?;
    serve_until_stopped(values, config, |server| {
        if as_json { ready_json(server) } else { ready_line(server) }
    })
}

/// Runs the service until it is asked to end.
pub(super) fn run_server(invocation: &Invocation<'_>) -> Result<(), Error> {
    let values = &invocation.values;
    let mut config =
        read_common_settings(values, Config { kind: FileKind::Production, ..Config::sandbox() })?;
    config.file = values.text_value("file")?.map(Into::into);
    let rate = values.text_value("rate-limit")?.unwrap_or_default();
    config.link_invoices_per_minute = LINK_INVOICES_PER_MINUTE;
    config.creations_per_minute = parse_value("rate-limit", &rate, "a whole number")?;
    config.rates = rates_source(values)?;
    config.nodes = configured_nodes(values)?;
    let http_listen = optional_address(values, "acme-http-listen")?;
    acme::read_acme_settings(values, &mut config, http_listen)?;
    read_command_settings(values, &mut config)?;
    config.smtp = smtp_settings(values)?;
    serve_until_stopped(values, config, ready_line)
}

/// Reads the settings of the operator's programs and their time limits.
fn read_command_settings(values: &SettingValues<'_>, config: &mut Config) -> Result<(), Error> {
    config.provisioner = read_program(values, "provisioner")?;
    config.signer = read_program(values, "signer")?;
    let span = values.text_value("command-timeout")?.unwrap_or_default();
    let problem = |problem| Error::Failed(format!("--command-timeout {span}: {problem}"));
    let span_ms = parse_duration_ms(&span).map_err(problem)?;
    config.command_timeout_ms = u64::try_from(span_ms)
        .ok()
        .filter(|span_ms| *span_ms > 0)
        .ok_or_else(|| problem("must not be nothing".to_owned()))?;
    Ok(())
}

fn read_program(values: &SettingValues<'_>, flag: &str) -> Result<Option<Program>, Error> {
    let text = values.text_value(flag)?;
    let program = text.filter(|text| !text.is_empty()).map(|text| {
        Program::parse(&text).map_err(|problem| Error::Failed(format!("--{flag} {problem}")))
    });
    program.transpose()
}

/// Reads the maximum size of servers that resellers may order.
fn read_server_limits(values: &SettingValues<'_>) -> Result<ServerLimits, Error> {
    let most = |flag: &str, min: u32| -> Result<u32, Error> {
        let text = values.text_value(flag)?.unwrap_or_default();
        let what = format!("a whole number from {min}");
        let most: u32 = parse_value(flag, &text, &what)?;
        if most < min {
            return Err(Error::Failed(format!("--{flag} {text}: must be {what}")));
        }
        Ok(most)
    };
    Ok(ServerLimits {
        cpu_max: most("server-cpu-max", 1)?,
        ram_mb_max: most("server-ram-mb-max", RAM_MB_MIN)?,
        disk_gb_max: most("server-disk-gb-max", 1)?,
    })
}

fn read_common_settings(values: &SettingValues<'_>, mut config: Config) -> Result<Config, Error> {
    log_to_stderr(&values.text_value("log")?.unwrap_or_default());
    config.tell = progress::show_progress;
    config.listen = listen_address(values)?;
    config.metrics_listen = metrics_address(values)?;
    config.metrics_token = metrics_token(values)?;
    config.public_url = public_url(values)?;
    config.trusted_proxy = parse_list(values, "trusted-proxy")?;
    config.limits.connections_max = read_connections_max(values)?;
    config.webhook_allow = parse_list(values, "webhook-allow")?;
    config.webhook_timeout_ms = read_webhook_timeout_ms(values)?;
    config.server_limits = read_server_limits(values)?;
    config.keep_attempts_ms = read_keep_attempts_ms(values)?;
    Ok(config)
}

/// Reads the time limit of one attempt to deliver a webhook.
fn read_webhook_timeout_ms(values: &SettingValues<'_>) -> Result<u64, Error> {
    let flag = "webhook-timeout";
    let text = values.text_value(flag)?.unwrap_or_default();
    let what = "a whole number of seconds from 1 to 30";
    let seconds: u64 = parse_value(flag, &text, what)?;
    if !(1..=WEBHOOK_TIMEOUT_MAX_S).contains(&seconds) {
        return Err(Error::Failed(format!("--{flag} {text}: must be {what}")));
    }
    Ok(seconds.saturating_mul(1_000))
}

/// Reads the time for which delivery attempts are kept.
fn read_keep_attempts_ms(values: &SettingValues<'_>) -> Result<i64, Error> {
    let flag = "keep-attempts";
    let text = values.text_value(flag)?.unwrap_or_default();
    let span_ms = parse_duration_ms(&text).ok();
    span_ms.filter(|span_ms| *span_ms >= KEEP_ATTEMPTS_MIN_MS).ok_or_else(|| {
        let what = "a span from 2d to 3650d, for example 30d";
        Error::Failed(format!("--{flag} {text}: must be {what}"))
    })
}

/// Parses a comma-separated list.
fn parse_list<T: FromStr<Err = String>>(
    values: &SettingValues<'_>,
    flag: &str,
) -> Result<Vec<T>, Error> {
    let text = values.text_value(flag)?.unwrap_or_default();
    let one = |text: &str| {
        text.parse::<T>().map_err(|problem| Error::Failed(format!("--{flag} {text}: {problem}")))
    };
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(one).collect()
}

/// Starts the server, reports that it is ready, and runs until it is asked to end.
fn serve_until_stopped(
    values: &SettingValues<'_>,
    config: Config,
    line: impl Fn(&Server) -> String,
) -> Result<(), Error> {
    let exit_with_parent = values.is_switch_on("exit-with-parent")?;
    let ready_file = values.text_value("ready-file")?;
    let ready_file = ready_file.map(PathBuf::from);
    if let Some(path) = &ready_file {
        check_ready_file_path(path)?;
    }
    let server = Server::start(config)?;
    progress::remove_progress_line();
    // Signals are handled before the server reports that it is ready. A process that reads the report may send a
    // signal at once.
    let signals = server.handle_signals()?;
    let line = line(&server);
    if let Some(url) = server.setup_url() {
        // The setup link is printed but not logged, because other people may read the log.
        let _ = writeln!(std::io::stderr(), "make the first operator within the hour: {url}");
    }
    // The ready file is written before the ready line is printed, so that a process that reads the line finds the
    // file. If the file cannot be written, no line is printed.
    if let Some(path) = &ready_file {
        write_ready_file(path, &line, server.file())?;
    }
    print_line(&line).inspect_err(|_| {
        // The ready file is removed when the server stops.
        if let Some(path) = &ready_file {
            let _ = std::fs::remove_file(path);
        }
    })?;
    server.run_until_signal(signals, async {
        if exit_with_parent { wait_for_stdin_end().await } else { std::future::pending().await }
    });
    Ok(())
}

/// Returns the ready line. The file comes last, because its name may contain spaces.
fn ready_line(server: &Server) -> String {
    format!(
        "coffer ready url={} listen={} file={}",
        server.url(),
        server.listen(),
        server.file().display()
    )
}

/// Returns the ready report as JSON, with all credentials of the sandbox.
fn ready_json(server: &Server) -> String {
    json!({
        "url": server.url(),
        "listen": server.listen().to_string(),
        "file": server.file().display().to_string(),
        "keys": {
            "secretTest": sandbox::SECRET_TEST,
            "secretLive": sandbox::SECRET_LIVE,
            "publicTest": sandbox::PUBLIC_TEST,
            "publicLive": sandbox::PUBLIC_LIVE,
            "legacy": sandbox::LEGACY,
        },
        "webhookSecret": sandbox::ENDPOINT_SECRET,
        "legacySecret": sandbox::LEGACY_SECRET,
    })
    .to_string()
}

fn ready_file_error(path: &Path, why: impl Display) -> Error {
    Error::Failed(format!("--ready-file {}: {why}", path.display()))
}

/// Checks that a ready file may replace the file at this path: an old ready file, an empty file, or a link to a file.
///
/// Must run before the database is opened. If the path is that of the open database, closing the file here would drop
/// SQLite's locks.
fn check_ready_file_path(path: &Path) -> Result<(), Error> {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    // Renaming would replace a device or a pipe, such as /dev/null, for every program on the machine.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(ready_file_error(path, "exists and is not a file"));
    }
    let mut begins = Vec::new();
    if found.is_file() {
        let file = std::fs::File::open(path);
        let read = file.and_then(|file| file.take(READY_BYTES).read_to_end(&mut begins));
        read.map_err(|error| ready_file_error(path, error))?;
    }
    if begins.is_empty() || READY.iter().any(|ready| begins.starts_with(ready)) {
        return Ok(());
    }
    Err(ready_file_error(path, "exists and is not a ready file, so it is not replaced"))
}

/// Writes the ready line to a temporary file and renames it, so that readers never see a partial file.
fn write_ready_file(path: &Path, line: &str, database: &Path) -> Result<(), Error> {
    // The paths are compared only now, because the database may not have existed before the server started.
    let is = |path: &Path| std::fs::canonicalize(path).ok();
    if is(path).is_some_and(|found| is(database) == Some(found)) {
        return Err(ready_file_error(path, "is the server's file"));
    }
    // The name is random, so that an attacker cannot create a link with this name first.
    let temporary = with_suffix(path, &format!("-{}", hex(&random_bytes::<8>()?)));
    let written = std::fs::File::create_new(&temporary).and_then(|mut file| {
        file.write_all(format!("{line}\n").as_bytes())?;
        std::fs::rename(&temporary, path)
    });
    if written.is_err() {
        // The removal fails if the file was not created.
        let _ = std::fs::remove_file(&temporary);
    }
    written.map_err(|error| ready_file_error(path, error))
}

/// Waits for the end of standard input. Uses a separate thread, because a read by the runtime would delay the
/// shutdown until the read ends.
async fn wait_for_stdin_end() {
    let (closed, hears) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // A read error has the same meaning as the end of the input: the parent process is gone.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = closed.send(());
    });
    let _ = hears.await;
}

/// Returns the address to listen on. With a certificate by ACME the default is the port of HTTPS.
pub(super) fn listen_address(values: &SettingValues<'_>) -> Result<SocketAddr, Error> {
    let flag = "listen";
    let text = match acme::acme_domain(values)? {
        Some(_) => {
            values.given_value(flag).map(|given| Some(given.unwrap_or(acme::LISTEN.to_owned())))
        }
        None => values.text_value(flag),
    };
    resolve_address(flag, &text?.unwrap_or_default())
}

pub(super) fn metrics_address(values: &SettingValues<'_>) -> Result<Option<SocketAddr>, Error> {
    optional_address(values, "metrics-listen")
}

fn optional_address(values: &SettingValues<'_>, flag: &str) -> Result<Option<SocketAddr>, Error> {
    let text = values.text_value(flag)?;
    text.map(|text| resolve_address(flag, &text)).transpose()
}

/// Returns the token that `/metrics` requires. An empty token is an error: the operator meant to protect the counters.
pub(super) fn metrics_token(values: &SettingValues<'_>) -> Result<Option<MetricsToken>, Error> {
    let flag = "metrics-token";
    let text = values.text_value(flag)?;
    text.map(|text| text.parse())
        .transpose()
        .map_err(|problem| Error::Failed(format!("--{flag} {problem}")))
}

/// Resolves an address to listen on. Host names such as localhost are looked up.
fn resolve_address(flag: &str, text: &str) -> Result<SocketAddr, Error> {
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| {
        Error::Failed(format!("--{flag} {text}: must be an address like 127.0.0.1:8080"))
    })
}

pub(super) fn public_url(values: &SettingValues<'_>) -> Result<Option<String>, Error> {
    let text = values.text_value("public-url")?;
    text.map(|url| normalize_url(&url)).transpose()
}

/// Normalises an absolute URL: no slash at its end, scheme in lower case.
pub(super) fn normalize_url(text: &str) -> Result<String, Error> {
    let site = SiteUrl::parse(text).ok();
    let site = site.filter(|site| !site.text_after_authority().contains(['?', '#']));
    let site = site.ok_or_else(|| {
        Error::Failed(format!("--public-url {text}: must be a url like https://pay.example.com"))
    })?;
    let path = site.text_after_authority().trim_end_matches('/');
    Ok(format!("{}{path}", site.origin()))
}

pub(super) fn rates_source(values: &SettingValues<'_>) -> Result<RatesOrigin, Error> {
    let flag = "rates";
    let text = values.text_value(flag)?.unwrap_or_default();
    text.parse().map_err(|problem| Error::Failed(format!("--{flag} {text}: {problem}")))
}

pub(super) fn read_connections_max(values: &SettingValues<'_>) -> Result<usize, Error> {
    let flag = "connections-max";
    let text = values.text_value(flag)?.unwrap_or_default();
    let what = "a whole number from 16 to 1000000";
    let most: usize = parse_value(flag, &text, what)?;
    let range = 16..=1_000_000;
    let problem = || Error::Failed(format!("--{flag} {text}: must be {what}"));
    range.contains(&most).then_some(most).ok_or_else(problem)
}

fn parse_value<T: FromStr>(flag: &str, text: &str, what: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::Failed(format!("--{flag} {text}: must be {what}")))
}
