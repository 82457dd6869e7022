//! `coffer doctor`: checks the configuration, the file, the nodes and the rate sources. The command prints one line
//! for each check, with a fix for each problem.

use super::acme::{acme_domain, check_certificate};
use super::checks::{Check, print_checks};
use super::invocation::{Invocation, switch};
use super::live_check::check_server;
use super::mail::{check_mail_server, check_waiting_mail};
use super::nodes::{
    check_chains, check_missing_nodes, check_nodes, check_offered_coins, check_wallets,
    configured_nodes, final_blocks,
};
use super::output::print_text;
use super::progress::{self, show_progress};
use super::rates::check_rates;
use super::server::{
    listen_address, metrics_address, metrics_token, rates_source, read_connections_max,
};
use super::signer::{
    check_signer_limits, check_transfers_in_review, check_transfers_without_signer,
};
use super::size::check_size;
use crate::app::following::with_stored_nodes;
use crate::app::open_files;
use crate::clock::Clock;
use crate::config::SettingValues;
use crate::domain::signature::hex;
use crate::domain::{SiteUrl, Time};
use crate::service::clock::accept_clock;
use crate::service::{Error, WAL_BYTES_WARNED, open_shared, random_bytes};
use crate::store::doctor::{FileProblem, find_obstacle, run_checks};
use crate::store::mount::{lone_mount_problem, served_disk_problem};
use crate::store::paths::{resolve_links, with_suffix};
use crate::store::{FileKind, chain_nodes, coins_off, file as file_row, keys, read_any_version};
use clap::Command;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(super) fn doctor_command(command: Command) -> Command {
    let about_accept = "Accept the wall clock, also for a running server, which adopts it at once";
    let live = switch("live", "Only check whether the server listening there is ready (/readyz)");
    command.args([switch("accept-clock", about_accept), live.conflicts_with("accept-clock")])
}

pub(super) fn run_doctor(invocation: &Invocation<'_>) -> Result<(), Error> {
    let as_json = invocation.wants_json()?;
    let values = &invocation.values;
    if invocation.has("live") {
        let domain = acme_domain(values)?;
        let check = check_server(listen_address(values)?, domain.as_deref())?;
        return print_checks(&[check], None, as_json);
    }
    // SQLite keeps its log beside the file, also if the file is opened through a symbolic link.
    let path = resolve_links(&invocation.database_path()?);
    let domain = acme_domain(values)?;
    let url = values.text_value("public-url")?;
    let url = url.or_else(|| domain.map(|domain| format!("https://{domain}")));
    let mut checked = vec![check_url(url.as_deref())];
    checked.extend([
        check_folder(&path),
        check_mounts(&path),
        check_open_files(read_connections_max(values)?),
    ]);
    checked.push(check_metrics(values)?);
    let now = Clock::new(0, None).real_now();
    checked.extend(check_certificate(values, &path, now)?);
    let accepted = invocation.has("accept-clock").then_some(now);
    if let Some(wall) = accepted {
        accept_wall_clock(&path, wall)?;
        if !as_json {
            print_text(&format!("done: the wall clock is accepted, which shows {wall}\n"))?;
        }
    }
    checked.extend([check_permissions(&path), check_wal_size(&path)]);
    checked.extend(check_mail_server(values)?);
    match find_obstacle(&path) {
        Some(problem) => checked.push(("file".to_owned(), vec![problem])),
        None => checked.extend(check_file(values, &path, now)?),
    }
    progress::remove_progress_line();
    print_checks(&checked, accepted, as_json)
}

/// Checks the content of the file, and the nodes and rates that it needs.
fn check_file(values: &SettingValues<'_>, path: &Path, now: Time) -> Result<Vec<Check>, Error> {
    let signer = values.text_value("signer")?;
    let has_signer = signer.is_some_and(|command| !command.is_empty());
    let configured = configured_nodes(values)?;
    let inside = read_any_version(path, &mut show_progress, |db| {
        let kind = file_row::read_file_row(db)?.map(|row| row.kind);
        let rows = chain_nodes::all(db)?;
        let nodes = with_stored_nodes(&configured, &rows);
        let wanted = keys::takes_live_payments(db, now)?.then(|| coins_off::all(db));
        let of_file = [
            check_size(db, path, now)?,
            check_wallets(db)?,
            check_chains(db)?,
            check_missing_nodes(&rows, &nodes),
            check_signer_limits(db)?,
            check_transfers_without_signer(db, has_signer)?,
            check_offered_coins(db, &nodes, now)?,
            check_transfers_in_review(db, now, &nodes)?,
            check_waiting_mail(db, values, now)?,
        ];
        let chains = (of_file, final_blocks(db)?, nodes);
        Ok::<_, Error>((kind, run_checks(db, now)?, wanted.transpose()?, chains))
    });
    let unusable = |about: String, mend: &str| {
        let mend = mend.into();
        ("file".to_owned(), vec![FileProblem { about, mend }])
    };
    let mut checked = Vec::new();
    match inside {
        Err(error) => checked.push(unusable(
            error.to_string(),
            "name the right file with --file, or start `coffer serve` once, which creates it",
        )),
        Ok((Some(FileKind::Sandbox), ..)) => checked.push(unusable(
            format!("{} belongs to a sandbox", path.display()),
            "`coffer serve` does not open it: name another with --file",
        )),
        Ok((_, found, coins_off, (chains, finals, nodes))) => {
            checked.push(("file".to_owned(), Vec::new()));
            let found = found.into_iter();
            checked.extend(found.map(|(about, complaints)| (about.to_owned(), complaints)));
            checked.extend(chains);
            checked.extend(check_nodes(&nodes, &finals));
            checked.extend(check_rates(&rates_source(values)?, coins_off.as_deref(), now));
        }
    }
    Ok(checked)
}

