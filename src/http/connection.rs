//! The socket of a connection, and the bodies of its requests and answers, in the form that hyper uses.
//!
//! Invariant: a client that reads too slowly for too long is disconnected. An answer that the socket accepts at once
//! creates no timer.

use super::connection_slots::{AnswerGuard, READING_ANSWER, SENDING_BODY, Seat, Slot};
use super::live_streams::Handover;
use super::stream::{BrokenStream, ReplyBody};
use super::tls::ClientStream;
use hyper::Version;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// Number of equal parts of the period over which a client's read rate is measured. A slow client is disconnected up
/// to one part too late.
const SPAN_PARTS: usize = 10;

/// Lowest rate at which a client must read.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinReadRate {
    /// A tenth of the period over which the read rate is measured. The period includes only time in which the server
    /// waits for the client.
    part: Duration,
    /// Minimum number of bytes that a client must read in the whole period.
    bytes_min: u64,
}

impl MinReadRate {
    /// Requires the client to read at least `bytes_min` bytes in each `span_ms` milliseconds that the server spends
    /// waiting for the client.
    pub(super) fn new(bytes_min: u64, span_ms: u64) -> MinReadRate {
        let part_ms = span_ms.div_euclid(10).max(1);
        MinReadRate { part: Duration::from_millis(part_ms), bytes_min }
    }
}

/// A socket that disconnects a client that reads too slowly.
pub(super) struct Socket {
    /// The stream, `None` after a live stream has taken the socket.
    inner: Option<TokioIo<ClientStream>>,
    handover: Handover,
    seat: Arc<Seat>,
    pace: MinReadRate,
    /// Read rate of the client, `None` until the server first waits for the client.
    slow: Option<Box<SlowReader>>,
}

/// Measurement of the rate at which a client reads its response.
#[derive(Default)]
struct SlowReader {
    /// Bytes that the client read in each of the latest parts of the waiting time, the current part first.
    parts: [u64; SPAN_PARTS],
    /// Number of completed parts of the waiting time.
    completed_parts: usize,
    /// Waiting time in the current part, without the wait in progress.
    waited: Duration,
    /// Start of the wait in progress, in microseconds, and timer for the end of the current part. `None` if the
    /// server does not wait.
    waiting: Option<(i64, Pin<Box<Sleep>>)>,
}

impl Socket {
    /// Wraps a stream. If an answer is a live stream, `handover` passes the live stream to this socket.
    pub(super) fn new(
        stream: ClientStream,
        seat: Arc<Seat>,
        pace: MinReadRate,
        handover: Handover,
    ) -> Socket {
        Socket { inner: Some(TokioIo::new(stream)), handover, seat, pace, slow: None }
    }

    /// Returns the stream.
    ///
    /// # Errors
    /// An I/O error if a live stream has taken the stream.
    fn stream(&mut self) -> io::Result<Pin<&mut TokioIo<ClientStream>>> {
        let stream = self.inner.as_mut().map(Pin::new);
        stream.ok_or_else(|| io::Error::other("a live stream goes on without hyper"))
    }

    /// Updates the client's progress after a write or a flush. Fails with `TimedOut` if the client reads too slowly.
    fn track_write(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => {
                if let Some(slow) = &mut self.slow {
                    slow.count_read(*bytes, &self.seat);
                }
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let slow = self.slow.get_or_insert_default();
                ready!(slow.poll_too_slow(context, &self.seat, self.pace));
                let problem = "the client took too little of its answer";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, problem)))
            }
        }
    }
}

impl SlowReader {
    /// Counts bytes that the client has read, and ends the wait for the client.
    fn count_read(&mut self, bytes: usize, seat: &Seat) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some(present) = self.parts.first_mut() {
            *present = present.saturating_add(bytes);
        }
        if let Some((since_us, _)) = self.waiting.take() {
            let waited_us = seat.now_us().saturating_sub(since_us);
            let waited = Duration::from_micros(u64::try_from(waited_us).unwrap_or(0));
            self.waited = self.waited.saturating_add(waited);
            seat.end_wait(READING_ANSWER);
        }
    }

    /// Waits for the client to read. Returns `Ready` if the client reads too slowly and must be disconnected.
    fn poll_too_slow(
        &mut self,
        context: &mut Context<'_>,
        seat: &Seat,
        pace: MinReadRate,
    ) -> Poll<()> {
        loop {
            let (_, part_over) = self.waiting.get_or_insert_with(|| {
                seat.start_wait(READING_ANSWER);
                let part_over = tokio::time::sleep(pace.part.saturating_sub(self.waited));
                (seat.now_us(), Box::pin(part_over))
            });
            ready!(part_over.as_mut().poll(context));
            self.completed_parts = self.completed_parts.saturating_add(1);
            let taken = self.parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part));
            if self.completed_parts >= SPAN_PARTS && taken < pace.bytes_min {
                return Poll::Ready(());
            }
            self.parts.rotate_right(1);
            if let Some(present) = self.parts.first_mut() {
                *present = 0;
            }
            self.waited = Duration::ZERO;
            let part_over = tokio::time::sleep(pace.part);
            self.waiting = Some((seat.now_us(), Box::pin(part_over)));
        }
    }
}

