//! What the system says of itself and of processes, from `/proc`.

use crate::Failure;
use std::time::Duration;

/// Every Linux counts CPU time for `/proc` in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// The CPU time so far, of everybody and of this process with the children it has waited for.
#[derive(Clone, Copy)]
pub struct Cpu {
    all: u64,
    busy: u64,
    own: u64,
}

/// Reads it.
pub fn cpu() -> Result<Cpu, Failure> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
        .take(8)
        .collect();
    let all: u64 = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    let own: u64 = process_ticks("self")?.iter().sum();
    Ok(Cpu {
        all,
        busy: all - idle,
        own,
    })
}

impl Cpu {
    /// The share of the machine's CPU that others used since then, in per cent; the kernel's own threads count as
    /// others. Every child has to be waited for at both moments.
    pub fn used_by_others(self, since: Cpu) -> f64 {
        let busy = self.busy.saturating_sub(since.busy);
        let others = busy.saturating_sub(self.own.saturating_sub(since.own));
        100.0 * others as f64 / self.all.saturating_sub(since.all).max(1) as f64
    }
}

/// User and system time of a process, then of the children it has waited for, in ticks.
fn process_ticks(process: &str) -> Result<[u64; 4], Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let mut ticks = [0; 4];
    for tick in &mut ticks {
        *tick = fields.next().unwrap_or_default().parse()?;
    }
    Ok(ticks)
}

/// The CPU time of a process so far.
pub fn cpu_of(process: u32) -> Result<Duration, Failure> {
    let [user, system, ..] = process_ticks(&process.to_string())?;
    Ok(TICK * u32::try_from(user + system)?)
}

/// The memory of a process, in kilobytes.
#[derive(Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Memory of the process itself (RssAnon). The system cannot take it back, so it is what counts.
    pub anonymous_kb: u64,
    /// The same with pages of files, such as the program's own, which the system drops when it needs room (VmRSS).
    pub resident_kb: u64,
}

/// Reads it.
pub fn memory_of(process: u32) -> Result<Memory, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| -> Result<u64, Failure> {
        let line = status.lines().find(|line| line.starts_with(name));
        let word = line.and_then(|line| line.split_ascii_whitespace().nth(1));
        Ok(word
            .ok_or("a process tells nothing of its memory")?
            .parse()?)
    };
    Ok(Memory {
        anonymous_kb: field("RssAnon:")?,
        resident_kb: field("VmRSS:")?,
    })
}

/// How many processors there are, and the averages of `/proc/loadavg`.
pub fn load_average() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = average.split_ascii_whitespace().take(3).collect();
    format!("{processors} CPUs, load average {}", averages.join(" "))
}
