//! SMTP client: hands messages to the operator's mail server, one after the other.
//!
//! Invariant: beyond loopback, no password and no message is sent without TLS. Replies have a limit and a deadline. A
//! caller learns whether the server may have accepted a message.

mod connection;
mod message;
mod settings;

pub use message::{MailContent, PreparedMail};
pub use settings::SmtpSettings;

use crate::domain::mail::attempt::PROBLEM_CHARS_MAX;
use crate::domain::mail::plain::single_line;
use connection::{Reply, ServerInfo, SmtpStream};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::commands::{Auth, Data, Ehlo, Mail, Quit, Rcpt, Rset, Starttls};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use std::fmt::Display;

/// Largest number of questions of a server during the login.
const CHALLENGES_MAX: usize = 4;
/// Ways to log in, the preferred one first.
const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];
/// Reply code of a server that ends the connection.
const CLOSING: u16 = 421;

/// Reason why a message was not handed over. Each has a short text for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmtpFailure {
    /// The mail server cannot be used: no connection, no TLS, or no login. No message was sent.
    Server(String),
    /// The server refuses the message now. It was not accepted.
    Deferred(String),
    /// The server refuses the message for good. It was not accepted.
    Refused(String),
    /// The text was sent, and no reply came. The server may have accepted the message.
    Unknown(String),
}

/// A connection to the mail server, after the greeting, TLS and the login.
pub struct SmtpConnection {
    stream: SmtpStream,
    server: ServerInfo,
    /// `true` after an error after which the connection cannot be used any more.
    is_broken: bool,
}

impl SmtpConnection {
    /// Connects, and logs in if the settings have a login.
    ///
    /// # Errors
    /// A short text for the operator. It contains no password.
    pub fn open(settings: &SmtpSettings) -> Result<SmtpConnection, String> {
        let mut stream = SmtpStream::connect(settings)?;
        expect(stream.read_reply()?)?;
        let hello = settings.client_id();
        let mut server = greet(&mut stream, &hello)?;
        if settings.needs_starttls() {
            if !server.supports_feature(Extension::StartTls) {
                return Err(
                    "the mail server offers no STARTTLS: use smtps://, or another port".to_owned()
                );
            }
            expect(stream.ask(Starttls)?)?;
            stream = stream.upgrade(settings)?;
            // The offers from before TLS are not trusted.
            server = greet(&mut stream, &hello)?;
        }
        if let Some((user, password)) = settings.login() {
            let credentials = Credentials::new(user.to_owned(), password.to_owned());
            log_in(&mut stream, &server, &credentials)?;
        }
        Ok(SmtpConnection { stream, server, is_broken: false })
    }

    /// Announces a message, up to the point where its text is sent with [`SmtpConnection::deliver`].
    ///
    /// # Errors
    /// [`SmtpFailure`], never [`SmtpFailure::Unknown`].
    pub fn offer(&mut self, mail: &PreparedMail) -> Result<(), SmtpFailure> {
        let mut parameters = Vec::new();
        if mail.needs_utf8() {
            if !self.server.supports_feature(Extension::SmtpUtfEight) {
                let problem =
                    "the mail server takes no address with letters beyond ASCII (SMTPUTF8)";
                return Err(SmtpFailure::Refused(problem.to_owned()));
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        let offered = self
            .ask(Mail::new(Some(mail.from.clone()), parameters))
            .and_then(|()| self.ask(Rcpt::new(mail.to.clone(), Vec::new())))
            .and_then(|()| self.ask(Data));
        if offered.is_err() && !self.is_broken {
            // Ends the refused message, so that the connection can be used for the next one.
            self.is_broken = self.stream.ask(Rset).and_then(expect).is_err();
        }
        offered
    }

    /// Sends the text of the announced message.
    ///
    /// # Errors
    /// [`SmtpFailure`]; [`SmtpFailure::Unknown`] if no reply came.
    pub fn deliver(&mut self, mail: &PreparedMail) -> Result<(), SmtpFailure> {
        let replied = self.stream.send_text(&mail.text).and_then(|()| self.stream.read_reply());
        match replied {
            Ok(reply) => self.judge(&reply),
            Err(problem) => {
                self.is_broken = true;
                Err(SmtpFailure::Unknown(problem))
            }
        }
    }

    /// Returns `true` if the connection cannot be used for another message.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Ends the connection. The server need not answer.
    pub fn close(mut self) {
        if !self.is_broken {
            // The connection ends in any case.
            let _ = self.stream.ask(Quit);
        }
    }

    /// Sends a command about a message and judges the reply.
    fn ask(&mut self, command: impl Display) -> Result<(), SmtpFailure> {
        match self.stream.ask(command) {
            Ok(reply) => self.judge(&reply),
            Err(problem) => {
                self.is_broken = true;
                Err(SmtpFailure::Server(problem))
            }
        }
    }

    fn judge(&mut self, reply: &Reply) -> Result<(), SmtpFailure> {
        match reply.code {
            CLOSING => {
                self.is_broken = true;
                Err(SmtpFailure::Server(reply.problem()))
            }
            200..=399 => Ok(()),
            500..=599 => Err(SmtpFailure::Refused(reply.problem())),
            _ => Err(SmtpFailure::Deferred(reply.problem())),
        }
    }
}

/// Checks that the mail server can be used and takes mail from the sender. Sends no message.
///
/// # Errors
/// A short text for the operator.
pub fn check_server(settings: &SmtpSettings) -> Result<(), String> {
    let mut connection = SmtpConnection::open(settings)?;
    let reply = connection.stream.ask(Mail::new(Some(settings.sender().clone()), Vec::new()))?;
    let taken = expect(reply).map_err(|problem| format!("the sender is refused: {problem}"));
    connection.close();
    taken
}

/// Sends EHLO and returns what the server offers.
fn greet(stream: &mut SmtpStream, hello: &ClientId) -> Result<ServerInfo, String> {
    let reply = stream.ask(Ehlo::new(hello.clone()))?;
    let info = reply.server_info();
    expect(reply)?;
    info
}

fn log_in(
    stream: &mut SmtpStream,
    server: &ServerInfo,
    credentials: &Credentials,
) -> Result<(), String> {
    let mechanism = server.get_auth_mechanism(&MECHANISMS);
    let mechanism = mechanism.ok_or("the mail server offers no login by PLAIN or LOGIN")?;
    let failed = |_| "the login could not be written".to_owned();
    let first = Auth::new(mechanism, credentials.clone(), None).map_err(failed)?;
    let mut reply = stream.ask(first)?;
    for _ in 0..CHALLENGES_MAX {
        let Some(challenge) = reply.challenge() else {
            break;
        };
        let next = Auth::new_from_response(mechanism, credentials.clone(), challenge);
        reply = stream
            .ask(next.map_err(|_| "the mail server asks for an unknown login".to_owned())?)?;
    }
    expect(reply).map_err(|problem| format!("the login is refused: {problem}"))
}

/// Returns an error with the reply unless it is positive.
fn expect(reply: Reply) -> Result<(), String> {
    match reply.code {
        200..=399 => Ok(()),
        _ => Err(reply.problem()),
    }
}

/// Shortens a text of the server to one line.
fn short(text: &str) -> String {
    single_line(text, PROBLEM_CHARS_MAX)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
