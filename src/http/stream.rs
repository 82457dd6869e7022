//! Bodies of answers: whole, streamed, or live.
//!
//! Invariant: at most two pieces of a stream are in memory. No piece is created after the client has disconnected.

use crate::service::Error;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Body of an answer: whole, streamed, or live.
#[derive(Debug)]
pub(super) enum ReplyBody {
    Whole(Full<Bytes>),
    /// Receiver of pieces that are created during transmission.
    Stream(Receiver<Result<Bytes, BrokenStream>>),
    /// A stream that sends one piece for each event, without hyper (module `live`).
    Live(LiveStream),
}

/// Future that returns the next piece of a live stream and the remaining stream, or `None` at the end of the stream.
pub(super) struct LiveStream(pub(super) Pin<Box<NextPiece>>);

type NextPiece = dyn Future<Output = Option<(Bytes, LiveStream)>> + Send;

impl std::fmt::Debug for LiveStream {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Live")
    }
}

/// Error of a stream that failed before its end. The connection is closed, so that the client notices the failure.
#[derive(Debug)]
pub(super) struct BrokenStream;

impl std::fmt::Display for BrokenStream {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the answer could not be completed")
    }
}

impl std::error::Error for BrokenStream {}

pub(super) struct PieceSender(Sender<Result<Bytes, BrokenStream>>);

impl PieceSender {
    /// Sends a piece. Returns `false` if the client has disconnected.
    pub(super) async fn send(&self, piece: String) -> bool {
        self.0.send(Ok(piece.into())).await.is_ok()
    }
}

impl ReplyBody {
    /// Returns a body whose pieces `make` sends. The connection is closed if `make` fails.
    pub(super) fn stream<F>(make: impl FnOnce(PieceSender) -> F + Send + 'static) -> ReplyBody
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let (sender, receiver) = channel(1);
        let end = sender.clone();
        let making = make(PieceSender(sender));
        tokio::spawn(async move {
            if let Err(error) = making.await {
                log::error!("streamed response ended early: error={error}");
                // Sending fails if the client has disconnected.
                let _ = end.send(Err(BrokenStream)).await;
            }
        });
        ReplyBody::Stream(receiver)
    }
}

impl ReplyBody {
    /// Returns a copy of the bytes of the body, `None` for a body that is streamed.
    pub(super) fn whole_bytes(&self) -> Option<Bytes> {
        let ReplyBody::Whole(body) = self else {
            return None;
        };
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut body.clone()).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
            Poll::Ready(_) | Poll::Pending => None,
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = BrokenStream;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenStream>>> {
        match self.get_mut() {
            ReplyBody::Whole(body) => {
                Pin::new(body).poll_frame(context).map_err(|never| match never {})
            }
            ReplyBody::Stream(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
            // The module `live` sends the pieces of live streams, so hyper receives none.
            ReplyBody::Live(_) => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ReplyBody::Whole(body) => body.is_end_stream(),
            ReplyBody::Stream(_) | ReplyBody::Live(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole(body) => body.size_hint(),
            ReplyBody::Stream(_) | ReplyBody::Live(_) => SizeHint::default(),
        }
    }
}
