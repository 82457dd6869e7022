//! One connection: its socket and its bodies, as hyper sees them.
//!
//! What lives here: noticing a client that does not send or does not read. What does not: how many connections
//! there may be (`places`). What always holds: a client that reads too little of its answer for too long is cut
//! off; an answer that is written at once costs nothing more.

use super::places::{Answering, BODY, IDLE, Seat, TAKING};
use super::stream::{Broken, Outgoing};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// Into how many parts the time is divided over which a client is judged: so it is cut off a tenth of it late at most.
const PARTS: usize = 10;

/// How fast a client must take what it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// A tenth of the time over which it is judged, counted while it keeps the server waiting.
    part: Duration,
    /// What it must take in the whole of that time.
    bytes_min: u64,
}

impl Pace {
    /// At least `bytes_min` in each `span_ms` of waiting.
    pub(super) fn new(bytes_min: u64, span_ms: u64) -> Pace {
        let part_ms = span_ms.div_euclid(10).max(1);
        Pace {
            part: Duration::from_millis(part_ms),
            bytes_min,
        }
    }
}

/// A socket that is cut off where its client is too slow.
pub(super) struct Socket {
    inner: TokioIo<TcpStream>,
    seat: Arc<Seat>,
    pace: Pace,
    /// There once the client has kept the server waiting.
    slow: Option<Box<Slow>>,
}

/// A client that keeps the server waiting, now or before.
#[derive(Default)]
struct Slow {
    /// What it took in each of the last parts of waiting, the present one first.
    parts: [u64; PARTS],
    /// How many parts of waiting there have been, the present one not counted.
    over: usize,
    /// How long the present part has gone on.
    waited: Duration,
    /// Since when it waits, and the end of the present part; nothing where it does not wait.
    waiting: Option<(i64, Pin<Box<Sleep>>)>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, seat: Arc<Seat>, pace: Pace) -> Socket {
        Socket {
            inner: TokioIo::new(stream),
            seat,
            pace,
            slow: None,
        }
    }

    /// Looks at what became of a write.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => {
                if let Some(slow) = &mut self.slow {
                    slow.took(*bytes, &self.seat);
                }
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let slow = self.slow.get_or_insert_default();
                ready!(slow.wait(context, &self.seat, self.pace));
                let problem = "the client took too little of its answer";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, problem)))
            }
        }
    }
}

impl Slow {
    /// So much was taken: it does not wait any more.
    fn took(&mut self, bytes: usize, seat: &Seat) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some(present) = self.parts.first_mut() {
            *present = present.saturating_add(bytes);
        }
        if let Some((since_us, _)) = self.waiting.take() {
            let waited_us = seat.now_us().saturating_sub(since_us);
            let waited = Duration::from_micros(u64::try_from(waited_us).unwrap_or(0));
            self.waited = self.waited.saturating_add(waited);
            seat.go_on(TAKING);
        }
    }

    /// Waits for the client; ready when it is to be cut off.
    fn wait(&mut self, context: &mut Context<'_>, seat: &Seat, pace: Pace) -> Poll<()> {
        loop {
            let (_, part_over) = self.waiting.get_or_insert_with(|| {
                seat.wait(TAKING);
                let part_over = tokio::time::sleep(pace.part.saturating_sub(self.waited));
                (seat.now_us(), Box::pin(part_over))
            });
            ready!(part_over.as_mut().poll(context));
            self.over = self.over.saturating_add(1);
            let taken = self
                .parts
                .iter()
                .fold(0, |sum: u64, part| sum.saturating_add(*part));
            if self.over >= PARTS && taken < pace.bytes_min {
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
        Pin::new(&mut self.get_mut().inner).poll_read(context, buffer)
    }
}

impl Write for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = Pin::new(&mut socket.inner).poll_write(context, bytes);
        socket.judge(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = Pin::new(&mut socket.inner).poll_write_vectored(context, slices);
        socket.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self
            .slow
            .as_ref()
            .is_some_and(|slow| slow.waiting.is_some())
        {
            // What it did not take is not kept for it. Where that cannot be said, the system keeps it for a while.
            let _ = self.inner.inner().set_zero_linger();
        }
    }
}

/// The body of a request; while it is awaited the connection waits for its client.
pub(super) struct Arriving {
    inner: Incoming,
    seat: Arc<Seat>,
    is_awaited: bool,
}

impl Arriving {
    pub(super) fn new(inner: Incoming, seat: Arc<Seat>) -> Arriving {
        Arriving {
            inner,
            seat,
            is_awaited: false,
        }
    }

    /// It is not awaited any more; false where the connection is ending.
    fn go_on(&mut self) -> bool {
        !std::mem::take(&mut self.is_awaited) || self.seat.go_on(BODY)
    }
}

impl Body for Arriving {
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
                body.seat.wait(BODY);
            }
            return Poll::Pending;
        }
        if body.go_on() {
            frame
        } else {
            // Too late: nothing is begun on a connection that is ending, and its task ends now.
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

impl Drop for Arriving {
    fn drop(&mut self) {
        self.go_on();
    }
}

/// The body of an answer, which is under way until hyper has let go of it.
pub(super) struct UnderWay {
    inner: Outgoing,
    answering: Answering,
    /// Is it a live one that has nothing to tell?
    is_idle: bool,
}

impl UnderWay {
    pub(super) fn new(inner: Outgoing, answering: Answering) -> UnderWay {
        UnderWay {
            inner,
            answering,
            is_idle: false,
        }
    }
}

impl Body for UnderWay {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let body = self.get_mut();
        let frame = Pin::new(&mut body.inner).poll_frame(context);
        let is_idle = frame.is_pending() && body.inner.is_live();
        let was_idle = std::mem::replace(&mut body.is_idle, is_idle);
        if is_idle && !was_idle {
            body.answering.seat().wait(IDLE);
        } else if was_idle && !is_idle {
            body.answering.seat().go_on(IDLE);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
