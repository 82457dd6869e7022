//! TLS of connections: the handshake, and one stream type for connections with and without TLS.
//!
//! Invariant: a handshake ends within [`HANDSHAKE_MAX`], and until then the connection waits for its client.

use super::plain_http::PlainHttp;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConnection;
use tokio_rustls::server::TlsStream;

/// Time limit from the connection's start to the end of its handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// First byte of a TLS handshake (RFC 8446, section 5.1). No HTTP request begins with this byte.
const HANDSHAKE_RECORD: u8 = 22;

/// Maximum size of encrypted data that waits for a slow client, in bytes. A client at the lowest permitted rate reads
/// this much before the rate is checked again.
const BUFFER_BYTES_MAX: usize = 16 * 1024;

/// Protocol name of a connection that only proves control of a domain (RFC 8737). No request follows its handshake.
const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";

/// TLS of a listener, and the answers to clients that speak plain HTTP.
pub struct Tls {
    /// Acceptor with the certificates of the listener.
    pub acceptor: TlsAcceptor,
    /// Answers to plain HTTP.
    pub plain: Arc<PlainHttp>,
}

pub(super) enum ClientStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Tls {
    /// Performs the handshake. Returns a plain stream if the client speaks plain HTTP, and `None` if the connection
    /// has no request: the client left, or only checked a challenge.
    ///
    /// # Errors
    /// The handshake failed or took too long.
    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<Option<ClientStream>> {
        let accepted = tokio::time::timeout(HANDSHAKE_MAX, self.accept_slowly(stream)).await;
        accepted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Performs the handshake without a time limit.
    async fn accept_slowly(&self, stream: TcpStream) -> io::Result<Option<ClientStream>> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Ok(None);
        }
        if first != [HANDSHAKE_RECORD] {
            return Ok(Some(ClientStream::Plain(stream)));
        }
        let limit_buffer = |connection: &mut ServerConnection| {
            connection.set_buffer_limit(Some(BUFFER_BYTES_MAX));
        };
        let stream = self.acceptor.accept_with(stream, limit_buffer).await?;
        let is_challenge = stream.get_ref().1.alpn_protocol() == Some(CHALLENGE_PROTOCOL);
        Ok((!is_challenge).then(|| ClientStream::Tls(Box::new(stream))))
    }
}

impl ClientStream {
    pub(super) fn tcp(&self) -> &TcpStream {
        match self {
            ClientStream::Plain(stream) => stream,
            ClientStream::Tls(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            ClientStream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            ClientStream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            ClientStream::Tls(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            ClientStream::Plain(stream) => stream.is_write_vectored(),
            ClientStream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_flush(context),
            ClientStream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            ClientStream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
