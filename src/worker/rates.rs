//! Asks for rates: each public source every minute, by itself, or the operator's file every second.
//!
//! What does not live here: how a source is asked (`chain::rates`), what follows from what it tells (`domain::rate`).
//! What always holds: a source that is slow holds up no other, and nothing that is under way holds up the end.

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

/// From one question to the next.
const EVERY_MS: i64 = MINUTE_MS;
/// The longest that a source which is asked too often is left alone by our own rule: it may ask for more.
const LEFT_ALONE_MS_MAX: i64 = 15 * MINUTE_MS;
/// From one look at the file to the next, in real time.
const LOOK_AT_FILE: Duration = Duration::from_secs(1);

/// The worker that asks for rates.
pub struct Rates {
    service: Arc<Service>,
    clock: Arc<Clock>,
    client: RateClient,
    waker: Waker,
    /// Who waits for the end of the first round.
    chain_wakers: Arc<ChainWakers>,
    sources: Vec<Asked>,
    file: Option<Watched>,
    answers: UnboundedSender<Answer>,
    answered: UnboundedReceiver<Answer>,
    /// What came of questions and is not in the file yet.
    ended: Vec<Answer>,
    has_begun: bool,
    /// The coins that have no rate, as far as the log knows.
    without: HashMap<(&'static str, Currency), NoAgreement>,
}

/// A source, and when it is asked next.
struct Asked {
    upstream: Upstream,
    asked_at: Option<Time>,
    /// How long after that it is asked again.
    wait_ms: i64,
    is_under_way: bool,
    /// How often in a row it has said that it is asked too often.
    refused: u32,
    problem: Option<String>,
}

/// The operator's file, and what it said when it could be read last.
struct Watched {
    path: PathBuf,
    told: Vec<CoinFigure>,
    problem: Option<String>,
    kept_at: Option<Time>,
}

/// What came of asking a source.
#[derive(Clone)]
struct Answer {
    source: FigureSource,
    asked_at: Time,
    outcome: Result<Vec<CoinFigure>, RatesError>,
}

impl Rates {
    /// A worker that this waker wakes, also when an answer has come; whoever follows a chain hears of the first round's end.
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

    /// Forgets what sources told that are not asked any more.
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

    /// Keeps what came of questions; where the file fails, for the next step.
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
        // Once all of a round have answered: until then some coins have too few figures.
        if self.is_busy() {
            return Ok(());
        }
        self.log_coins(now)
    }

    /// Asks every source that is due, each on a thread of its own.
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
                // Whoever does not listen any more is stopping.
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
                Err(error) => log::error!("rates: {source} cannot be asked: {error}"),
            }
        }
    }

    /// Reads the file, and keeps what it says where that is new, or a minute old.
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
        // What the file said when it could be read stays as it was said: only a restart forgets it.
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

    /// Says which coins have a rate again or need none any more, and which have none any more, and why.
    fn log_coins(&mut self, now: Time) -> Result<(), Error> {
        let without = self.service.coins_without_rate(now)?;
        let without: HashMap<(&'static str, Currency), NoAgreement> = without
            .into_iter()
            .map(|(coin, currency, why)| ((coin, currency), why))
            .collect();
        for (of, why) in &without {
            if !self.without.contains_key(of) {
                let (coin, currency) = of;
                log::warn!("rates: {coin} in {currency} is not on offer: {why}");
            }
        }
        for of in self.without.keys() {
            if !without.contains_key(of) {
                let (coin, currency) = of;
                log::info!("rates: {coin} in {currency} has a rate again, or needs none any more");
            }
        }
        self.without = without;
        Ok(())
    }

    /// When the next source is due that is not being asked.
    fn next(&self, now: Time) -> Next {
        let waiting = self.sources.iter().filter(|asked| !asked.is_under_way);
        let file = self.file.iter();
        let file = file.map(|watched| due(watched.kept_at, EVERY_MS, now));
        let due = waiting.map(|asked| asked.due(now)).chain(file).min();
        due.map_or(Next::Idle, Next::At)
    }
}

impl Asked {
    /// When it is asked next.
    fn due(&self, now: Time) -> Time {
        due(self.asked_at, self.wait_ms, now)
    }

    /// A question has ended.
    fn ended(&mut self, now: Time, failure: Option<&RatesError>) {
        self.is_under_way = false;
        let source = self.upstream.source;
        let problem = failure.map(|failure| failure.problem.clone());
        if problem != self.problem {
            match &problem {
                Some(problem) => log::warn!("rates: {source}: {problem}"),
                None => log::info!("rates: {source} answers again"),
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

/// When something is done again that was done then; at once where the clock was set back since.
fn due(done_at: Option<Time>, wait_ms: i64, now: Time) -> Time {
    let done_at = done_at.filter(|done_at| *done_at <= now);
    done_at.map_or(now, |done_at| done_at.plus_ms(wait_ms))
}

/// How long a source is left alone that has said so often in a row that it is asked too often: twice as long each time,
/// at least as long as it asks for, and up to a quarter longer by chance.
fn left_alone_ms(refused: u32, retry_after_s: u64, chance: u8) -> i64 {
    let doubled = EVERY_MS.saturating_mul(1_i64.checked_shl(refused.min(10)).unwrap_or(1));
    let asked = i64::try_from(retry_after_s)
        .unwrap_or(0)
        .saturating_mul(SECOND_MS);
    let pause = doubled.min(LEFT_ALONE_MS_MAX).max(asked);
    let more = (pause / 4).saturating_mul(i64::from(chance)) / 255;
    pause.saturating_add(more)
}

/// Chance; where the system has none to give, the middle.
fn random_byte() -> u8 {
    random::<1>().map_or(128, |[byte]| byte)
}

impl Watched {
    /// Reads the file; does it say something new, or can it no longer, or again, be read?
    fn look(&mut self, now: Time) -> bool {
        let (told, problem) = match read_file(&self.path, now) {
            Ok(told) => (Some(told), None),
            Err(problem) => (None, Some(problem)),
        };
        let is_news = problem != self.problem;
        if is_news {
            match &problem {
                Some(problem) if self.told.is_empty() => log::error!("rates: {problem}"),
                Some(problem) => {
                    log::error!("rates: {problem}; what the file said before is kept");
                }
                None => log::info!("rates: {} can be read again", self.path.display()),
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

    /// What it says, as of this moment.
    fn rates_at(&self, now: Time) -> Vec<CoinFigure> {
        let mut told = self.told.clone();
        for one in &mut told {
            one.figure.at = now;
        }
        told
    }
}

/// Do two files say the same, whenever each was read?
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
            // All have answered, or failed.
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
