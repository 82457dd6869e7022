//! Gets the server's certificate by ACME, and renews it.
//!
//! Invariant: an attempt is stored before it starts, so a server that restarts in a loop attempts no more often.

use super::{NextStep, Worker};
use crate::acme::{self, AcmeSettings, Attempts, Certificates, Folder, IssuedCertificate, Reach};
use crate::domain::time::{DAY_MS, HOUR_MS, MINUTE_MS};
use crate::domain::{CertificateStatus, Time};
use crate::service::certificate::CertificateWatch;
use crate::service::{Error, random_bytes};
use std::sync::Arc;
use tokio::sync::watch;

/// Interval between two questions for the suggested renewal, if the authority names none or does not answer.
const SUGGESTION_EVERY_MS: i64 = 6 * HOUR_MS;

/// The worker for the certificate.
pub struct CertificateWorker {
    settings: AcmeSettings,
    folder: Folder,
    certificates: Arc<Certificates>,
    watch: Arc<CertificateWatch>,
    stop: watch::Receiver<bool>,
    current: Option<IssuedCertificate>,
    attempts: Attempts,
    suggested: Option<Time>,
    /// Time of the next question for the suggested renewal.
    ask_at: Time,
    /// Time of the next check of the domain.
    check_at: Time,
}

impl CertificateWorker {
    /// Creates the worker, with the certificate and the attempts of the folder.
    pub fn new(
        settings: AcmeSettings,
        folder: Folder,
        certificates: Arc<Certificates>,
        watch: Arc<CertificateWatch>,
        stop: watch::Receiver<bool>,
    ) -> Result<CertificateWorker, Error> {
        let attempts = folder.attempts().map_err(Error::Failed)?;
        let current = folder.certificate().map_err(Error::Failed)?;
        if let Some(issued) = &current {
            certificates.set_current(issued);
        }
        let worker = CertificateWorker {
            settings,
            folder,
            certificates,
            watch,
            stop,
            current,
            attempts,
            suggested: None,
            ask_at: Time(0),
            check_at: Time(0),
        };
        worker.report();
        Ok(worker)
    }

    /// Updates the state that Home, metrics and the summary show.
    fn report(&self) {
        let status = certificate_status(
            &self.settings.domain,
            self.current.as_ref(),
            &self.attempts,
            self.settings.retry_ms_min,
        );
        self.watch.set(status);
    }

    fn next_attempt_at(&self, now: Time) -> Time {
        let wanted = match &self.current {
            None => self.check_at,
            Some(issued) => issued.validity().renew_at_suggestion(self.suggested),
        };
        let allowed = self.attempts.next_at(now, self.settings.retry_ms_min);
        allowed.map_or(wanted, |allowed| wanted.max(allowed))
    }

    async fn step(&mut self, now: Time) -> Result<(), Error> {
        if self.current.is_some() && now >= self.ask_at {
            self.ask_for_renewal(now).await;
        }
        if now < self.next_attempt_at(now) {
            return Ok(());
        }
        match self.find_reach().await? {
            Ok(reach) => self.attempt(now, reach).await,
            // The domain led to this server before, so the authority decides.
            Err(_) if self.current.is_some() => self.attempt(now, Reach::Tls).await,
            Err(problem) => {
                // No request went to the authority, so the wait does not grow.
                self.check_at = now.plus_ms(self.settings.retry_ms_min);
                self.fail(problem)
            }
        }
    }

    /// Asks the authority when it suggests to renew. An authority that suggests nothing is asked again later.
    async fn ask_for_renewal(&mut self, now: Time) {
        let Some(issued) = &self.current else {
            return;
        };
        let asked = acme::suggested_renewal(&self.settings, &self.folder, issued).await;
        let wait_ms = match asked {
            Ok((at, wait_ms)) => {
                log::debug!("renewal suggested: domain={} at={at}", self.settings.domain);
                self.suggested = Some(at);
                wait_ms.clamp(MINUTE_MS, DAY_MS)
            }
            Err(problem) => {
                log::debug!(
                    "no renewal suggested: domain={} reason={problem}",
                    self.settings.domain
                );
                SUGGESTION_EVERY_MS
            }
        };
        self.ask_at = now.plus_ms(wait_ms);
    }

