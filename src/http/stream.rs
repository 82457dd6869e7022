//! Bodies of answers: one piece, many that are made while they are sent, or one whenever something happens.
//!
//! What always holds: at most two pieces of a stream are in memory; when the caller has gone, or was cut off for
//! reading too little, no more are made.

use crate::service::Error;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What an answer holds.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// All of it.
    Whole(Full<Bytes>),
    /// One piece after the other.
    Stream(Receiver<Result<Bytes, Broken>>),
    /// A piece whenever something happens: it is sent without hyper (`live`).
    Live(Live),
}

/// The next piece, and what comes after it; nothing at the end.
pub(super) struct Live(pub(super) Pin<Box<Next>>);

/// Waits for the next piece.
type Next = dyn Future<Output = Option<(Bytes, Live)>> + Send;

impl std::fmt::Debug for Live {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Live")
    }
}

/// A stream that could not be made to its end: the connection is closed, so that what came is not taken for all.
#[derive(Debug)]
pub(super) struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the answer could not be completed")
    }
}

impl std::error::Error for Broken {}

/// Where the pieces of a stream go.
pub(super) struct Pieces(Sender<Result<Bytes, Broken>>);

impl Pieces {
    /// Hands one piece over; false where nobody is there any more to take it.
    pub(super) async fn send(&self, piece: String) -> bool {
        self.0.send(Ok(piece.into())).await.is_ok()
    }
}

impl Outgoing {
    /// A body whose pieces `make` sends; where that fails, the connection is broken off.
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
    /// All of it, where it is in one piece.
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
            // `live` sends it.
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
