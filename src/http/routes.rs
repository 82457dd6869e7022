//! ROUTES: every operation, one entry each.
//!
//! What lives here: the list that feeds the router, the key check, the document, the metrics and the tests. What
//! always holds: an operation that is not in it does not exist.

mod accounts;
mod books;
mod customers;
mod dashboard;
mod deliveries;
mod endpoints;
mod exports;
mod invoice_desk;
mod keys;
mod links;
mod merchant;
mod pages;
mod pools;
mod process;
mod public;
mod reseller;
mod sandbox;
mod servers;
mod service_settings;
mod summary;
mod tokens;
mod transfers;

use super::route::Route;

/// Every operation; those of the sandbox only where they exist.
pub fn routes(sandbox: bool) -> impl Iterator<Item = &'static Route> {
    let of_sandbox = sandbox::ROUTES.iter().chain(&transfers::SANDBOX);
    merchant::ROUTES
        .iter()
        .chain(&customers::ROUTES)
        .chain(&transfers::MERCHANT)
        .chain(&public::ROUTES)
        .chain(&pages::ROUTES)
        .chain(&dashboard::ROUTES)
        .chain(&transfers::DASHBOARD)
        .chain(&pools::ROUTES)
        .chain(&invoice_desk::ROUTES)
        .chain(&books::ROUTES)
        .chain(&deliveries::ROUTES)
        .chain(&exports::ROUTES)
        .chain(&links::ROUTES)
        .chain(&reseller::ROUTES)
        .chain(&servers::ROUTES)
        .chain(&accounts::ROUTES)
        .chain(&keys::ROUTES)
        .chain(&tokens::ROUTES)
        .chain(&summary::ROUTES)
        .chain(&endpoints::ROUTES)
        .chain(&service_settings::ROUTES)
        .chain(&process::ROUTES)
        .chain(of_sandbox.filter(move |_| sandbox))
}
