//! Runs a command of the operator as a child process, and reads its result.
//!
//! Invariant: the command runs without a shell, with an empty environment, in `/`. Its only descriptors are stdin,
//! stdout and stderr. Its process group is killed when the command ends.
//!
//! The result is known only if the command exits by itself with code 0 and has written one JSON object to stdout.

use crate::domain::json;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Map, Value};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command as Builder};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::watch;

/// Largest result, in bytes of stdout.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of stderr bytes that are logged.
const ERRORS_BYTES_MAX: usize = 4 * 1024;
/// Longest wait for the rest of stderr after the command has exited.
const ERRORS_GRACE: Duration = Duration::from_millis(200);
/// Longest wait for a killed command to exit.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// Interval at which the exit of the command is checked. The parent of this process may have blocked SIGCHLD, so the
/// signal may not arrive.
const EXIT_CHECK_EVERY: Duration = Duration::from_millis(100);
/// The first descriptor after standard input, output and error.
const FIRST_OTHER_DESCRIPTOR: i32 = 3;

/// Removes the capabilities that programs would inherit, for example that to open port 443. This thread, and threads
/// that it starts, keep their own capabilities. Must be called before the threads that start programs exist.
pub fn clear_inherited_capabilities() {
    // A kernel without an ambient set, such as Linux before 4.3, lets programs inherit nothing.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::clear_ambient_capability_set();
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<String>,
}

impl Program {
    /// Parses a setting: an absolute path, or a JSON array of an absolute path and arguments. The file must exist and
    /// be executable.
    ///
    /// # Errors
    ///
    /// A message for the operator.
    pub fn parse(text: &str) -> Result<Program, String> {
        let mut words = if text.trim_start().starts_with('[') {
            serde_json::from_str::<Vec<String>>(text)
                .map_err(|_| "must be a path, or a JSON array of texts".to_owned())?
        } else {
            vec![text.to_owned()]
        };
        if words.is_empty() {
            return Err("must name a program".to_owned());
        }
        let path = PathBuf::from(words.remove(0));
        if !path.is_absolute() {
            return Err("must begin with an absolute path: commands are run in /".to_owned());
        }
        let about = |problem: &str| format!("{}: {problem}", path.display());
        let found = std::fs::metadata(&path).map_err(|error| about(&error.to_string()))?;
        if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
            return Err(about("must be an executable file"));
        }
        Ok(Program { path, arguments: words })
    }

    /// Returns the path of the executable.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A program with its time limits.
#[derive(Clone, Debug)]
pub struct Command {
    /// Program and arguments.
    pub program: Program,
    /// Longest run time of the command.
    pub timeout: Duration,
    /// Becomes `true` when the server stops.
    pub stop: watch::Receiver<bool>,
    /// Longest time that the command may run after the server begins to stop.
    pub stop_grace: Duration,
}

/// The JSON object that a command returned, or a message that says why the result is unknown.
pub type CommandResult = Result<Map<String, Value>, String>;

impl Command {
    /// Runs the command once. Writes `input` to its stdin, and uses `name` in the log.
    pub async fn run(&self, name: &str, input: &Value) -> CommandResult {
        let not_started = |error| format!("{} did not start: {error}", self.program.path.display());
        // The signal handler is installed before the command starts, so that no SIGCHLD is missed. While a process
        // ignores SIGCHLD, the kernel keeps no exit codes of its children.
        let mut ends = signal(SignalKind::child()).map_err(not_started)?;
        let mut group = ProcessGroup(self.spawn().map_err(not_started)?);
        let child = &mut group.0;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut errors = Vec::new();
        let ended = {
            let hear_errors = read_stderr(stderr, &mut errors);
            let talk = communicate(group.leader_pid(), &mut ends, stdin, stdout, input.to_string());
            let (limit, stopped) = (tokio::time::sleep(self.timeout), self.wait_for_stop_grace());
            tokio::pin!(hear_errors, talk, limit, stopped);
            let mut all_heard = false;
            let ended = loop {
                tokio::select! {
                    ended = &mut talk => break ended,
                    () = &mut hear_errors, if !all_heard => all_heard = true,
                    () = &mut limit => {
                        let most = self.timeout.as_millis();
                        break Err(format!("it took longer than {most} ms and was killed"));
                    }
                    () = &mut stopped => {
                        break Err("it was killed because coffer was stopping".to_owned());
                    }
                }
            };
            if !all_heard {
                // Some output on stderr may not have arrived yet. A remaining child process may never close the pipe,
                // so the wait is limited.
                let _ = tokio::time::timeout(ERRORS_GRACE, hear_errors).await;
            }
            ended
        };
        let status = group.kill_and_wait().await;
        if !errors.is_empty() {
            log::warn!(
                "command wrote to standard error: order={name:?} text={:?}",
                String::from_utf8_lossy(&errors)
            );
        }
        let (output, status) = (ended?, status?);
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        parse_output(&output)
    }

