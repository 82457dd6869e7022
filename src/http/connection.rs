//! One connection: its socket and its bodies, as hyper sees them.
//!
//! What lives here: noticing a client that does not send or does not read. What does not: how many connections
//! there may be (`places`). What always holds: a client that reads too little of its answer for too long is cut
//! off; an answer that is written at once costs nothing more.

use super::live::Handover;
use super::places::{Answering, BODY, Place, Seat, TAKING};
use super::stream::{Broken, Outgoing};
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
    /// Nothing once it goes on without hyper.
    inner: Option<TokioIo<TcpStream>>,
    handover: Handover,
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
    /// `handover` says whether what is being answered goes on without hyper.
    pub(super) fn new(
        stream: TcpStream,
        seat: Arc<Seat>,
        pace: Pace,
        handover: Handover,
    ) -> Socket {
        Socket {
            inner: Some(TokioIo::new(stream)),
            handover,
            seat,
            pace,
            slow: None,
        }
    }

    /// The stream below; an error once it goes on without hyper.
    fn stream(&mut self) -> io::Result<Pin<&mut TokioIo<TcpStream>>> {
        let stream = self.inner.as_mut().map(Pin::new);
        stream.ok_or_else(|| io::Error::other("a live stream goes on without hyper"))
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
        socket.judge(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = socket.stream()?.poll_write_vectored(context, slices);
        socket.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.as_ref().is_some_and(Write::is_write_vectored)
    }

    /// All that hyper had to write is written when it calls this: from here on a live stream goes on without it.
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
            begun.go_on(taken);
        }
        socket.stream()?.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream()?.poll_shutdown(context)
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
            if let Some(stream) = &self.inner {
                let _ = stream.inner().set_zero_linger();
            }
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
    /// Nothing where it goes on without hyper.
    inner: Option<Outgoing>,
    answering: Option<Answering>,
    handover: Handover,
    place: Arc<Place>,
    version: Version,
}

impl UnderWay {
    /// Of the answer to a request of this version.
    pub(super) fn new(
        inner: Outgoing,
        answering: Answering,
        (place, handover): (&Arc<Place>, &Handover),
        version: Version,
    ) -> UnderWay {
        UnderWay {
            inner: Some(inner),
            answering: Some(answering),
            handover: handover.clone(),
            place: Arc::clone(place),
            version,
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
        match body
            .inner
            .take_if(|inner| matches!(inner, Outgoing::Live(_)))
        {
            Some(Outgoing::Live(live)) => {
                if let Some(answering) = body.answering.take() {
                    let place = Arc::clone(&body.place);
                    body.handover.offer(live, answering, place, body.version);
                }
                Poll::Pending
            }
            _ => match &mut body.inner {
                Some(inner) => Pin::new(inner).poll_frame(context),
                // Hyper has only to write the head; then the socket is taken from it.
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
