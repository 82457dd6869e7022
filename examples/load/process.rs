//! Processes that are measured, and the place where their files are.
//!
//! What always holds: a server ends when its handle goes, and the place is removed with everything in it.

use crate::machine::{Memory, cpu_of, memory_of};
use crate::{Failure, wire};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A folder beside the binaries, on a real disk, and the binaries themselves.
pub struct Place {
    folder: PathBuf,
    coffer: PathBuf,
    own: PathBuf,
}

impl Place {
    /// Makes the folder and finds the binary.
    pub fn make() -> Result<Place, Failure> {
        let own = std::env::current_exe()?;
        let release = own.parent().and_then(Path::parent).ok_or("no folder")?;
        let coffer = release.join("coffer");
        if !coffer.exists() {
            let coffer = coffer.display();
            return Err(format!("{coffer} is missing: run `cargo build --release` first").into());
        }
        let folder = release.join(format!("load-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Place {
            folder,
            coffer,
            own,
        })
    }

    /// A path for a file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Removes a file and what SQLite and Coffer put beside it.
    pub fn remove(&self, name: &str) {
        for suffix in ["", "-wal", "-shm", "-lock"] {
            // What is not there needs no removing.
            let _ = std::fs::remove_file(self.file(&format!("{name}{suffix}")));
        }
    }

    /// A sandbox on the file with this name, which is made where there is none; no name: one that is thrown away.
    pub fn coffer(&self, name: Option<&str>) -> Result<Server, Failure> {
        self.sandbox(name, &[])
    }

    /// The same with these settings besides.
    pub fn sandbox(&self, name: Option<&str>, settings: &[&str]) -> Result<Server, Failure> {
        let mut command = Command::new(&self.coffer);
        command.args([
            "sandbox",
            "--listen",
            "127.0.0.1:0",
            "--exit-with-parent",
            "--log",
            "error",
        ]);
        if let Some(name) = name {
            command.arg("--file").arg(self.file(name));
        }
        command.args(settings).env("TMPDIR", &self.folder);
        Server::start(&mut command)
    }

    /// A server on the file with this name, with these settings besides.
    pub fn serve(&self, name: &str, settings: &[String]) -> Result<Server, Failure> {
        let mut command = Command::new(&self.coffer);
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--exit-with-parent",
            "--log",
            "error",
        ]);
        command.arg("--file").arg(self.file(name)).args(settings);
        Server::start(command.stderr(Stdio::null()))
    }

    /// A command on the file with this name, which reads `input`; the last that it says.
    pub fn run(&self, name: &str, arguments: &[&str], input: &str) -> Result<Value, Failure> {
        let mut command = Command::new(&self.coffer);
        command
            .args(arguments)
            .args(["--log", "error", "--file"])
            .arg(self.file(name));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("coffer {}: {said}", arguments.join(" ")).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// A copy of a file that nobody has open.
    pub fn copy(&self, name: &str, copy: &str) -> Result<(), Failure> {
        std::fs::copy(self.file(name), self.file(copy))?;
        Ok(())
    }

    /// This program again, as one of the servers it compares with.
    pub fn own(&self, arguments: &[&std::ffi::OsStr]) -> Result<Server, Failure> {
        Server::start(Command::new(&self.own).args(arguments))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // There is nobody to tell.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A server in a process of its own.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts it and waits until it says that it is ready.
    fn start(command: &mut Command) -> Result<Server, Failure> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let url = line
            .split_ascii_whitespace()
            .find_map(|word| word.strip_prefix("url=http://"));
        match url.map(str::parse) {
            Some(Ok(address)) => Ok(Server { child, address }),
            _ => {
                child.kill()?;
                child.wait()?;
                Err(format!("a server did not start: {line:?}").into())
            }
        }
    }

    /// Ends it as those do who start one for a test: its input ends, and it goes with what it made.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        // It may have ended by itself.
        let _ = self.child.wait();
    }

    /// Its CPU time so far.
    pub fn cpu(&self) -> Result<Duration, Failure> {
        cpu_of(self.child.id())
    }

    /// Its memory now.
    pub fn memory(&self) -> Result<Memory, Failure> {
        memory_of(self.child.id())
    }

    /// Has every event told to this url.
    pub fn tell(&self, url: &str) -> Result<(), Failure> {
        let body = format!(r#"{{"endpoints":[{{"url":"{url}"}}]}}"#);
        let request = wire::request("PATCH", "/sandbox/account", &body);
        wire::ask(self.address, &request).map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
