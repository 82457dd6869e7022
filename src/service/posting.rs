//! Ledger entries that follow from a step of a payment or a deposit.
//!
//! What always holds: its sale and fee are booked once; what happens to it later is adjusted, never rewritten.

use super::Error;
use crate::domain::id;
use crate::domain::ledger;
use crate::domain::money::Cents;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::store::ledger::{Booking, BookingSource, book, unreversed};
use crate::store::{Tx, accounts};

/// A step of what was seen on a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// What it is worth, in the booking's currency.
    pub(super) value: Cents,
    /// Has it ever been confirmed before?
    pub(super) was_confirmed: bool,
    /// Where it stood.
    pub(super) before: PaymentState,
    /// Where it stands now.
    pub(super) next: PaymentState,
}

/// Books what a step causes: sale and fee the first time, adjustments whenever that is taken back or restored.
pub(super) fn book_step(
    tx: &Tx<'_>,
    now: Time,
    booking: &Booking<'_>,
    step: Step,
) -> Result<(), Error> {
    let confirms = step.next == PaymentState::Confirmed;
    let [restored, undone] = memos(booking.source);
    let postings = if confirms && !step.was_confirmed {
        let fee = accounts::by_seq(tx, booking.account)?.fee;
        ledger::confirmation_postings(step.value, fee)?
    } else if confirms {
        ledger::reversals(&unreversed(tx, booking.source)?, restored)?
    } else if step.before == PaymentState::Confirmed {
        ledger::reversals(&unreversed(tx, booking.source)?, undone)?
    } else {
        Vec::new()
    };
    for posting in &postings {
        book(tx, &id::new(now).to_string(), booking, posting, now)?;
    }
    Ok(())
}

/// What adjustments say: of what is confirmed again, and of what no longer is.
const fn memos(source: BookingSource) -> [&'static str; 2] {
    match source {
        BookingSource::Deposit(_) => ["deposit confirmed again", "deposit no longer confirmed"],
        BookingSource::Payment(_) | BookingSource::Transfer(_) | BookingSource::Operator => {
            ["payment confirmed again", "payment no longer confirmed"]
        }
    }
}
