//! Polls exchange rates: each public source every minute, or the operator's file every second.
//!
//! Invariant: a slow source delays no other source. A stopping server does not wait for a request to a source.

mod file;

use super::watch_chain::ChainWakers;
use super::{NextStep, Waker, Worker};
use crate::chain::rates::{RateClient, RatesError, RatesOrigin, Upstream};
use crate::clock::Clock;
use crate::domain::time::{MINUTE_MS, SECOND_MS};
use crate::domain::{CoinFigure, Currency, FigureSource, NoRateReason, Time};
use crate::service::{Error, Service, random_bytes};
use file::RateFile;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Time between two requests to a source, in milliseconds.
const EVERY_MS: i64 = MINUTE_MS;
/// Longest pause after a rate limit, in milliseconds, unless the source requests a longer one.
const RATE_LIMIT_PAUSE_MS_MAX: i64 = 15 * MINUTE_MS;
/// Time between two reads of the rate file, in real time.
const FILE_READ_EVERY: Duration = Duration::from_secs(1);

/// The worker that polls exchange rates.
pub struct RateWorker {
    service: Arc<Service>,
    clock: Arc<Clock>,
    client: RateClient,
    waker: Waker,
    /// Wakers of the chains that wait for the first round of rates.
    chain_wakers: Arc<ChainWakers>,
    sources: Vec<PolledSource>,
    file: Option<RateFile>,
    answers: UnboundedSender<SourceAnswer>,
    answered: UnboundedReceiver<SourceAnswer>,
    /// Answers of sources that are not stored yet.
    ended: Vec<SourceAnswer>,
    has_begun: bool,
    /// Coins without a rate at the last check, with the reason. Each missing rate has been logged.
    without: HashMap<(&'static str, Currency), NoRateReason>,
}

struct PolledSource {
    upstream: Upstream,
    asked_at: Option<Time>,
    /// Time from the last request to the next one, in milliseconds.
    wait_ms: i64,
    is_under_way: bool,
    /// Number of consecutive requests that the source has refused with a rate limit.
    refused: u32,
    problem: Option<String>,
}

#[derive(Clone)]
struct SourceAnswer {
    source: FigureSource,
    asked_at: Time,
    outcome: Result<Vec<CoinFigure>, RatesError>,
}

impl RateWorker {
    /// Creates a worker. Each answer wakes the worker through `waker`. When all sources have answered for the first
    /// time, `chain_wakers` are signalled.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        from: RatesOrigin,
        timeout_ms: u64,
        waker: Waker,
        chain_wakers: Arc<ChainWakers>,
    ) -> RateWorker {
        let (answers, answered) = unbounded_channel();
        let (sources, file) = match from {
            RatesOrigin::Nowhere => (Vec::new(), None),
            RatesOrigin::Sources(upstreams) => (upstreams, None),
            RatesOrigin::File(path) => (Vec::new(), Some(path)),
        };
        let asked = |upstream| PolledSource {
            upstream,
            asked_at: None,
            wait_ms: EVERY_MS,
            is_under_way: false,
            refused: 0,
            problem: None,
        };
        RateWorker {
            service,
            clock,
            client: RateClient::new(timeout_ms),
            waker,
            chain_wakers,
            sources: sources.into_iter().map(asked).collect(),
            file: file.map(RateFile::new),
            answers,
            answered,
            ended: Vec::new(),
            has_begun: false,
            without: HashMap::new(),
        }
    }

    /// Deletes the stored prices of sources that are no longer polled. Runs once.
    async fn delete_figures_of_unpolled_sources(&mut self) -> Result<(), Error> {
        if self.has_begun {
            return Ok(());
        }
        let asked = self.sources.iter().map(|asked| asked.upstream.source);
        let asked = asked.chain(self.file.iter().map(|_| FigureSource::File));
        self.service.delete_sources_except(asked.collect()).await?;
        self.has_begun = true;
        Ok(())
    }

    /// Stores the answers of the sources. If a write fails, the remaining answers are kept for the next step.
    async fn store_answers(&mut self) -> Result<(), Error> {
        while let Ok(answer) = self.answered.try_recv() {
            self.ended.push(answer);
        }
        while let Some(answer) = self.ended.last().cloned() {
            self.store_answer(answer).await?;
            self.ended.pop();
        }
        Ok(())
    }