    #[expect(clippy::disallowed_methods, reason = "starts a process")]
    fn spawn(&self) -> std::io::Result<Child> {
        // The command must not inherit other descriptors. Descriptors of the parent process or of C libraries may
        // lack close-on-exec.
        close_fds::set_fds_cloexec_threadsafe(FIRST_OTHER_DESCRIPTOR, &[]);
        Builder::new(&self.program.path)
            .args(&self.program.arguments)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    /// Returns once `stop_grace` has passed since the server began to stop.
    async fn wait_for_stop_grace(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stop| *stop).await.is_ok() {
            tokio::time::sleep(self.stop_grace).await;
        } else {
            // The sender of `stop` is dropped, so the server can no longer ask the command to stop.
            std::future::pending::<()>().await;
        }
    }
}

/// A command and the process group that it leads. Dropping it kills the whole group.
struct ProcessGroup(Child);

impl ProcessGroup {
    /// Returns the process id, which is also the group id. Returns `None` after the command was waited for, because
    /// the id may then be reused.
    fn leader_pid(&self) -> Option<Pid> {
        let number = self.0.id().and_then(|id| i32::try_from(id).ok());
        number.and_then(Pid::from_raw)
    }

    fn kill(&mut self) {
        let Some(leader) = self.leader_pid() else {
            return;
        };
        match kill_process_group(leader, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => log::warn!("child processes not killed: leader={leader} error={error}"),
        }
        // Also kills the command itself, in case it has left its group. An error is ignored, because the command may
        // have exited already.
        let _ = self.0.start_kill();
    }

    /// Kills all remaining processes, then waits for the command. In this order, the kernel cannot reuse the group id
    /// before the kill.
    async fn kill_and_wait(&mut self) -> Result<ExitStatus, String> {
        self.kill();
        match tokio::time::timeout(KILL_GRACE, self.0.wait()).await {
            Ok(status) => status.map_err(describe_wait_error),
            Err(_) => {
                let number = self.0.id().unwrap_or_default();
                log::warn!("process still runs after kill: process={number}");
                Err("it was killed and still runs".to_owned())
            }
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

fn describe_wait_error(error: impl std::fmt::Display) -> String {
    format!("its end could not be waited for: {error}")
}

/// Waits until the command has exited. Does not reap the process, so that its id stays reserved.
async fn wait_for_exit(leader: Pid, ends: &mut Signals) -> Result<(), String> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(leader), options) {
            Ok(Some(_)) => return Ok(()),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(describe_wait_error(error)),
        }
        // The signal may be for another child process, so the loop asks again whether the command has exited.
        let _ = tokio::time::timeout(EXIT_CHECK_EVERY, ends.recv()).await;
    }
}

/// Writes the input, reads stdout to its end, and waits for the exit.
async fn communicate(
    leader: Option<Pid>,
    ends: &mut Signals,
    stdin: Option<ChildStdin>,
    stdout: Option<impl AsyncRead + Unpin>,
    input: String,
) -> Result<Vec<u8>, String> {
    let feed = async {
        if let Some(mut stdin) = stdin {
            // The write may fail, because the command may answer without having read all of its input.
            let _ = stdin.write_all(input.as_bytes()).await;
            let _ = stdin.write_all(b"\n").await;
        }
        Ok(())
    };
    let read = async {
        let mut output = Vec::new();
        let Some(stdout) = stdout else {
            return Ok(output);
        };
        let most = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
        let read = stdout.take(most.saturating_add(1)).read_to_end(&mut output).await;
        read.map_err(|error| format!("its answer could not be read: {error}"))?;
        if output.len() > ANSWER_BYTES_MAX {
            return Err(format!("its answer is over {ANSWER_BYTES_MAX} bytes"));
        }
        Ok(output)
    };
    let ((), output) = tokio::try_join!(feed, read)?;
    let leader = leader.ok_or_else(|| describe_wait_error("its process number is not known"))?;
    wait_for_exit(leader, ends).await?;
    Ok(output)
}

/// Reads all of stderr, but keeps only the first bytes.
async fn read_stderr(stderr: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut stderr) = stderr else { return };
    let mut buffer = [0; 1024];
    while let Ok(read) = stderr.read(&mut buffer).await
        && read > 0
    {
        let room = ERRORS_BYTES_MAX.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
}

fn parse_output(output: &[u8]) -> CommandResult {
    let problem = match json::parse(output) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => "it is not an object".to_owned(),
        Err(problem) => problem.to_string(),
    };
    Err(format!("its answer is no JSON object: {problem}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
