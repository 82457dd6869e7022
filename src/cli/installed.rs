//! Commands beside the installed service: finds its settings and its file, and runs as the owner of the file.
//!
//! Invariant: the user changes before a command opens the database, so no file of the service belongs to root afterwards.

use super::invocation::Invocation;
use super::named_file::{FileUse, FileUser, NewFile, PassedFile, open_as_root};
use super::output::print_text;
use super::terminal::{Stream, Tone};
use crate::config::env_file::EnvFile;
use crate::config::{PASSED_FILE, SERVERS, settings_of_command};
use crate::service::Error;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Files of the installed service's settings, in the order in which systemd reads them. The later file takes
/// precedence.
pub(super) const SETTINGS_FILES: [&str; 2] = ["/etc/default/coffer", "/etc/coffer/coffer.env"];

pub(super) const SETTINGS_BYTES_MAX: u64 = 1 << 20;

pub(super) const WORKING_DIRECTORY: &str = "/var/lib/coffer";

/// Name of the service's file if the settings name none.
const DEFAULT_FILE: &str = "coffer.db";

/// Permission bits with which users other than the owner can change a file.
const OTHERS_WRITE: u32 = 0o022;

const ROOT: u32 = 0;

/// Commands that may run although the service's file does not exist.
const WITHOUT_FILE: [&str; 2] = ["restore", "doctor"];

/// Continues a command with the settings of the installed service, as the owner of its file.
///
/// Returns `None` if the command is not one beside the service: it names a file, or no settings of an installed service
/// can be read. Otherwise the process is replaced, and the function does not return. Where root keeps a file of its own,
/// the command runs in another process, and the function returns its exit code.
///
/// # Errors
/// A message if the settings are not safe to use, the service has no file yet, or the program cannot run as the owner.
pub(super) fn continue_as_service(
    invocation: &Invocation<'_>,
    args: &[OsString],
) -> Result<Option<ExitCode>, Error> {
    let (command, values) = (invocation.command, &invocation.values);
    let has_setting = |flag| settings_of_command(command).any(|setting| setting.flag == flag);
    if SERVERS.contains(&command) || !has_setting("file") {
        return Ok(None);
    }
    let is_sandbox = has_setting("sandbox") && values.is_switch_on("sandbox")?;
    if is_sandbox || values.is_given("file") {
        return Ok(None);
    }
    let Some(settings) = InstalledSettings::read()? else { return Ok(None) };
    let path = settings.file_path();
    let owner = find_owner(&path, command)?;
    settings.check_safe_for(owner.uid())?;
    // A failed write is ignored, because the command's result does not depend on this line.
    let about = Stream::Err.paint(Tone::Marked, "coffer:");
    let _ = writeln!(std::io::stderr(), "{about} file {} of the installed service", path.display());
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the command, or waits for it"
    )]
    let mut next = Command::new("/proc/self/exe");
    next.args(args.iter().skip(1));
    next.envs(settings.variables().filter(|(name, _)| !values.has_env(name)));
    next.env("COFFER_FILE", &path);
    if geteuid().as_raw() != owner.uid() {
        next.uid(owner.uid()).gid(owner.gid());
        let user = FileUser { uid: owner.uid(), gid: owner.gid() };
        if geteuid().is_root()
            && let Some((path, usage)) = named_file(invocation)?
            && let Some(file) = open_as_root(&path, usage, user)?
        {
            next.env(PASSED_FILE, &path);
            match file {
                PassedFile::Read(file) => drop(next.stdin(file)),
                PassedFile::New(file) => return run_into(&mut next, file).map(Some),
            }
        }
    }
    let error = next.exec();
    Err(Error::Failed(format!(
        "cannot run as the owner of {} (user {}): {error}. Install the program where that user can run it, for \
         example as /usr/local/bin/coffer",
        path.display(),
        owner.uid()
    )))
}

/// Returns the file that a command reads or creates besides the database.
fn named_file(invocation: &Invocation<'_>) -> Result<Option<(PathBuf, FileUse)>, Error> {
    let argument = |name| invocation.optional::<String>(name);
    let (path, usage) = match (invocation.command, invocation.verb) {
        ("restore", _) => (argument("from"), FileUse::Database),
        ("backup", _) => (argument("to"), FileUse::Create),
        ("pool", "import") => (argument("addresses"), FileUse::Text),
        ("user", "create" | "password") => {
            (invocation.values.text_value("password-file")?, FileUse::Text)
        }
        _ => return Ok(None),
    };
    let path = path.filter(|path| path != "-" && !path.is_empty());
    Ok(path.map(|path| (path.into(), usage)))
}

