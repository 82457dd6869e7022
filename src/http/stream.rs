//! Bodies of answers: whole, streamed, or live.
//!
//! Invariant: at most two pieces of a stream are in memory, and none is made after the caller has gone.

use crate::service::Error;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Body of an answer.
#[derive(Debug)]
pub(super) enum Outgoing {
    Whole(Full<Bytes>),
    /// Pieces that are made during transmission.
    Stream(Receiver<Result<Bytes, Broken>>),
    /// A piece for each event, sent without hyper (`live`).
    Live(Live),
}

/// The next piece of a live stream with the rest of the stream, `None` at its end.
pub(super) struct Live(pub(super) Pin<Box<NextPiece>>);

type NextPiece = dyn Future<Output = Option<(Bytes, Live)>> + Send;

impl std::fmt::Debug for Live {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Live")
    }
}

/// A stream that failed before its end. The connection is closed, so that the client notices.
#[derive(Debug)]
pub(super) struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the answer could not be completed")
    }
}

impl std::error::Error for Broken {}

/// Sender of the pieces of a stream.
pub(super) struct Pieces(Sender<Result<Bytes, Broken>>);

impl Pieces {
    /// Sends a piece. Returns `false` if the receiver is gone.
    pub(super) async fn send(&self, piece: String) -> bool {
        self.0.send(Ok(piece.into())).await.is_ok()
    }
}

impl Outgoing {
    /// Returns a body whose pieces `make` sends. If it fails, the connection is closed.
    pub(super) fn stream<F>(make: impl FnOnce(Pieces) -> F + Send + 'static) -> Outgoing
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let (sender, receiver) = channel(1);
        let end = sender.clone();
        let making = make(Pieces(sender));
        tokio::spawn(async move {
            if let Err(error) = making.await {
                log::error!("a streamed answer ended early: {error}");
                // The caller may be gone.
                let _ = end.send(Err(Broken)).await;
            }
        });
        Outgoing::Stream(receiver)
    }
}

impl Outgoing {
    /// Returns the body if it is whole.
    pub(super) fn whole(&self) -> Option<Bytes> {
        let Outgoing::Whole(body) = self else {
            return None;
        };
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut body.clone()).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
            Poll::Ready(_) | Poll::Pending => None,
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Outgoing::Whole(body) => Pin::new(body)
                .poll_frame(context)
                .map_err(|never| match never {}),
            Outgoing::Stream(pieces) => pieces
                .poll_recv(context)
                .map(|piece| piece.map(|piece| piece.map(Frame::data))),
            // Sent by `live`.
            Outgoing::Live(_) => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Whole(body) => body.is_end_stream(),
            Outgoing::Stream(_) | Outgoing::Live(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Whole(body) => body.size_hint(),
            Outgoing::Stream(_) | Outgoing::Live(_) => SizeHint::default(),
        }
    }
}
