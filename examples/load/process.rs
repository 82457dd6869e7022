//! Measured processes, and the folder of their files.
//!
//! Invariant: a server ends when its handle is dropped, and the folder is removed with its contents.

use crate::machine::{Memory, cpu_of, memory_of};
use crate::{Failure, wire};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A folder next to the binaries, on a real disk.
pub struct Place {
    folder: PathBuf,
    coffer: PathBuf,
    own: PathBuf,
}

impl Place {
    /// Creates the folder and finds the binary.
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
        Ok(Place { folder, coffer, own })
    }

    /// Returns the path of a file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Removes a file and the side files of SQLite and Coffer.
    pub fn remove(&self, name: &str) {
        for suffix in ["", "-wal", "-shm", "-lock"] {
            // The file may not exist.
            let _ = std::fs::remove_file(self.file(&format!("{name}{suffix}")));
        }
    }

    /// Starts a sandbox on the file of this name, which is created if it is missing. Without a name, the file is
    /// temporary.
    pub fn coffer(&self, name: Option<&str>) -> Result<Server, Failure> {
        self.sandbox(name, &[])
    }

    /// Starts a sandbox with these extra settings.
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

    /// Starts a server on the file of this name, with these extra settings.
    pub fn serve(&self, name: &str, settings: &[String]) -> Result<Server, Failure> {
        let mut command = Command::new(&self.coffer);
        command.args(["serve", "--listen", "127.0.0.1:0", "--exit-with-parent", "--log", "error"]);
        command.arg("--file").arg(self.file(name)).args(settings);
        Server::start(command.stderr(Stdio::null()))
    }

    /// Runs a command on the file of this name with `input` on standard input. Returns the last line of output.
    pub fn run(&self, name: &str, arguments: &[&str], input: &str) -> Result<Value, Failure> {
        let mut command = Command::new(&self.coffer);
        command.args(arguments).args(["--log", "error", "--file"]).arg(self.file(name));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
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

    /// Copies a file that no process has open.
    pub fn copy(&self, name: &str, copy: &str) -> Result<(), Failure> {
        std::fs::copy(self.file(name), self.file(copy))?;
        Ok(())
    }

    /// Starts this program as one of the compared servers.
    pub fn own(&self, arguments: &[&std::ffi::OsStr]) -> Result<Server, Failure> {
        Server::start(Command::new(&self.own).args(arguments))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // An error cannot be reported here.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A running server process.
pub struct Server {
    child: Child,
    /// Listening address.
    pub address: SocketAddr,
}

impl Server {
    /// Starts the server and waits for its ready line.
    fn start(command: &mut Command) -> Result<Server, Failure> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let url = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("url=http://"));
        match url.map(str::parse) {
            Some(Ok(address)) => Ok(Server { child, address }),
            _ => {
                child.kill()?;
                child.wait()?;
                Err(format!("a server did not start: {line:?}").into())
            }
        }
    }

    /// Ends the server by closing its standard input, after which it removes its temporary files.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        // The process may have exited already.
        let _ = self.child.wait();
    }

    /// Returns the CPU time used so far.
    pub fn cpu(&self) -> Result<Duration, Failure> {
        cpu_of(self.child.id())
    }

    /// Returns the current memory.
    pub fn memory(&self) -> Result<Memory, Failure> {
        memory_of(self.child.id())
    }

    /// Makes an endpoint at this URL get every event.
    pub fn tell(&self, url: &str) -> Result<(), Failure> {
        let body = format!(r#"{{"endpoints":[{{"url":"{url}"}}]}}"#);
        let request = wire::request("PATCH", "/sandbox/account", &body);
        wire::ask(self.address, &request).map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