/// Runs a command that writes into a new file of root's. The file gets its name after the command has succeeded.
fn run_into(command: &mut Command, file: NewFile) -> Result<ExitCode, Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("cannot run the command: {error}"));
    command.stdin(file.descriptor()?).stderr(Stdio::inherit());
    let output = command.output().map_err(failed)?;
    if !output.status.success() {
        return match output.status.code() {
            // The command has printed its error.
            Some(_) => Ok(ExitCode::FAILURE),
            None => Err(Error::Failed(format!("the copy is not finished: {}", output.status))),
        };
    }
    file.finish()?;
    print_text(&String::from_utf8_lossy(&output.stdout))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the metadata whose owner the command becomes: that of the file, or of its folder if there is no file.
fn find_owner(path: &Path, command: &str) -> Result<Metadata, Error> {
    let failed =
        |path: &Path, error: std::io::Error| Error::Failed(format!("{}: {error}", path.display()));
    match std::fs::symlink_metadata(path) {
        // A link of root's is followed. A link of another user may lead to any file, and that user follows it.
        Ok(found) if found.is_symlink() && found.uid() == ROOT => {
            std::fs::metadata(path).map_err(|error| failed(path, error))
        }
        Ok(found) => Ok(found),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if !WITHOUT_FILE.contains(&command) {
                return Err(Error::Failed(format!(
                    "the installed service has no file {} yet. Start it once with `systemctl start coffer`, or pass \
                     --file for another file",
                    path.display()
                )));
            }
            let folder = path.parent().unwrap_or(Path::new("/"));
            std::fs::metadata(folder).map_err(|error| failed(folder, error))
        }
        Err(error) => Err(failed(path, error)),
    }
}

/// Reads a text to its end.
///
/// # Errors
/// I/O errors. [`ErrorKind::InvalidData`] if the text is not UTF-8, or has more bytes than `bytes_max`.
pub(super) fn read_whole(from: impl Read, bytes_max: u64) -> std::io::Result<String> {
    let mut text = String::new();
    let count = from.take(bytes_max.saturating_add(1)).read_to_string(&mut text)?;
    if u64::try_from(count).is_ok_and(|count| count <= bytes_max) {
        return Ok(text);
    }
    let problem = format!("has more than {bytes_max} bytes");
    Err(std::io::Error::new(ErrorKind::InvalidData, problem))
}

pub(super) struct InstalledSettings {
    files: Vec<(&'static str, Metadata, EnvFile)>,
}

impl InstalledSettings {
    /// Reads the settings; `None` if there are none, or this user may not read them.
    ///
    /// # Errors
    /// A message if a file is too large or not UTF-8, or cannot be read for another reason.
    pub(super) fn read() -> Result<Option<InstalledSettings>, Error> {
        let mut files = Vec::new();
        for path in SETTINGS_FILES {
            let opened = std::fs::File::open(path);
            let read = opened.and_then(|file| {
                let found = file.metadata()?;
                Ok((found, read_whole(file, SETTINGS_BYTES_MAX)?))
            });
            match read {
                Ok((found, text)) => files.push((path, found, EnvFile::parse(&text))),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
                Err(error) => return Err(Error::Failed(format!("{path}: {error}"))),
            }
        }
        Ok((!files.is_empty()).then_some(InstalledSettings { files }))
    }

    /// Returns the content of each of [`SETTINGS_FILES`]; `None` for a file that does not exist.
    pub(super) fn files(&self) -> [Option<EnvFile>; 2] {
        SETTINGS_FILES.map(|path| {
            let found = self.files.iter().find(|(known, _, _)| *known == path);
            found.map(|(_, _, file)| EnvFile::parse(file.text()))
        })
    }

    /// Returns the path of the service's file. Like the service, takes a relative path from the working directory of the
    /// unit.
    fn file_path(&self) -> PathBuf {
        let named = self.value("COFFER_FILE").filter(|path| !path.is_empty());
        Path::new(WORKING_DIRECTORY).join(named.unwrap_or(DEFAULT_FILE))
    }

    /// Returns all variables. Of two assignments of one name the later one counts.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().flat_map(|(_, _, file)| file.variables())
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.files.iter().rev().find_map(|(_, _, file)| file.value(name))
    }

    /// Refuses settings that a user other than root and the file's owner can change. Otherwise that user could run
    /// programs as the owner.
    fn check_safe_for(&self, owner: u32) -> Result<(), Error> {
        for (path, found, _) in &self.files {
            let is_of_other = found.uid() != ROOT && found.uid() != owner;
            if is_of_other || found.mode() & OTHERS_WRITE != 0 {
                return Err(Error::Failed(format!(
                    "{path} can be changed by other users. Let it belong to root with mode 0640, or pass --file"
                )));
            }
        }
        Ok(())
    }
}
