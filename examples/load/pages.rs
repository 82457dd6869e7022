//! Live updates of the checkout: thousands of pages listen while all their invoices are paid. Other clients create
//! invoices meanwhile, and some pages never read.
//!
//! Invariant: a delay starts before the payment is requested and ends when the whole event is read. A late event counts
//! as lost.

use crate::book::quantile;
use crate::plan::Plan;
use crate::process::{Place, Server};
use crate::rows::{bodies, bodies_with_coin};
use crate::{Failure, wire};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout, timeout_at};

const FILE: &str = "pages.db";
/// Connections that create invoices and pay them.
const CONNECTIONS: usize = 8;
/// Pages opened at a time.
const OPENING: usize = 200;
/// Pages that never read.
const SLOW: usize = 16;
/// Payments of the invoice of each slow page. Each pays half of the due amount.
const SLOW_PAYMENTS: usize = 8;
/// Smallest receive buffer that the system allows for a connection.
const SLOW_BUFFER_BYTES: u32 = 2048;
/// Buffer of a page that reads, for one line.
const LINE_BYTES: usize = 2048;
/// Other open files and connections.
const OTHERS: usize = 256;
/// Pause of the server before its memory is read.
const REST: Duration = Duration::from_secs(1);
/// Maximum delay of an event after the last payment.
const LATE: Duration = Duration::from_secs(30);

/// Result of the measurement.
pub struct Pages {
    count: usize,
    /// Memory of the server per page, in kilobytes.
    memory_kb: f64,
    /// Time from the payment request to the event, in milliseconds, sorted.
    delays: Vec<f64>,
    /// Pages that did not get the event.
    lost: usize,
    /// Latency of concurrent invoice creations, in milliseconds, sorted.
    creations: Vec<f64>,
    /// Duration of all payments.
    spent: Duration,
}

/// An invoice and the address of its event stream.
struct Invoice {
    id: String,
    token: String,
}

impl Invoice {
    /// Parses the response of an invoice creation.
    fn read(answer: &[u8]) -> Result<Invoice, Failure> {
        let answer: Value = serde_json::from_slice(answer)?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let token = text("checkoutUrl").and_then(|url| url.split_once("token="));
        match (text("id"), token) {
            (Some(id), Some((_, token))) => {
                Ok(Invoice { id: id.to_owned(), token: token.to_owned() })
            }
            _ => Err(format!("an invoice without its page: {answer}").into()),
        }
    }

    /// Builds the request of a browser for the event stream.
    fn listens(&self) -> String {
        let Invoice { id, token } = self;
        format!(
            "GET /v1/public/checkouts/{id}/events?token={token} HTTP/1.1\r\nhost: localhost\r\n\
             user-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120 Safari/537.36\r\n\
             accept: text/event-stream\r\naccept-language: en-US,en;q=0.9\r\n\
             referer: http://localhost/checkout/{id}?token={token}\r\n\r\n"
        )
    }

    fn paid(&self, case: &str) -> Vec<u8> {
        let path = format!("/v1/invoices/{}/simulate", self.id);
        wire::request("POST", &path, &format!(r#"{{"case":"{case}"}}"#))
    }
}

/// A reused connection.
struct Asker {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Asker {
    async fn connect(address: SocketAddr) -> Result<Asker, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let answer = Vec::with_capacity(wire::BUFFER_BYTES);
        Ok(Asker { stream, answer })
    }

    /// Sends a request and returns the response body.
    async fn ask(&mut self, request: &[u8]) -> Result<&[u8], Failure> {
        self.stream.write_all(request).await?;
        wire::read_message(&mut self.stream, &mut self.answer).await?;
        match wire::whole(&self.answer) {
            Some((head, body)) if wire::is_success(head) => Ok(body),
            _ => Err(String::from_utf8_lossy(&self.answer).into_owned().into()),
        }
    }
}

/// Runs the measurement.
pub fn measure(plan: &Plan, place: &Place) -> Result<Pages, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let most = plan.pages + SLOW + OTHERS;
    make_room(most)?;
    place.remove(FILE);
    let server = place.sandbox(Some(FILE), &["--connections-max", &most.to_string()])?;
    let pages = runtime.block_on(listen_and_pay(plan.pages, &server))?;
    drop(server);
    place.remove(FILE);
    Ok(pages)
}

/// Raises the limit of open files of this process.
fn make_room(files: usize) -> Result<(), Failure> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(files)?;
    if limit.current.is_none_or(|open| open >= wanted) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(wanted), ..limit };
    let why = |error| format!("{files} files have to be open (ulimit -Hn): {error}");
    Ok(setrlimit(Resource::Nofile, raised).map_err(why)?)
}

