//! What a step saw, or what is gone, one by one.
//!
//! What does not live here: which of it a part takes (`bound`). What always holds: what is refused is said, and stops nothing
//! else.

use super::Bound;
use crate::domain::asset::Chain;
use crate::domain::following::{ChainStep, Forward, Moves};
use crate::domain::observation::{Observation, Place};
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::service::chains::claims::as_claimed;
use crate::service::chains::places::{is_ours, places, replaced_by};
use crate::service::intake::{Owned, Step};
use crate::service::{Error, Service};
use crate::store::{Reader, Tx, observations, observations_on_chain, transfers};

/// What is next: which thing, and from which output of its transaction on.
pub(super) type Next = (usize, u32);

impl Service {
    /// Takes as many of the things as the part may, from one on; the next one, unless that was the last.
    pub(super) fn take_some(
        &self,
        tx: &Tx<'_>,
        now: Time,
        step: &ChainStep,
        (first, mut output): Next,
        bound: &mut Bound,
    ) -> Result<Option<Next>, Error> {
        bound.begin();
        for item in first..step.items() {
            let next = self.take_item(tx, now, step, (item, output), bound)?;
            if let Some(output) = next {
                return Ok(Some((item, output)));
            }
            output = 0;
        }
        Ok(None)
    }

    /// One thing that was seen, or is gone: the output to go on with where the part may take no more.
    fn take_item(
        &self,
        tx: &Tx<'_>,
        now: Time,
        step: &ChainStep,
        (item, output): Next,
        bound: &mut Bound,
    ) -> Result<Option<u32>, Error> {
        let chain = step.chain;
        let forward = match &step.moves {
            Moves::Forward(forward) => forward,
            Moves::Rescanned(rescanned) => {
                let found = rescanned.found.get(item);
                return found.map_or(Ok(None), |seen| self.found(tx, now, seen, None, bound));
            }
            Moves::Started { .. }
            | Moves::BackTo(_)
            | Moves::Stopped(_)
            | Moves::Claimed(_)
            | Moves::Looked(_)
            | Moves::Dated { .. } => return Ok(None),
        };
        if let Some(txid) = forward.present.get(item) {
            let back = (txid.as_str(), PaymentState::Dropped, Step::Seen);
            let next = self.steps_of(tx, now, chain, back, (output, bound))?;
            if next.is_none() {
                observations_on_chain::appear(tx, chain, txid)?;
            }
            return Ok(next);
        }
        let item = item.saturating_sub(forward.present.len());
        if let Some(seen) = forward.found.get(item) {
            return self.found(tx, now, seen, Some(forward), bound);
        }
        let item = item.saturating_sub(forward.found.len());
        let Some(gone) = forward.gone.get(item) else {
            return Ok(None);
        };
        let gone = (gone.txid.as_str(), PaymentState::Seen, Step::Dropped);
        self.steps_of(tx, now, chain, gone, (output, bound))
    }

    /// Something was seen: what had been dropped is there again first, and what is new may take the place of what is gone.
    fn found(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
        forward: Option<&Forward>,
        bound: &mut Bound,
    ) -> Result<Option<u32>, Error> {
        if !bound.takes_one() {
            return Ok(Some(0));
        }
        if !is_ours(tx, seen.asset.chain, &seen.address)?
            && !self.is_sent_output(tx, &seen.place())?
        {
            match self.arrived(tx, now, seen)? {
                Some(true) => return Ok(None),
                Some(false) if !self.is_astray(tx, now, seen)? => return Ok(None),
                Some(false) | None => {}
            }
        }
        let seen = &as_claimed(tx, seen)?;
        let place = seen.place();
        match observations::at(tx, &place)? {
            Some(known) => {
                let is_same = known.seen.asset == seen.asset
                    && known.seen.address == seen.address
                    && known.seen.amount == seen.amount;
                if is_same && known.state == PaymentState::Dropped {
                    self.step_of(tx, now, &place, Step::Seen)?;
                }
            }
            None => {
                if let Some(old) = replaced_by(tx, seen, forward)? {
                    let replaced =
                        tx.attempt(|| self.advance(tx, now, &old, Step::ReplacedBy(seen)))?;
                    match replaced {
                        Ok(outcome) if outcome.refusal.is_none() => {
                            self.note_seen(noun(tx, &outcome.owned, seen)?, "seen", seen);
                            return Ok(None);
                        }
                        // It comes in without what it would take over.
                        Ok(_) | Err(Error::Refused(_)) => {}
                        Err(failed) => return Err(failed),
                    }
                }
            }
        }
        let observed = tx.attempt(|| self.observe(tx, now, seen, None))?;
        if let Ok(Some(outcome)) = &observed
            && outcome.is_new
        {
            self.note_seen(noun(tx, &outcome.owned, seen)?, "seen", seen);
        }
        said(observed.map(drop))?;
        Ok(None)
    }

    /// One step of each that is in this state in a transaction, from one output on.
    fn steps_of(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        (txid, state, step): (&str, PaymentState, Step<'_>),
        (from, bound): (u32, &mut Bound),
    ) -> Result<Option<u32>, Error> {
        for place in places(tx, chain, txid, state)? {
            if place.position < from {
                continue;
            }
            if !bound.takes_one() {
                return Ok(Some(place.position));
            }
            self.step_of(tx, now, &place, step)?;
        }
        Ok(None)
    }

    /// One step of what is at a place; one that is refused stops nothing else.
    pub(super) fn step_of(
        &self,
        tx: &Tx<'_>,
        now: Time,
        place: &Place,
        step: Step<'_>,
    ) -> Result<(), Error> {
        let moved = tx.attempt(|| self.advance(tx, now, place, step))?;
        if let (Ok(outcome), Some(known)) = (&moved, observations::at(tx, place)?)
            && outcome.refusal.is_none()
        {
            let noun = noun(tx, &outcome.owned, &known.seen)?;
            self.note_seen(noun, known.state.as_str(), &known.seen);
        }
        said(moved.map(drop))
    }
}

/// Word of the log for what an observation came to.
fn noun(db: &Reader<'_>, owned: &Owned, seen: &Observation) -> Result<&'static str, Error> {
    Ok(match owned {
        Owned::Payment(_) | Owned::Deposit(_) | Owned::Own(_) | Owned::Unmatched(_) => "payment",
        Owned::Sent(output) => {
            let of = match output.transfer {
                Some(seq) => Some(transfers::by_seq(db, seq)?),
                None => {
                    let (mode, chain) = (seen.mode, seen.asset.chain);
                    let attached = transfers::attached(db, mode, chain, &seen.txid)?;
                    attached.into_iter().next()
                }
            };
            of.map_or("transfer", |of| of.kind.as_str())
        }
    })
}

/// What is refused is said, and stops nothing; what fails does.
fn said(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(Error::Refused(refusal)) => {
            log::error!("a step along a chain was refused: {refusal}");
            Ok(())
        }
        other => other,
    }
}
