//! The stream of an SMTP connection: TCP with or without TLS, and replies with a limit and a deadline.

use super::settings::SmtpSettings;
use super::short;
use crate::clock::Stopwatch;
pub(super) use lettre::transport::smtp::extension::ServerInfo;
use lettre::transport::smtp::response::Response;
use rustls::{ClientConnection, StreamOwned};
use std::fmt::Display;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

const REPLY_BYTES_MAX: usize = 16 * 1024;
/// Largest number of addresses of the mail server that are tried.
const ADDRESSES_MAX: usize = 4;

pub(super) struct Reply {
    /// Reply code, such as 250.
    pub(super) code: u16,
    response: Response,
}

impl Reply {
    /// Returns the reply as one line for the operator.
    pub(super) fn problem(&self) -> String {
        let lines: Vec<&str> = self.response.message().collect();
        short(&format!("{} {}", self.code, lines.join(" ")))
    }

    /// Returns what the server offers, from its reply to EHLO.
    pub(super) fn server_info(&self) -> Result<ServerInfo, String> {
        ServerInfo::from_response(&self.response).map_err(|error| short(&error.to_string()))
    }

    /// Returns the reply if it is a question of the login.
    pub(super) fn challenge(&self) -> Option<&Response> {
        (self.code == 334).then_some(&self.response)
    }
}

pub(super) struct SmtpStream {
    transport: Transport,
    timeout: Duration,
}

enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl SmtpStream {
    /// Connects to the mail server, with TLS from the start for smtps.
    pub(super) fn connect(settings: &SmtpSettings) -> Result<SmtpStream, String> {
        let timeout = settings.timeout();
        let host = settings.host();
        let found = (host, settings.port()).to_socket_addrs().map_err(|error| {
            let text = error.to_string();
            let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
            format!("{host} has no address ({text})")
        })?;
        let mut addresses: Vec<SocketAddr> = found.take(ADDRESSES_MAX).collect();
        if !settings.is_encrypted() {
            // A name like localhost may lead elsewhere.
            addresses.retain(|address| address.ip().is_loopback());
        }
        let mut problem = format!("{host} has no usable address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(stream) => {
                    let plain = SmtpStream { transport: Transport::Plain(stream), timeout };
                    return match settings.has_tls_from_start() {
                        true => plain.upgrade(settings),
                        false => Ok(plain),
                    };
                }
                Err(error) => problem = format!("{address}: {}", io_problem(&error)),
            }
        }
        Err(problem)
    }

    /// Starts TLS. The certificate must be valid for the host of the settings.
    pub(super) fn upgrade(self, settings: &SmtpSettings) -> Result<SmtpStream, String> {
        let Transport::Plain(mut stream) = self.transport else {
            return Err("TLS was started twice".to_owned());
        };
        let (config, name) = settings.tls()?;
        let mut session = ClientConnection::new(Arc::clone(config), name)
            .map_err(|error| format!("tls: {error}"))?;
        let started = Stopwatch::start();
        while session.is_handshaking() {
            set_timeouts(&stream, remaining(started, self.timeout)?)?;
            session
                .complete_io(&mut stream)
                .map_err(|error| format!("tls: {}", io_problem(&error)))?;
        }
        let tls = Box::new(StreamOwned::new(session, stream));
        Ok(SmtpStream { transport: Transport::Tls(tls), timeout: self.timeout })
    }

    pub(super) fn ask(&mut self, command: impl Display) -> Result<Reply, String> {
        self.write(command.to_string().as_bytes())?;
        self.read_reply()
    }

    /// Sends the text of a message, with its end.
    pub(super) fn send_text(&mut self, text: &[u8]) -> Result<(), String> {
        self.write(&with_end(text))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        set_timeouts(self.tcp(), self.timeout)?;
        let written = match &mut self.transport {
            Transport::Plain(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
            Transport::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        };
        written.map_err(|error| io_problem(&error))
    }

    /// Reads one reply. Anything after it is an error: the server must wait for the next command, and text before TLS
    /// must not be taken for text after it.
    pub(super) fn read_reply(&mut self) -> Result<Reply, String> {
        let started = Stopwatch::start();
        let mut received = Vec::new();
        let mut part = [0; 1024];
        loop {
            set_timeouts(self.tcp(), remaining(started, self.timeout)?)?;
            let read = match &mut self.transport {
                Transport::Plain(stream) => stream.read(&mut part),
                Transport::Tls(stream) => stream.read(&mut part),
            };
            let count = read.map_err(|error| io_problem(&error))?;
            if count == 0 {
                return Err("the mail server closed the connection".to_owned());
            }
            received.extend_from_slice(part.get(..count).unwrap_or_default());
            match reply_end(&received) {
                Some(end) if end == received.len() => return parse_reply(&received),
                Some(_) => return Err("the mail server sent more than one reply".to_owned()),
                None if received.len() > REPLY_BYTES_MAX => {
                    return Err("the mail server sent too long a reply".to_owned());
                }
                None => {}
            }
        }
    }

    fn tcp(&self) -> &TcpStream {
        match &self.transport {
            Transport::Plain(stream) => stream,
            Transport::Tls(stream) => &stream.sock,
        }
    }
}

/// Returns the end of the first whole reply: its last line has no hyphen after the code.
pub(super) fn reply_end(received: &[u8]) -> Option<usize> {
    let mut end: usize = 0;
    for line in received.split_inclusive(|byte| *byte == b'\n') {
        end = end.saturating_add(line.len());
        if line.ends_with(b"\n") && line.get(3) != Some(&b'-') {
            return Some(end);
        }
    }
    None
}

fn parse_reply(received: &[u8]) -> Result<Reply, String> {
    let text = String::from_utf8_lossy(received);
    // A bare code has no space, which the parser expects.
    let response: Result<Response, _> = text.parse();
    let wrong = || format!("the mail server sent no reply of SMTP: {}", short(&text));
    let response = response.map_err(|_| wrong())?;
    let code = text.get(..3).and_then(|code| code.parse().ok()).ok_or_else(wrong)?;
    Ok(Reply { code, response })
}

/// Returns a text with its end. A line that begins with a dot gets another dot (RFC 5321, section 4.5.2).
pub(super) fn with_end(text: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(text.len().saturating_add(8));
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.first() == Some(&b'.') {
            whole.push(b'.');
        }
        whole.extend_from_slice(line);
    }
    if !whole.ends_with(b"\r\n") {
        whole.extend_from_slice(b"\r\n");
    }
    whole.extend_from_slice(b".\r\n");
    whole
}

fn remaining(started: Stopwatch, limit: Duration) -> Result<Duration, String> {
    let elapsed = Duration::from_millis(u64::try_from(started.elapsed_ms()).unwrap_or(u64::MAX));
    let left = limit.checked_sub(elapsed).filter(|left| !left.is_zero());
    left.ok_or_else(timed_out)
}

fn set_timeouts(stream: &TcpStream, limit: Duration) -> Result<(), String> {
    let set =
        stream.set_read_timeout(Some(limit)).and_then(|()| stream.set_write_timeout(Some(limit)));
    set.map_err(|error| io_problem(&error))
}

fn timed_out() -> String {
    "the mail server did not answer in time".to_owned()
}

fn io_problem(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => timed_out(),
        ErrorKind::UnexpectedEof => "the mail server closed the connection".to_owned(),
        _ if error.raw_os_error().is_some() => error.kind().to_string(),
        _ => short(&error.to_string()),
    }
}
