//! Settings of certificates by ACME, and the check of the certificate by `coffer doctor`.

use super::checks::Check;
use crate::acme::{self, AcmeSettings, Attempts, Folder};
use crate::app::Config;
use crate::config::SettingValues;
use crate::domain::time::MINUTE_MS;
use crate::domain::{Host, SiteUrl, Time};
use crate::service::Error;
use crate::store::doctor::FileProblem;
use crate::worker::certificate::certificate_status;
use std::net::SocketAddr;
use std::path::Path;

const HTTPS: u16 = 443;
const HTTP: u16 = 80;
/// Address to listen on with a certificate: every address of this machine.
pub(super) const LISTEN: &str = "[::]:443";

/// Longest domain that a certificate can name.
const DOMAIN_CHARS_MAX: usize = 253;

/// Returns the domain of `--acme`, in lower case.
pub(super) fn acme_domain(values: &SettingValues<'_>) -> Result<Option<String>, Error> {
    let text = values.text_value("acme")?;
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match is_domain(&text) {
        true => Ok(Some(text.to_ascii_lowercase())),
        false => Err(Error::Failed(format!(
            "--acme {text}: must be a domain like pay.example.com; write an international domain as xn--…"
        ))),
    }
}

/// Returns `true` if a certificate can name this domain.
pub(super) fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && !label.contains('_')
    };
    matches!(Host::parse(text), Ok(Host::Name(name)) if name == text)
        && text.len() <= DOMAIN_CHARS_MAX
        && text.split('.').all(is_label)
}

/// Reads the settings of the certificate. Sets the public URL to the domain if no public URL is set. `http_listen` is
/// the address for plain HTTP, if the settings name one.
///
/// # Errors
/// A message that names the setting.
pub(super) fn read_acme_settings(
    values: &SettingValues<'_>,
    config: &mut Config,
    http_listen: Option<SocketAddr>,
) -> Result<(), Error> {
    let has_http = values.is_switch_on("acme-http")?;
    let terms_agreed = values.is_switch_on("acme-agree")?;
    let Some(domain) = acme_domain(values)? else {
        return match has_http || http_listen.is_some() || terms_agreed {
            true => Err(Error::Failed(
                "--acme-http and --acme-agree need --acme with a domain".to_owned(),
            )),
            false => Ok(()),
        };
    };
    if http_listen.is_some() && !has_http {
        return Err(Error::Failed("--acme-http-listen needs --acme-http".to_owned()));
    }
    let port = match &config.public_url {
        None => None,
        Some(url) => public_port(url, &domain)?,
    };
    let http = http_listen.unwrap_or_else(|| SocketAddr::new(config.listen.ip(), HTTP));
    let settings = AcmeSettings {
        https_port: port.unwrap_or(HTTPS),
        // A port in the public URL belongs to an authority for tests, which also takes other ports for challenges.
        http_port: port.map_or(HTTP, |_| http.port()),
        http_listen: has_http.then_some(http),
        directory: acme_directory(values)?,
        directory_roots: read_roots(values)?,
        terms_agreed,
        retry_ms_min: MINUTE_MS,
        domain,
    };
    config.public_url.get_or_insert_with(|| settings.origin());
    config.acme = Some(settings);
    Ok(())
}

/// Returns the port that the public URL names.
///
/// # Errors
/// The public URL is not an https URL of this domain.
fn public_port(url: &str, domain: &str) -> Result<Option<u16>, Error> {
    let site = SiteUrl::parse(url).ok();
    let site = site.filter(|site| site.is_https() && site.authority().host == Host::Name(domain));
    site.map(|site| site.authority().port).ok_or_else(|| {
        Error::Failed(format!(
            "--public-url {url}: must begin with https://{domain}, the domain of --acme, or be left out"
        ))
    })
}

/// Returns the URL of the authority's directory.
fn acme_directory(values: &SettingValues<'_>) -> Result<String, Error> {
    let text = values.text_value("acme-directory")?.unwrap_or_default();
    match SiteUrl::parse(&text).is_ok_and(|site| site.is_https()) {
        true => Ok(text),
        false => Err(Error::Failed(format!("--acme-directory {text}: must be an https url"))),
    }
}

/// Reads the authorities that the authority's own server is checked against.
fn read_roots(values: &SettingValues<'_>) -> Result<Option<Vec<u8>>, Error> {
    let path = values.text_value("acme-ca")?;
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let failed = |why: String| Error::Failed(format!("--acme-ca {path}: {why}"));
    let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
    acme::check_roots(&bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Checks the certificate and the last attempts to get one. `None` without `--acme`.
pub(super) fn check_certificate(
    values: &SettingValues<'_>,
    file: &Path,
    now: Time,
) -> Result<Option<Check>, Error> {
    let Some(domain) = acme_domain(values)? else {
        return Ok(None);
    };
    let folder = Folder::new(acme::folder_path(file), &domain, &acme_directory(values)?);
    let about = format!("certificate of {domain}");
    let (current, attempts) = match (folder.certificate(), folder.attempts()) {
        (Ok(current), Ok(attempts)) => (current, attempts),
        (Err(problem), _) | (_, Err(problem)) => {
            let mend =
                "let the user that runs coffer read the folder, or remove that file".to_owned();
            return Ok(Some((about, vec![FileProblem { about: problem, mend }])));
        }
    };
    let status = certificate_status(&domain, current.as_ref(), &attempts, MINUTE_MS);
    let warning = match (&status.validity, status.warning(now)) {
        (None, None) => Some(format!("{domain} has no certificate yet")),
        (_, warning) => warning,
    };
    let complaint =
        warning.map(|about| FileProblem { about, mend: mend(&attempts, status.retry_at) });
    Ok(Some((about, complaint.into_iter().collect())))
}

/// Returns what helps against a missing certificate.
fn mend(attempts: &Attempts, retry_at: Option<Time>) -> String {
    match retry_at {
        Some(at) if attempts.count > 0 => format!(
            "correct it; the next attempt is at {at}, or at the next start after attempts.json in the .acme folder is removed"
        ),
        _ if attempts.problem.is_some() => "correct it; coffer looks again every minute".to_owned(),
        _ => "start `coffer serve` with --acme and --acme-agree".to_owned(),
    }
}
