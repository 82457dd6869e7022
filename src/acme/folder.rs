//! The folder beside the database with the account, the certificate and the failed attempts.
//!
//! Invariant: a file is replaced as a whole: written aside, synced and renamed. Only the owner can read the folder.

use crate::acme::IssuedCertificate;
use crate::domain::Time;
use instant_acme::AccountCredentials;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const ACCOUNT: &str = "account.json";
const CERTIFICATE: &str = "certificate.json";
const ATTEMPTS: &str = "attempts.json";

const PRIVATE_FOLDER: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// The folder with the state of the certificate of one domain by one authority.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    domain: String,
    directory: String,
}

/// Failed attempts to get a certificate, since the last success.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempts {
    /// Number of attempts. An attempt counts from its start, so that an attempt cut off by a restart counts, too.
    pub count: u32,
    /// Start of the first attempt, in Unix milliseconds.
    pub first_at: Option<i64>,
    /// Start of the last attempt, in Unix milliseconds.
    pub last_at: Option<i64>,
    /// Message of the last failure, also if it came before an attempt.
    pub problem: Option<String>,
}

/// A file of the folder with the domain and the authority for which it was written.
#[derive(Serialize, Deserialize)]
struct Entry<T> {
    domain: String,
    directory: String,
    content: T,
}

/// A certificate with its key, in PEM.
#[derive(Serialize, Deserialize)]
struct CertificatePem {
    chain: String,
    key: String,
}

impl Folder {
    /// Names the folder. The folder is created by the first write.
    pub fn new(path: PathBuf, domain: &str, directory: &str) -> Folder {
        Folder { path, domain: domain.to_owned(), directory: directory.to_owned() }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the certificate. `None` if there is none for this domain by this authority.
    pub fn certificate(&self) -> Result<Option<IssuedCertificate>, String> {
        let found: Option<CertificatePem> = self.read(CERTIFICATE)?;
        let parse = |found: CertificatePem| {
            IssuedCertificate::from_pem(&self.domain, &found.chain, &found.key)
                .map_err(|problem| self.describe(CERTIFICATE, problem))
        };
        found.map(parse).transpose()
    }

    pub(super) fn store_certificate(&self, chain: &str, key: &str) -> Result<(), String> {
        let content = CertificatePem { chain: chain.to_owned(), key: key.to_owned() };
        self.write(CERTIFICATE, &content)
    }

    /// Returns the failed attempts.
    pub fn attempts(&self) -> Result<Attempts, String> {
        Ok(self.read(ATTEMPTS)?.unwrap_or_default())
    }

    /// Replaces the failed attempts.
    pub fn store_attempts(&self, attempts: &Attempts) -> Result<(), String> {
        self.write(ATTEMPTS, attempts)
    }

    pub(super) fn account(&self) -> Result<Option<AccountCredentials>, String> {
        self.read(ACCOUNT)
    }

    pub(super) fn store_account(&self, account: &AccountCredentials) -> Result<(), String> {
        self.write(ACCOUNT, account)
    }

    /// Removes the account, so that the next attempt creates one.
    pub(super) fn remove_account(&self) -> Result<(), String> {
        match std::fs::remove_file(self.path.join(ACCOUNT)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(self.describe(ACCOUNT, error.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        let bytes = match std::fs::read(self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| self.describe(name, error.to_string()))?,
        };
        // The position in a message of serde_json is useful, and the message contains no value of the file.
        let entry: Entry<serde_json::Value> = serde_json::from_slice(&bytes).map_err(|error| {
            self.describe(name, format!("not readable at line {}", error.line()))
        })?;
        if (&entry.domain, &entry.directory) != (&self.domain, &self.directory) {
            return Ok(None);
        }
        let content = serde_json::from_value(entry.content);
        content.map(Some).map_err(|_| self.describe(name, "has an unknown form".to_owned()))
    }

    /// Writes a file aside, syncs it and renames it.
    fn write<T: Serialize>(&self, name: &str, content: &T) -> Result<(), String> {
        let entry =
            Entry { domain: self.domain.clone(), directory: self.directory.clone(), content };
        let written = serde_json::to_vec_pretty(&entry)
            .map_err(std::io::Error::from)
            .and_then(|bytes| self.replace(name, &bytes));
        written.map_err(|error| self.describe(name, error.to_string()))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(&self.path)?;
        std::fs::set_permissions(&self.path, Permissions::from_mode(PRIVATE_FOLDER))?;
        let aside = self.path.join(format!("{name}.new"));
        // A file that an earlier process left could have another mode.
        match std::fs::remove_file(&aside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = File::options();
        let mut file = options.write(true).create_new(true).mode(PRIVATE_FILE).open(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&aside, self.path.join(name))?;
        File::open(&self.path)?.sync_all()
    }

    fn describe(&self, name: &str, problem: String) -> String {
        format!("{}: {problem}", self.path.join(name).display())
    }
}

impl Attempts {
    /// Counts an attempt that starts now.
    pub fn begin(&mut self, now: Time) {
        self.count = self.count.saturating_add(1);
        self.first_at.get_or_insert(now.0);
        self.last_at = Some(now.0);
    }

    /// Returns the earliest time of the next attempt, if an attempt was made.
    pub fn next_at(&self, now: Time, retry_ms_min: i64) -> Option<Time> {
        let wait_ms = crate::domain::certificate::retry_wait_ms(self.count, retry_ms_min);
        // A wall clock that was set back must not make the wait longer.
        self.last_at.map(|last| Time(last.min(now.0)).plus_ms(wait_ms))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Attempts, Folder};
    use crate::domain::Time;
    use crate::domain::time::{DAY_MS, MINUTE_MS};
    use std::os::unix::fs::PermissionsExt;

    fn folder(name: &str, domain: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("coffer-acme-{}-{name}", std::process::id()));
        Folder::new(path, domain, "https://ca.example/dir")
    }

    #[test]
    fn state_is_private_and_of_one_domain() {
        let here = folder("private", "a.example");
        assert_eq!(here.attempts().unwrap(), Attempts::default());
        let mut attempts = Attempts::default();
        attempts.begin(Time(5));
        here.store_attempts(&attempts).unwrap();
        let file = here.path().join("attempts.json");
        for (path, mode) in [(here.path(), 0o700), (&file, 0o600)] {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
        assert_eq!(here.attempts().unwrap(), attempts);
        assert_eq!(folder("private", "b.example").attempts().unwrap(), Attempts::default());
        std::fs::write(&file, "{").unwrap();
        assert!(here.attempts().unwrap_err().ends_with("attempts.json: not readable at line 1"));
        std::fs::remove_dir_all(here.path()).unwrap();
    }

    #[test]
    fn clock_that_was_set_back_does_not_lengthen_the_wait() {
        let mut attempts = Attempts::default();
        assert_eq!(attempts.next_at(Time(0), MINUTE_MS), None);
        attempts.begin(Time(10 * DAY_MS));
        let next = |now| attempts.next_at(Time(now), MINUTE_MS).unwrap();
        assert_eq!(next(10 * DAY_MS + 1), Time(10 * DAY_MS + MINUTE_MS));
        assert_eq!(next(DAY_MS), Time(DAY_MS + MINUTE_MS));
    }
}
