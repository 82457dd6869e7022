//! Running a command of the operator's: one program, once, to its end.
//!
//! What lives here: how it is started, fed, read, limited and killed. What does not: what it is for. What always
//! holds: it is started without a shell, with an empty environment, in `/`; and what it did counts as known only
//! where it ended by itself, with exit code 0 and one JSON object on its standard output.

use serde_json::{Map, Value};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command as Builder};
use tokio::sync::watch;

/// The longest answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How much of its standard error goes to the log.
const ERRORS_BYTES_MAX: usize = 4 * 1024;
/// How long it may go on when the server is stopping.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// How long what it wrote to standard error may take to arrive after its end.
const ERRORS_GRACE: Duration = Duration::from_millis(200);
/// How long it may take to be gone once it was killed.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// Ends a whole process group; the standard library can end one process only.
const KILL_GROUP: &str = "kill -s KILL -- \"-$1\"";

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
}

/// What it answered; else a text that says why what it did is not known.
pub type Answered = Result<Map<String, Value>, String>;

impl Command {
    /// Runs it once: `input` goes to its standard input, `name` into the log.
    pub async fn run(&self, name: &str, input: &Value) -> Answered {
        let mut child = self
            .spawn()
            .map_err(|error| format!("{} did not start: {error}", self.program.path.display()))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut errors = Vec::new();
        let ended = {
            let hear_errors = hear(stderr, &mut errors);
            let talk = talk(&mut child, stdin, stdout, input.to_string());
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
        if ended.is_err() {
            kill(&mut child).await;
        }
        if !errors.is_empty() {
            log::warn!("{name} wrote: {:?}", String::from_utf8_lossy(&errors));
        }
        ended.and_then(|output| answer(&output))
    }

    /// Starts it.
    fn spawn(&self) -> std::io::Result<Child> {
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
            tokio::time::sleep(STOP_GRACE).await;
        } else {
            // Nobody is left who could stop it.
            std::future::pending::<()>().await;
        }
    }
}

/// Feeds it, reads its answer, and waits for its end; what it answered where it ended well.
async fn talk(
    child: &mut Child,
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
    let status = child.wait().await;
    let status = status.map_err(|error| format!("its end was not told: {error}"))?;
    if status.success() {
        Ok(output)
    } else {
        Err(format!("it ended with {status}"))
    }
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

/// Ends it and whatever it started. It leads a group of its own, whose number is not given to another as long as it
/// has not been waited for.
async fn kill(child: &mut Child) {
    if let Some(leader) = child.id() {
        let killed = Builder::new("/bin/sh")
            .args(["-c", KILL_GROUP, "sh", &leader.to_string()])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .await;
        if !killed.is_ok_and(|status| status.success()) {
            log::warn!("the group of process {leader} could not be killed, so only itself is");
        }
        // It may be gone already.
        let _ = child.start_kill();
        if tokio::time::timeout(KILL_GRACE, child.wait())
            .await
            .is_err()
        {
            log::warn!("process {leader} was killed and is still there");
        }
    }
}

/// The one JSON object that it wrote.
fn answer(output: &[u8]) -> Answered {
    serde_json::from_slice(output).map_err(|error| format!("its answer is no JSON object: {error}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
