//! Pages for customers and shops: the checkout, payment links and `/v1/public`.

mod customers;
mod error_pages;
mod events;
mod files;
mod late_and_short;
mod link_limits;
mod pages;
mod payment_links;
mod public;