    async fn store_answer(&mut self, answer: SourceAnswer) -> Result<(), Error> {
        let SourceAnswer { source, asked_at, outcome } = answer;
        let now = self.clock.now();
        let failure = outcome.as_ref().err().cloned();
        match outcome {
            Ok(told) => self.service.store_figures(now, source, asked_at, told).await?,
            Err(failure) => {
                let problem = failure.problem;
                self.service.store_source_failure(source, asked_at, problem).await?;
            }
        }
        let mut all = self.sources.iter_mut();
        if let Some(asked) = all.find(|asked| asked.upstream.source == source) {
            asked.record_request_result(now, failure.as_ref());
        }
        // Missing rates are logged only after all sources have answered. Before that, too few sources have answered
        // for some coins.
        if self.is_busy() {
            return Ok(());
        }
        self.log_rate_changes(now)
    }

    /// Requests prices from every source that is due, each on a separate thread.
    fn request_due_sources(&mut self, now: Time) {
        for asked in &mut self.sources {
            if asked.is_under_way || now < asked.next_request_at(now) {
                continue;
            }
            (asked.asked_at, asked.wait_ms) = (Some(now), EVERY_MS);
            let (client, upstream) = (self.client.clone(), asked.upstream.clone());
            let (answers, waker) = (self.answers.clone(), self.waker.clone());
            let source = upstream.source;
            let work = move || {
                let outcome = client.fetch(&upstream, now);
                // The send fails only while the worker is stopping.
                let _ = answers.send(SourceAnswer { source, asked_at: now, outcome });
                waker.wake();
            };
            let thread = std::thread::Builder::new().name(format!("rates-{source}"));
            match thread.spawn(work) {
                Ok(_) => asked.is_under_way = true,
                Err(error) => log::error!("rate source not asked: source={source} error={error}"),
            }
        }
    }

    /// Reads the rate file. Stores its contents if they have changed, and at least once a minute.
    async fn poll_file(&mut self, now: Time) -> Result<(), Error> {
        let Some(watched) = &mut self.file else {
            return Ok(());
        };
        let is_new = watched.reload(now);
        let is_due = now >= next_due_at(watched.kept_at, EVERY_MS, now);
        if !is_new && !is_due {
            return Ok(());
        }
        let (told, problem) = (watched.figures_at(now), watched.problem.clone());
        // While the rate file cannot be read, the contents of its last successful read stay valid until a restart.
        if !told.is_empty() {
            let (service, source) = (&self.service, FigureSource::File);
            service.store_figures(now, source, now, told).await?;
        }
        if let Some(problem) = problem {
            self.service.store_source_failure(FigureSource::File, now, problem).await?;
        }
        watched.kept_at = Some(now);
        self.log_rate_changes(now)
    }

    /// Logs the coins that have lost their rate, with the reason. Also logs the coins that have a rate again or no
    /// longer need one.
    fn log_rate_changes(&mut self, now: Time) -> Result<(), Error> {
        let without = self.service.coins_without_rate(now)?;
        let without: HashMap<(&'static str, Currency), NoRateReason> =
            without.into_iter().map(|(coin, currency, why)| ((coin, currency), why)).collect();
        for (of, why) in &without {
            if !self.without.contains_key(of) {
                let (coin, currency) = of;
                log::warn!("rate missing: coin={coin} currency={currency} reason={why}");
            }
        }
        for of in self.without.keys() {
            if !without.contains_key(of) {
                let (coin, currency) = of;
                log::info!("rate restored: coin={coin} currency={currency}");
            }
        }
        self.without = without;
        Ok(())
    }

    /// Returns the time of the next request to a source or the next read of the file. Ignores sources that have not
    /// answered yet.
    fn time_of_next_poll(&self, now: Time) -> NextStep {
        let waiting = self.sources.iter().filter(|asked| !asked.is_under_way);
        let file = self.file.iter();
        let file = file.map(|watched| next_due_at(watched.kept_at, EVERY_MS, now));
        let due = waiting.map(|asked| asked.next_request_at(now)).chain(file).min();
        due.map_or(NextStep::Idle, NextStep::At)
    }
}

impl PolledSource {
    fn next_request_at(&self, now: Time) -> Time {
        next_due_at(self.asked_at, self.wait_ms, now)
    }

