//! Load generator: each connection sends its next request when it gets a response.
//!
//! Invariant: a response counts for the rate if it arrives within the window. Its latency counts if it was requested
//! within the window, however late it arrives.

use crate::book::{Measured, quantile};
use crate::plan::Plan;
use crate::process::Server;
use crate::{Failure, wire};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Number of sending threads.
const THREADS: usize = 2;
/// Offset of the id in the body of an invoice, after `{"id":"`.
const ID_AT: std::ops::Range<usize> = 7..43;

/// Writes the request with this number. Returns `false` if there are no more.
pub type Requests = Arc<dyn Fn(usize, &mut Vec<u8>) -> bool + Send + Sync>;

/// Repeats the same requests.
pub fn cycle(requests: Vec<Vec<u8>>) -> Requests {
    Arc::new(move |number, out| {
        let place = number.checked_rem(requests.len());
        let request = place.and_then(|place| requests.get(place));
        out.extend_from_slice(request.map_or(&[], Vec::as_slice));
        request.is_some()
    })
}

/// Sends an endless series of requests, each built from its number.
pub fn numbered(request: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static) -> Requests {
    Arc::new(move |number, out| {
        out.extend_from_slice(&request(number));
        true
    })
}

/// Sends one request for each of these items.
pub fn each(
    all: Vec<String>,
    request: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
) -> Requests {
    Arc::new(move |number, out| {
        let found = all.get(number).map(|one| request(one));
        out.extend_from_slice(found.as_deref().unwrap_or_default());
        found.is_some()
    })
}

/// Result of a load.
pub struct Outcome {
    /// Measurements.
    pub measured: Measured,
    /// Number of all sent requests, including those outside the window.
    pub sent: usize,
    /// Ids in the response bodies, if requested.
    pub ids: Vec<String>,
}

/// Arrival time and latency of a response.
struct Answered {
    at: Duration,
    latency: Duration,
}

/// Results of connections.
#[derive(Default)]
struct Log {
    answers: Vec<Answered>,
    failed: usize,
    ids: Vec<String>,
}

impl Log {
    fn add(&mut self, other: Log) {
        self.answers.extend(other.answers);
        self.failed += other.failed;
        self.ids.extend(other.ids);
    }
}

/// State that all connections of a load share.
struct Shared {
    server: std::net::SocketAddr,
    requests: Requests,
    number: AtomicUsize,
    until: Duration,
    keeps_ids: bool,
    begin: Barrier,
}

/// Runs a load against a server.
pub fn load(
    plan: &Plan,
    server: &Server,
    connections: usize,
    requests: Requests,
    keeps_ids: bool,
) -> Result<Outcome, Failure> {
    let threads = THREADS.min(connections);
    let shared = Arc::new(Shared {
        server: server.address,
        requests,
        number: AtomicUsize::new(0),
        until: plan.warm_up + plan.window,
        keeps_ids,
        begin: Barrier::new(threads + 1),
    });
    let (report, reports) = channel();
    for thread in 0..threads {
        let (shared, report) = (Arc::clone(&shared), report.clone());
        let share = connections / threads + usize::from(thread < connections % threads);
        std::thread::spawn(move || {
            // The receiver is dropped only at the end of the benchmark.
            let _ = report.send(run_thread(&shared, share));
        });
    }
    drop(report);
    shared.begin.wait();
    let begun = Instant::now();
    std::thread::sleep(plan.warm_up);
    let (from, cpu_before) = (begun.elapsed(), server.cpu()?);
    let mut log = gather(&reports, begun + shared.until, threads)?;
    let (to, cpu_after) = (begun.elapsed(), server.cpu()?);
    for rest in reports {
        log.add(rest?);
    }
    Ok(Outcome {
        measured: measured(&log, from..to, cpu_after.saturating_sub(cpu_before)),
        sent: shared.number.load(Ordering::Relaxed),
        ids: log.ids,
    })
}

/// Waits until the window ends or all requests are sent.
fn gather(
    reports: &Receiver<Result<Log, Failure>>,
    until: Instant,
    threads: usize,
) -> Result<Log, Failure> {
    let mut log = Log::default();
    for _ in 0..threads {
        match reports.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(of_thread) => log.add(of_thread?),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return Err("a client thread ended".into()),
        }
    }
    Ok(log)
}

/// Returns the results of a window.
fn measured(log: &Log, window: std::ops::Range<Duration>, cpu: Duration) -> Measured {
    let count = log.answers.iter().filter(|answer| window.contains(&answer.at)).count();
    let asked_within = log
        .answers
        .iter()
        .filter(|answer| window.contains(&answer.at.saturating_sub(answer.latency)));
    let mut latencies: Vec<f64> =
        asked_within.map(|answer| answer.latency.as_secs_f64() * 1e3).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    Measured {
        per_second: count as f64 / (window.end - window.start).as_secs_f64(),
        p50_ms: quantile(&latencies, 0.5),
        p99_ms: quantile(&latencies, 0.99),
        cpu_us: Some(cpu.as_secs_f64() * 1e6 / count.max(1) as f64),
        failed: log.failed,
    }
}

/// Runs one thread with its share of the connections.
fn run_thread(shared: &Arc<Shared>, share: usize) -> Result<Log, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..share {
            let stream = TcpStream::connect(shared.server).await?;
            stream.set_nodelay(true)?;
            streams.push(stream);
        }
        shared.begin.wait();
        let begun = Instant::now();
        let tasks: Vec<_> = streams
            .into_iter()
            .map(|stream| tokio::task::spawn(run_connection(Arc::clone(shared), stream, begun)))
            .collect();
        let mut log = Log::default();
        for task in tasks {
            log.add(task.await??);
        }
        Ok(log)
    })
}

/// Runs one connection.
async fn run_connection(
    shared: Arc<Shared>,
    mut stream: TcpStream,
    begun: Instant,
) -> Result<Log, Failure> {
    let (mut request, mut answer) = (Vec::new(), Vec::with_capacity(wire::BUFFER_BYTES));
    let mut log = Log::default();
    while begun.elapsed() < shared.until {
        request.clear();
        let number = shared.number.fetch_add(1, Ordering::Relaxed);
        if !(shared.requests)(number, &mut request) {
            shared.number.fetch_sub(1, Ordering::Relaxed);
            break;
        }
        let asked = begun.elapsed();
        stream.write_all(&request).await?;
        let is_there = wire::read_message(&mut stream, &mut answer).await?;
        let at = begun.elapsed();
        let latency = at.saturating_sub(asked);
        log.answers.push(Answered { at, latency });
        match wire::whole(&answer).filter(|(head, _)| is_there && wire::is_success(head)) {
            None => log.failed += 1,
            Some((_, body)) if shared.keeps_ids => {
                let id = body.get(ID_AT).unwrap_or_default();
                log.ids.push(String::from_utf8_lossy(id).into_owned());
            }
            Some(_) => {}
        }
        if !is_there {
            break;
        }
    }
    Ok(log)
}