impl Read for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().stream()?.poll_read(context, buffer)
    }
}

impl Write for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = socket.stream()?.poll_write(context, bytes);
        socket.track_write(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = socket.stream()?.poll_write_vectored(context, slices);
        socket.track_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.as_ref().is_some_and(Write::is_write_vectored)
    }

    /// Hyper calls `poll_flush` after writing everything, so a live stream can take the socket here.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        if let Some(begun) = socket.handover.take() {
            let taken = Socket {
                inner: socket.inner.take(),
                handover: Handover::default(),
                seat: Arc::clone(&socket.seat),
                pace: socket.pace,
                slow: socket.slow.take(),
            };
            begun.continue_on(taken);
        }
        // TLS keeps data that the system has not accepted yet, so a flush may wait for the client, too.
        let flushed = socket.stream()?.poll_flush(context).map_ok(|()| 0);
        socket.track_write(context, flushed).map_ok(drop)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream()?.poll_shutdown(context)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.slow.as_ref().is_some_and(|slow| slow.waiting.is_some()) {
            // Discards unsent bytes. If the option cannot be set, the system keeps the bytes until its own timeout.
            if let Some(stream) = &self.inner {
                let _ = stream.inner().tcp().set_zero_linger();
            }
        }
    }
}

/// Body of a request. While a handler waits for more of the body, the connection counts as waiting for its client.
pub(super) struct IncomingBody {
    inner: Incoming,
    seat: Arc<Seat>,
    is_awaited: bool,
}

impl IncomingBody {
    pub(super) fn new(inner: Incoming, seat: Arc<Seat>) -> IncomingBody {
        IncomingBody { inner, seat, is_awaited: false }
    }

    /// Ends the wait for the client. Returns `false` if the connection is being closed.
    fn end_wait(&mut self) -> bool {
        !std::mem::take(&mut self.is_awaited) || self.seat.end_wait(SENDING_BODY)
    }
}

impl Body for IncomingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let body = self.get_mut();
        let frame = Pin::new(&mut body.inner).poll_frame(context);
        if frame.is_pending() {
            if !std::mem::replace(&mut body.is_awaited, true) {
                body.seat.start_wait(SENDING_BODY);
            }
            return Poll::Pending;
        }
        if body.end_wait() {
            frame
        } else {
            // The connection is being closed: its task is aborted, and the handler must not continue.
            Poll::Pending
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        self.end_wait();
    }
}

/// Body of an answer, with the guard that marks the answer as in progress until hyper drops the body.
pub(super) struct TrackedBody {
    /// The body, `None` after the connection has taken the live stream out of the body.
    inner: Option<ReplyBody>,
    answering: Option<AnswerGuard>,
    handover: Handover,
    slot: Arc<Slot>,
    version: Version,
}

impl TrackedBody {
    /// Wraps the body of an answer. `version` is the HTTP version of the request.
    pub(super) fn new(
        inner: ReplyBody,
        answering: AnswerGuard,
        slot: &Arc<Slot>,
        handover: &Handover,
        version: Version,
    ) -> TrackedBody {
        TrackedBody {
            inner: Some(inner),
            answering: Some(answering),
            handover: handover.clone(),
            slot: Arc::clone(slot),
            version,
        }
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = BrokenStream;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenStream>>> {
        let body = self.get_mut();
        match body.inner.take_if(|inner| matches!(inner, ReplyBody::Live(_))) {
            Some(ReplyBody::Live(live)) => {
                if let Some(answering) = body.answering.take() {
                    let slot = Arc::clone(&body.slot);
                    body.handover.offer(live, answering, slot, body.version);
                }
                Poll::Pending
            }
            _ => match &mut body.inner {
                Some(inner) => Pin::new(inner).poll_frame(context),
                // `Pending` lets hyper write the head of the response. After that, the live stream takes the socket.
                None => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_some_and(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.inner.as_ref();
        inner.map_or_else(SizeHint::default, Body::size_hint)
    }
}
