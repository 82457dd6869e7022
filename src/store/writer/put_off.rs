//! Invoices that are settled once at the end of some work, however often the work touches them.
//!
//! What does not live here: settling. What always holds: what was taken back has touched nothing, and each invoice that was
//! touched is answered once.

use super::Tx;
use std::cell::RefCell;
use std::collections::HashMap;

/// An invoice that some work has touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Which invoice, by its `seq`.
    pub invoice: i64,
    /// Is its status to be told also where it stays the same?
    pub is_told: bool,
}

/// What was touched, in order; nothing while nothing is put off.
pub(super) type PutOff = RefCell<Option<Vec<Touched>>>;

impl Tx<'_> {
    /// Does some work, and answers with it the invoices that it touched, in the order in which each was touched first; none
    /// inside of other such work, which answers them.
    ///
    /// # Errors
    /// Those of the work: then nothing is put off.
    pub fn put_off<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Vec<Touched>), E> {
        if self.put_off.borrow().is_some() {
            return Ok((work()?, Vec::new()));
        }
        self.put_off.replace(Some(Vec::new()));
        let done = work();
        let touched = self.put_off.take().unwrap_or_default();
        Ok((done?, each_once(&touched)))
    }

    /// Notes that an invoice was touched; false where nothing is put off: then it is to be settled now.
    pub fn puts_off(&self, touched: Touched) -> bool {
        let mut put_off = self.put_off.borrow_mut();
        put_off.as_mut().map(|all| all.push(touched)).is_some()
    }

    /// How many were touched so far.
    pub(super) fn touched(&self) -> usize {
        self.put_off.borrow().as_ref().map_or(0, Vec::len)
    }

    /// What was touched behind so many was taken back.
    pub(super) fn forget_touched(&self, behind: usize) {
        if let Some(all) = self.put_off.borrow_mut().as_mut() {
            all.truncate(behind);
        }
    }
}

/// Each invoice once, told where it is to be told at any touch.
fn each_once(touched: &[Touched]) -> Vec<Touched> {
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut once: Vec<Touched> = Vec::new();
    for one in touched {
        let place = *places.entry(one.invoice).or_insert(once.len());
        match once.get_mut(place) {
            Some(known) => known.is_told |= one.is_told,
            None => once.push(*one),
        }
    }
    once
}
