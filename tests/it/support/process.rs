//! Programs that run beside the test, as a user runs them: the real binary, the examples.
//!
//! What always holds: whatever is started here is gone when its handle is dropped.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long a line may take on the busiest of machines.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);

/// A running program whose standard output is read line by line.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    /// Starts a program; its standard input stays open until it is dropped.
    #[track_caller]
    pub fn start(command: &mut Command) -> Process {
        Process::start_with(command, Stdio::inherit())
    }

    /// [`Process::start`] with its standard error going elsewhere.
    #[track_caller]
    pub fn start_with(command: &mut Command, errors: Stdio) -> Process {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(errors).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // Whoever does not listen any more needs no lines.
                let _ = sender.send(line);
            }
        });
        Process { child, lines }
    }

    /// Waits for the next line of its standard output.
    #[track_caller]
    pub fn line(&self) -> String {
        self.lines.recv_timeout(LINE_TIMEOUT).unwrap()
    }

    /// Waits for its ready line; the url in it.
    #[track_caller]
    pub fn url(&self) -> String {
        let line = self.line();
        let rest = line.strip_prefix("coffer ready url=").unwrap();
        rest.split_once(' ').unwrap().0.to_owned()
    }

    /// Its number in the system.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Writes this to its standard input.
    #[track_caller]
    pub fn types(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
    }

    /// Ends it as Ctrl-C does, and waits for its end; did it end well?
    #[track_caller]
    pub fn interrupt(&mut self) -> bool {
        let number = self.id().to_string();
        let told = Command::new("kill").args(["-INT", &number]).status();
        assert!(told.unwrap().success());
        self.child.wait().unwrap().success()
    }

    /// Waits until it has ended by itself; did it end well?
    pub fn ends(&mut self) -> bool {
        // Its standard input is left open: `wait` would close it, by which it ends too.
        let input = self.child.stdin.take();
        let ended = self.child.wait().unwrap().success();
        drop(input);
        ended
    }

    /// Closes its standard input and waits for its end; did it end well?
    pub fn close(&mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A sandbox of the real binary on this address, and the url of its ready line.
#[track_caller]
pub fn sandbox(listen: &str, more: &[&str]) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--log", "warn", "--exit-with-parent"]);
    let process = Process::start(command.args(["--listen", listen]).args(more));
    let url = process.url();
    (process, url)
}

/// The file of an example, which `cargo test` builds beside the binary.
#[track_caller]
pub fn example(name: &str) -> PathBuf {
    let profile = PathBuf::from(env!("CARGO_BIN_EXE_coffer"));
    let path = profile.with_file_name("examples").join(name);
    let hint = "run `cargo test`, or `cargo build --examples` first";
    assert!(path.exists(), "{} is missing: {hint}", path.display());
    path
}
