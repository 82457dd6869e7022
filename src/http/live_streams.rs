//! Live streams: long-lived answers, each in a small task of its own.
//!
//! Hyper keeps its buffers (12 KiB) for the whole answer: 120 MB for 10 000 streams. Therefore a live stream takes
//! the socket from hyper after hyper has written the head ([`Handover`]), and writes the chunks to the socket.
//!
//! Invariant: while a stream has nothing to send, its connection counts as waiting and can be closed for a new
//! connection.

use super::connection_slots::{AnswerGuard, IDLE, Slot};
use super::stream::LiveStream;
use hyper::Version;
use hyper::body::Bytes;
use hyper::rt::{Read, ReadBuf, Write};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// Size of the buffer for bytes that the client sends. These bytes are discarded.
const READ_BYTES: usize = 64;

/// A live stream whose response head hyper is writing. The value contains everything needed to send the stream
/// without hyper.
pub(super) struct StartedStream {
    live: LiveStream,
    answering: AnswerGuard,
    slot: Arc<Slot>,
    version: Version,
}

/// Shared slot through which an answer passes its live stream to the connection.
#[derive(Clone, Default)]
pub(super) struct Handover(Arc<Mutex<Option<StartedStream>>>);

impl Handover {
    /// Puts a live stream into the slot, for the connection to take.
    pub(super) fn offer(
        &self,
        live: LiveStream,
        answering: AnswerGuard,
        slot: Arc<Slot>,
        version: Version,
    ) {
        let started = StartedStream { live, answering, slot, version };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
    }

    pub(super) fn take(&self) -> Option<StartedStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl StartedStream {
    pub(super) fn continue_on(self, socket: impl Read + Write + Unpin + Send + 'static) {
        let slot = Arc::clone(&self.slot);
        let task = tokio::spawn(async move {
            let StartedStream { live, answering, slot, version } = self;
            if let Err(error) = send_chunks(socket, live, &answering, version).await {
                log::debug!("live stream ended: error={error}");
            }
            drop(answering);
            drop(slot);
        });
        slot.seat.replace_task(task.abort_handle());
    }
}

/// Sends every chunk until the source ends the stream or the client disconnects.
async fn send_chunks(
    mut socket: impl Read + Write + Unpin,
    mut live: LiveStream,
    answering: &AnswerGuard,
    version: Version,
) -> io::Result<()> {
    let is_chunked = version == Version::HTTP_11;
    loop {
        answering.seat().start_wait(IDLE);
        let next = poll_fn(|context| poll_next_piece(context, &mut socket, &mut live)).await;
        if !answering.seat().end_wait(IDLE) {
            // The connection was closed to make room for a new connection.
            return Ok(());
        }
        let Some((piece, rest)) = next else {
            if is_chunked {
                write_all(&mut socket, b"0\r\n\r\n").await?;
            }
            return Ok(());
        };
        live = rest;
        if is_chunked {
            write_all(&mut socket, &encode_chunk(&piece)).await?;
        } else {
            write_all(&mut socket, &piece).await?;
        }
    }
}

/// Polls for the next piece. Returns `None` at the end of the stream or after the client has disconnected.
fn poll_next_piece(
    context: &mut Context<'_>,
    socket: &mut (impl Read + Unpin),
    live: &mut LiveStream,
) -> Poll<Option<(Bytes, LiveStream)>> {
    if let Poll::Ready(next) = live.0.as_mut().poll(context) {
        return Poll::Ready(next);
    }
    loop {
        let mut bytes = [0; READ_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = ready!(Pin::new(&mut *socket).poll_read(context, buffer.unfilled()));
        if read.is_err() || buffer.filled().is_empty() {
            return Poll::Ready(None);
        }
    }
}

/// Encodes a piece as an HTTP chunk (RFC 9112, section 7.1).
fn encode_chunk(piece: &[u8]) -> Vec<u8> {
    let size = format!("{:x}\r\n", piece.len());
    [size.as_bytes(), piece, b"\r\n"].concat()
}

/// Writes all bytes and flushes the socket. Without the flush, TLS could keep the end of a chunk until the next chunk.
async fn write_all(socket: &mut (impl Write + Unpin), mut bytes: &[u8]) -> io::Result<()> {
    poll_fn(|context| {
        while !bytes.is_empty() {
            let written = ready!(Pin::new(&mut *socket).poll_write(context, bytes))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Pin::new(&mut *socket).poll_flush(context)
    })
    .await
}
