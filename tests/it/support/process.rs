//! Child processes of a test: the real binary and the examples.
//!
//! Invariant: a process is killed when its handle is dropped.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Timeout for one line, long enough for a busy machine.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);

/// A running program whose standard output is read line by line.
pub struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    /// Starts a program. Its standard input stays open until the handle is dropped.
    #[track_caller]
    pub fn start(command: &mut Command) -> Process {
        Process::start_with_stderr(command, Stdio::inherit())
    }

    /// Starts a program whose standard error goes to `errors`.
    #[track_caller]
    pub fn start_with_stderr(command: &mut Command, errors: Stdio) -> Process {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(errors).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The send fails if the handle has been dropped.
                let _ = sender.send(line);
            }
        });
        Process { child, lines }
    }

    /// Waits for the next line of standard output.
    #[track_caller]
    pub fn read_line(&self) -> String {
        self.lines.recv_timeout(LINE_TIMEOUT).unwrap()
    }

    /// Waits for the ready line and returns its URL.
    #[track_caller]
    pub fn wait_for_url(&self) -> String {
        let line = self.read_line();
        let rest = line.strip_prefix("coffer ready url=").unwrap();
        rest.split_once(' ').unwrap().0.to_owned()
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns `true` if the program has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills the process with SIGKILL and waits for it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Writes a text to standard input.
    #[track_caller]
    pub fn write_input(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
    }

    /// Sends SIGINT and waits for the exit. Returns `true` if the exit code is 0.
    #[track_caller]
    pub fn interrupt_and_wait(&mut self) -> bool {
        let number = self.id().to_string();
        let told = Command::new("kill").args(["-INT", &number]).status();
        assert!(told.unwrap().success());
        self.child.wait().unwrap().success()
    }

    /// Waits until the process exits by itself. Returns `true` if the exit code is 0.
    pub fn wait_for_success(&mut self) -> bool {
        // `Child::wait` closes standard input, which ends the process. The input is therefore taken out of the handle
        // first.
        let input = self.child.stdin.take();
        let ended = self.child.wait().unwrap().success();
        drop(input);
        ended
    }

    /// Closes standard input and waits for the exit. Returns `true` if the exit code is 0.
    pub fn close_input_and_wait(&mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The kill fails if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a sandbox with the real binary on this address. Returns the process, and the URL in the ready line.
#[track_caller]
pub fn start_sandbox(listen: &str, more: &[&str]) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--log", "warn", "--exit-with-parent"]);
    let process = Process::start(command.args(["--listen", listen]).args(more));
    let url = process.wait_for_url();
    (process, url)
}

/// Returns the path of an example binary, which `cargo test` builds.
#[track_caller]
pub fn example_path(name: &str) -> PathBuf {
    let profile = PathBuf::from(env!("CARGO_BIN_EXE_coffer"));
    let path = profile.with_file_name("examples").join(name);
    let hint = "run `cargo test`, or `cargo build --examples` first";
    assert!(path.exists(), "{} is missing: {hint}", path.display());
    path
}
