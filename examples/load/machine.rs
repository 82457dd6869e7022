//! CPU and memory figures from `/proc`.

use crate::Failure;
use std::time::Duration;

/// Unit of CPU time in `/proc`: a hundredth of a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Used CPU time: of all processes, and of this process with the children it has waited for.
#[derive(Clone, Copy)]
pub struct Cpu {
    all: u64,
    busy: u64,
    own: u64,
}

/// Reads the CPU times.
pub fn cpu() -> Result<Cpu, Failure> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).take(8).collect();
    let all: u64 = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    let own: u64 = process_ticks("self")?.iter().sum();
    Ok(Cpu { all, busy: all - idle, own })
}

impl Cpu {
    /// Returns the share of the CPU that other processes and the kernel used since then, in percent. All children must
    /// have been waited for at both times.
    pub fn used_by_others(self, since: Cpu) -> f64 {
        let busy = self.busy.saturating_sub(since.busy);
        let others = busy.saturating_sub(self.own.saturating_sub(since.own));
        100.0 * others as f64 / self.all.saturating_sub(since.all).max(1) as f64
    }
}

/// Returns user and system time of a process, then of the children it has waited for, in ticks.
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

/// Returns the CPU time of a process.
pub fn cpu_of(process: u32) -> Result<Duration, Failure> {
    let [user, system, ..] = process_ticks(&process.to_string())?;
    Ok(TICK * u32::try_from(user + system)?)
}

/// Memory of a process, in kilobytes.
#[derive(Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Anonymous memory (RssAnon), which the system cannot reclaim.
    pub anonymous_kb: u64,
    /// Anonymous memory and file pages (VmRSS). The system can drop file pages, such as those of the program.
    pub resident_kb: u64,
}

/// Reads the memory of a process.
pub fn memory_of(process: u32) -> Result<Memory, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| -> Result<u64, Failure> {
        let line = status.lines().find(|line| line.starts_with(name));
        let word = line.and_then(|line| line.split_ascii_whitespace().nth(1));
        Ok(word.ok_or("a process tells nothing of its memory")?.parse()?)
    };
    Ok(Memory { anonymous_kb: field("RssAnon:")?, resident_kb: field("VmRSS:")? })
}

/// Returns the number of processors and the averages of `/proc/loadavg`.
pub fn load_average() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let averages: Vec<&str> = average.split_ascii_whitespace().take(3).collect();
    format!("{processors} CPUs, load average {}", averages.join(" "))
}
