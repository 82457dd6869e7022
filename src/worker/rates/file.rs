//! The operator's rate file.

use crate::chain::rates::read_file;
use crate::domain::{CoinFigure, Time};
use std::path::PathBuf;

/// The operator's rate file, with the contents of its last successful read.
pub(super) struct RateFile {
    path: PathBuf,
    told: Vec<CoinFigure>,
    pub(super) problem: Option<String>,
    pub(super) kept_at: Option<Time>,
}

impl RateFile {
    /// Returns a handle for the rate file at this path. Does not read the file.
    pub(super) fn new(path: PathBuf) -> RateFile {
        RateFile { path, told: Vec::new(), problem: None, kept_at: None }
    }

    /// Reads the rate file. Returns `true` if the contents or the read error have changed.
    pub(super) fn reload(&mut self, now: Time) -> bool {
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
        let told = told.filter(|told| !has_same_figures(told, &self.told));
        let is_new = told.is_some();
        if let Some(told) = told {
            self.told = told;
        }
        is_news || is_new
    }

    /// Returns the rates of the file, with `now` as their time.
    pub(super) fn figures_at(&self, now: Time) -> Vec<CoinFigure> {
        let mut told = self.told.clone();
        for one in &mut told {
            one.figure.at = now;
        }
        told
    }
}

/// Returns `true` if both lists contain the same rates, regardless of their times.
fn has_same_figures(one: &[CoinFigure], other: &[CoinFigure]) -> bool {
    let same = |(one, other): (&CoinFigure, &CoinFigure)| {
        one.coin == other.coin
            && one.currency == other.currency
            && one.figure.rate == other.figure.rate
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}
