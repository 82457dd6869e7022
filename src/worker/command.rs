//! Running a command of the operator's: one program, once, to its end.
//!
//! What lives here: how it is started, fed, read, limited and killed. What does not: what it is for. What always
//! holds: it is started without a shell, with an empty environment, in `/`, with no descriptor but its standard
//! input, output and error; its process group ends with it; and its outcome counts as known only where it ended by
//! itself, with exit code 0 and one JSON object on its standard output.

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

/// The longest answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How much of its standard error goes to the log.
const ERRORS_BYTES_MAX: usize = 4 * 1024;
/// How long what it wrote to standard error may take to arrive after its end.
const ERRORS_GRACE: Duration = Duration::from_millis(200);
/// How long it may take to be gone once it was killed.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// How often it is asked whether it has ended, should whoever started this process have blocked the signal that tells.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// The first descriptor after standard input, output and error.
const FIRST_OTHER_DESCRIPTOR: i32 = 3;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<String>,
}

impl Program {
    /// Reads a setting: an absolute path, or a JSON array of an absolute path and arguments. The file must be there
    /// and be executable.
    ///
    /// # Errors
    /// A text for a person.
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
        Ok(Program {
            path,
            arguments: words,
        })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A program with the limits it is run under.
#[derive(Clone, Debug)]
pub struct Command {
    /// What is run.
    pub program: Program,
    /// How long it may take.
    pub timeout: Duration,
    /// Becomes true when the server is stopping.
    pub stop: watch::Receiver<bool>,
    /// How long it may go on from then on.
    pub stop_grace: Duration,
}

/// What it answered; else a text that says why what it did is not known.
pub type Answered = Result<Map<String, Value>, String>;

impl Command {
    /// Runs it once: `input` goes to its standard input, `name` into the log.
    pub async fn run(&self, name: &str, input: &Value) -> Answered {
        let not_started = |error| format!("{} did not start: {error}", self.program.path.display());
        // Heard before there is an end to hear of. Where the signal was ignored, the system would keep no exit code.
        let mut ends = signal(SignalKind::child()).map_err(not_started)?;
        let mut group = Group(self.spawn().map_err(not_started)?);
        let child = &mut group.0;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut errors = Vec::new();
        let ended = {
            let hear_errors = hear(stderr, &mut errors);
            let talk = talk(group.leader(), &mut ends, stdin, stdout, input.to_string());
            let (limit, stopped) = (tokio::time::sleep(self.timeout), self.stopped());
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
                // What it said last may be on its way; a process that it left behind may never close the pipe.
                let _ = tokio::time::timeout(ERRORS_GRACE, hear_errors).await;
            }
            ended
        };
        let status = group.end().await;
        if !errors.is_empty() {
            log::warn!("{name} wrote: {:?}", String::from_utf8_lossy(&errors));
        }
        let (output, status) = (ended?, status?);
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        answer(&output)
    }

    /// Starts it.
    #[expect(clippy::disallowed_methods, reason = "starts a process")]
    fn spawn(&self) -> std::io::Result<Child> {
        // What this process opens is closed in others by itself. What it was started with is not, nor what a library
        // may have opened.
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

    /// The server has been stopping for a while.
    async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stop| *stop).await.is_ok() {
            tokio::time::sleep(self.stop_grace).await;
        } else {
            // Nobody is left who could stop it.
            std::future::pending::<()>().await;
        }
    }
}

/// A command and the group of processes that it leads; dropping it kills them all.
struct Group(Child);

impl Group {
    /// The number of the command and of its group, until the command has been waited for: then both may be another's.
    fn leader(&self) -> Option<Pid> {
        let number = self.0.id().and_then(|id| i32::try_from(id).ok());
        number.and_then(Pid::from_raw)
    }

    /// Kills whatever of it is left.
    fn kill(&mut self) {
        let Some(leader) = self.leader() else { return };
        match kill_process_group(leader, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => log::warn!("not all that {leader} has started was killed: {error}"),
        }
        // It may have left its group, and may be gone already.
        let _ = self.0.start_kill();
    }

    /// Kills whatever of it is left, and only then waits for the command, so that nobody else has its number before.
    async fn end(&mut self) -> Result<ExitStatus, String> {
        self.kill();
        match tokio::time::timeout(KILL_GRACE, self.0.wait()).await {
            Ok(status) => status.map_err(not_told),
            Err(_) => {
                let number = self.0.id().unwrap_or_default();
                log::warn!("process {number} was killed and still runs");
                Err("it was killed and still runs".to_owned())
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn not_told(error: impl std::fmt::Display) -> String {
    format!("its end could not be waited for: {error}")
}

/// Returns once it has ended, and leaves it to be waited for.
async fn until_ended(leader: Pid, ends: &mut Signals) -> Result<(), String> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(leader), options) {
            Ok(Some(_)) => return Ok(()),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(not_told(error)),
        }
        // Another's end, or none yet: asked again.
        let _ = tokio::time::timeout(ASK_EVERY, ends.recv()).await;
    }
}

/// Feeds it, reads its answer to the end, and waits until it has ended.
async fn talk(
    leader: Option<Pid>,
    ends: &mut Signals,
    stdin: Option<ChildStdin>,
    stdout: Option<impl AsyncRead + Unpin>,
    input: String,
) -> Result<Vec<u8>, String> {
    let feed = async {
        if let Some(mut stdin) = stdin {
            // It may well answer without having read all of it, or any.
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
        let read = stdout
            .take(most.saturating_add(1))
            .read_to_end(&mut output)
            .await;
        read.map_err(|error| format!("its answer could not be read: {error}"))?;
        if output.len() > ANSWER_BYTES_MAX {
            return Err(format!("its answer is over {ANSWER_BYTES_MAX} bytes"));
        }
        Ok(output)
    };
    let ((), output) = tokio::try_join!(feed, read)?;
    let leader = leader.ok_or_else(|| not_told("its process number is not known"))?;
    until_ended(leader, ends).await?;
    Ok(output)
}

/// Reads all of standard error and keeps its beginning.
async fn hear(stderr: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut stderr) = stderr else { return };
    let mut buffer = [0; 1024];
    while let Ok(read) = stderr.read(&mut buffer).await
        && read > 0
    {
        let room = ERRORS_BYTES_MAX.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
}

/// The one JSON object that it wrote.
fn answer(output: &[u8]) -> Answered {
    let problem = match json::parse(output) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => "it is not an object".to_owned(),
        Err(problem) => problem,
    };
    Err(format!("its answer is no JSON object: {problem}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
