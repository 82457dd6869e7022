//! Live streams: answers that go on until somebody ends them, each on a small task of its own.
//!
//! What lives here: taking a socket over from hyper, whose buffers would be kept as long as the stream goes on, and sending
//! what happens. What does not: what is told (`event_stream`). What always holds: it is taken over once the head of the
//! answer is written; while there is nothing to tell, the connection counts as one that waits, and is ended where its
//! place is needed.

use super::places::{Answering, IDLE, Place};
use super::stream::Live;
use hyper::Version;
use hyper::body::Bytes;
use hyper::rt::{Read, ReadBuf, Write};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// What a client may send before it is read again; nothing of it is looked at.
const READ_BYTES: usize = 64;

/// A stream whose head is being written, and what it needs to go on.
pub(super) struct Begun {
    live: Live,
    answering: Answering,
    place: Arc<Place>,
    version: Version,
}

/// Where a connection finds the stream that it has begun.
#[derive(Clone, Default)]
pub(super) struct Handover(Arc<Mutex<Option<Begun>>>);

impl Handover {
    /// The answer is this stream.
    pub(super) fn offer(
        &self,
        live: Live,
        answering: Answering,
        place: Arc<Place>,
        version: Version,
    ) {
        let begun = Begun {
            live,
            answering,
            place,
            version,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
    }

    /// The stream, where there is one.
    pub(super) fn take(&self) -> Option<Begun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Begun {
    /// Sends the stream over this socket from now on.
    pub(super) fn go_on(self, socket: impl Read + Write + Unpin + Send + 'static) {
        let place = Arc::clone(&self.place);
        let task = tokio::spawn(async move {
            let Begun {
                live,
                answering,
                place,
                version,
            } = self;
            if let Err(error) = send(socket, live, &answering, version).await {
                log::debug!("a live stream ended: {error}");
            }
            drop(answering);
            drop(place);
        });
        place.seat.taken_over_by(task.abort_handle());
    }
}

/// Sends every piece until the source or the client ends.
async fn send(
    mut socket: impl Read + Write + Unpin,
    mut live: Live,
    answering: &Answering,
    version: Version,
) -> io::Result<()> {
    let is_chunked = version == Version::HTTP_11;
    loop {
        answering.seat().wait(IDLE);
        let next = poll_fn(|context| next(context, &mut socket, &mut live)).await;
        if !answering.seat().go_on(IDLE) {
            // Its place has been given to another.
            return Ok(());
        }
        let Some((piece, rest)) = next else {
            if is_chunked {
                write(&mut socket, b"0\r\n\r\n").await?;
            }
            return Ok(());
        };
        live = rest;
        if is_chunked {
            write(&mut socket, &chunk(&piece)).await?;
        } else {
            write(&mut socket, &piece).await?;
        }
    }
}

/// The next piece; nothing where there will be none, or where nobody is there any more to take it.
fn next(
    context: &mut Context<'_>,
    socket: &mut (impl Read + Unpin),
    live: &mut Live,
) -> Poll<Option<(Bytes, Live)>> {
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

/// A piece in the chunked coding of RFC 9112, section 7.1.
fn chunk(piece: &[u8]) -> Vec<u8> {
    let size = format!("{:x}\r\n", piece.len());
    [size.as_bytes(), piece, b"\r\n"].concat()
}

async fn write(socket: &mut (impl Write + Unpin), mut bytes: &[u8]) -> io::Result<()> {
    poll_fn(|context| {
        while !bytes.is_empty() {
            let written = ready!(Pin::new(&mut *socket).poll_write(context, bytes))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Poll::Ready(Ok(()))
    })
    .await
}