async fn listen_and_pay(count: usize, server: &Server) -> Result<Pages, Failure> {
    let address = server.address;
    let mut invoices = make(address, count + SLOW).await?;
    let slow = invoices.split_off(count);
    sleep(REST).await;
    let before = server.memory()?.anonymous_kb;
    let mut pages = Vec::with_capacity(count);
    for invoices in invoices.chunks(OPENING) {
        let mut opening = Vec::with_capacity(OPENING);
        for invoice in invoices {
            opening.push(tokio::spawn(open(address, invoice.listens())));
        }
        for page in opening {
            pages.push(tokio::spawn(told(page.await??)));
        }
    }
    sleep(REST).await;
    let memory_kb = server.memory()?.anonymous_kb.saturating_sub(before) as f64 / count as f64;
    let mut unread = Vec::with_capacity(SLOW);
    for invoice in &slow {
        unread.push(open_unread(address, &invoice.listens()).await?);
    }

    let is_over = Arc::new(AtomicBool::new(false));
    let creations = tokio::spawn(create(address, Arc::clone(&is_over)));
    let begun = Instant::now();
    let pestered = tokio::spawn(pester(address, slow));
    let asked = pay(address, invoices).await?;
    let spent = begun.elapsed();
    let until = Instant::now() + LATE;
    let mut delays = Vec::with_capacity(count);
    for (page, asked) in pages.into_iter().zip(asked) {
        if let Ok(told) = timeout_at(until, page).await {
            delays.extend(told?.map(|at| milliseconds(at.saturating_duration_since(asked))));
        }
    }
    pestered.await??;
    is_over.store(true, Ordering::Relaxed);
    let mut creations = creations.await??;
    drop(unread);
    delays.sort_unstable_by(f64::total_cmp);
    creations.sort_unstable_by(f64::total_cmp);
    Ok(Pages { count, memory_kb, lost: count - delays.len(), delays, creations, spent })
}

/// Creates invoices with a selected coin.
async fn make(address: SocketAddr, count: usize) -> Result<Vec<Invoice>, Failure> {
    let each = move |connection: usize| async move {
        let mut asker = Asker::connect(address).await?;
        let (body, mut made) = (bodies_with_coin(), Vec::new());
        for number in (connection..count).step_by(CONNECTIONS) {
            let request = wire::request("POST", "/v1/invoices", &body(number));
            made.push(Invoice::read(asker.ask(&request).await?)?);
        }
        Ok::<_, Failure>(made)
    };
    let tasks: Vec<_> = (0..CONNECTIONS).map(|connection| tokio::spawn(each(connection))).collect();
    let mut all = Vec::with_capacity(count);
    for task in tasks {
        all.extend(task.await??);
    }
    Ok(all)
}

/// Opens a page and waits for the current state of its invoice.
async fn open(address: SocketAddr, request: String) -> Result<BufReader<TcpStream>, Failure> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut page = BufReader::with_capacity(LINE_BYTES, stream);
    match timeout(LATE, event(&mut page)).await? {
        Some(_) => Ok(page),
        None => Err("a page is told nothing".into()),
    }
}

/// Opens a page that never reads, with the smallest receive buffer.
async fn open_unread(address: SocketAddr, request: &str) -> Result<TcpStream, Failure> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(SLOW_BUFFER_BYTES)?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Returns the invoice in the next event, or `None` at the end of the stream.
async fn event(page: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut line = String::new();
    while page.read_line(&mut line).await.ok()? > 0 {
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).ok();
        }
        line.clear();
    }
    None
}

