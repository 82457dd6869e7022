//! The thread that talks to the mail server. It has no access to the file, so a mail server that hangs keeps nothing
//! open after this server has stopped.

use crate::outbound::smtp::{PreparedMail, SmtpConnection, SmtpFailure, SmtpSettings};
use crate::service::Error;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of messages on one connection. Many servers allow no more than a hundred.
const MESSAGES_MAX: u32 = 100;
/// Time after which an idle connection is closed.
const IDLE: Duration = Duration::from_secs(5);

type Answer = oneshot::Sender<Result<(), SmtpFailure>>;

enum SmtpRequest {
    Offer(Box<PreparedMail>, Answer),
    Deliver(Answer),
    /// Drop the announced message, with its connection.
    Abandon,
    /// Close the connection soon, because no message is due.
    Rest,
}

/// Handle of the thread. Dropping it ends the thread after its current step.
pub(super) struct SmtpThread {
    settings: Arc<SmtpSettings>,
    requests: Sender<SmtpRequest>,
}

impl SmtpThread {
    /// Starts the thread. It connects when the first message is offered.
    pub(super) fn start(settings: SmtpSettings) -> Result<SmtpThread, Error> {
        let settings = Arc::new(settings);
        let (requests, received) = channel();
        let mut talk = Conversation {
            settings: Arc::clone(&settings),
            connection: None,
            offered: None,
            messages: 0,
        };
        let builder = std::thread::Builder::new().name("coffer-mail".to_owned());
        let started = builder.spawn(move || talk.run(&received));
        started.map_err(|error| Error::Failed(format!("no thread for mail: {error}")))?;
        Ok(SmtpThread { settings, requests })
    }

    pub(super) fn settings(&self) -> &SmtpSettings {
        &self.settings
    }

    pub(super) async fn offer(&self, mail: PreparedMail) -> Result<(), SmtpFailure> {
        self.ask(|answer| SmtpRequest::Offer(Box::new(mail), answer)).await
    }

    pub(super) async fn deliver(&self) -> Result<(), SmtpFailure> {
        self.ask(SmtpRequest::Deliver).await
    }

    pub(super) fn abandon(&self) {
        // The thread is gone only if it panicked.
        let _ = self.requests.send(SmtpRequest::Abandon);
    }

    /// Lets the thread close its connection.
    pub(super) fn rest(&self) {
        // The thread is gone only if it panicked.
        let _ = self.requests.send(SmtpRequest::Rest);
    }

    async fn ask(&self, request: impl FnOnce(Answer) -> SmtpRequest) -> Result<(), SmtpFailure> {
        let (answer, answered) = oneshot::channel();
        let gone = || SmtpFailure::Server("the thread for mail has ended".to_owned());
        self.requests.send(request(answer)).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

struct Conversation {
    settings: Arc<SmtpSettings>,
    connection: Option<SmtpConnection>,
    offered: Option<Box<PreparedMail>>,
    /// Number of messages on this connection.
    messages: u32,
}

impl Conversation {
    fn run(&mut self, requests: &Receiver<SmtpRequest>) {
        let mut is_resting = false;
        loop {
            let request = match self.connection {
                Some(_) if is_resting => requests.recv_timeout(IDLE),
                _ => requests.recv().map_err(RecvTimeoutError::from),
            };
            is_resting = matches!(request, Ok(SmtpRequest::Rest));
            // An answer that nobody awaits any more is dropped: the server is stopping.
            match request {
                Ok(SmtpRequest::Offer(mail, answer)) => drop(answer.send(self.offer(mail))),
                Ok(SmtpRequest::Deliver(answer)) => drop(answer.send(self.deliver())),
                Ok(SmtpRequest::Abandon) => self.forget(),
                Ok(SmtpRequest::Rest) => {}
                Err(RecvTimeoutError::Timeout) => self.close(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn offer(&mut self, mail: Box<PreparedMail>) -> Result<(), SmtpFailure> {
        if self.messages >= MESSAGES_MAX {
            self.close();
        }
        let reused = self.connection.take();
        let is_reused = reused.is_some();
        let mut offered = self.offer_on(reused, &mail);
        if is_reused && matches!(offered, Err(SmtpFailure::Server(_))) {
            // The server may have closed the connection after the last message.
            offered = self.offer_on(None, &mail);
        }
        self.offered = offered.is_ok().then_some(mail);
        offered
    }

    fn offer_on(
        &mut self,
        connection: Option<SmtpConnection>,
        mail: &PreparedMail,
    ) -> Result<(), SmtpFailure> {
        let mut connection = match connection {
            Some(connection) => connection,
            None => {
                self.messages = 0;
                SmtpConnection::open(&self.settings).map_err(SmtpFailure::Server)?
            }
        };
        self.messages = self.messages.saturating_add(1);
        let offered = connection.offer(mail);
        self.connection = Some(connection).filter(|connection| !connection.is_broken());
        offered
    }

    fn deliver(&mut self) -> Result<(), SmtpFailure> {
        let nothing = || SmtpFailure::Server("no message is announced".to_owned());
        let mail = self.offered.take().ok_or_else(nothing)?;
        let mut connection = self.connection.take().ok_or_else(nothing)?;
        let delivered = connection.deliver(&mail);
        self.connection = Some(connection).filter(|connection| !connection.is_broken());
        delivered
    }

    /// Drops the connection without a word.
    fn forget(&mut self) {
        (self.connection, self.offered) = (None, None);
    }

    fn close(&mut self) {
        self.offered = None;
        if let Some(connection) = self.connection.take() {
            connection.close();
        }
    }
}
