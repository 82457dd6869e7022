//! Starts the parts for a certificate by ACME: TLS, the listener for plain HTTP, and the worker.

use super::{Config, SharedParts};
use crate::acme::{self, AcmeSettings, Certificates, Folder};
use crate::http::{ConnectionLimits, Listener, PlainHttp, Tls};
use crate::service::Error;
use crate::worker::certificate::CertificateWorker;
use crate::worker::{Waker, run_worker};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Maximum number of connections to the listener for plain HTTP, each of which sends one short request.
const PLAIN_CONNECTIONS_MAX: usize = 256;

pub(super) struct AcmeParts {
    settings: AcmeSettings,
    folder: Folder,
    certificates: Arc<Certificates>,
    tls: Arc<Tls>,
    /// Socket for plain HTTP.
    socket: Option<TcpListener>,
}

/// Checks that a certificate may be ordered: its folder stays, and the operator agrees to the authority's terms.
///
/// # Errors
/// A message that names the setting, and the URL of the terms.
pub(in crate::app) fn check_acme(config: &Config) -> Result<(), Error> {
    let Some(settings) = &config.acme else {
        return Ok(());
    };
    if config.file.is_none() {
        let problem = "--acme keeps certificates beside the file: name a file with --file";
        return Err(Error::Failed(problem.to_owned()));
    }
    if settings.terms_agreed {
        return Ok(());
    }
    let directory = &settings.directory;
    let problem = match acme::read_terms(&settings.directory, settings.directory_roots.as_deref()) {
        Ok(Some(terms)) => format!("read the terms of the certificate authority: {terms}"),
        Ok(None) => format!("{directory} names no terms"),
        Err(problem) => format!("the terms of the certificate authority were not read: {problem}"),
    };
    Err(Error::Failed(format!("--acme needs --acme-agree; {problem}")))
}

impl AcmeParts {
    /// Opens the socket for plain HTTP, and prepares TLS.
    pub(super) fn open(
        settings: AcmeSettings,
        file: &Path,
        bind: impl Fn(SocketAddr) -> Result<(TcpListener, SocketAddr), Error>,
    ) -> Result<AcmeParts, Error> {
        let socket = settings.http_listen.map(bind).transpose()?.map(|(socket, _)| socket);
        let certificates = Certificates::new(&settings.domain);
        let config = acme::server_config(Arc::clone(&certificates)).map_err(Error::Failed)?;
        let (answers, state) = (Arc::clone(&certificates), Arc::clone(&certificates));
        let plain = Arc::new(PlainHttp {
            origin: settings.origin(),
            challenge: Box::new(move |token| answers.http_answer(token)),
            has_certificate: Box::new(move || state.has_current()),
        });
        let folder = Folder::new(acme::folder_path(file), &settings.domain, &settings.directory);
        let tls = Arc::new(Tls { acceptor: config.into(), plain });
        Ok(AcmeParts { settings, folder, certificates, tls, socket })
    }

    pub(super) fn tls(&self) -> Arc<Tls> {
        Arc::clone(&self.tls)
    }

    /// Starts the worker, and adds the listener for plain HTTP.
    pub(super) fn start(
        self,
        runtime: &Runtime,
        shared: &SharedParts,
        limits: ConnectionLimits,
        listeners: &mut Vec<(Listener, ConnectionLimits)>,
        stop: &watch::Receiver<bool>,
    ) -> Result<JoinHandle<()>, Error> {
        if let Some(socket) = self.socket {
            let _inside = runtime.enter();
            let listener = Listener::plain(socket, Arc::clone(&self.tls.plain));
            let listener = listener.map_err(|error| Error::Failed(error.to_string()))?;
            let few = ConnectionLimits { connections_max: PLAIN_CONNECTIONS_MAX, ..limits };
            listeners.push((listener, few));
        }
        let watch = shared.service.certificate().cloned().unwrap_or_default();
        let worker = CertificateWorker::new(
            self.settings,
            self.folder,
            self.certificates,
            watch,
            stop.clone(),
        )?;
        let clock = Arc::clone(&shared.clock);
        Ok(runtime.spawn(run_worker(worker, clock, Waker::default(), stop.clone())))
    }
}