/// Records in a production file that the operator trusts the wall clock.
fn accept_wall_clock(path: &Path, wall: Time) -> Result<(), Error> {
    let opened = open_shared(path, Some(FileKind::Production), false, show_progress);
    let store = opened.map_err(|error| Error::Failed(format!("--accept-clock: {error}")))?;
    accept_clock(&store, wall)?;
    Ok(())
}

fn check_url(public_url: Option<&str>) -> Check {
    let complaint = match public_url {
        None => Some("no public url is set: checkout links lead to the listening address"),
        Some(url) if !SiteUrl::parse(url).is_ok_and(|site| site.is_https()) => {
            Some("the public url is not https: checkout links and cookies can be read on the way")
        }
        Some(_) => None,
    };
    let mend =
        "start `coffer serve` with --public-url https://…, behind a proxy with TLS, or with --acme";
    let complaint =
        complaint.map(|about| FileProblem { about: about.to_owned(), mend: mend.to_owned() });
    ("public url".to_owned(), complaint.into_iter().collect())
}

/// Checks file permissions. The file holds secrets, so only its owner may read it.
fn check_permissions(path: &Path) -> Check {
    let names = ["", "-wal", "-shm", "-lock"].map(|suffix| with_suffix(path, suffix));
    let open = names.iter().filter_map(|name| {
        let mode = std::fs::metadata(name).ok()?.permissions().mode() & 0o777;
        (mode & 0o077 != 0).then(|| FileProblem {
            about: format!("{} is open to others (mode {mode:o})", name.display()),
            mend: format!("chmod 600 {}", name.display()),
        })
    });
    ("who can read the file".to_owned(), open.collect())
}

/// Checks the size of the WAL, which grows while it cannot be checkpointed.
fn check_wal_size(path: &Path) -> Check {
    let log = with_suffix(path, "-wal");
    let bytes = std::fs::metadata(&log).map_or(0, |found| found.len());
    let complaint = (bytes > WAL_BYTES_WARNED).then(|| FileProblem {
        about: format!("{} has {} MiB", log.display(), bytes >> 20),
        mend: "find the process that reads the file for long; if Litestream copies it, check that it runs"
            .to_owned(),
    });
    ("log".to_owned(), complaint.into_iter().collect())
}

/// Checks the limit on open files. Each connection needs an open file.
fn check_open_files(connections_max: usize) -> Check {
    let complaint =
        open_files::describe_open_file_shortage(connections_max).map(|about| FileProblem {
            about,
            mend: "raise the hard limit (ulimit -Hn, LimitNOFILE=), or lower --connections-max"
                .to_owned(),
        });
    ("open files".to_owned(), complaint.into_iter().collect())
}

/// Checks that `/metrics` is protected. Its counters reveal sales figures.
fn check_metrics(values: &SettingValues<'_>) -> Result<Check, Error> {
    let separate = metrics_address(values)?;
    // With a certificate of its own, the server shows counters at the main address only for a token.
    let is_hidden = separate.is_none() && acme_domain(values)?.is_some();
    let address = separate.map_or_else(|| listen_address(values), Ok)?;
    let is_open = metrics_token(values)?.is_none() && !address.ip().is_loopback() && !is_hidden;
    let complaint = is_open.then(|| FileProblem {
        about: format!("/metrics is open to everybody who reaches {address}"),
        mend: "start `coffer serve` with COFFER_METRICS_TOKEN, or with --metrics-listen 127.0.0.1:9090"
            .to_owned(),
    });
    let about = "who can read /metrics".to_owned();
    Ok((about, complaint.into_iter().collect()))
}

/// Checks that the folder of the database is mounted with it, and that its disk is of this machine.
fn check_mounts(path: &Path) -> Check {
    let problems = lone_mount_problem(path).into_iter().chain(served_disk_problem(path));
    ("file system".to_owned(), problems.collect())
}

/// Checks that files can be created in the directory of the database, as SQLite and backups require.
fn check_folder(path: &Path) -> Check {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // The name is random, so that an attacker cannot create a link with this name first.
    let name = random_bytes::<8>().map(|bytes| hex(&bytes)).unwrap_or_default();
    let probe = with_suffix(path, &format!("-{name}-doctor"));
    // On a full disk, a file can be created, but nothing can be written into it.
    let written = File::create_new(&probe).and_then(|mut file| {
        file.write_all(b"\n")?;
        file.sync_all()
    });
    let complaint = written.err().map(|error| FileProblem {
        about: format!("{}: {error}", folder.display()),
        mend: match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "free space on that disk: writes are refused until then"
            }
            _ => "let the user that runs coffer write there",
        }
        .to_owned(),
    });
    // The removal fails if the file was not created.
    let _ = std::fs::remove_file(&probe);
    ("folder".to_owned(), complaint.into_iter().collect())
}