    /// Finds a challenge by which the domain leads to this server. The inner error is a message for the operator.
    async fn find_reach(&self) -> Result<Result<Reach, String>, Error> {
        let domain = self.settings.domain.as_str();
        let check = async |reach, port| -> Result<Result<(), String>, Error> {
            let random = random_bytes::<32>()?;
            Ok(acme::check_reach(&self.certificates, reach, domain, port, random).await)
        };
        let problem = match check(Reach::Tls, self.settings.https_port).await? {
            Ok(()) => return Ok(Ok(Reach::Tls)),
            Err(problem) => problem,
        };
        if self.settings.http_listen.is_some()
            && check(Reach::Http, self.settings.http_port).await?.is_ok()
        {
            return Ok(Ok(Reach::Http));
        }
        Ok(Err(problem))
    }

    async fn attempt(&mut self, now: Time, reach: Reach) -> Result<(), Error> {
        let is_first = self.attempts.count == 0;
        self.attempts.begin(now);
        self.folder.store_attempts(&self.attempts).map_err(Error::Failed)?;
        // An authority may refuse a second replacement of one certificate, so only the first attempt names it.
        let replaced = self.current.as_ref().filter(|_| is_first && self.suggested.is_some());
        log::info!("certificate ordered: domain={}", self.settings.domain);
        let ordered = acme::order_certificate(
            &self.settings,
            &self.folder,
            &self.certificates,
            reach,
            replaced,
        );
        match ordered.await {
            Ok(issued) => {
                let until = issued.validity().not_after;
                log::info!("certificate issued: domain={} until={until}", self.settings.domain);
                let is_due = issued.validity().renew_at() <= now;
                self.certificates.set_current(&issued);
                (self.current, self.suggested) = (Some(issued), None);
                self.ask_at = now.plus_ms(MINUTE_MS);
                if is_due {
                    return self.fail(format!("it ends too soon, at {until}: correct the clock"));
                }
                self.attempts = Attempts::default();
                self.folder.store_attempts(&self.attempts).map_err(Error::Failed)
            }
            Err(problem) => self.fail(problem),
        }
    }

    /// Stores and logs the message of a failure. A message that repeats is logged as often as attempts are made.
    fn fail(&mut self, problem: String) -> Result<(), Error> {
        let domain = &self.settings.domain;
        log::warn!("no certificate: domain={domain} error={problem}");
        if self.attempts.problem.as_ref() != Some(&problem) {
            self.attempts.problem = Some(problem);
            self.folder.store_attempts(&self.attempts).map_err(Error::Failed)?;
        }
        Ok(())
    }
}

impl Worker for CertificateWorker {
    const NAME: &'static str = "certificate";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        let mut stop = self.stop.clone();
        let done = tokio::select! {
            // The attempt is stored, so the next start waits before it repeats the attempt.
            _ = stop.wait_for(|stop| *stop) => return Ok(NextStep::Idle),
            done = self.step(now) => done,
        };
        self.report();
        done?;
        let next = self.next_attempt_at(now);
        let ask_at = self.current.as_ref().map_or(next, |_| self.ask_at);
        Ok(NextStep::At(next.min(ask_at)))
    }
}

/// Returns the state of a certificate for the operator.
pub fn certificate_status(
    domain: &str,
    current: Option<&IssuedCertificate>,
    attempts: &Attempts,
    retry_ms_min: i64,
) -> CertificateStatus {
    CertificateStatus {
        domain: domain.to_owned(),
        validity: current.map(IssuedCertificate::validity),
        failing_since: attempts.first_at.map(Time),
        problem: attempts.problem.clone(),
        retry_at: attempts.next_at(Time::MAX, retry_ms_min),
    }
}
