//! Polls exchange rates: each public source every minute, or the operator's file every second.
//!
//! Invariant: a slow source delays no other source, and no request under way delays the stop.

use super::watch_chain::ChainWakers;
use super::{Next, Waker, Worker};
use crate::chain::rates::{RateClient, RatesError, RatesFrom, Upstream, read_file};
use crate::clock::Clock;
use crate::domain::money::Currency;
use crate::domain::rate::{CoinFigure, FigureSource, NoAgreement};
use crate::domain::time::{MINUTE_MS, SECOND_MS, Time};
use crate::service::{Error, Service, random};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Time between two requests to a source, in milliseconds.
const EVERY_MS: i64 = MINUTE_MS;
/// Longest pause after a rate limit, in milliseconds, unless the source asks for a longer one.
const LEFT_ALONE_MS_MAX: i64 = 15 * MINUTE_MS;
/// Time between two reads of the rate file, in real time.
const LOOK_AT_FILE: Duration = Duration::from_secs(1);

/// The worker that polls exchange rates.
pub struct Rates {
    service: Arc<Service>,
    clock: Arc<Clock>,
    client: RateClient,
    waker: Waker,
    /// Wakers of the chains that wait for the first round of rates.
    chain_wakers: Arc<ChainWakers>,
    sources: Vec<Asked>,
    file: Option<Watched>,
    answers: UnboundedSender<Answer>,
    answered: UnboundedReceiver<Answer>,
    /// Answers that are not stored yet.
    ended: Vec<Answer>,
    has_begun: bool,
    /// The coins without a rate, as last logged, with the reason.
    without: HashMap<(&'static str, Currency), NoAgreement>,
}

/// A rate source with the state of its polling.
struct Asked {
    upstream: Upstream,
    asked_at: Option<Time>,
    /// Time after the last request until the next one, in milliseconds.
    wait_ms: i64,
    is_under_way: bool,
    /// Number of rate limits in a row.
    refused: u32,
    problem: Option<String>,
}

/// The operator's rate file, with its last readable contents.
struct Watched {
    path: PathBuf,
    told: Vec<CoinFigure>,
    problem: Option<String>,
    kept_at: Option<Time>,
}

/// The answer of a source to one request.
#[derive(Clone)]
struct Answer {
    source: FigureSource,
    asked_at: Time,
    outcome: Result<Vec<CoinFigure>, RatesError>,
}

impl Rates {
    /// Creates a worker. Each answer wakes the worker through its waker. The chain wakers are signalled when the
    /// first round of requests ends.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        from: RatesFrom,
        timeout_ms: u64,
        (waker, chain_wakers): (Waker, Arc<ChainWakers>),
    ) -> Rates {
        let (answers, answered) = unbounded_channel();
        let (sources, file) = match from {
            RatesFrom::Nowhere => (Vec::new(), None),
            RatesFrom::Sources(upstreams) => (upstreams, None),
            RatesFrom::File(path) => (Vec::new(), Some(path)),
        };
        let asked = |upstream| Asked {
            upstream,
            asked_at: None,
            wait_ms: EVERY_MS,
            is_under_way: false,
            refused: 0,
            problem: None,
        };
        let watched = |path| Watched {
            path,
            told: Vec::new(),
            problem: None,
            kept_at: None,
        };
        Rates {
            service,
            clock,
            client: RateClient::new(timeout_ms),
            waker,
            chain_wakers,
            sources: sources.into_iter().map(asked).collect(),
            file: file.map(watched),
            answers,
            answered,
            ended: Vec::new(),
            has_begun: false,
            without: HashMap::new(),
        }
    }

    /// Deletes the stored figures of sources that are no longer polled. Runs once.
    async fn begin(&mut self) -> Result<(), Error> {
        if self.has_begun {
            return Ok(());
        }
        let asked = self.sources.iter().map(|asked| asked.upstream.source);
        let asked = asked.chain(self.file.iter().map(|_| FigureSource::File));
        self.service.ask_only(asked.collect()).await?;
        self.has_begun = true;
        Ok(())
    }

