//! The list of all resources with their routes. The router, the documents, the metrics and the tests use this list.

use super::auth::Auth;
use super::route::{Resource, Route};
use super::{checkout_events, files, operator, pages, probes, sandbox};
use crate::api;

/// Every resource, in the order of the documents.
pub(super) static RESOURCES: &[&Resource] = &[
    &Resource { routes: &Route::for_operations(api::invoices::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::currencies::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::account::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::events::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::customers::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::deposits::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::payouts::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::refunds::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::public::OPERATIONS) },
    &checkout_events::RESOURCE,
    &pages::checkout::RESOURCE,
    &pages::link::RESOURCE,
    &pages::setup::RESOURCE,
    &pages::docs::RESOURCE,
    &pages::front_door::RESOURCE,
    &pages::app::RESOURCE,
    &files::RESOURCE,
    &operator::session::RESOURCE,
    &operator::changes::RESOURCE,
    &operator::second_factor::RESOURCE,
    &operator::own_password::RESOURCE,
    &Resource { routes: &Route::for_operations(api::operator::users::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::transfers::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::pools::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::wallets::OPERATIONS) },
    &operator::wallets::RESOURCE,
    &operator::chain_nodes::RESOURCE,
    &Resource { routes: &Route::for_operations(api::operator::own_addresses::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::unmatched_payments::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::invoices::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::ledger::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::events::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::customers::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::matches::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::deliveries::OPERATIONS) },
    &operator::exports::RESOURCE,
    &Resource { routes: &Route::for_operations(api::operator::payment_links::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::reseller::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::servers::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::accounts::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::legacy_secret::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::keys::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::tokens::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::summary::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::sales::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::first_steps::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::endpoints::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::settings::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::coins::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::audit_log::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::mail::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::rates::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::operator::chains::OPERATIONS) },
    &probes::RESOURCE,
    &Resource { routes: &Route::for_operations(api::sandbox::state::OPERATIONS) },
    &sandbox::activity::RESOURCE,
    &Resource { routes: &Route::for_operations(api::sandbox::faults::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::sandbox::clock::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::sandbox::account::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::sandbox::chains::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::sandbox::payments::OPERATIONS) },
    &Resource { routes: &Route::for_operations(api::sandbox::webhooks::OPERATIONS) },
    &sandbox::inbox::RESOURCE,
    &Resource { routes: &Route::for_operations(api::sandbox::transfers::OPERATIONS) },
];

/// Returns every route. `sandbox` adds the routes of the sandbox's controls.
pub fn routes(sandbox: bool) -> impl Iterator<Item = &'static Route> {
    let routes = RESOURCES.iter().flat_map(|resource| resource.routes);
    routes.filter(move |route| sandbox || route.auth() != Auth::Sandbox)
}

#[cfg(test)]
mod tests {
    use super::{Auth, routes};
    use crate::http::route::RecentPassword;

    #[test]
    fn sandbox_operations_do_not_change_route_indexes() {
        let both = routes(false).zip(routes(true));
        for (without, with) in both {
            assert_eq!(without.operation, with.operation);
        }
    }

    #[test]
    fn every_operation_of_a_document_has_a_tag() {
        for route in routes(true) {
            let operation = route.operation;
            assert_eq!(route.is_documented(), route.tag.is_some(), "{operation}");
        }
    }

    #[test]
    fn rate_limits_need_keys_and_password_rules_need_sessions() {
        for route in routes(true) {
            let has_key = route.auth() == Auth::Secret;
            let has_password = matches!(route.auth(), Auth::Session(_));
            let operation = route.operation;
            assert!(has_key || !route.is_rate_limited, "{operation}");
            let asks = route.recent_password != RecentPassword::Never;
            assert!(has_password || !asks, "{operation}");
        }
    }
}
