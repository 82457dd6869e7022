//! Tests of rates, and of the coins that can be selected with a stale or missing rate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;

use super::NoRate;
use crate::domain::asset::{ASSETS, Mode};
use crate::domain::money::{Bps, Currency};
use crate::domain::rate::FRESH_MS_MAX;
use crate::domain::refusal::Code;
use crate::domain::time::Time;
use crate::service::tests::{
    NOW, STALE, bitcoin, done, fixed, live, live_invoice, real, refused, seeded, write,
};
use crate::service::{Faults, Service};
use crate::store::{Reader, Tx, invoices};
use std::sync::Arc;

#[test]
fn the_door_answers_case_by_case() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let just_stale = NOW.plus_ms(-FRESH_MS_MAX - 1);
    // Columns: service, faults, mode, time of the fresh rate, time of the newest rate.
    for (service, faults, mode, fresh, newest) in [
        (
            &simulated,
            Faults::default(),
            Mode::Test,
            Some(NOW),
            Some(NOW),
        ),
        (
            &simulated,
            Faults::default(),
            Mode::Live,
            Some(NOW),
            Some(NOW),
        ),
        (&simulated, STALE, Mode::Test, Some(NOW), Some(NOW)),
        (&simulated, STALE, Mode::Live, None, Some(just_stale)),
        (&real, Faults::default(), Mode::Test, Some(NOW), Some(NOW)),
        (&real, Faults::default(), Mode::Live, None, None),
        (&real, STALE, Mode::Test, Some(NOW), Some(NOW)),
        (&real, STALE, Mode::Live, None, None),
    ] {
        service.set_faults(faults);
        assert_eq!(service.is_simulated(mode), newest.is_some());
        for (asset, currency) in ASSETS
            .iter()
            .flat_map(|asset| Currency::ALL.iter().map(move |currency| (asset, *currency)))
        {
            let expected = |at: Option<Time>| at.map(|at| fixed(asset, currency, at)).ok_or(NoRate);
            let ask = |db: &Reader<'_>| {
                Ok((
                    service.rate(db, mode, asset, currency, NOW)?,
                    service.newest_rate(db, mode, asset, currency, NOW)?,
                ))
            };
            let answered = service.read(ask).unwrap();
            assert_eq!(
                answered,
                (expected(fresh), expected(newest)),
                "{mode} {}",
                asset.id
            );
        }
        let offered = service.read(|db| service.offered(db, NOW, mode, Currency::Usd, Bps(0)));
        let expected: Vec<_> = ASSETS
            .iter()
            .filter_map(|asset| Some((asset, fixed(asset, Currency::Usd, fresh?))))
            .collect();
        assert_eq!(offered.unwrap(), expected, "{mode}");
        let listed = service.read(|db| service.listed(db, NOW, mode)).unwrap();
        assert_eq!(listed.len(), expected.len());
    }
}

#[test]
fn no_coin_is_picked_without_a_fresh_rate() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let id = live_invoice(&simulated);
    let caller = live(&simulated);
    let pick =
        |service: &Arc<Service>| refused(done(service.select(NOW, &caller, &id, "BTC".to_owned())));
    simulated.set_faults(STALE);
    let stale = pick(&simulated);
    assert_eq!(
        (stale.code, stale.param.as_deref(), stale.message.as_str()),
        (
            Code::CoinUnavailable,
            Some("asset"),
            "BTC has no fresh rate"
        )
    );
    assert_eq!(pick(&real).code, Code::CoinUnavailable);
    // Received money is priced at the newest known rate.
    let quote = {
        let id = id.clone();
        move |service: &Service, tx: &Tx<'_>| {
            let mut invoice = invoices::by_id(tx, &id)?.unwrap();
            service.quote_of_what_came(tx, NOW, &mut invoice, bitcoin(), "somewhere")
        }
    };
    let none = refused(real.write_and_wait(quote.clone()));
    assert_eq!(
        (none.code, none.message.as_str()),
        (Code::CoinUnavailable, "BTC has no rate")
    );
    let just_stale = NOW.plus_ms(-FRESH_MS_MAX - 1);
    let made = write(&simulated, quote);
    assert_eq!(made.quoted, fixed(bitcoin(), Currency::Eur, just_stale));
}
