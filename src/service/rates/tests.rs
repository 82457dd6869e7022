//! Tests of rates, and of the coins that can be selected with a stale or missing rate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;

use super::NoRate;
use crate::domain::asset::ASSETS;
use crate::domain::rate::FRESH_MS_MAX;
use crate::domain::{Bps, Currency, Mode, RefusalCode, Time};
use crate::service::quotes::quote_unrequested_coin;
use crate::service::tests::{
    NOW, STALE, bitcoin, block_on, create_live_invoice, fixed_rate, live_caller, live_service,
    seeded_service, unwrap_refusal, write,
};
use crate::service::{Faults, Service, Step};
use crate::store::{Reader, invoices};
use std::sync::Arc;

#[test]
fn fresh_and_newest_rates_follow_mode_and_faults() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let just_stale = NOW.plus_ms(-FRESH_MS_MAX - 1);
    // Columns: service, faults, mode, time of the fresh rate, time of the newest rate.
    for (service, faults, mode, fresh, newest) in [
        (&simulated, Faults::default(), Mode::Test, Some(NOW), Some(NOW)),
        (&simulated, Faults::default(), Mode::Live, Some(NOW), Some(NOW)),
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
            let expected =
                |at: Option<Time>| at.map(|at| fixed_rate(asset, currency, at)).ok_or(NoRate);
            let ask = |db: &Reader<'_>| {
                Ok((
                    service.fresh_rate(db, mode, asset, currency, NOW)?,
                    service.newest_rate(db, mode, asset, currency, NOW)?,
                ))
            };
            let answered = service.read(ask).unwrap();
            assert_eq!(answered, (expected(fresh), expected(newest)), "{mode} {}", asset.id);
        }
        let offered =
            service.read(|db| service.offered_coins(db, NOW, mode, Currency::Usd, Bps(0)));
        let expected: Vec<_> = ASSETS
            .iter()
            .filter_map(|asset| Some((asset, fixed_rate(asset, Currency::Usd, fresh?))))
            .collect();
        assert_eq!(offered.unwrap(), expected, "{mode}");
        let listed = service.read(|db| service.listed_coins(db, NOW, mode)).unwrap();
        assert_eq!(listed.len(), expected.len());
    }
}

#[test]
fn coin_without_fresh_rate_cannot_be_selected() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let id = create_live_invoice(&simulated);
    let caller = live_caller(&simulated);
    let pick = |service: &Arc<Service>| {
        unwrap_refusal(block_on(service.select_coin(NOW, &caller, &id, "BTC".to_owned())))
    };
    simulated.set_faults(STALE);
    let stale = pick(&simulated);
    assert_eq!(
        (stale.code, stale.param.as_deref(), stale.message.as_str()),
        (RefusalCode::CoinUnavailable, Some("asset"), "BTC has no fresh rate")
    );
    assert_eq!(pick(&real).code, RefusalCode::CoinUnavailable);
    // Received money is priced at the newest known rate.
    let quote = {
        let id = id.clone();
        move |step: &Step<'_>| {
            let mut invoice = invoices::by_id(step.tx, &id)?.unwrap();
            quote_unrequested_coin(step, &mut invoice, bitcoin(), "somewhere")
        }
    };
    let none = unwrap_refusal(real.write_and_wait(NOW, quote.clone()));
    assert_eq!(
        (none.code, none.message.as_str()),
        (RefusalCode::CoinUnavailable, "BTC has no rate")
    );
    let just_stale = NOW.plus_ms(-FRESH_MS_MAX - 1);
    let made = write(&simulated, NOW, quote);
    assert_eq!(made.quoted, fixed_rate(bitcoin(), Currency::Eur, just_stale));
}