    /// Stores the answers. If a write fails, the remaining answers are kept for the next step.
    async fn keep_answers(&mut self) -> Result<(), Error> {
        while let Ok(answer) = self.answered.try_recv() {
            self.ended.push(answer);
        }
        while let Some(answer) = self.ended.last().cloned() {
            self.keep(answer).await?;
            self.ended.pop();
        }
        Ok(())
    }

    async fn keep(&mut self, answer: Answer) -> Result<(), Error> {
        let Answer {
            source,
            asked_at,
            outcome,
        } = answer;
        let now = self.clock.now();
        let failure = outcome.as_ref().err().cloned();
        match outcome {
            Ok(told) => self.service.keep_told(now, source, asked_at, told).await?,
            Err(failure) => {
                let problem = failure.problem;
                self.service.keep_failure(source, asked_at, problem).await?;
            }
        }
        let mut all = self.sources.iter_mut();
        if let Some(asked) = all.find(|asked| asked.upstream.source == source) {
            asked.ended(now, failure.as_ref());
        }
        // Coins are logged only after all sources of a round have answered: before that, some coins have too few
        // figures.
        if self.is_busy() {
            return Ok(());
        }
        self.log_coins(now)
    }

    /// Requests figures from every source that is due, each on a thread of its own.
    fn ask(&mut self, now: Time) {
        for asked in &mut self.sources {
            if asked.is_under_way || now < asked.due(now) {
                continue;
            }
            (asked.asked_at, asked.wait_ms) = (Some(now), EVERY_MS);
            let (client, upstream) = (self.client.clone(), asked.upstream.clone());
            let (answers, waker) = (self.answers.clone(), self.waker.clone());
            let source = upstream.source;
            let work = move || {
                let outcome = client.ask(&upstream, now);
                // The send fails only while the worker is stopping.
                let _ = answers.send(Answer {
                    source,
                    asked_at: now,
                    outcome,
                });
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
    async fn look_at_file(&mut self, now: Time) -> Result<(), Error> {
        let Some(watched) = &mut self.file else {
            return Ok(());
        };
        let is_new = watched.look(now);
        let is_due = now >= due(watched.kept_at, EVERY_MS, now);
        if !is_new && !is_due {
            return Ok(());
        }
        let (told, problem) = (watched.rates_at(now), watched.problem.clone());
        // While the file cannot be read, its last readable contents stay valid until a restart.
        if !told.is_empty() {
            let (service, source) = (&self.service, FigureSource::File);
            service.keep_told(now, source, now, told).await?;
        }
        if let Some(problem) = problem {
            self.service
                .keep_failure(FigureSource::File, now, problem)
                .await?;
        }
        watched.kept_at = Some(now);
        self.log_coins(now)
    }

    /// Logs the coins that have lost their rate, with the reason. Also logs the coins that have a rate again or need
    /// none any more.
    fn log_coins(&mut self, now: Time) -> Result<(), Error> {
        let without = self.service.coins_without_rate(now)?;
        let without: HashMap<(&'static str, Currency), NoAgreement> = without
            .into_iter()
            .map(|(coin, currency, why)| ((coin, currency), why))
            .collect();
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

    /// Returns when the next request or read is due. Ignores sources with a request under way.
    fn next(&self, now: Time) -> Next {
        let waiting = self.sources.iter().filter(|asked| !asked.is_under_way);
        let file = self.file.iter();
        let file = file.map(|watched| due(watched.kept_at, EVERY_MS, now));
        let due = waiting.map(|asked| asked.due(now)).chain(file).min();
        due.map_or(Next::Idle, Next::At)
    }
}

impl Asked {
    /// Returns the time of the next request to the source.
    fn due(&self, now: Time) -> Time {
        due(self.asked_at, self.wait_ms, now)
    }

    /// Records the end of a request. Logs a new problem, or the end of the last one.
    fn ended(&mut self, now: Time, failure: Option<&RatesError>) {
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
                let pause_ms = left_alone_ms(self.refused, retry_after_s, random_byte());
                (self.asked_at, self.wait_ms) = (Some(now), pause_ms);
            }
        }
    }
}

/// Returns the next time of an action that repeats every `wait_ms`. Returns `now` if the action was never done, or if
/// the clock was set back since.
fn due(done_at: Option<Time>, wait_ms: i64, now: Time) -> Time {
    let done_at = done_at.filter(|done_at| *done_at <= now);
    done_at.map_or(now, |done_at| done_at.plus_ms(wait_ms))
}

/// Returns the pause after this many rate limits in a row, in milliseconds. The pause doubles each time and is at
/// least as long as the source requested. `chance` adds up to a quarter of the pause.
fn left_alone_ms(refused: u32, retry_after_s: u64, chance: u8) -> i64 {
    let doubled = EVERY_MS.saturating_mul(1_i64.checked_shl(refused.min(10)).unwrap_or(1));
    let asked = i64::try_from(retry_after_s)
        .unwrap_or(0)
        .saturating_mul(SECOND_MS);
    let pause = doubled.min(LEFT_ALONE_MS_MAX).max(asked);
    let more = (pause / 4).saturating_mul(i64::from(chance)) / 255;
    pause.saturating_add(more)
}

/// Returns a random byte, or the middle of the range if the system has no randomness.
fn random_byte() -> u8 {
    random::<1>().map_or(128, |[byte]| byte)
}

impl Watched {
    /// Reads the rate file. Returns `true` if the contents or the read error have changed.
    fn look(&mut self, now: Time) -> bool {
        let (told, problem) = match read_file(&self.path, now) {
            Ok(told) => (Some(told), None),
            Err(problem) => (None, Some(problem)),
        };
        let is_news = problem != self.problem;
        if is_news {
            match &problem {
                Some(problem) if self.told.is_empty() => {
                    log::error!("rate file failed: error={problem}")
                }
                Some(problem) => {
                    log::error!("rate file failed, earlier rates kept: error={problem}");
                }
                None => log::info!("rate file recovered: file={}", self.path.display()),
            }
            self.problem = problem;
        }
        let told = told.filter(|told| !is_same(told, &self.told));
        let is_new = told.is_some();
        if let Some(told) = told {
            self.told = told;
        }
        is_news || is_new
    }

    /// Returns the figures of the file, dated `now`.
    fn rates_at(&self, now: Time) -> Vec<CoinFigure> {
        let mut told = self.told.clone();
        for one in &mut told {
            one.figure.at = now;
        }
        told
    }
}

/// Returns `true` if both lists contain the same figures, regardless of their times.
fn is_same(one: &[CoinFigure], other: &[CoinFigure]) -> bool {
    let same = |(one, other): (&CoinFigure, &CoinFigure)| {
        one.coin == other.coin
            && one.currency == other.currency
            && one.figure.rate == other.figure.rate
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

impl Worker for Rates {
    const NAME: &'static str = "rates";

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        self.begin().await?;
        self.keep_answers().await?;
        if !self.service.needs_rates(now)? {
            self.chain_wakers.hear_of_rates();
            return Ok(Next::Idle);
        }
        self.ask(now);
        self.look_at_file(now).await?;
        if !self.is_busy() {
            // All sources have answered or failed.
            self.chain_wakers.hear_of_rates();
        }
        Ok(self.next(now))
    }

    fn is_busy(&self) -> bool {
        self.sources.iter().any(|asked| asked.is_under_way)
    }

    fn pause(&self) -> Option<Duration> {
        self.file.as_ref().map(|_| LOOK_AT_FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::{EVERY_MS, LEFT_ALONE_MS_MAX, left_alone_ms};

    #[test]
    fn who_is_asked_too_often_is_left_alone_longer_each_time_and_as_long_as_it_asks() {
        let pauses: Vec<i64> = (1..6).map(|refused| left_alone_ms(refused, 0, 0)).collect();
        let minutes: Vec<i64> = pauses.iter().map(|pause| pause / EVERY_MS).collect();
        assert_eq!(minutes, [2, 4, 8, 15, 15]);
        assert_eq!(left_alone_ms(u32::MAX, 0, 0), LEFT_ALONE_MS_MAX);
        assert_eq!(left_alone_ms(1, 3_600, 0), 60 * EVERY_MS);
        assert_eq!(left_alone_ms(1, 0, 255), 150_000);
        assert_eq!(left_alone_ms(1, u64::MAX, 255), 150_000);
    }
}