/// Returns the time of the event that the invoice is paid, or `None` if the stream ends first.
async fn told(mut page: BufReader<TcpStream>) -> Option<Instant> {
    loop {
        let state = event(&mut page).await?;
        if state.get("status").and_then(Value::as_str) == Some("confirmed") {
            return Some(Instant::now());
        }
    }
}

/// Creates invoices one after the other until the end. Returns the latencies.
async fn create(address: SocketAddr, is_over: Arc<AtomicBool>) -> Result<Vec<f64>, Failure> {
    let mut asker = Asker::connect(address).await?;
    let (body, mut spent) = (bodies(), Vec::new());
    // Order numbers that no page uses.
    let mut number = 100_000_000;
    while !is_over.load(Ordering::Relaxed) {
        let request = wire::request("POST", "/v1/invoices", &body(number));
        let asked = Instant::now();
        asker.ask(&request).await?;
        spent.push(milliseconds(asked.elapsed()));
        number += 1;
    }
    Ok(spent)
}

/// Makes small payments to the invoices of the pages that never read.
async fn pester(address: SocketAddr, invoices: Vec<Invoice>) -> Result<(), Failure> {
    let mut asker = Asker::connect(address).await?;
    for invoice in invoices.iter().cycle().take(SLOW * SLOW_PAYMENTS) {
        asker.ask(&invoice.paid("under")).await?;
    }
    Ok(())
}

/// Pays each invoice and returns the times of the requests, in order.
async fn pay(address: SocketAddr, invoices: Vec<Invoice>) -> Result<Vec<Instant>, Failure> {
    let invoices = Arc::new(invoices);
    let mut tasks = Vec::with_capacity(CONNECTIONS);
    for connection in 0..CONNECTIONS {
        let invoices = Arc::clone(&invoices);
        tasks.push(tokio::spawn(async move {
            let (mut asker, mut asked) = (Asker::connect(address).await?, Vec::new());
            let share = invoices.iter().enumerate().skip(connection);
            for (number, invoice) in share.step_by(CONNECTIONS) {
                asked.push((number, Instant::now()));
                asker.ask(&invoice.paid("exact")).await?;
            }
            Ok::<_, Failure>(asked)
        }));
    }
    let mut all = Vec::with_capacity(invoices.len());
    for task in tasks {
        all.extend(task.await??);
    }
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, asked)| asked).collect())
}

fn milliseconds(spent: Duration) -> f64 {
    spent.as_secs_f64() * 1e3
}

impl Pages {
    /// Returns the anonymous memory of the server per page, in kilobytes.
    pub fn memory_kb(&self) -> f64 {
        self.memory_kb
    }

    /// Returns the number of pages that did not get the event of their payment.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Writes its section of the table.
    pub fn write(&self, out: &mut String) -> std::fmt::Result {
        let paid = self.count as f64 / self.spent.as_secs_f64();
        writeln!(
            out,
            "\nlive updates of {} checkout pages, beside {SLOW} that never read; {paid:.0} paid a second",
            self.count
        )?;
        writeln!(out, "  {:<46} {:.1}", "anonymous memory for a page, KB", self.memory_kb)?;
        for (name, times) in [
            ("from payment to event on its page, ms", &self.delays),
            ("creations meanwhile, one at a time, ms", &self.creations),
        ] {
            let at = |part| quantile(times, part).unwrap_or(f64::NAN);
            writeln!(out, "  {name:<46} {:.1}, p99 {:.1}, of {}", at(0.5), at(0.99), times.len())?;
        }
        writeln!(out, "  {:<46} {}", "pages that were not told", self.lost)
    }

    /// Returns the result as JSON.
    pub fn json(&self) -> Value {
        let at = |times: &[f64], part| quantile(times, part);
        json!({
            "count": self.count,
            "slow": SLOW,
            "memoryKb": self.memory_kb,
            "delayMs": { "p50": at(&self.delays, 0.5), "p99": at(&self.delays, 0.99) },
            "creationMs": { "p50": at(&self.creations, 0.5), "p99": at(&self.creations, 0.99) },
            "creations": self.creations.len(),
            "lost": self.lost,
        })
    }
}
