//! Webhook throughput: invoices are created, and a receiver in this process gets an event for each.
//!
//! Invariant: the time ends when the last event has arrived, so that events in transit do not count.

use crate::book::{Book, Measured, Subject};
use crate::client::load;
use crate::plan::{CONNECTIONS, Plan};
use crate::process::Place;
use crate::rounds::creations;
use crate::{Failure, wire};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

const FILE: &str = "webhooks.db";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// Maximum time for the last event to arrive.
const DRAIN_MAX: Duration = Duration::from_secs(60);
/// Interval of the check for the last event.
const LOOK: Duration = Duration::from_millis(1);

/// A receiver that counts webhooks. It exists as long as the process.
pub struct Receiver {
    url: String,
    count: Arc<AtomicUsize>,
}

impl Receiver {
    /// Starts the receiver in a separate thread.
    pub fn start() -> Result<Receiver, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let url = format!("http://{}/", listener.local_addr()?);
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        std::thread::spawn(move || {
            runtime.block_on(async {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(receive(stream, Arc::clone(&counter)));
                }
            });
        });
        Ok(Receiver { url, count })
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// Serves one connection.
async fn receive(mut stream: TcpStream, count: Arc<AtomicUsize>) {
    let mut message = Vec::with_capacity(wire::BUFFER_BYTES);
    while let Ok(true) = wire::read_message(&mut stream, &mut message).await {
        if stream.write_all(ANSWER).await.is_err() {
            return;
        }
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs one round on a new file.
pub fn round(
    plan: &Plan,
    place: &Place,
    receiver: &Receiver,
    book: &mut Book,
) -> Result<(), Failure> {
    place.remove(FILE);
    let server = place.coffer(Some(FILE))?;
    server.tell(&receiver.url)?;
    let mut sent = 0;
    for connections in CONNECTIONS {
        let before = receiver.count();
        let (begun, cpu) = (Instant::now(), server.cpu()?);
        let made = load(plan, &server, connections, creations(sent), false)?;
        sent += made.sent;
        let events = made.sent - made.measured.failed;
        while receiver.count() < before + events {
            if begun.elapsed() > DRAIN_MAX {
                return Err(format!("{events} events did not arrive in time").into());
            }
            std::thread::sleep(LOOK);
        }
        let cpu = server.cpu()?.saturating_sub(cpu);
        let measured = Measured {
            cpu_us: Some(cpu.as_secs_f64() * 1e6 / events.max(1) as f64),
            failed: made.measured.failed,
            ..Measured::rate(events as f64 / begun.elapsed().as_secs_f64())
        };
        book.enter(Subject::Webhook, connections, measured);
    }
    drop(server);
    place.remove(FILE);
    Ok(())
}
