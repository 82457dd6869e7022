//! Settings of the mail server, and its check by `coffer doctor`.

use super::checks::Check;
use crate::config::SettingValues;
use crate::domain::Time;
use crate::domain::mail::attempt::WAITING_MS_MAX;
use crate::domain::time::{HOUR_MS, duration_text};
use crate::outbound::smtp::{SmtpSettings, check_server};
use crate::service::Error;
use crate::store::doctor::FileProblem;
use crate::store::{Reader, mail_messages};

/// Time limit of each reply for `coffer doctor`, in milliseconds.
const CHECK_TIMEOUT_MS: u64 = 10_000;
/// Age above which a due message is reported, in milliseconds.
const LATE_MS: i64 = HOUR_MS;

/// Returns the settings of the mail server, `None` if there is none.
///
/// # Errors
/// A message that names the setting, without the URL, which has a password.
pub(super) fn smtp_settings(values: &SettingValues<'_>) -> Result<Option<SmtpSettings>, Error> {
    let given = |flag| Ok::<_, Error>(values.text_value(flag)?.filter(|text| !text.is_empty()));
    let (url, from, roots) = (given("smtp")?, given("smtp-from")?, given("smtp-ca")?);
    let Some(url) = url else {
        return match from.is_some() || roots.is_some() {
            true => Err(Error::Failed("--smtp-from and --smtp-ca need --smtp".to_owned())),
            false => Ok(None),
        };
    };
    let roots = roots.map(|path| {
        std::fs::read(&path).map_err(|error| Error::Failed(format!("--smtp-ca {path}: {error}")))
    });
    let roots = roots.transpose()?;
    SmtpSettings::read(&url, from.as_deref(), roots.as_deref()).map(Some).map_err(Error::Failed)
}

/// Checks that the mail server can be used. `None` if there is none.
pub(super) fn check_mail_server(values: &SettingValues<'_>) -> Result<Option<Check>, Error> {
    let Some(settings) = smtp_settings(values)? else {
        return Ok(None);
    };
    let settings = settings.with_timeout_ms(CHECK_TIMEOUT_MS);
    let about = format!("mail server {}", settings.place());
    let complaint = check_server(&settings).err().map(|problem| FileProblem {
        about: format!("{} cannot be used: {problem}", settings.place()),
        mend: "correct --smtp and --smtp-from, or the mail server; messages wait for three days"
            .to_owned(),
    });
    Ok(Some((about, complaint.into_iter().collect())))
}

/// Checks that no message waits for long, and that somebody sends what waits.
pub(super) fn check_waiting_mail(
    db: &Reader<'_>,
    values: &SettingValues<'_>,
    now: Time,
) -> Result<Check, Error> {
    let counts = mail_messages::counts(db)?;
    let late = mail_messages::next_due_at(db)?.map_or(0, |at| now.since_ms(at));
    let complaint = if counts.waiting > 0 && smtp_settings(values)?.is_none() {
        Some((
            format!("{} e-mails wait, and no mail server is set", counts.waiting),
            format!(
                "set --smtp, or leave them: they are given up after {}",
                duration_text(WAITING_MS_MAX)
            ),
        ))
    } else if late > LATE_MS {
        Some((
            format!("e-mail has been due for {}", duration_text(late)),
            "is `coffer serve` running on this file with --smtp? its log says what holds it up"
                .to_owned(),
        ))
    } else {
        None
    };
    let complaint = complaint.map(|(about, mend)| FileProblem { about, mend });
    Ok(("e-mail".to_owned(), complaint.into_iter().collect()))
}