    /// Records the end of a request. Logs the error if it is a new one, or the recovery of the source.
    fn record_request_result(&mut self, now: Time, failure: Option<&RatesError>) {
        self.is_under_way = false;
        let source = self.upstream.source;
        let problem = failure.map(|failure| failure.problem.clone());
        if problem != self.problem {
            match &problem {
                Some(problem) => log::warn!("rate source failed: source={source} error={problem}"),
                None => log::info!("rate source recovered: source={source}"),
            }
            self.problem = problem;
        }
        match failure.and_then(|failure| failure.retry_after_s) {
            None => self.refused = 0,
            Some(retry_after_s) => {
                self.refused = self.refused.saturating_add(1);
                let pause_ms = rate_limit_pause_ms(self.refused, retry_after_s, random_byte());
                (self.asked_at, self.wait_ms) = (Some(now), pause_ms);
            }
        }
    }
}

/// Returns the next time of an action that repeats every `wait_ms` and was last done at `done_at`. Returns `now` if
/// it was never done, or if the clock was set back to before `done_at`.
fn next_due_at(done_at: Option<Time>, wait_ms: i64, now: Time) -> Time {
    let done_at = done_at.filter(|done_at| *done_at <= now);
    done_at.map_or(now, |done_at| done_at.plus_ms(wait_ms))
}

/// Returns the pause after this many consecutive rate limits, in milliseconds. The pause doubles each time and is at
/// least as long as the source requested. `chance` (0 to 255) adds up to a quarter of the pause.
fn rate_limit_pause_ms(refused: u32, retry_after_s: u64, chance: u8) -> i64 {
    let doubled = EVERY_MS.saturating_mul(1_i64.checked_shl(refused.min(10)).unwrap_or(1));
    let asked = i64::try_from(retry_after_s).unwrap_or(0).saturating_mul(SECOND_MS);
    let pause = doubled.min(RATE_LIMIT_PAUSE_MS_MAX).max(asked);
    let more = (pause / 4).saturating_mul(i64::from(chance)) / 255;
    pause.saturating_add(more)
}

/// Returns a random byte, or the middle of the range if the system has no randomness.
fn random_byte() -> u8 {
    random_bytes::<1>().map_or(128, |[byte]| byte)
}

impl Worker for RateWorker {
    const NAME: &'static str = "rates";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        self.delete_figures_of_unpolled_sources().await?;
        self.store_answers().await?;
        if !self.service.needs_rates(now)? {
            self.chain_wakers.signal_rates_ready();
            return Ok(NextStep::Idle);
        }
        self.request_due_sources(now);
        self.poll_file(now).await?;
        if !self.is_busy() {
            // All sources have answered or failed.
            self.chain_wakers.signal_rates_ready();
        }
        Ok(self.time_of_next_poll(now))
    }

    fn is_busy(&self) -> bool {
        self.sources.iter().any(|asked| asked.is_under_way)
    }

    fn time_until_step(&self) -> Option<Duration> {
        self.file.as_ref().map(|_| FILE_READ_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::{EVERY_MS, RATE_LIMIT_PAUSE_MS_MAX, rate_limit_pause_ms};

    #[test]
    fn rate_limit_pause_doubles_and_is_at_least_retry_after() {
        let pauses: Vec<i64> = (1..6).map(|refused| rate_limit_pause_ms(refused, 0, 0)).collect();
        let minutes: Vec<i64> = pauses.iter().map(|pause| pause / EVERY_MS).collect();
        assert_eq!(minutes, [2, 4, 8, 15, 15]);
        assert_eq!(rate_limit_pause_ms(u32::MAX, 0, 0), RATE_LIMIT_PAUSE_MS_MAX);
        assert_eq!(rate_limit_pause_ms(1, 3_600, 0), 60 * EVERY_MS);
        assert_eq!(rate_limit_pause_ms(1, 0, 255), 150_000);
        assert_eq!(rate_limit_pause_ms(1, u64::MAX, 255), 150_000);
    }
}
